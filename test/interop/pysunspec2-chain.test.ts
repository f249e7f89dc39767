/** Maps as field devices lay them out: the place of a model that clients take for granted, meters behind one unit id. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ask } from '../support/http.ts';
import { startSimulator } from '../support/process.ts';
import type { RunningSimulator } from '../support/process.ts';
import { PythonPeer, describeWith } from './support/peers.ts';

type Values = Readonly<Record<string, number | string | null>>;

/** Of the second place of a model: `203:2`. */
const at = (model: number, place = 1) => (place === 1 ? { model } : { model, place });

const hybrid = `
nominal_frequency_hz: 50
chain: [103, 120, 121, 122, 123, 160, 124]
models: { "702": { WMaxRtg: 10000, VAMaxRtg: 10000, VNomRtg: 400 } }
battery: { capacity_wh: 10000, soc_pct: 50 }
hybrid: { pv_w: 10000, battery_w: 10000 }
faults: [length-65]
`;

const withMeters = `
nominal_frequency_hz: 50
chain:
  - 103
  - { meter: 203, maker: Maker, model_name: Meter }
  - { meter: 203, of: generation }
models: { "702": { WMaxRtg: 10000, VAMaxRtg: 10000, VNomRtg: 400 } }
faults: [length-65]
`;

for (const [title, device, profile, chain] of [
  [
    'a hybrid with fixed addresses',
    'HybridDC-3Phase',
    hybrid,
    '1@40002 103@40069 120@40121 121@40149 122@40181 123@40227 160@40253 124@40343',
  ],
  ['an inverter with two meters', 'PV-3Phase', withMeters, '1@40002 103@40069 1@40121 203@40188 1@40295 203@40362'],
] as const)
  describeWith(['pysunspec2'], `reads the chain of ${title}`, () => {
    let directory: string;
    let simulator: RunningSimulator;
    let master: PythonPeer;

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'derbench-chain-'));
      const path = join(directory, 'profile.yaml');
      writeFileSync(path, profile);
      simulator = await startSimulator(['-d', device, '-f', path, '--start_paused', 'yes']);
      master = new PythonPeer('sunspec_master', simulator.modbusPort);
    });
    after(async () => {
      await master.stop();
      expect(await simulator.stop()).to.equal(0);
      rmSync(directory, { recursive: true });
    });

    async function rest(path: string, body?: unknown) {
      const answer = await ask(simulator.httpPort, `/api/sim/${path}`, body === undefined ? {} : { body });
      expect(answer.status, answer.text).to.equal(200);
      return answer.json;
    }

    it('with each model at its address, whole', async () => {
      const { base, models } = await master.ask('scan');
      expect(base).to.equal(40_000);
      expect(models.map(({ id, address }: { id: number; address: number }) => `${id}@${address}`).join(' ')).to.equal(
        chain,
      );
      expect(models.filter(({ error }: { error: string }) => error !== '')).to.deep.equal([]);
    });

    if (device === 'HybridDC-3Phase')
      it('and forces the battery by 124', async () => {
        expect((await master.ask('read', at(124)))['ChaState']).to.be.within(40, 60);
        await master.ask('write_model', { model: 124, values: { StorCtl_Mod: 3, OutWRte: -40, ChaGriSet: 1 } });
        await rest('controls/time/step', { ticks: 40 });
        const { W }: Values = await master.ask('read', at(103));
        expect(W).to.be.a('number');
        expect((await rest('registers/124?points=OutWRte')).points[0].value).to.equal(-40);
      });
    else
      it('and follows the site and the generation', async () => {
        await rest('controls/environment', { irradiance_w_m2: 700, load_kw: 2 });
        await rest('controls/time/step', { ticks: 40 });
        const [first, second]: Values[] = await Promise.all([
          master.ask('read', at(203)),
          master.ask('read', at(203, 2)),
        ]);
        const { net_power_kw: netKw, generation_kw: generationKw } = await rest('site');
        expect(first?.['W']).to.be.closeTo(-1000 * netKw, 6);
        expect(second?.['W']).to.be.closeTo(-1000 * generationKw, 6);
        expect((await master.ask('read', at(1, 2)))['Mn']).to.equal('Maker');
        expect((await master.ask('read', at(1, 1)))['Mn']).to.equal('derbench');
        await rest('modbus/fault', { kind: 'scale', factor: -1, points: ['203.W'] });
        expect((await master.ask('read', at(203)))['W']).to.equal(-Number(first?.['W']));
        expect((await master.ask('read', at(203, 2)))['W'], 'another place').to.equal(second?.['W']);
      });
  });
