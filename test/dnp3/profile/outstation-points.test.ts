import { expect } from 'chai';
import { createDevicePort } from '../../../src/dnp3/bridge.ts';
import { computed } from '../../../src/dnp3/profile/bind.ts';
import { OutstationPoints } from '../../../src/dnp3/profile/outstation-points.ts';
import type { PointName, PointRow, ProfilePart } from '../../../src/dnp3/profile/types.ts';
import type { PointEvent } from '../../../src/dnp3/stack/outstation/types.ts';
import { createRandom } from '../../../src/core/random.ts';
import { testPlant } from '../../support/plant.ts';
import { simulatedRemoteClock } from '../../support/remote-clock.ts';
import { PointRig } from '../rig/points.ts';

const by = { source: 'modbus', peer: 'test' } as const;
const master = { address: 4, peer: '4@127.0.0.1:50000' };

describe('the feed of an outstation', () => {
  /** Events of the database from now on, as `AI149 = 400`. */
  function eventsOf(rig: PointRig): { readonly lines: string[]; readonly events: PointEvent[] } {
    const [lines, events]: [string[], PointEvent[]] = [[], []];
    const types = { binaryInput: 'BI', analogInput: 'AI', counter: 'CTR', frozenCounter: 'FCTR' } as const;
    rig.points.database.onEvent((event) => {
      const { kind, index } = event.spec;
      events.push(event);
      lines.push(`${types[kind as 'binaryInput']}${index} = ${String(event.state.value)}`);
    });
    return { lines, events };
  }

  it('tells of a write over Modbus before the next tick, once, at its simulated instant', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(3);
    const { lines, events } = eventsOf(rig);
    rig.device.bank.transact(by, (tx) => {
      tx.m704.WMaxLimPct = 40;
      tx.m704.WMaxLimPctEna = 'ENABLED';
    });
    await Promise.resolve();
    expect(lines).to.have.members(['AI149 = 400', 'BI69 = 1']);
    expect(new Set(events.map(({ stamp }) => stamp))).to.deep.equal(new Set([rig.plant.time.sim]));
    rig.points.database.refresh();
    expect(lines.length).to.equal(2);
  });

  it('is up to date for a master that reads in the same turn as a write', () => {
    const rig = new PointRig('PV-3Phase');
    rig.device.bank.transact(by, (tx) => {
      tx.m704.WMaxLimPct = 30;
    });
    rig.points.database.refresh();
    expect(rig.points.database.point('analogInput', 149)?.state).to.include({ value: 300, flags: 1 });
    expect(rig.points.database.point('analogOutput', 88)?.state).to.include({ value: 300, flags: 1 });
  });

  it('shows the switch at once, also when another one moves it while time stands still', () => {
    const rig = new PointRig('PV-3Phase');
    const { lines } = eventsOf(rig);
    rig.device.command({ kind: 'switch', closed: false }, by);
    rig.points.database.refresh();
    expect(lines).to.include('BI23 = 0');
    expect(rig.points.database.point('binaryOutput', 5)?.state.value).to.equal(0);
    expect(rig.operate('BO5', true)).to.equal(0);
    expect(lines).to.include('BI23 = 1');
  });

  it('tells of measurements beyond their deadbands only', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(10);
    const { lines } = eventsOf(rig);
    await rig.pass(1);
    expect(lines.filter((line) => line.startsWith('AI537'))).to.deep.equal([]);
    rig.device.command({ kind: 'switch', closed: false }, by);
    await rig.pass(10);
    expect(lines).to.include('AI537 = 0');
    expect([rig.value('BI19'), rig.value('BI21')]).to.deep.equal([0, 1]);
  });

  it('has no event of the first value, and none of outputs', () => {
    const rig = new PointRig('PV-3Phase');
    const { events } = eventsOf(rig);
    rig.done(['AO88', 500]);
    expect(events.map(({ spec: { kind } }) => kind)).to.deep.equal(['analogInput']);
    expect(
      rig.points.database.points('analogOutput').every(({ spec }) => !spec.inClass0 && !spec.mayHaveEvents),
    ).to.equal(true);
  });

  it('ALARM-001 sets the alarms of voltage and power by their thresholds, at once', async () => {
    const rig = new PointRig('PV-3Phase');
    await rig.pass(5);
    expect([rig.value('BI94'), rig.value('BI95'), rig.value('BI100'), rig.value('BI101')]).to.deep.equal([0, 0, 0, 0]);
    const { lines } = eventsOf(rig);
    rig.done(['AO449', 1000], ['AO456', 20_000]);
    expect(lines).to.have.members(['AI557 = 1000', 'AI564 = 20000', 'BI94 = 1', 'BI101 = 1']);
    rig.done(['AO449', 2 ** 31 - 1]);
    expect(rig.value('BI94')).to.equal(0);
  });

  it('puts the settings of the outstation back at a reset of the device', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO449', 1000], ['AO16', 30], ['AO244', 7], ['AO245', 2]);
    rig.device.command({ kind: 'reset', scope: 'device' }, by);
    rig.points.database.refresh();
    expect(['AI557', 'AI60', 'AI328', 'AI329'].map((name) => rig.value(name as PointName))).to.deep.equal([
      2 ** 31 - 1,
      0,
      1,
      0,
    ]);
  });
});

