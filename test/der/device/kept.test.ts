import { cutRuns, cuts, expectContinuation } from '../../support/continuation.ts';
import { holds } from '../../support/property.ts';
import { runSeed } from '../../support/seed.ts';
import { KeptRig, scenarios, steps } from './kept-rig.ts';
import type { KeptRigOptions } from './kept-rig.ts';

/** A device and one restored from its state show the same after each tick. */
function checkGoesOn(name: string, options: KeptRigOptions, runs: number): void {
  const courses = cutRuns(scenarios);
  // few cases of many: other ones for each seed and device
  const first = (Math.abs(runSeed) + 7 * name.length) % courses.length;
  holds(
    `a device goes on: ${name}`,
    [steps, cuts],
    (all, cut) => {
      const before = Math.round(cut * all.length);
      expectContinuation({
        make: () => new KeptRig(options),
        drive: (rig, at) => {
          rig.step(all[at]!);
        },
        observe: (rig) => rig.seen,
        before,
        after: all.length - before,
      });
    },
    { runs, examples: [...courses.slice(first), ...courses.slice(0, first)].slice(0, Math.ceil(runs / 2)) },
  );
}

const relays = { rocofRelayHzS: 3, vectorShiftRelayDeg: 20 };
const slow = { adoptionS: 2.5, cessationReturnS: 0.3, cessationRampS: 2, gradient: { wPctPerS: 40, varPctPerS: null } };

const devices: readonly (KeptRigOptions & { readonly title: string })[] = [
  { title: 'a generator', type: 'PV-3Phase', inverter: slow },
  { title: 'a generator with both generations of models', type: 'PV-3Phase', map: { layout: 'both' } },
  { title: 'a generator with relays', type: 'PV-3Phase', inverter: { ...relays, mayTrip: 'trip' } },
  { title: 'a generator behind a feeder', type: 'PV-3Phase', feeder: { scr: 4, xOverR: 2 }, inverter: slow },
  { title: 'a storage', type: 'Batt-3Phase', inverter: slow },
  { title: 'a storage with both generations of models', type: 'Batt-3Phase', map: { layout: 'both' }, inverter: slow },
];

describe('the state of a device over a restart', () => {
  for (const { title, ...options } of devices) {
    it(`${title} goes on where it was`, () => {
      checkGoesOn(title, options, 5);
    });
  }

  for (const type of ['PV-3Phase', 'Batt-3Phase', 'HybridDC-3Phase', 'Wind-T4-3Phase', 'Fuelcell-3Phase', 'EVSE']) {
    it(`${type} with its own source goes on where it was`, () => {
      checkGoesOn(type, { type, map: { layout: 'both' }, inverter: slow, realSource: true }, 3);
    });
  }
});
