/** SunSpec Modbus conformance, REV-1 to REV-3: reversion timers expire, can be extended and can be canceled. */
import { expect } from 'chai';
import type { GridPatch } from '../../src/contract/environment.ts';
import { openBed } from '../support/conformance/bed.ts';
import type { Bed, Line } from '../support/conformance/bed.ts';
import { DeviceMap } from '../support/conformance/device-map.ts';

type Values = Readonly<Record<string, number | string>>;

interface ReversionGroup {
  readonly title: string;
  readonly timer: string;
  readonly remaining: string;
  /** values before the command */
  readonly prepare: Values;
  /** the command */
  readonly command: Values;
  /** further values that the command sets */
  readonly inForce?: Values;
  /** values after the reversion */
  readonly reverted: Values;
  /** the measurement of 701 that shows both, in a grid where they differ */
  readonly effect: Effect;
}

interface Effect {
  readonly grid?: GridPatch;
  readonly measured: string;
  /** its unit */
  readonly of: string;
  /** percent of that */
  readonly commanded: number;
  readonly reverted: number;
}

const watts = (commanded: number, reverted: number, grid?: GridPatch): Effect => ({
  measured: '701.W',
  of: '702.WMax',
  commanded,
  reverted,
  ...(grid && { grid }),
});
/** @param of what is injected or absorbed at most */
const vars = (of: string, commanded: number, reverted: number, grid?: GridPatch): Effect => ({
  measured: '701.Var',
  of,
  commanded,
  reverted,
  ...(grid && { grid }),
});

const group704 = (
  title: string,
  timer: string,
  prepare: Values,
  command: Values,
  reverted: Values,
  effect: Effect,
): ReversionGroup => ({
  title,
  timer: `704.${timer}RvrtTms`,
  remaining: `704.${timer}RvrtRem`,
  prepare,
  command,
  reverted,
  effect,
});

/** A curve model goes back to the set that RvrtCrv names: the first one, in which `point` is another. */
const curveGroup = (
  id: number,
  point: string,
  values: readonly [command: number, fallback: number],
  effect: Effect,
  set = 'Crv',
  also: Values = {},
): ReversionGroup => ({
  title: `${id}`,
  effect,
  timer: `${id}.RvrtTms`,
  remaining: `${id}.RvrtRem`,
  prepare: {
    ...also,
    [`${id}.${set}[1].${point}`]: values[0],
    [`${id}.${set}[2].${point}`]: values[1],
    [`${id}.Rvrt${set}`]: 3,
  },
  command: { [`${id}.Adpt${set}Req`]: 2, [`${id}.Ena`]: 'ENABLED' },
  inForce: { [`${id}.${set}[0].${point}`]: values[0] },
  reverted: { [`${id}.${set}[0].${point}`]: values[1] },
});

const groups: readonly ReversionGroup[] = [
  group704(
    '704 active power limit',
    'WMaxLimPct',
    { '704.WMaxLimPctRvrt': 80, '704.WMaxLimPctEnaRvrt': 'ENABLED' },
    { '704.WMaxLimPct': 50, '704.WMaxLimPctEna': 'ENABLED' },
    { '704.WMaxLimPct': 80, '704.WMaxLimPctEna': 'ENABLED' },
    watts(50, 80),
  ),
  group704(
    '704 active power set-point',
    'WSet',
    { '704.WSetMod': 'WATTS', '704.WSetRvrt': 1000, '704.WSetEnaRvrt': 'DISABLED' },
    { '704.WSet': 3000, '704.WSetEna': 'ENABLED' },
    { '704.WSet': 1000, '704.WSetEna': 'DISABLED' },
    watts(30, 100),
  ),
  group704(
    '704 reactive power',
    'VarSet',
    { '704.VarSetMod': 'VAR_MAX_PCT', '704.VarSetPctRvrt': 10, '704.VarSetEnaRvrt': 'ENABLED' },
    { '704.VarSetPct': 30, '704.VarSetEna': 'ENABLED' },
    { '704.VarSetPct': 10, '704.VarSetEna': 'ENABLED' },
    vars('702.VarMaxInj', 30, 10),
  ),
  group704(
    '704 power factor',
    'PFWInj',
    { '704.PFWInjRvrt.PF': 0.99, '704.PFWInjRvrt.Ext': 'UNDER_EXCITED', '704.PFWInjEnaRvrt': 'DISABLED' },
    { '704.PFWInj.PF': 0.92, '704.PFWInj.Ext': 'OVER_EXCITED', '704.PFWInjEna': 'ENABLED' },
    { '704.PFWInj.PF': 0.99, '704.PFWInj.Ext': 'UNDER_EXCITED', '704.PFWInjEna': 'DISABLED' },
    vars('702.VAMax', 100 * Math.sin(Math.acos(0.92)), 0),
  ),
  // half way between two points of the curve, of which one differs
  curveGroup(705, 'Pt[0].Var', [40, 20], vars('702.VAMax', 20, 10, { voltagePu: 0.95 })),
  curveGroup(706, 'Pt[1].W', [20, 60], watts(60, 80, { voltagePu: 1.08 })),
  curveGroup(
    711,
    'KOf',
    [0.05, 0.03],
    watts(100 - (100 * 0.464) / 60 / 0.05, 100 - (100 * 0.464) / 60 / 0.03, { frequencyHz: 60.5 }),
    'Ctl',
  ),
  curveGroup(712, 'Pt[2].Var', [-40, -20], vars('702.VAMax', -20, -10), 'Crv', {
    '704.WMaxLimPct': 75,
    '704.WMaxLimPctEna': 'ENABLED',
  }),
];

