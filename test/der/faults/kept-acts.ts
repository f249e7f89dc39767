/** Random faults of devices, of every kind, for tests of a restart. */
import fc from 'fast-check';
import type { FaultRequest } from '../../../src/core/faults/kinds.ts';
import type { deviceEffectFaults } from '../../../src/fault-kinds/device-effect.ts';

type Kind = (typeof deviceEffectFaults)[number]['kind'];

/** Parameters with times that end within a run. */
const parametersOf = {
  ignore_effect: [{}],
  late_effect: [{ delay_s: 2.5 }, { delay_s: 6 }],
  enable_edge: [{}],
  adoption: [{ result: 'lies' }, { result: 'stuck' }, { result: 'failed' }],
  silent_revert: [{ after_s: 3.5 }],
  second_limiter: [{ limit_pct: 30 }, { limit_pct: 55 }],
  reboot: [{ off_s: 3.2 }, { off_s: 2, forget: false }],
  alarm: [{ codes: ['ground_fault'] }, { codes: ['over_temp', 'memory_loss'] }],
} as const satisfies Record<Kind, readonly object[]>;

const kinds = Object.entries<readonly Readonly<Record<string, unknown>>[]>(parametersOf);
const targeted: readonly string[] = ['ignore_effect', 'late_effect', 'enable_edge', 'silent_revert'];

const shapes = fc.record({
  target: fc.constantFrom(undefined, undefined, { points: ['704'] }),
  when: fc.constantFrom<FaultRequest['when']>(undefined, undefined, undefined, { point: '704.WMaxLimPct', below: 70 }),
  count: fc.constantFrom(undefined, 1, 2),
  durationS: fc.constantFrom(undefined, undefined, 4.3),
  probability: fc.constantFrom(undefined, 0.5),
  every: fc.constantFrom(undefined, undefined, 2),
});

/** @param deviceIndexes to choose a device from; a fault may also be one of every device or of the first two */
export const deviceFaults = (deviceIndexes: readonly number[]): fc.Arbitrary<FaultRequest> =>
  fc
    .record({
      kind: fc.constantFrom(...kinds),
      choice: fc.nat({ max: 2 }),
      who: fc.constantFrom<Pick<FaultRequest, 'deviceIndex' | 'group'>>(
        {},
        ...deviceIndexes.map((deviceIndex) => ({ deviceIndex })),
        { group: deviceIndexes.slice(0, 2) },
      ),
      shape: shapes,
    })
    .map(({ kind: [kind, parameters], choice, who, shape: { target, ...shape } }) => {
      const request = {
        protocol: 'device' as const,
        kind,
        parameters: parameters[choice % parameters.length] ?? {},
        ...who,
        ...(target && targeted.includes(kind) && { target }),
        ...shape,
      };
      // an absent member is no restriction
      return JSON.parse(JSON.stringify(request)) as FaultRequest;
    });
