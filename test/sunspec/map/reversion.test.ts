import { expect } from 'chai';
import { secondsBetween } from '../../../src/core/time/clock.ts';
import type { AnyPointValue } from '../../../src/sunspec/map/types.ts';
import { reversionTimers } from '../../../src/sunspec/map/timers.ts';
import { pointName } from '../../../src/sunspec/map/view.ts';
import { byModbus, createTestBank, words } from '../../support/map.ts';
import type { MapOptions, TestBank } from '../../support/map.ts';

interface Group {
  readonly name: string;
  readonly enable: string;
  readonly timer: string;
  readonly remaining: string;
  /** set-points while the timer runs */
  readonly set: Readonly<Record<string, AnyPointValue>>;
  /** reversion values, without that of the enable */
  readonly stored: Readonly<Record<string, AnyPointValue>>;
  /** what the set-points are after expiry */
  readonly reverted: Readonly<Record<string, AnyPointValue>>;
  readonly enableRvrt: string;
}

/** A 704 group whose points follow the naming rule of that model. */
function controls(prefix: string, values: Readonly<Record<string, readonly [AnyPointValue, AnyPointValue]>>): Group {
  const of = (
    pick: (entry: readonly [string, readonly [AnyPointValue, AnyPointValue]]) => readonly [string, AnyPointValue],
  ) => Object.fromEntries(Object.entries(values).map(pick));
  const partner = (path: string) => (path.includes('.') ? path.replace('.', 'Rvrt.') : `${path}Rvrt`);
  return {
    name: `704 ${prefix}`,
    enable: `704.${prefix}Ena`,
    enableRvrt: `704.${prefix}EnaRvrt`,
    timer: `704.${prefix}RvrtTms`,
    remaining: `704.${prefix}RvrtRem`,
    set: of(([path, [value]]) => [`704.${path}`, value]),
    stored: of(([path, [, value]]) => [`704.${partner(path)}`, value]),
    reverted: of(([path, [, value]]) => [`704.${path}`, value]),
  };
}

const groups: readonly Group[] = [
  controls('PFWInj', { 'PFWInj.PF': [0.9, 0.95], 'PFWInj.Ext': ['UNDER_EXCITED', 'OVER_EXCITED'] }),
  controls('PFWAbs', { 'PFWAbs.PF': [0.85, 0.97], 'PFWAbs.Ext': ['OVER_EXCITED', 'UNDER_EXCITED'] }),
  controls('WMaxLimPct', { WMaxLimPct: [40.5, 99.9] }),
  controls('WSet', { WSet: [-30_000, 1234], WSetPct: [25.5, -12.3] }),
  controls('VarSet', { VarSet: [-20_001, 4321], VarSetPct: [-25.5, 12.3] }),
];

const started = (group: Group, seconds: number) => ({
  ...group.set,
  ...group.stored,
  [group.timer]: seconds,
  [group.enable]: 'ENABLED',
});
const values = (test: TestBank, names: Readonly<Record<string, AnyPointValue>>) =>
  Object.fromEntries(Object.keys(names).map((name) => [name, test.value(name)]));

/** A device on which the timer of a group has been running for `elapsed` of `seconds`. */
function running(group: Group, seconds = 60, elapsed = 0, options: MapOptions = {}): TestBank {
  const test = createTestBank(options);
  test.set(started(group, seconds));
  test.pass(elapsed);
  return test;
}

function dueIn(test: TestBank): number {
  const due = test.scheduler.nextDue;
  return due === Infinity ? Infinity : secondsBetween(test.clock.sim(), due as ReturnType<typeof test.clock.sim>);
}

