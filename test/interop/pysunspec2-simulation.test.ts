import { expect } from 'chai';
import { ask } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

interface ScannedModel {
  readonly id: number;
  readonly address: number;
  readonly length: number;
  readonly error: string;
}
type Values = Readonly<Record<string, number | string>>;

const illegalDataValue = 3;

describeWith(['pysunspec2'], 'simulation models', () => {
  let simulator: RunningSimulator;
  let master: PythonPeer;
  let models: readonly ScannedModel[];

  before(async () => {
    simulator = await startSimulator([
      '--tick',
      '0.1',
      '-d',
      'PV-3Phase',
      '--sim_models',
      'yes',
      '--start_paused',
      'yes',
    ]);
    master = new PythonPeer('sunspec_master', simulator.modbusPort);
    ({ models } = await master.ask('scan'));
  });
  after(async () => {
    await master.stop();
    expect(await simulator.stop()).to.equal(0);
  });

  const read = (model: number): Promise<Values> => master.ask('read', { model });
  const write = (values: Values) => master.ask('write_model', { model: 64414, values });
  const step = async () => {
    expect((await ask(simulator.httpPort, '/api/sim/controls/time/step', { body: { ticks: 1 } })).status).to.equal(200);
  };

  it('follow 715 with lengths that fit the definitions', () => {
    expect(models.slice(-3).map(({ id, error }) => [id, error])).to.deep.equal([
      [715, ''],
      [64413, ''],
      [64414, ''],
    ]);
    let address = 40_002;
    for (const model of models) {
      expect(model, `model ${model.id}`).to.include({ address, error: '' });
      address += model.length + 2;
    }
  });

  it('64413 holds the curve of dc-iv, with its maximum at the power that the array gives', async () => {
    await step();
    const curve = await read(64413);
    const count = Number(curve['IVLen']);
    const { json } = await ask(simulator.httpPort, `/api/sim/dc-iv?points=${count}`);
    expect(json.curve).to.have.length(count);
    for (const [at, { v, i, p }] of (json.curve as { v: number; i: number; p: number }[]).entries()) {
      const shown = [curve[`IV[${at}].V`], curve[`IV[${at}].I`], curve[`IV[${at}].P`]].map(Number);
      [v, i, p].forEach((value, which) => {
        expect(shown[which]).to.be.closeTo(value, 1e-3 * Math.abs(value) + 1e-3);
      });
    }
  });

  it('64414 drives grid and sun, as REST shows them', async () => {
    await write({ GridVoltageA: 0.97, GridVoltageB: 0.98, GridVoltageC: 0.99, GridFrequency: 60.05 });
    await write({ Irradiance: 500 });
    const grid = (await ask(simulator.httpPort, '/api/sim/controls/grid?device=0')).json;
    expect(grid).to.include({ voltage_a_pu: 0.97, voltage_b_pu: 0.98, voltage_c_pu: 0.99, frequency_hz: 60.05 });
    expect(grid.changed_by.source).to.equal('modbus');
    const around = (await ask(simulator.httpPort, '/api/sim/controls/environment?device=0')).json;
    expect(around).to.include({ irradiance_w_m2: 500, source: 'const' });
    await step();
    expect((await read(701))['Hz']).to.equal(60.05);
    expect(await read(64414)).to.include({ GridModelSource: 'const', IrradianceModelSource: 'const', Irradiance: 500 });
  });

  it('64414 takes its words and refuses others', async () => {
    await write({ IrradianceModelSource: 'csv' });
    expect(await read(64414)).to.include({ IrradianceModelSource: 'csv' });
    expect(await master.exceptionOf('write_model', { model: 64414, values: { GridModelSource: 'manual' } })).to.equal(
      illegalDataValue,
    );
    expect(await master.exceptionOf('write_model', { model: 64414, values: { GridFrequency: 39 } })).to.equal(
      illegalDataValue,
    );
  });
});