describe('controls of an outstation', () => {
  it('are refused with status 7 while the device is in local control, whatever they are', () => {
    const rig = new PointRig('PV-3Phase');
    rig.device.command({ kind: 'local', local: true }, by);
    expect(rig.value('BI10')).to.equal(1);
    expect([rig.operate('AO88', 400), rig.operate('AO88', 5000), rig.operate('BO5', false, true)]).to.deep.equal([
      7, 7, 7,
    ]);
    expect(rig.operate('AO20', 1)).to.equal(4);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(100);
  });

  it('are refused with status 12 beyond the range, and for what is no number', () => {
    const rig = new PointRig('PV-3Phase');
    for (const value of [-1, 1001, 1000.5, NaN, Infinity, -Infinity])
      expect(rig.operate('AO88', value), String(value)).to.equal(12);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(100);
    expect(rig.operate('AO88', 1000)).to.equal(0);
  });

  it('take values with a fraction to the step of the register', () => {
    const rig = new PointRig('PV-3Phase');
    rig.done(['AO88', 333.4]);
    expect(rig.register(704, 'WMaxLimPct')).to.be.closeTo(33.3, 0.051);
    expect(rig.value('AI149')).to.be.within(333, 334);
  });
});

describe('the profile of IEEE 1815.2', () => {
  const profile = 'ieee1815.2';

  it('limits generation at AO87, and leaves out what it has other meanings for', () => {
    const rig = new PointRig('Batt-3Phase', { profile });
    rig.done(['AO87', 400]);
    expect(rig.register(704, 'WMaxLimPct')).to.equal(40);
    expect(rig.operate('AO88', 400)).to.equal(4);
    const views = rig.points.views();
    for (const [type, last] of [
      ['BI', 107],
      ['BO', 41],
      ['AI', 568],
      ['AO', 460],
    ] as const)
      expect(Math.max(...views.filter((view) => view.type === type).map(({ index }) => index))).to.equal(last);
    expect(
      views.filter(({ type, index }) => type === 'AI' && (index === 148 || index === 149)).map(({ name }) => name),
    ).to.deep.equal(['Active power limit maximum', 'Active power limit minimum']);
  });

  it('sends inputs of a mode that is off without ONLINE, and their outputs with it', () => {
    const rig = new PointRig('PV-3Phase', { profile });
    const stateOf = (kind: 'analogInput' | 'analogOutput' | 'binaryInput', index: number) =>
      rig.points.database.point(kind, index)?.state;
    rig.done(['AO87', 400]);
    expect(stateOf('analogInput', 148)).to.include({ value: 400, flags: 0 });
    expect(stateOf('analogOutput', 87)).to.include({ value: 400, flags: 1 });
    expect(stateOf('binaryInput', 69)).to.include({ value: 0, flags: 1 });
    expect(stateOf('binaryInput', 36)).to.include({ value: 1, flags: 1 });
    rig.done(['BO17', true]);
    expect(stateOf('analogInput', 148)).to.include({ value: 400, flags: 1 });
  });
});