for (const group of groups) {
  describe(`reversion (section 7): ${group.name}`, () => {
    const { enable, timer, remaining } = group;

    it('starts with the enable when there is a time, and counts down in whole seconds', () => {
      const test = running(group);
      expect([test.value(remaining), dueIn(test)]).to.deep.equal([60, 60]);
      for (const [seconds, left] of [
        [0.5, 60],
        [0.5, 59],
        [28.9, 31],
        [0.1, 30],
        [29.9, 1],
      ] as const) {
        test.pass(seconds);
        expect(test.value(remaining), `after ${seconds} more`).to.equal(left);
      }
      expect(values(test, group.set)).to.deep.equal(group.set);
      expect(test.value(timer)).to.equal(60);
    });

    it('does not run without a time or while the function is off', () => {
      const test = createTestBank();
      test.set({ ...group.set, [enable]: 'ENABLED' });
      expect([test.value(remaining), dueIn(test)]).to.deep.equal([0, Infinity]);
      const off = createTestBank();
      off.set({ ...group.set, [timer]: 60 });
      expect([off.value(remaining), dueIn(off)]).to.deep.equal([0, Infinity]);
      off.pass(10);
      off.set({ [enable]: 'ENABLED' });
      expect([off.value(remaining), dueIn(off)]).to.deep.equal([60, 60]);
    });

    it('starts when a time is written to an enabled function', () => {
      const test = createTestBank();
      test.set({ ...group.set, [enable]: 'ENABLED' });
      test.pass(5);
      test.set({ [timer]: 20 });
      expect([test.value(remaining), dueIn(test)]).to.deep.equal([20, 20]);
    });

    const restarts: Readonly<Record<string, Readonly<Record<string, AnyPointValue>>>> = {
      'the enable': { [enable]: 'ENABLED' },
      'the same time': { [timer]: 60 },
      ...Object.fromEntries(Object.entries(group.set).map(([name, value]) => [name, { [name]: value }])),
    };
    for (const [what, change] of Object.entries(restarts)) {
      it(`starts anew with a write of ${what}`, () => {
        const test = running(group, 60, 45);
        expect(test.value(remaining)).to.equal(15);
        test.set(change);
        expect([test.value(remaining), dueIn(test)]).to.deep.equal([60, 60]);
        test.pass(59);
        expect([test.value(remaining), test.value(enable)]).to.deep.equal([1, 'ENABLED']);
        test.pass(1);
        expect(values(test, group.reverted)).to.deep.equal(group.reverted);
      });
    }

    it('starts anew with another time', () => {
      const test = running(group, 60, 45);
      test.set({ [timer]: 100 });
      expect([test.value(remaining), dueIn(test)]).to.deep.equal([100, 100]);
    });

    it('is not restarted by its reversion values or by other groups', () => {
      const test = running(group, 60, 45);
      test.set({ ...group.stored, [group.enableRvrt]: 'ENABLED', '704.WRmp': 50 });
      for (const other of groups.filter((each) => each !== group)) test.set(started(other, 1000));
      expect(dueIn(test)).to.equal(15);
      test.timers.publish(test.clock.sim());
      expect(test.value(remaining)).to.equal(15);
    });

    for (const [what, change] of Object.entries({ 'time 0': { [timer]: 0 }, disabling: { [enable]: 'DISABLED' } })) {
      it(`is ended by ${what}`, () => {
        const test = running(group, 60, 45);
        test.set(change);
        expect([test.value(remaining), dueIn(test)]).to.deep.equal([0, Infinity]);
        const before = test.dump();
        test.pass(100);
        expect(test.dump().equals(before)).to.equal(true);
        expect(test.value(timer)).to.equal(what === 'disabling' ? 60 : 0);
      });
    }

    for (const after of ['DISABLED', 'ENABLED'] as const) {
      it(`on expiry takes the stored values and is then ${after}`, () => {
        const test = running(group, 60);
        test.set({ [group.enableRvrt]: after });
        const commits = test.changes.length;
        test.pass(59.999);
        expect(test.value(enable)).to.equal('ENABLED');
        test.pass(0.001);
        expect(values(test, group.reverted)).to.deep.equal(group.reverted);
        expect([test.value(enable), test.value(remaining), test.value(timer)]).to.deep.equal([after, 0, 60]);
        expect(test.changes).to.have.lengthOf(commits + 1);
        const change = test.changes.at(-1);
        expect(change?.by).to.deep.equal({ source: 'reversion' });
        expect(change?.points.map(pointName)).to.have.members([enable, ...Object.keys(group.reverted)]);
        expect(change?.at).to.equal(test.clock.sim());
        expect(test.bank.provenance(test.layout.slots.find((slot) => pointName(slot) === enable)!)?.source).to.equal(
          'reversion',
        );
        expect(test.faults).to.deep.equal([]);
      });
    }

    it('rests after expiry until it is written again', () => {
      const test = running(group, 60);
      test.set({ [group.enableRvrt]: 'ENABLED' });
      test.pass(60);
      expect([test.value(enable), dueIn(test)]).to.deep.equal(['ENABLED', Infinity]);
      const before = test.dump();
      test.pass(1000);
      expect(test.dump().equals(before)).to.equal(true);
      test.set(group.set);
      expect([test.value(remaining), dueIn(test)]).to.deep.equal([60, 60]);
    });

    it('a refused write leaves the timer alone', () => {
      const test = running(group, 60, 45);
      expect(() => {
        test.set({ ...group.set, [timer]: 0, '704.WRmp': 0 });
      }).to.throw('704.WRmp');
      expect([test.value(remaining), dueIn(test)]).to.deep.equal([15, 15]);
    });
  });
}

