import { expect } from 'chai';
import type { FaultRequest } from '../../../src/core/faults/kinds.ts';
import { FaultyRig } from '../../support/faulty-rig.ts';
import { byTest } from '../../support/rig.ts';

const requests: readonly FaultRequest[] = [
  { protocol: 'device', kind: 'ignore_effect', probability: 0.3, target: { points: ['704'] } },
  { protocol: 'device', kind: 'late_effect', parameters: { delay_s: 12.5 }, probability: 0.5 },
  { protocol: 'device', kind: 'adoption', parameters: { result: 'failed' }, probability: 0.5 },
  { protocol: 'device', kind: 'silent_revert', parameters: { after_s: 33 }, every: 2 },
  { protocol: 'device', kind: 'second_limiter', parameters: { limit_pct: 60 }, probability: 0.2 },
  { protocol: 'device', kind: 'alarm', parameters: { codes: ['ground_fault'] }, probability: 0.4, durationS: 200 },
  { protocol: 'device', kind: 'reboot', parameters: { off_s: 20 }, when: { point: '704.WMaxLimPct', equals: 35 } },
];

/** Registers after each of many ticks with writes between them, under all faults at once. */
async function course(seed: number): Promise<readonly string[]> {
  const rig = new FaultyRig({
    seed,
    types: ['PV-3Phase', 'Batt-3Phase'],
    weatherSource: 'clear_sky',
    clouds: 'broken',
  });
  rig.faults.inject(requests, byTest);
  const dumps: string[] = [];
  for (let i = 0; i < 60; i += 1) {
    for (const { bank } of rig.plant.devices) {
      try {
        bank.transact(byTest, (tx) => {
          tx.m704.WMaxLimPct = 100 - (i % 20) * 5;
          tx.m704.WMaxLimPctEna = i % 3 === 0 ? 'DISABLED' : 'ENABLED';
          if (i % 7 === 0) tx.m705.AdptCrvReq = 2;
        });
      } catch {
        /* the device reboots */
      }
    }
    await rig.run(4.5);
    dumps.push(
      rig.plant.devices.map(({ bank }) => bank.read(bank.layout.base, bank.layout.size).toString('base64')).join(),
    );
  }
  return dumps;
}

describe('faults of devices', () => {
  it('the same seed and the same faults give the same registers, another seed others', async () => {
    const [first, again, other] = [await course(11), await course(11), await course(12)];
    expect(again).to.deep.equal(first);
    expect(other).to.not.deep.equal(first);
  });
});
