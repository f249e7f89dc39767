import { expect } from 'chai';
import fc from 'fast-check';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';
import { Watch } from '../../support/interaction-invariants.ts';
import type { Kind, Pairs, Plan } from '../../support/interaction-plan.ts';
import { restPlan } from '../../support/interaction-plan.ts';
import { InteractionRig } from '../../support/interaction-rig.ts';
import { holdsAsync } from '../../support/property.ts';

const responseS = 5;
const kinds: readonly Kind[] = ['pv', 'store'];
const real = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const droop = { overBandHz: 0.036, underBandHz: 0.036, overDroop: 0.05, underDroop: 0.05, minPct: -100 };
const voltWatt = {
  points: [
    [104, 100],
    [110, 20],
  ],
  ofAvailable: false,
} as const;

/** A device with everything on that moves active power, in full service. */
async function ready(kind: Kind, plan: Partial<Plan>, rampPctS: number): Promise<InteractionRig> {
  const rig = new InteractionRig({ kind, responseS, rampPctS });
  rig.configure({ ...restPlan, ...plan });
  await rig.visit({ holdS: 60, power: 0.9 });
  return rig;
}

/** Largest step of active power beyond what is allowed per second, and beside it, per unit. */
function excess(watch: Watch, allowed: (seconds: number) => number): number {
  const rows = watch.look();
  return rows.reduce((most, row, i) => {
    const before = rows[i - 1];
    if (!before) return most;
    const step = Math.abs(row.activePowerW - before.activePowerW) / watch.rig.ratedW;
    return Math.max(most, step - allowed((row.at - before.at) / 1e6));
  }, -Infinity);
}

function order(tx: WritableMapView, limitPct: number | null, setPoint: number): void {
  Object.assign(tx.m704, {
    WMaxLimPctEna: limitPct === null ? 'DISABLED' : 'ENABLED',
    WMaxLimPct: limitPct ?? 100,
    WSetMod: 'W_MAX_PCT',
    WSetPct: 100 * setPoint,
    WSetEna: 'ENABLED',
  });
}

/** where a response has come this close it ends */
const rounding = 1.1e-4;

describe('Steps of active power (704.WRmp, RspTms of 706 and 711)', () => {
  for (const kind of kinds) {
    const command = fc.record({
      limitPct: fc.option(fc.integer({ min: 0, max: 100 })),
      setPoint: real(kind === 'pv' ? 0 : -1, 1),
      seconds: fc.constantFrom(0.3, 2, 9),
    });

    it(`${kind}: a command alone never moves power faster than WRmp`, async () => {
      await holdsAsync(
        `${kind}: a command keeps to WRmp`,
        [fc.array(command, { minLength: 1, maxLength: 8 }), fc.constantFrom(1, 20, 100)],
        async (commands, rampPctS) => {
          const rig = await ready(kind, { voltWatt }, rampPctS);
          const watch = new Watch(rig);
          for (const { limitPct, setPoint, seconds } of commands) {
            rig.set((tx) => {
              order(tx, limitPct, setPoint);
            });
            await rig.run(seconds);
            expect(excess(watch, (dtS) => (rampPctS / 100) * dtS)).to.be.at.most(rounding);
          }
        },
        { runs: 25 },
      );
    }).timeout(30_000);

    it(`${kind}: a command under droop is not made faster by it`, async () => {
      await holdsAsync(
        `${kind}: a command under droop`,
        [fc.constantFrom(-0.6, 0.5), fc.array(command, { minLength: 1, maxLength: 4 })],
        async (hz, commands) => {
          const rig = await ready(kind, { droop }, 5);
          rig.grid({ hz });
          await rig.run(60);
          const watch = new Watch(rig);
          for (const { limitPct, setPoint, seconds } of commands) {
            rig.set((tx) => {
              order(tx, limitPct, setPoint);
            });
            await rig.run(seconds);
            const rows = watch.look();
            // the command at its ramp, and what droop adds by its response: 0.564 Hz / (60 Hz x 5 %) at most
            for (const row of rows) {
              const passedS = (row.at - rows[0]!.at) / 1e6;
              const moved = Math.abs(row.activePowerW - rows[0]!.activePowerW) / rig.ratedW;
              expect(moved).to.be.at.most(0.05 * passedS + 0.188 * (1 - 10 ** (-passedS / responseS)) + rounding);
            }
          }
        },
        { runs: 25 },
      );
    }).timeout(30_000);

    const change = fc.record({ v: real(0.9, 1.12), hz: real(-1.1, 1.1), seconds: fc.constantFrom(0.3, 2, 9) });
    it(`${kind}: a change of voltage or frequency alone never moves power faster than the response`, async () => {
      // 90 % after the response time, of the whole range at most
      const range = kind === 'pv' ? 1 : 2;
      await holdsAsync(
        `${kind}: a change of the grid`,
        [fc.array(change, { minLength: 1, maxLength: 8 }), fc.option(fc.integer({ min: 30, max: 100 }))],
        async (changes, limitPct) => {
          const rig = await ready(kind, { voltWatt, droop, limitPct }, 1000);
          const watch = new Watch(rig);
          for (const { seconds, ...grid } of changes) {
            rig.grid(grid);
            await rig.run(seconds);
            expect(
              excess(watch, (dtS) => range * (1 - 10 ** (-dtS / responseS))),
              JSON.stringify(grid),
            ).to.be.at.most(rounding);
          }
        },
        { runs: 50 },
      );
    }).timeout(30_000);
  }
});

const falling = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 85, max: 115 }), { minLength: 2, maxLength: 6 }),
    fc.array(fc.integer({ min: -60, max: 60 }), { minLength: 6, maxLength: 6 }),
  )
  .map(([xs, ys]): Pairs => {
    const order = [...ys].sort((a, b) => b - a);
    return xs.sort((a, b) => a - b).map((x, i) => [x, order[i]!] as const);
  });

/** Output at voltages from low to high, each settled. */
async function sweep(rig: InteractionRig, read: () => number): Promise<number[]> {
  const seen: number[] = [];
  for (let v = 0.86; v <= 1.14; v += 0.02) {
    await rig.visit({ v, power: 0.5 });
    seen.push(read());
  }
  return seen;
}

const neverRises = (values: readonly number[]) => values.every((value, i) => i === 0 || value <= values[i - 1]! + 1e-4);

describe('Curves of voltage (IEEE 1547-2018 5.3.3, 5.4.2)', () => {
  for (const kind of kinds) {
    it(`${kind}: falling volt-var and volt-watt curves give vars and watts that never rise with the voltage`, async () => {
      const rig = new InteractionRig({ kind });
      await holdsAsync(
        `${kind}: falling curves`,
        [falling, falling],
        async (vars, watts) => {
          rig.configure({
            ...restPlan,
            reactive: [{ name: 'volt_var', points: vars, base: 'VA_MAX_PCT', priority: 'REACTIVE', vRefPct: 100 }],
          });
          expect(neverRises(await sweep(rig, () => rig.q)), 'var').to.equal(true);
          rig.configure({
            ...restPlan,
            voltWatt: { points: watts.map(([x, y]) => [x, y + 40] as const), ofAvailable: false },
          });
          expect(neverRises(await sweep(rig, () => rig.p)), 'watt').to.equal(true);
        },
        { runs: 8 },
      );
    }).timeout(30_000);
  }
});
