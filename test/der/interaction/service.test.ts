import { expect } from 'chai';
import { islandS, restPlan } from '../../support/interaction-plan.ts';
import { InteractionRig } from '../../support/interaction-rig.ts';
import { byTest } from '../../support/rig.ts';

/** Instants of the changes of service since the last look, s from `from`. */
function changes({ device: { trace } }: InteractionRig, from: number): readonly (readonly [number, string])[] {
  return trace.transitions
    .filter(({ at }) => at >= from)
    .map(({ at, to, cause }) => [(at - from) / 1e6, cause ?? to] as const);
}

const now = (rig: InteractionRig) => Number(rig.device.trace.now.at);

describe('Into and out of service with functions on (IEEE 1547-2018 4.10, 8.1)', () => {
  it('a storage with volt-var opens when its ramps have ended, whatever its response time', async () => {
    const rig = new InteractionRig({ kind: 'store', responseS: 10, rampPctS: 20 });
    rig.configure({
      ...restPlan,
      reactive: [
        {
          name: 'volt_var',
          points: [
            [92, 44],
            [98, 0],
          ],
          base: 'VA_MAX_PCT',
          priority: 'REACTIVE',
          vRefPct: 100,
        },
      ],
    });
    await rig.visit({ v: 0.93, power: 0.8, holdS: 90 });
    expect(rig.q).to.be.closeTo((0.44 * 5) / 6, 0.001);
    const begin = now(rig);
    rig.device.command({ kind: 'switch', closed: false }, byTest);
    await rig.run(60);
    // 80 % at 20 % per second
    expect(changes(rig, begin)).to.deep.equal([
      [0, 'shutting_down'],
      [4, 'off'],
    ]);
  });

  it('a device that cessation holds at zero opens at once when stopped', async () => {
    const rig = new InteractionRig({ rampPctS: 20 });
    rig.configure({ ...restPlan, trips: { lowV: { must: null, cease: [[50, 0.083]] } } });
    await rig.visit({ v: 0.4 });
    const begin = now(rig);
    rig.device.command({ kind: 'switch', closed: false }, byTest);
    await rig.run(1);
    expect(changes(rig, begin).at(-1)).to.deep.equal([0, 'off']);
  });

  for (const [what, rampTimeS] of [
    ['at once', 0],
    ['on a ramp', 10],
  ] as const) {
    it(`a device that enters service into an island ${what} detects it after exactly the full time`, async () => {
      const rig = new InteractionRig();
      rig.configure({ ...restPlan, antiIslanding: true });
      rig.set((tx) => {
        tx.m703.ES = 'DISABLED';
      });
      rig.grid({ island: true });
      await rig.run(1);
      const begin = now(rig);
      rig.set((tx) => {
        Object.assign(tx.m703, { ES: 'ENABLED', ESDlyTms: 0, ESRmpTms: rampTimeS });
      });
      await rig.run(3);
      expect(changes(rig, begin).find(([, cause]) => cause === 'anti_islanding')).to.deep.equal([
        islandS,
        'anti_islanding',
      ]);
    });
  }
});