describe('reversion: stored values that are no longer allowed', () => {
  it('the function ends with its values as they are, and the fault is told', () => {
    const test = createTestBank();
    test.set({
      '704.WSet': 10_000,
      '704.WSetRvrt': 90_000,
      '704.WSetPctRvrt': 33,
      '704.WSetRvrtTms': 60,
      '704.WSetEna': 'ENABLED',
    });
    test.set({ '702.WMax': 50_000 });
    test.pass(60);
    expect([test.value('704.WSet'), test.value('704.WSetPct'), test.value('704.WSetEna')]).to.deep.equal([
      10_000,
      0,
      'DISABLED',
    ]);
    expect([test.value('704.WSetRvrtRem'), dueIn(test)]).to.deep.equal([0, Infinity]);
    expect(test.faults).to.deep.equal(['reversion of 704.WSetRvrtTms: 704.WSet: 90000 is outside -80000..50000']);
    const reverted = test.changes.filter(({ by }) => by.source === 'reversion');
    expect(reverted.map(({ points }) => points.map(({ path }) => path))).to.deep.equal([['WSetEna']]);
  });

  it('nothing changes when the enable may not be taken', () => {
    const test = createTestBank();
    const group = groups[2]!;
    test.set({ ...started(group, 60), [group.enableRvrt]: 'ENABLED' });
    test.bank.measurements.m702.CtrlModes = 0;
    test.pass(60);
    expect(values(test, group.set)).to.deep.equal(group.set);
    expect(test.faults).to.have.lengthOf(1);
    expect(test.faults[0]).to.match(/^reversion of 704\.WMaxLimPctRvrtTms: 704\.WMaxLimPctEna: /);
  });
});

describe('reversion: a device without all of the points', () => {
  it('only one of two set-points: that one reverts', () => {
    const test = createTestBank({ omit: ['704.WSet', '704.WSetRvrt'] });
    test.set({ '704.WSetPct': 10, '704.WSetPctRvrt': 20, '704.WSetRvrtTms': 5, '704.WSetEna': 'ENABLED' });
    test.pass(5);
    expect([test.value('704.WSetPct'), test.value('704.WSetEna'), test.faults]).to.deep.equal([20, 'DISABLED', []]);
  });

  it('a set-point without its reversion value stays', () => {
    const test = createTestBank({ omit: ['704.WMaxLimPctRvrt'] });
    test.set({ '704.WMaxLimPct': 30, '704.WMaxLimPctRvrtTms': 5, '704.WMaxLimPctEna': 'ENABLED' });
    test.pass(5);
    expect([test.value('704.WMaxLimPct'), test.value('704.WMaxLimPctEna'), test.faults]).to.deep.equal([
      30,
      'DISABLED',
      [],
    ]);
  });

  it('no timer: nothing counts, and its registers stay "not implemented"', () => {
    const test = createTestBank({
      omit: ['704.WMaxLimPctRvrtTms', '704.WMaxLimPctRvrtRem', '705.RvrtTms', '705.RvrtRem'],
    });
    test.set({ '704.WMaxLimPctEna': 'ENABLED', '704.WMaxLimPct': 30, '705.Ena': 'ENABLED' });
    test.pass(5);
    for (const [id, path] of [
      [704, 'WMaxLimPctRvrtRem'],
      [705, 'RvrtRem'],
    ] as const) {
      expect(test.bank.raw(test.slot(id, path)), path).to.deep.equal([0xffff, 0xffff]);
    }
    expect(test.scheduler.nextDue).to.equal(Infinity);
  });
});

