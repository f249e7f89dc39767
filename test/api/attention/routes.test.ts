import { expect } from 'chai';
import type { ContextOptions } from '../../support/api-context.ts';
import type { Watched } from '../../../src/contract/attention.ts';
import { CommAlarms } from '../../../src/core/comm-alarms.ts';
import { Timeline } from '../../../src/core/timeline/timeline.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { FaultBench } from '../../support/faults.ts';
import { FindingsRig, plainRule } from '../../support/findings.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';
import { HandWall } from '../../support/wall.ts';

describe('GET attention', () => {
  let plant: SimPlant;
  let rest: Rest;
  const commAlarms = new CommAlarms(() => 0);

  async function open(options: Partial<ContextOptions> = {}, types = ['PV-3Phase', 'PV-3Phase', 'Batt-3Phase']) {
    plant = testPlant({ types, tickIntervalS: 1, commAlarms });
    rest = await Rest.open(plant, options);
  }
  afterEach(() => rest.api.stop());

  const items = async (): Promise<readonly Json[]> => (await rest.get('/attention')).items;
  const brief = async () => (await items()).map(({ id, level, devices }) => [id, level, devices]);

  it('is empty while all is well', async () => {
    await open();
    await plant.step(3);
    expect(await rest.get('/attention')).to.deep.include({ tick: 3, items: [], count: 0 });
  });

  it('has a trip of several devices once, until they are back', async () => {
    await open();
    for (const index of [0, 1]) plant.setGrid({ voltagePu: 0.4 }, index);
    await plant.step(5);
    const [trip, ...others] = await items();
    expect(others).to.deep.equal([]);
    expect(trip).to.include({
      id: 'trip/lv_trip',
      level: 'bad',
      device_index: null,
      title: 'Tripped on low voltage',
      text: '2 devices: tripped on low voltage and not back yet.',
    });
    expect(trip.devices).to.deep.equal([0, 1]);
    expect(trip.since).to.be.a('string');
    plant.setGrid({ voltagePu: 1 });
    await plant.step(10);
    expect(await brief()).to.deep.equal([['trip/lv_trip', 'bad', [0, 1]]]);
    await plant.step(700);
    expect(await brief()).to.deep.equal([]);
  });

  it('has alarms of severity error with their device, and lost connections, not other alarms', async () => {
    await open();
    commAlarms.raise(1, 'state_not_kept', 'the disk is full');
    commAlarms.raise(0, 'ocpp_connection_lost', 'no pong');
    commAlarms.raise(0, 'rtu_port_lost', 'gone');
    expect(await brief()).to.deep.equal([
      ['alarm/state_not_kept', 'bad', [1]],
      ['connection/ocpp_connection_lost', 'warn', [0]],
    ]);
    commAlarms.end(1, 'state_not_kept');
    for (const code of ['ocpp_connection_lost', 'rtu_port_lost'] as const) commAlarms.end(0, code);
    expect(await brief()).to.deep.equal([]);
  });

  it('has local control, holds and faults in force while they last', async () => {
    const bench = new FaultBench();
    await open({ faults: bench.registry });
    plant.device(1).command({ kind: 'local', local: true }, { source: 'rest' });
    await rest.post('/controls/holds?device=2', { id: 'h', values: { '704.WMaxLimPct': 50 }, duration_s: 60 });
    const fault = { protocol: 'modbus', kind: 'ignore_write', deviceIndex: 0, target: {}, parameters: {} } as const;
    bench.registry.inject([fault, fault], { source: 'rest' });
    expect((await brief()).toSorted()).to.deep.equal([
      ['fault/modbus.ignore_write', 'warn', [0]],
      ['holds', 'warn', [2]],
      ['local_control', 'warn', [1]],
    ]);
    plant.device(1).command({ kind: 'local', local: false }, { source: 'rest' });
    await rest.post('/controls/holds/h/end?device=2', {});
    bench.registry.clear();
    expect(await brief()).to.deep.equal([]);
  });

  it('has violations of peers, whose further case is another item, without risks and waived ones', async () => {
    const findings = new FindingsRig();
    const rules = findings.registry.rules('modbus', { bad: plainRule, risky: { ...plainRule, severity: 'risk' } });
    await open({ findings: findings.registry });
    const peer = findings.peer('10.0.0.21');
    for (const rule of [rules.bad, rules.risky]) rule.broken(peer, 0, () => ({ text: 'It did.' }));
    expect((await items()).map(({ id, text }) => [id, text])).to.deep.equal([['finding/1', '10.0.0.21: It did.']]);
    rules.bad.broken(peer, 1, () => ({ text: 'It did again.' }));
    expect((await items()).map(({ id, text, devices }) => [id, text, devices])).to.deep.equal([
      ['finding/3', '10.0.0.21: It did again. (2 times)', [0, 1]],
    ]);
    findings.registry.waivers.add({ rule: 'modbus.bad', peer: null, reason: 'agreed', untilMs: null });
    expect(await items()).to.deep.equal([]);
  });

  it('counts refused writes per peer and point, and leaves those of requests out', async () => {
    const wall = new HandWall();
    const timeline = new Timeline({ wall, sim: () => plant.now });
    await open({ timeline });
    const refuse = (peer: string, source: 'modbus' | 'rest' = 'modbus') => {
      timeline.add({ kind: 'refusal', level: 'warn', title: 'Write refused', text: 'No.', by: { source, peer } });
      wall.advance(6000);
    };
    refuse('10.0.0.21:1');
    refuse('10.0.0.21:2');
    refuse('10.0.0.22:1');
    refuse('127.0.0.1:1', 'rest');
    expect((await items()).map(({ id, text, ref }) => [id, text, ref])).to.deep.equal([
      ['refusal/3', '10.0.0.22: No.', { type: 'entry', id: '3' }],
      ['refusal/2', '10.0.0.21: No. (2 times)', { type: 'entry', id: '2' }],
    ]);
  });

  it('has silent peers and trouble of the time, worst first', async () => {
    const watched: Watched = {
      silentPeers: [{ id: 'abc', name: 'Modbus 10.0.0.21', usualS: 10, sinceMs: 5 }],
      time: { lateSinceMs: 6, rates: { rate: 60, reached: 41 }, stalledAtMs: 7 },
    };
    await open({ watched: () => watched });
    expect((await items()).map(({ id, level, text }) => [id, level, text])).to.deep.equal([
      ['stalled/7', 'bad', 'The simulator computed and answered nothing for more than 1 s.'],
      ['late', 'bad', 'The machine reaches ×41.0 of the rate ×60.'],
      ['silent/abc', 'warn', 'Modbus 10.0.0.21 has sent nothing for three of its usual intervals of 10 s.'],
    ]);
  });

  it('has exceeded limits of the site', async () => {
    await open();
    await plant.step(5);
    plant.setSite({ import: 0 }, { source: 'rest' });
    plant.setSurroundings({ loadKw: 1000 });
    await plant.step(3);
    const found = (await items()).find(({ id }) => String(id).startsWith('site/'));
    expect(found).to.include({ id: 'site//import', level: 'warn', title: 'Import limit exceeded' });
    expect(found?.text).to.equal('The power of the site is beyond its import limit of 0.00 kW.');
  });

  it('lists at most 100 items and counts all', async () => {
    const findings = new FindingsRig();
    const rules = findings.registry.rules('modbus', { bad: plainRule });
    await open({ findings: findings.registry });
    for (let i = 0; i < 120; i += 1) rules.bad.broken(findings.peer(`10.0.0.${i}`), null, () => ({ text: 'It did.' }));
    const reply = await rest.get('/attention');
    expect([reply.items.length, reply.count]).to.deep.equal([100, 120]);
  });
});
