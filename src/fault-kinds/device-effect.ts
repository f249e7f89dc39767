/** Faults in how the device follows its registers, whichever protocol wrote them. */
import { z } from 'zod';
import { faultKind, noParameters, simSeconds, upTo } from './rows.ts';

const device = { protocol: 'device', layer: 'effect' } as const;

export const ignoreEffectFault = faultKind({
  ...device,
  kind: 'ignore_effect',
  targets: ['points'],
  summary: 'Registers hold the written values, but the device keeps using the earlier ones.',
  parameters: noParameters,
});

export const lateEffectFault = faultKind({
  ...device,
  kind: 'late_effect',
  targets: ['points'],
  summary: 'The device follows a write later.',
  parameters: z.strictObject({ delay_s: simSeconds.meta({ description: 'Delay, simulated s.' }) }),
});

export const enableEdgeFault = faultKind({
  ...device,
  kind: 'enable_edge',
  targets: ['points'],
  summary: 'A new set-point or curve takes effect only after its function was switched off and on again.',
  parameters: noParameters,
});

export const adoptionFault = faultKind({
  ...device,
  kind: 'adoption',
  targets: ['points'],
  summary: 'The adoption of a curve does not do what it reports.',
  parameters: z.strictObject({
    result: z.enum(['lies', 'stuck', 'failed']).meta({
      description: 'Completed with the old curve in force, in progress for good, or failed.',
    }),
  }),
});

export const silentRevertFault = faultKind({
  ...device,
  kind: 'silent_revert',
  targets: ['points'],
  summary: 'A function of 704 (any, or the given ones) switches itself off although no reversion time was set.',
  parameters: z.strictObject({ after_s: simSeconds.meta({ description: 'Time since the last write, simulated s.' }) }),
});

export const secondLimiterFault = faultKind({
  ...device,
  kind: 'second_limiter',
  targets: [],
  summary: 'An additional limit without a register restricts the active power.',
  parameters: z.strictObject({ limit_pct: z.number().min(0).max(100).meta({ description: 'Limit, % of 702.WMax.' }) }),
});

export const rebootFault = faultKind({
  ...device,
  kind: 'reboot',
  targets: [],
  summary: 'The device does not answer for a while, and then restarts through enter service.',
  parameters: z.strictObject({
    off_s: upTo(86_400).default(30).meta({ description: 'Time without service and answers, simulated s; default 30.' }),
    forget: z
      .boolean()
      .default(true)
      .meta({ description: 'True: settings and curves return to their start values; default true.' }),
  }),
});

export const alarmFault = faultKind({
  ...device,
  kind: 'alarm',
  targets: [],
  summary: 'Alarms are active without a cause.',
  parameters: z.strictObject({
    codes: z
      .array(
        z.enum([
          'ground_fault',
          'dc_over_volt',
          'ac_disconnect',
          'dc_disconnect',
          'grid_disconnect',
          'cabinet_open',
          'manual_shutdown',
          'over_temp',
          'over_frequency',
          'under_frequency',
          'ac_over_volt',
          'ac_under_volt',
          'blown_string_fuse',
          'under_temp',
          'memory_loss',
          'hw_test_failure',
          'manufacturer_alrm',
        ]),
      )
      .min(1)
      .max(17)
      .meta({ description: 'Alarms of 701.Alrm.' }),
  }),
});

export const deviceEffectFaults = [
  ignoreEffectFault,
  lateEffectFault,
  enableEdgeFault,
  adoptionFault,
  silentRevertFault,
  secondLimiterFault,
  rebootFault,
  alarmFault,
] as const;
