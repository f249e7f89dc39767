import { expect } from 'chai';
import type { Plan } from '../../support/interaction-plan.ts';
import { restPlan } from '../../support/interaction-plan.ts';
import { InteractionRig } from '../../support/interaction-rig.ts';

const settleS = 90;
/** the expected values have one decimal: 0.302 stands as 0.3 */
const tolerance = 0.0025;

/** Limit at half, volt-watt down to 20 %, droop at its defaults. */
const plan: Plan = {
  ...restPlan,
  limitPct: 50,
  voltWatt: {
    points: [
      [106, 100],
      [110, 20],
    ],
    ofAvailable: false,
  },
  droop: { overBandHz: 0.036, underBandHz: 0.036, overDroop: 0.05, underDroop: 0.05, minPct: 0 },
};

/** Voltage in per unit, frequency in Hz, expected active power in per unit. */
const steps = [
  [1, 60, 0.5],
  [1.09, 60, 0.4],
  [1.09, 60.33, 0.3],
  [1.09, 60, 0.4],
  [1.09, 59.36, 0.4],
  [1, 59.36, 0.6],
  [1, 60, 0.5],
  [1, 59.36, 0.7],
] as const;

describe('IEEE 1547.1-2020 5.16: priority of limit, volt-watt and frequency-droop', () => {
  it('gives the expected powers in their order', async () => {
    const rig = new InteractionRig({ responseS: 5, rampPctS: 20 });
    rig.configure(plan);
    await rig.visit({ power: 1, holdS: settleS });
    const seen: number[] = [];
    for (const [v, hz] of steps) {
      rig.grid({ v, hz: hz - 60 });
      await rig.run(settleS);
      seen.push(rig.p);
    }
    steps.forEach(([v, hz, p], i) => {
      expect(seen[i], `${i + 1}: ${v} pu, ${hz} Hz`).to.be.closeTo(p, tolerance);
    });
  });
});