describe('point maps of a user', () => {
  const row = (
    type: PointRow['type'],
    index: number,
    bind: string | undefined,
    more: Partial<PointRow> = {},
  ): PointRow => ({
    type,
    index,
    name: `${type} ${index}`,
    class: 2,
    ...(bind !== undefined && { bind }),
    ...more,
  });

  it('bind points of the built-in map, registers and enumerations, and mirror their outputs', async () => {
    const rig = new PointRig('PV-3Phase', {
      rows: [
        row('AI', 3000, '701.W'),
        row('AI', 3001, 'AI149', { multiplier: 0.01 }),
        row('AI', 3002, undefined, { multiplier: 0.01 }),
        row('AI', 3003, '704.WMaxLimPctEna'),
        row('BI', 3000, '704.WMaxLimPctEna'),
        row('BI', 23, undefined),
        row('AO', 3000, 'AO88', { multiplier: 0.01, min: 0, max: 10_000, readBack: 'AI3002' }),
        row('AO', 3001, '704.WMaxLimPctRvrtTms'),
        row('BO', 3000, '704.WMaxLimPctEna', { readBack: 'BI3001' }),
        row('BI', 3001, undefined),
        row('CTR', 7, '701.TotWhInj'),
        row('AI', 3009, '713.WHRtg'),
        row('AI', 3010, undefined),
      ],
    });
    await rig.pass(5);
    rig.done(['AO3000', 2550], ['AO3001', 60], ['BO3000', true]);
    expect(rig.operate('AO3000', 10_001)).to.equal(12);
    expect(rig.register(704, 'WMaxLimPct')).to.be.closeTo(25.5, 0.051);
    expect([rig.register(704, 'WMaxLimPctEna'), rig.register(704, 'WMaxLimPctRvrtTms')]).to.deep.equal(['ENABLED', 60]);
    expect(rig.value('AI3000')).to.equal(rig.register(701, 'W'));
    expect(
      ['AI3001', 'AI3002', 'AI3003', 'BI3000', 'BI23', 'BI3001'].map((name) => rig.value(name as PointName)),
    ).to.deep.equal([2550, 2550, 1, 1, 1, 1]);
    expect(rig.value('CTR7')).to.equal(rig.register(701, 'TotWhInj'));
    expect(rig.points.views({ coverage: 'absent' }).map(({ index }) => index)).to.deep.equal([3009, 3010]);
    // names of the built-in map that the file does not have are not there
    expect(rig.operate('AO88', 300)).to.equal(4);
  });

  it('take no meaning from AN2018-001 that IEEE 1815.2 does not share', () => {
    const rig = new PointRig('PV-3Phase', {
      profile: 'ieee1815.2',
      rows: [row('AI', 568, undefined), row('AI', 569, undefined)],
    });
    expect(rig.points.counts.AI).to.deep.equal({ served: 1, absent: 1 });
  });
});

