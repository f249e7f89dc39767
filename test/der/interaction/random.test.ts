import { expect } from 'chai';
import fc from 'fast-check';
import { Watch } from '../../support/interaction-invariants.ts';
import type { Kind } from '../../support/interaction-plan.ts';
import { InteractionRig } from '../../support/interaction-rig.ts';
import { apply, scripts } from '../../support/interaction-script.ts';
import type { ScriptStep } from '../../support/interaction-script.ts';
import { holdsAsync } from '../../support/property.ts';

/** before and after a script, s */
const firstS = 5;
const restS = 40;

/** percent per second: 40 s are enough for any way */
const ramps = { WRmp: 20, VarRmp: 20 };

/** In service with short delays, so that random sequences come back from their trips. */
function fresh(kind: Kind, scale = 1): InteractionRig {
  const rig = new InteractionRig({ kind, scale });
  if (kind === 'pv') rig.supply(1.2);
  else rig.power(0.9);
  rig.set((tx) => {
    Object.assign(tx.m703, { ESDlyTms: 2, ESRmpTms: 4, ESVLo: 88, ESVHi: 106, ESHzLo: 59, ESHzHi: 61 });
    Object.assign(tx.m704, ramps);
  });
  return rig;
}

interface Seen {
  readonly p: number;
  readonly q: number;
  readonly state: string;
}

const seen = (rig: InteractionRig): Seen => {
  const { St, ConnSt } = rig.map.m701;
  return { p: rig.p, q: rig.q, state: `${St!} ${ConnSt!}` };
};

/**
 * Observations after each step, and at rest at the end: without slow ramps, and within the band of the droop, which keeps
 * the power of the instant at which the frequency has left it.
 */
async function play(rig: InteractionRig, script: readonly ScriptStep[], tickS?: number): Promise<Seen[]> {
  const all: Seen[] = [];
  await rig.run(firstS);
  for (const { act, seconds } of script) {
    apply(rig, act);
    await rig.run(seconds, tickS);
    all.push(seen(rig));
  }
  rig.patchGrid({ frequencyHz: rig.nominalHz });
  rig.set((tx) => Object.assign(tx.m704, ramps));
  await rig.run(restS);
  return [...all, seen(rig)];
}

/** Timers are exact. A device on its way out opens when nothing flows, which the end of a source can cause within a sub-step. */
const timerUs = 1000;
const subStepUs = 100_000;

/** 0.1 % of rated and the rounding of registers at rest. */
const atRest = 0.00105;
/** On the way, where a ramp of active power begins or ends within a sub-step: 0.1 s at 20 % of WMax per second. */
const onTheWayP = 0.02 + atRest;
/**
 * On the way, where kinks of a curve turn a ramp of reactive power twice within a sub-step: four times 0.1 s at 20 % of
 * VarMaxInj, 0.6, per second.
 */
const onTheWayQ = 4 * 0.012 + atRest;

/** Deviations of what two rigs have shown at the same instants. */
function differences(one: readonly Seen[], other: readonly Seen[]): string[] {
  return one.flatMap((a, i) => {
    const b = other[i]!;
    const [toleranceP, toleranceQ] = i === one.length - 1 ? [atRest, atRest] : [onTheWayP, onTheWayQ];
    const same = Math.abs(a.p - b.p) <= toleranceP && Math.abs(a.q - b.q) <= toleranceQ && a.state === b.state;
    return same ? [] : [`after step ${i}: ${JSON.stringify(a)}, and ${JSON.stringify(b)}`];
  });
}

const changes = (rig: InteractionRig) =>
  rig.device.trace.transitions.map(({ at, from, to, cause }) => ({
    at: Number(at),
    what: `${from} ${to} ${cause ?? ''}`,
  }));

describe('Random sequences of settings, commands, grid and source', () => {
  for (const kind of ['pv', 'store'] satisfies Kind[]) {
    it(`${kind}: every sub-step keeps the circle, the limits and the source (IEEE 1547-2018 4.7, 5.2)`, async () => {
      await holdsAsync(
        `${kind}: circle, limits and source`,
        scripts(25),
        async (script) => {
          const rig = fresh(kind);
          await rig.run(firstS);
          const watch = new Watch(rig);
          for (const { act, seconds } of script) {
            apply(rig, act);
            await rig.run(seconds);
            watch.look();
          }
        },
        { runs: 50 },
      );
    }).timeout(60_000);

    it(`${kind}: the length of ticks changes nothing`, async () => {
      await holdsAsync(
        `${kind}: ticks of any length`,
        [scripts(15), fc.constantFrom(0.05, 0.13, 0.7)],
        async (script, tickS) => {
          const [whole, split] = [fresh(kind), fresh(kind)];
          const apart = differences(await play(whole, script), await play(split, script, tickS));
          expect(apart, apart[0]).to.have.length(0);
          const [a, b] = [changes(whole), changes(split)];
          expect(a.map(({ what }) => what)).to.deep.equal(b.map(({ what }) => what));
          a.forEach(({ at, what }, i) => {
            expect(b[i]!.at, what).to.be.closeTo(at, what.includes('off') ? subStepUs : timerUs);
          });
        },
        { runs: 20 },
      );
    }).timeout(60_000);

    it(`${kind}: twice the ratings give the same per unit`, async () => {
      await holdsAsync(
        `${kind}: twice the ratings`,
        scripts(15),
        async (script) => {
          const [single, double] = [fresh(kind), fresh(kind, 2)];
          const apart = differences(await play(single, script), await play(double, script));
          expect(apart, apart[0]).to.have.length(0);
        },
        { runs: 20 },
      );
    }).timeout(60_000);
  }
});