/** A device that takes power has one more. */
const charging: readonly ReversionGroup[] = [
  group704(
    '704 power factor while charging',
    'PFWAbs',
    {
      '704.WSetMod': 'WATTS',
      '704.WSet': -3000,
      '704.WSetEna': 'ENABLED',
      '704.PFWAbsRvrt.PF': 0.99,
      '704.PFWAbsRvrt.Ext': 'UNDER_EXCITED',
      '704.PFWAbsEnaRvrt': 'DISABLED',
    },
    { '704.PFWAbs.PF': 0.92, '704.PFWAbs.Ext': 'OVER_EXCITED', '704.PFWAbsEna': 'ENABLED' },
    { '704.PFWAbs.PF': 0.99, '704.PFWAbs.Ext': 'UNDER_EXCITED', '704.PFWAbsEna': 'DISABLED' },
    vars('704.WSet', -100 * Math.tan(Math.acos(0.92)), 0),
  ),
];

/** Seconds after which what is measured is what is commanded. */
const responseS = 20;
/** Seconds by which a count or an expiry may be off. */
const tolerance = 2;

export function reversionProcedures(line: Line, type: 'PV-3Phase' | 'Batt-3Phase'): void {
  const members = type === 'Batt-3Phase' ? charging : groups;
  describe(`Conformance over ${line.name}: reversion, ${type}`, () => {
    let bed: Bed;
    let map: DeviceMap;

    before(async () => {
      bed = await openBed(line, [type]);
      map = await DeviceMap.scan(await bed.master());
    });
    beforeEach(() => bed.restart());
    after(() => bed.close());

    const write = async (values: Values) => {
      for (const [name, value] of Object.entries(values)) await map.write(name, value);
    };

    async function expectValues(values: Values, when: string): Promise<void> {
      for (const [name, value] of Object.entries(values))
        expect(await map.value(name), `${name} ${when}`).to.equal(value);
    }

    const commanded = ({ command, inForce }: ReversionGroup): Values => ({ ...command, ...inForce });

    async function isSeen(
      { effect: { measured, of, commanded: before, reverted: after } }: ReversionGroup,
      which: 'commanded' | 'reverted',
      when: string,
    ): Promise<void> {
      const base = await map.number(of);
      const percent = which === 'commanded' ? before : after;
      expect(await map.number(measured), `${measured} ${which} ${when}`).to.be.closeTo(
        (percent / 100) * base,
        0.01 * Math.abs(base),
      );
    }

    async function begin(group: ReversionGroup, seconds: number): Promise<void> {
      const { prepare, command, timer, effect } = group;
      bed.plant.setGrid(effect.grid ?? { voltagePu: 1 });
      await bed.step(responseS);
      await write({ [timer]: 0 });
      await write(prepare);
      await write({ ...command, [timer]: seconds });
      await expectValues({ ...commanded(group), [timer]: seconds }, 'at the start');
    }

    for (const group of members) {
      const remaining = () => map.number(group.remaining);

      it(`REV-1: ${group.title}: counts down and expires`, async () => {
        await begin(group, 60);
        for (let passed = 0; passed <= 45; passed += 15) {
          expect(await remaining(), `after ${passed} s`).to.be.closeTo(60 - passed, tolerance);
          await expectValues(commanded(group), `after ${passed} s`);
          if (passed >= responseS) await isSeen(group, 'commanded', `after ${passed} s`);
          await bed.step(15);
        }
        // 60 s have passed
        await bed.step(tolerance);
        expect(await remaining()).to.equal(0);
        await expectValues(group.reverted, 'after the expiry');
        // idle until it is written again
        await bed.step(70);
        await expectValues({ ...group.reverted, [group.timer]: 60 }, 'a minute later');
        await isSeen(group, 'reverted', 'a minute later');
        expect(await remaining()).to.equal(0);
      });

      it(`REV-1: ${group.title}: not before its time`, async () => {
        await begin(group, 30);
        await bed.step(30 - tolerance);
        expect(await remaining()).to.be.within(1, 2 * tolerance);
        await expectValues(commanded(group), 'just before the expiry');
        await isSeen(group, 'commanded', 'just before the expiry');
        await bed.step(2 * tolerance);
        await expectValues(group.reverted, 'just after it');
        await bed.step(responseS);
        await isSeen(group, 'reverted', 'behind it');
      });

      it(`REV-2: ${group.title}: writing the time again extends it, three times`, async () => {
        await begin(group, 40);
        for (let i = 0; i < 3; i += 1) {
          await bed.step(20);
          expect(await remaining(), `half time, round ${i}`).to.be.closeTo(20, tolerance);
          await map.write(group.timer, 40);
          expect(await remaining(), `extended, round ${i}`).to.be.closeTo(40, tolerance);
          await expectValues(commanded(group), `round ${i}`);
          await isSeen(group, 'commanded', `round ${i}`);
        }
        await bed.step(40 + tolerance);
        await expectValues(group.reverted, 'after the expiry');
        await bed.step(responseS);
        await isSeen(group, 'reverted', 'after the expiry');
      });

      it(`REV-3: ${group.title}: writing 0 cancels it`, async () => {
        await begin(group, 40);
        await bed.step(20);
        await map.write(group.timer, 0);
        expect(await remaining()).to.equal(0);
        await bed.step(60);
        expect(await remaining()).to.equal(0);
        await expectValues(commanded(group), 'long after');
        await isSeen(group, 'commanded', 'long after');
      });
    }
  });
}
