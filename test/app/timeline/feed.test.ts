import { expect } from 'chai';
import { startApp, modbusEndpoint } from '../../support/running-app.ts';
import type { App } from '../../../src/app/start-stop.ts';
import type { Json } from '../../support/http.ts';
import { ask } from '../../support/http.ts';
import { adu, RawClient } from '../../support/modbus-client.ts';

describe('timeline of a running simulator', () => {
  let app: App;
  let port: number;

  beforeEach(async () => {
    ({ app, port } = await startApp(['PV-3Phase', 'PV-3Phase']));
  });
  afterEach(() => app.stop());

  const entries = async (query = ''): Promise<readonly Json[]> =>
    (await ask(port, `/api/sim/timeline${query}`)).json.entries;

  it('has writes and refused writes of a master, which the list of attention has too', async () => {
    const { bank } = app.plant.device(0);
    const slot = bank.layout.slot(704, 'WMaxLimPct');
    const address = slot?.address ?? 0;
    const master = await RawClient.open(modbusEndpoint(app, 0).port);
    const hex = (value: number) => value.toString(16).padStart(4, '0');
    const write = (value: number) => master.request(adu(1, 1, `10${hex(address)}000102${hex(value)}`));
    await write(50);
    await write(60_000);
    const told = (await entries('?kinds=peer,refusal')).map(({ kind, title, device_index, by }) => [
      kind,
      title,
      device_index,
      by.source,
    ]);
    expect(told).to.deep.equal([
      ['peer', 'Registers written', 0, 'modbus'],
      ['refusal', 'Write refused', 0, 'modbus'],
    ]);
    const { items } = (await ask(port, '/api/sim/attention')).json;
    expect(items.map(({ title, level }: Json) => [title, level])).to.deep.include(['Write refused', 'warn']);
    master.destroy();
  });

  it('names the message of a write and of a refused one, while messages are recorded', async () => {
    const slot = app.plant.device(0).bank.layout.slot(704, 'WMaxLimPct');
    const master = await RawClient.open(modbusEndpoint(app, 0).port);
    const other = await RawClient.open(modbusEndpoint(app, 1).port);
    const hex = (value: number) => value.toString(16).padStart(4, '0');
    const write = (value: number) => master.request(adu(1, 1, `06${hex(slot?.address ?? 0)}${hex(value)}`));
    const record = (enabled: boolean) => ask(port, '/api/sim/modbus/messages', { body: { enabled } });
    await record(true);
    await other.request(adu(1, 1, `03${hex(slot?.address ?? 0)}0001`));
    await write(50);
    await write(60_000);
    await record(false);
    await write(70);
    await write(60_001);
    const told = (await entries('?kinds=peer,refusal')).map(({ ref, message }) => [ref && [ref.type, ref.id], message]);
    expect(told).to.deep.equal([
      [['point', '704.WMaxLimPct'], 'modbus/3'],
      [['message', 'modbus/5'], 'modbus/5'],
      [['point', '704.WMaxLimPct'], null],
      [null, null],
    ]);
    const { messages } = (await ask(port, '/api/sim/modbus/messages?after_id=4&to_id=5&limit=1')).json;
    expect(messages.map(({ id, values }: Json) => [id, values])).to.deep.equal([[5, { '704.WMaxLimPct': 600 }]]);
    master.destroy();
    other.destroy();
  });

  it('has a capture once, when it is complete, with what the devices did', async () => {
    const post = (path: string, body: unknown) => ask(port, `/api/sim${path}`, { method: 'POST', body });
    const ofCaptures = () => entries('?kinds=capture');
    await post('/controls/grid/event', { event: 'sag', parameters: { residual_pu: 0.9, duration_s: 0.5 } });
    await post('/controls/time/step', { ticks: 1 });
    expect(await ofCaptures()).to.deep.equal([]);
    await post('/controls/time/step', { ticks: 30 });
    const [capture, ...others] = await ofCaptures();
    expect(others).to.deep.equal([]);
    expect(capture).to.deep.include({
      level: 'info',
      device_index: null,
      title: 'Capture 1: sag to 90 % for 0.50 s',
      text: 'Capture 1, sag to 90 % for 0.50 s: All rode through.',
      ref: { type: 'capture', id: '1' },
    });
    expect(capture?.by.source).to.equal('rest');
    await post('/captures?device=1', undefined);
    await ask(port, '/api/sim/captures/2', { method: 'DELETE' });
    await post('/controls/time/step', { ticks: 30 });
    expect(await ofCaptures(), 'one that was deleted is told').to.have.length(1);
  });

  it('has each source at most once: grid, trip, fault', async () => {
    const post = (path: string, body: unknown) => ask(port, `/api/sim${path}`, { method: 'POST', body });
    await post('/controls/grid', { voltage_pu: 0.4 });
    await post('/controls/time/step', { ticks: 4 });
    await post('/faults', { inject: [{ protocol: 'modbus', kind: 'ignore_write', device: 1 }] });
    const told = (await entries('?kinds=grid,service,alarm,fault,command')).map(({ kind, level, devices }) => [
      kind,
      level,
      devices,
    ]);
    expect(told).to.deep.equal([
      ['grid', 'info', []],
      ['service', 'warn', [0, 1]],
      ['service', 'bad', [0, 1]],
      ['fault', 'warn', [1]],
    ]);
  });
});