describe('values on the wire', () => {
  /** An outstation with points of its own at a real device. */
  function own(rows: readonly PointRow[], values: Map<PointName, number | boolean | null>): OutstationPoints {
    const plant = testPlant({ types: ['PV-3Phase'] });
    const device = plant.device(0);
    const part: ProfilePart = () => ({
      inputs: new Map(
        [...values.keys()].map((name) => [name, computed(() => values.get(name) ?? null, 'test', { live: true })]),
      ),
      outputs: new Map(),
    });
    return new OutstationPoints({
      port: createDevicePort(device, plant),
      profile: 'an2018',
      rows,
      parts: [part],
      clock: simulatedRemoteClock(plant),
      random: (purpose) => createRandom(1, purpose),
      log: { info: () => undefined, warning: () => undefined },
    });
  }
  const row = (name: PointName, multiplier = 1): PointRow => ({
    type: name.replace(/\d+$/, '') as 'AI',
    index: Number(/\d+$/.exec(name)?.[0]),
    name,
    class: 2,
    multiplier,
  });

  it('are rounded half away from zero, also where the binary fraction lies below the half', () => {
    const cases: readonly (readonly [value: number, multiplier: number, wire: number])[] = [
      [0.05, 0.1, 1],
      [-0.05, 0.1, -1],
      [1.005, 0.01, 101],
      [-1.005, 0.01, -101],
      [8.5, 1, 9],
      [-8.5, 1, -9],
      [59.9994999, 0.001, 59_999],
      [59.9995, 0.001, 60_000],
      [2_147_483.647, 0.001, 2_147_483_647],
      [0, 0.1, 0],
    ];
    for (const [value, multiplier, wire] of cases) {
      const points = own([row('AI1', multiplier)], new Map([['AI1', value]]));
      expect(points.database.point('analogInput', 1)?.state.value, `${value} / ${multiplier}`).to.equal(wire);
    }
  });

  it('of counters go round at 32 bits', () => {
    const values = new Map<PointName, number | boolean | null>([['CTR0', 2 ** 32 + 5.9]]);
    const points = own([row('CTR0')], values);
    expect(points.database.point('counter', 0)?.state).to.include({ value: 5, flags: 1 });
    points.database.freeze('all', false, points.database as never);
    expect(points.database.point('frozenCounter', 0)).to.deep.include({ class: 3 });
    expect(points.database.point('frozenCounter', 0)?.state.value).to.equal(5);
  });

  it('are 0 without ONLINE while there is none, and no longer RESTART', () => {
    const values = new Map<PointName, number | boolean | null>([
      ['AI1', 5],
      ['BI1', true],
    ]);
    const points = own([row('AI1'), row('BI1')], values);
    expect(points.database.point('analogInput', 1)?.state).to.include({ value: 5, flags: 1 });
    const events: PointEvent[] = [];
    points.database.onEvent((event) => events.push(event));
    values.set('AI1', null).set('BI1', null);
    points.tick();
    expect(points.database.point('analogInput', 1)?.state).to.include({ value: 0, flags: 0 });
    expect(points.database.point('binaryInput', 1)?.state).to.include({ value: 0, flags: 0 });
    values.set('AI1', 0);
    points.tick();
    expect(events.map(({ state }) => ({ ...state }))).to.deep.equal([
      { value: 0, flags: 0 },
      { value: 0, flags: 0 },
      { value: 0, flags: 1 },
    ]);
  });

  it('beyond the range of their point are its end, marked OVER_RANGE', () => {
    const values = new Map<PointName, number | boolean | null>([['AI1', 101]]);
    const points = own([{ ...row('AI1'), min: -100, max: 100 }], values);
    const state = () => points.database.point('analogInput', 1)?.state;
    expect(state()).to.include({ value: 100, flags: 0x21 });
    values.set('AI1', -100.4);
    points.tick();
    expect(state()).to.include({ value: -100, flags: 0x01 });
    values.set('AI1', -101);
    points.tick();
    expect(state()).to.include({ value: -100, flags: 0x21 });
  });

  it('that are no number keep the outstation going', () => {
    const values = new Map<PointName, number | boolean | null>([['AI1', Infinity]]);
    const points = own([row('AI1')], values);
    points.tick();
    expect(points.database.point('analogInput', 1)?.state.value).to.satisfy(Number.isNaN);
    expect(points.views({ type: 'AI' })[0]).to.include({ value: null, engineeringValue: null });
  });

  it('are controlled by name only where an output is served', () => {
    const points = own([row('AI1')], new Map([['AI1', 5]]));
    expect(points.controls.has('analog', 1)).to.equal(false);
    expect(points.controls.operate({ kind: 'analog', index: 1, value: 1, isFloat: false }, master)).to.equal(4);
  });
});