const curves = [
  { id: 705, set: 'RvrtCrv', request: 'AdptCrvReq', point: 'Crv[#].Pt[0].V', staged: 91, kept: 97 },
  { id: 706, set: 'RvrtCrv', request: 'AdptCrvReq', point: 'Crv[#].Pt[0].V', staged: 105, kept: 107 },
  { id: 711, set: 'RvrtCtl', request: 'AdptCtlReq', point: 'Ctl[#].KOf', staged: 0.03, kept: 0.04 },
  { id: 712, set: 'RvrtCrv', request: 'AdptCrvReq', point: 'Crv[#].Pt[0].W', staged: -10, kept: -20 },
] as const;

for (const { id, set, request, point, staged, kept } of curves) {
  describe(`reversion (section 7): model ${id}`, () => {
    const inSet = (number: number) => `${id}.${point.replace('#', String(number - 1))}`;
    /** Set 2 in force for 60 s, then set 3. */
    const make = (reversionSet = 3): TestBank => {
      const test = createTestBank();
      test.set({ [inSet(2)]: staged, [inSet(3)]: kept });
      test.set({
        [`${id}.${request}`]: 2,
        [`${id}.RvrtTms`]: 60,
        [`${id}.${set}`]: reversionSet,
        [`${id}.Ena`]: 'ENABLED',
      });
      return test;
    };

    it('counts down, then adopts the stored set; the function stays on', () => {
      const test = make();
      expect([test.value(`${id}.RvrtRem`), test.value(inSet(1))]).to.deep.equal([60, staged]);
      test.pass(59.5);
      expect([test.value(`${id}.RvrtRem`), test.value(inSet(1))]).to.deep.equal([1, staged]);
      test.pass(0.5);
      expect([test.value(`${id}.RvrtRem`), test.value(inSet(1)), test.value(`${id}.Ena`)]).to.deep.equal([
        0,
        kept,
        'ENABLED',
      ]);
      expect([test.value(`${id}.${request}`), test.value(`${id}.${request.replace('Req', 'Rslt')}`)]).to.deep.equal([
        3,
        'COMPLETED',
      ]);
      expect(test.changes.at(-1)?.by).to.deep.equal({ source: 'reversion' });
      expect(test.changes.at(-1)?.points.map(pointName)).to.deep.equal([`${id}.${request}`]);
      expect([test.value(`${id}.RvrtTms`), dueIn(test), test.faults]).to.deep.equal([60, Infinity, []]);
    });

    it('starts anew with the enable and the time, is ended by 0 and by disabling', () => {
      const test = make();
      for (const change of [{ [`${id}.Ena`]: 'ENABLED' }, { [`${id}.RvrtTms`]: 60 }]) {
        test.pass(45);
        test.set(change);
        expect([test.value(`${id}.RvrtRem`), dueIn(test)]).to.deep.equal([60, 60]);
      }
      test.set({ [`${id}.RvrtTms`]: 0 });
      expect([test.value(`${id}.RvrtRem`), dueIn(test)]).to.deep.equal([0, Infinity]);
      test.set({ [`${id}.RvrtTms`]: 60 });
      test.set({ [`${id}.Ena`]: 'DISABLED' });
      test.pass(100);
      expect([test.value(`${id}.RvrtRem`), test.value(inSet(1))]).to.deep.equal([0, staged]);
    });

    it('reversion set 0: the timer ends without effect', () => {
      const test = make(0);
      const commits = test.changes.length;
      test.pass(60);
      expect([test.value(inSet(1)), test.value(`${id}.RvrtRem`)]).to.deep.equal([staged, 0]);
      expect([test.changes.length, test.faults]).to.deep.equal([commits, []]);
    });
  });
}

