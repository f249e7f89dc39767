/** Bodies and replies of the exchange. */
import { assetTypes } from '../../contract/device.ts';
import { memo } from '../../core/lazy.ts';
import { isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { maxAttached, valuesShape } from './body.ts';
import { columnTexts, defaultOutputs, outputNames } from './columns.ts';
import { silenceActions } from './desk.ts';
import { maxStepS, minStepS, session } from './session.ts';

/** real time, s */
const maxIdleS = 86_400;
const maxRampS = 3600;
export const attachSchema = memo(() =>
  z
    .strictObject({
      devices: z
        .array(z.int().min(0))
        .min(1)
        .max(maxAttached)
        .refine((list) => new Set(list).size === list.length, { error: 'must not name a device twice' })
        .optional()
        .openapi({ description: 'Indexes in the order of all columns; default: all devices.' }),
      outputs: z
        .array(z.enum(outputNames))
        .min(1)
        .max(outputNames.length)
        .optional()
        .openapi({
          description: `Columns of the answers; default: ${defaultOutputs.join(', ')}.`,
        }),
      phases: z.boolean().optional().openapi({ description: 'Adds power and current of each phase; default: false.' }),
      idle_timeout_s: z.number().min(0).max(maxIdleS).optional().openapi({
        description: 'Real time without values of the client after which `on_silence` happens, s; default: 0, never.',
      }),
      on_silence: z
        .enum(silenceActions)
        .optional()
        .openapi({
          description:
            '`detach` (default) ends the exchange; `keep` leaves the last values, `outage` and `nominal` set others, and the client ' +
            'may come back.',
        }),
      owner: z.string().min(1).max(64).optional().openapi({
        description: 'Name of the client in refusals of others; default: `exchange`.',
      }),
    })
    .openapi('ExchangeRequest'),
);

export const valuesSchema = memo(() =>
  z
    .strictObject({
      session,
      ...valuesShape(),
      ramp_s: z
        .number()
        .min(0)
        .max(maxRampS)
        .optional()
        .openapi({
          description:
            'Voltages, frequency and angle of this request move in a line from the present ones, and arrive after so many ' +
            'simulated seconds; default: 0, at once. Quantities without a value stay on their ramp until it arrives.',
        }),
    })
    .openapi('ExchangeValuesRequest'),
);

export const endSchema = memo(() => z.strictObject({ session }).openapi('ExchangeEndRequest'));

export const stepSchema = memo(() =>
  z
    .strictObject({
      session,
      to_s: z.number().optional().openapi({ description: 'End of the step, simulated seconds since the attachment.' }),
      dt_s: z.number().min(minStepS).max(maxStepS).optional().openapi({ description: 'Length of the step, s.' }),
      ...valuesShape(),
    })
    .refine(({ to_s: to, dt_s: dt }) => (to === undefined) !== (dt === undefined), {
      path: ['to_s'],
      error: 'exactly one of to_s and dt_s is required',
    })
    .openapi('ExchangeStepRequest'),
);

const columnShape = () =>
  Object.fromEntries(
    Object.entries(columnTexts).map(([name, text]) => [
      name,
      z.array(z.number().nullable()).optional().openapi({ description: text }),
    ]),
  );

const deviceSchema = memo(() =>
  z
    .strictObject({
      index: z.int(),
      name: z.string(),
      kind: z.enum(assetTypes).openapi({ description: 'Kind of device.' }),
      wiring: z.enum(['single', 'split', 'three']).openapi({
        description: '`single` has phase a only, `split` phases a and b.',
      }),
      v_nom_ln_v: z.number().openapi({ description: 'Base of per unit, line to neutral, V.' }),
      s_rated_va: z.number().openapi({ description: 'Rated apparent power, VA.' }),
      p_max_w: z.number().openapi({ description: 'Maximum active power, W.' }),
      p_min_w: z.number().openapi({ description: 'Minimum active power, W; negative: the device can absorb.' }),
    })
    .openapi('ExchangeDevice'),
);

export const descriptionSchema = memo(() =>
  z
    .strictObject({
      attached: z.boolean().openapi({
        description: 'True while devices are attached; the members that are null otherwise have values then.',
      }),
      session: z.string().nullable().openapi({ description: 'Names the exchange in the requests of its client.' }),
      owner: z.string().nullable().openapi({ description: 'Name of the client in refusals of others.' }),
      pace: z.enum(['stepped', 'running']).nullable().openapi({
        description:
          '`stepped`: only steps of the exchange pass time. `running`: the clock runs, `exchange/values` puts values in.',
      }),
      since: z.string().nullable().openapi({ description: 'Simulated time of the attachment.' }),
      sim_time: isoTime,
      time_s: z.number().nullable().openapi({ description: 'Simulated seconds since the attachment.' }),
      steps: z.int().nullable().openapi({ description: 'Steps since the attachment.' }),
      max_step_s: z.number().openapi({ description: 'Maximum length of a step, s.' }),
      idle_timeout_s: z.number().nullable().openapi({ description: 'As in the request; 0: never.' }),
      on_silence: z.enum(silenceActions).nullable().openapi({ description: 'As in the request.' }),
      nominal_hz: z.number().nullable().openapi({ description: 'Nominal frequency, Hz.' }),
      devices: z.array(deviceSchema()).openapi({ description: 'In the order of all columns.' }),
    })
    .openapi('ExchangeReply'),
);

export const columnsSchema = memo(() =>
  z
    .strictObject({
      session: z.string().openapi({ description: 'As in the request.' }),
      time_s: z
        .number()
        .openapi({ description: 'Simulated seconds since the attachment at the end of the last tick.' }),
      age_s: z.number().openapi({
        description:
          'Real time since the end of that tick, s; 0 while the clock is paused, as the powers are the present ones.',
      }),
      sim_time: isoTime,
      tick: z.int().openapi({ description: 'Number of the last tick.' }),
      ...columnShape(),
      events: z
        .array(
          z.strictObject({
            device: z.int().openapi({ description: 'Device index.' }),
            time_s: z.number().openapi({ description: 'Exact instant, simulated seconds since the attachment.' }),
            event: z.string().openapi({
              description:
                'The state of service that begins, as `service` of `grid-support/trace`; `plugged` or `unplugged` for a ' +
                'vehicle; or `removed`.',
            }),
          }),
        )
        .openapi({
          description: 'Changes of service, vehicles that come and go, and `removed` within the step, at most 1,000.',
        }),
      events_lost: z.int().openapi({ description: 'Further events of the step.' }),
    })
    .openapi('ExchangeColumns'),
);