describe('reversion: a stored curve that has become unfit', () => {
  it('the adoption fails, set 1 stays', () => {
    const test = createTestBank();
    test.set({ '705.RvrtTms': 60, '705.RvrtCrv': 3, '705.Ena': 'ENABLED' });
    test.set({ '705.Crv[2].ActPt': 0 });
    const inForce = test.value('705.Crv[0].Pt[0].V');
    test.pass(60);
    expect([
      test.value('705.AdptCrvRslt'),
      test.value('705.Crv[0].Pt[0].V'),
      test.value('705.Crv[0].ActPt'),
    ]).to.deep.equal(['FAILED', inForce, 2]);
  });
});

describe('reversion: several timers', () => {
  it('run side by side, each with its own time', () => {
    const test = createTestBank();
    groups.forEach((group, i) => {
      test.set(started(group, 10 * (i + 1)));
    });
    expect(groups.map(({ remaining }) => test.value(remaining))).to.deep.equal([10, 20, 30, 40, 50]);
    test.pass(25);
    expect(groups.map(({ remaining }) => test.value(remaining))).to.deep.equal([0, 0, 5, 15, 25]);
    expect(groups.map(({ enable }) => test.value(enable))).to.deep.equal([
      'DISABLED',
      'DISABLED',
      'ENABLED',
      'ENABLED',
      'ENABLED',
    ]);
  });

  it('a master starts one with a span of value, enable and time', () => {
    const test = createTestBank();
    test.bank.write(test.slot(704, 'WMaxLimPctEna').address, words(1, 500, 1000, 0, 0, 30), byModbus);
    expect([test.value('704.WMaxLimPctRvrtRem'), test.value('704.WMaxLimPct')]).to.deep.equal([30, 50]);
    test.pass(30);
    expect([test.value('704.WMaxLimPct'), test.value('704.WMaxLimPctEna')]).to.deep.equal([100, 'DISABLED']);
  });

  it('the longest time that fits is taken', () => {
    const test = createTestBank();
    test.set({ '704.WMaxLimPctRvrtTms': 4_294_967_294, '704.WMaxLimPctEna': 'ENABLED' });
    expect([test.value('704.WMaxLimPctRvrtRem'), dueIn(test)]).to.deep.equal([4_294_967_294, 4_294_967_294]);
  });

  it('clear ends all of them without effect', () => {
    const test = createTestBank();
    for (const group of groups) test.set(started(group, 60));
    test.timers.clear();
    expect(test.scheduler.nextDue).to.equal(Infinity);
    expect(groups.map(({ remaining }) => test.value(remaining))).to.deep.equal([0, 0, 0, 0, 0]);
    expect(groups.map(({ enable }) => test.value(enable))).to.deep.equal(Array(5).fill('ENABLED'));
  });
});

describe('reversion: timers of the classic models', () => {
  it('are those that a hold of their points has to suspend', () => {
    const timers = reversionTimers(createTestBank({ classic: true, storage: true }).layout);
    const ofClassic = [...timers].filter(([{ modelId }]) => modelId < 200);
    expect(ofClassic.map(([slot, timer]) => `${pointName(slot)}: ${timer.path}`)).to.deep.equal([
      '123.Conn: Conn_RvrtTms',
      '123.WMaxLimPct: WMaxLimPct_RvrtTms',
      '123.WMaxLim_Ena: WMaxLimPct_RvrtTms',
      '123.OutPFSet: OutPFSet_RvrtTms',
      '123.OutPFSet_Ena: OutPFSet_RvrtTms',
      '123.VArWMaxPct: VArPct_RvrtTms',
      '123.VArMaxPct: VArPct_RvrtTms',
      '123.VArAvalPct: VArPct_RvrtTms',
      '123.VArPct_Mod: VArPct_RvrtTms',
      '123.VArPct_Ena: VArPct_RvrtTms',
      '124.StorCtl_Mod: InOutWRte_RvrtTms',
      '124.OutWRte: InOutWRte_RvrtTms',
      '124.InWRte: InOutWRte_RvrtTms',
    ]);
  });
});
