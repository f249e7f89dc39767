/** What a charge point has: configuration, profiles, reservations, tokens, certificates, transactions. */
import { memo } from '../../core/memo.ts';
import { ocppDerControlStates } from '../../contract/ocpp.ts';
import { z } from '../description/zod.ts';
import { integerParam } from '../common/schemas.ts';
import { json, count, flag, numberOrNull, text, textOrNull, time, timeOrNull } from './schemas.ts';

const maxName = 50;
/** two names with their instances */
const maxKey = 205;
const maxValue = 2500;
const name = (description: string, max = maxName) => z.string().min(1).max(max).openapi({ description });

export const configurationQuery = z.strictObject({
  key: name('', maxKey)
    .optional()
    .openapi({
      param: { name: 'key' },
      description:
        `1.6: only this key; 2.x: only this component, or component and variable with a dot between them. ` +
        `At most ${maxKey} characters; default all.`,
      example: 'HeartbeatInterval',
    }),
});

const keySchema = memo(() =>
  z
    .strictObject({
      key: text('Name of the key.'),
      value: textOrNull('Null: it can only be written.'),
      readonly: flag('Whether the central system may not change it.'),
      reboot_required: flag('Whether a change counts after a reboot only.'),
    })
    .openapi('OcppKey'),
);

const variableSchema = memo(() =>
  z
    .strictObject({
      component: text('Name of the component, with its instance in brackets where it has one.'),
      variable: text('Name of the variable.'),
      attribute: text('`Actual`, `Target`, ...'),
      value: textOrNull('Null: it can only be written.'),
      mutability: text('`ReadOnly`, `ReadWrite`, `WriteOnly`.'),
      evse_id: z.int().nullable().openapi({ description: 'Null: of the station.' }),
      connector_id: z.int().nullable().openapi({ description: 'Null: of the station or an EVSE.' }),
      instance: textOrNull('Of the variable; null: none.'),
      reboot_required: flag('Whether a change counts after a reboot only.'),
    })
    .openapi('OcppVariable'),
);

export const configurationSchema = memo(() =>
  z
    .strictObject({
      keys: z.array(keySchema()).optional().openapi({ description: '1.6 only.' }),
      variables: z.array(variableSchema()).optional().openapi({ description: '2.x only.' }),
    })
    .openapi('OcppConfiguration'),
);

export const configurationBodySchema = memo(() =>
  z
    .strictObject({
      key: name(`1.6: name of the key, at most ${maxName} characters.`).optional(),
      component: name(
        '2.x: name of the component, with its instance in brackets where it has one; at most 102 characters.',
        102,
      ).optional(),
      variable: name(`2.x: name of the variable, at most ${maxName} characters.`).optional(),
      value: z
        .string()
        .max(maxValue)
        .openapi({ description: `At most ${maxValue} characters.` }),
      attribute: name(`2.x: default \`Actual\`; at most ${maxName} characters.`).optional(),
      evse_id: z.int().min(0).max(999_999_999).optional().openapi({ description: '2.x: default the station.' }),
      connector_id: z
        .int()
        .min(0)
        .max(999_999_999)
        .optional()
        .openapi({ description: '2.x: default the EVSE, or the station.' }),
      instance: name(`2.x: of the variable, default none; at most ${maxName} characters.`).optional(),
    })
    .refine(({ key, variable }) => (key === undefined) !== (variable === undefined), {
      error: 'must have key (1.6) or component and variable (2.x)',
    })
    .refine(({ component, variable }) => (component === undefined) === (variable === undefined), {
      error: 'component and variable go together',
    })
    .openapi('OcppConfigurationRequest'),
);

const maxConnector = 999_999_999;

export const profilesQuery = z.strictObject({
  connector: integerParam(
    'connector',
    0,
    maxConnector,
    'Only of this connector; 0: the station. Default all.',
  ).optional(),
});

const profileSchema = memo(() =>
  z
    .strictObject({
      connector_id: count('0: the station.'),
      profile_id: z.int().openapi({ description: 'Id of the profile.' }),
      stack_level: z.int().openapi({ description: 'Of profiles of one purpose the highest level decides.' }),
      purpose: text('In the words of the standard.'),
      kind: text('In the words of the standard.'),
      transaction_id: textOrNull('Null: for no transaction alone.'),
      effective: flag('Whether it decides the limit of its purpose now.'),
      profile: json('As the central system has sent it.'),
    })
    .openapi('OcppChargingProfile'),
);

export const profilesSchema = memo(() =>
  z
    .strictObject({ charging_profiles: z.array(profileSchema()).openapi({ description: 'Those that are installed.' }) })
    .openapi('OcppChargingProfiles'),
);

const maxScheduleS = 31_622_400;
export const defaultScheduleS = 86_400;

export const compositeQuery = z.strictObject({
  connector: integerParam('connector', 0, maxConnector, 'Connector; 0, the default: the station.').optional(),
  duration_s: integerParam('duration_s', 1, maxScheduleS, `Length, s; default ${defaultScheduleS}.`).optional(),
  unit: z
    .enum(['W', 'A'])
    .optional()
    .openapi({ param: { name: 'unit' }, description: 'Unit of the limits; default W.' }),
});

export const compositeSchema = memo(() =>
  z
    .strictObject({
      connector_id: count('0: the station.'),
      start: time('Begin of the schedule.'),
      duration_s: z.number().openapi({ description: 'Length of the schedule, s.' }),
      unit: z.enum(['W', 'A']).openapi({ description: 'Unit of the limits.' }),
      periods: z.array(
        z
          .strictObject({
            start_s: z.number().openapi({ description: 'From the begin of the schedule, s.' }),
            limit: numberOrNull('Null: no profile limits.'),
            number_phases: z.int().nullable().openapi({ description: 'Phases that may be used; null: not limited.' }),
            setpoint: z.number().optional().openapi({ description: '2.1: set-point, positive into the vehicle.' }),
            discharge_limit: z
              .number()
              .optional()
              .openapi({ description: '2.1: limit of the discharge, not positive.' }),
            operation_mode: z.string().optional().openapi({ description: '2.1: operation mode.' }),
          })
          .openapi('OcppSchedulePeriod'),
      ),
    })
    .openapi('OcppCompositeSchedule'),
);

export const reservationsSchema = memo(() =>
  z
    .strictObject({
      reservations: z.array(
        z
          .strictObject({
            reservation_id: z.int(),
            connector_id: count('0: any connector.'),
            id_token: z.string(),
            expires_at: time('By the clock of the central system.'),
          })
          .openapi('OcppReservation'),
      ),
    })
    .openapi('OcppReservations'),
);

const tokenSchema = memo(() =>
  z
    .strictObject({
      id_token: z.string(),
      status: text('In the words of the standard.'),
      expires_at: timeOrNull('Null: never.'),
      parent_id_token: textOrNull('Null: none.'),
    })
    .openapi('OcppToken'),
);

export const derControlsSchema = memo(() =>
  z
    .strictObject({
      controls: z
        .array(
          z
            .strictObject({
              control_id: text('As the central system has named it.'),
              control_type: text('In the words of the standard.'),
              is_default: flag('In force while no scheduled control of its type is.'),
              is_superseded: flag('True: it runs no more, and leaves at its end.'),
              start_time: timeOrNull('By the clock of the central system; null: of a default.'),
              duration_s: numberOrNull('Null: until it is cleared.'),
              priority: count('The lower number wins.'),
              active: flag('In force on the device.'),
              state: z.enum(ocppDerControlStates).openapi({
                description:
                  '`scheduled`: its start is to come; `standby`: another control of its type runs; `superseded`; ' +
                  '`applied`: in force; due, but `waiting`: the device takes nothing now, `outweighed`: a control of ' +
                  'another type excludes it, `refused`: the device cannot carry it out.',
              }),
              overwritten: flag('Another writer has changed something of it since.'),
              values: json('As the central system has sent them.'),
            })
            .openapi('OcppDerControl'),
        )
        .openapi({ description: 'In the order of their setting.' }),
    })
    .openapi('OcppDerControls'),
);

export const localListSchema = memo(() =>
  z
    .strictObject({
      version: z.int().openapi({ description: '0: there is no list.' }),
      entries: z.array(tokenSchema()).openapi({ description: 'The list as the central system has sent it.' }),
      cache: z.array(tokenSchema()).openapi({ description: 'Tokens that the central system has answered for.' }),
    })
    .openapi('OcppLocalList'),
);

export const certificatesSchema = memo(() =>
  z
    .strictObject({
      certificates: z.array(
        z
          .strictObject({
            use: text('In the words of the standard.'),
            subject: text('Distinguished name of the owner.'),
            issuer: text('Distinguished name of the issuer.'),
            serial_number: text('Hexadecimal.'),
            valid_from: time('Begin of validity.'),
            valid_to: time('End of validity.'),
            fingerprint: text('SHA-256, hexadecimal.'),
          })
          .openapi('OcppCertificate'),
      ),
    })
    .openapi('OcppCertificates'),
);

export const transactionsSchema = memo(() =>
  z
    .strictObject({
      transactions: z
        .array(
          z
            .strictObject({
              transaction_id: textOrNull('Of the central system; null: not told yet.'),
              session_id: text('`session_id` of the session in `evse/sessions`.'),
              connector_id: z.int(),
              id_token: z.string(),
              started_at: time('By the clock of the central system.'),
              ended_at: timeOrNull('Null: it goes on.'),
              meter_start_wh: z.number().openapi({ description: 'Reading of the meter at its begin.' }),
              meter_stop_wh: numberOrNull('Null: it goes on.'),
              stop_reason: textOrNull('Null: none.'),
              queued: count('Its messages that still wait.'),
            })
            .openapi('OcppTransaction'),
        )
        .openapi({ description: 'Newest first.' }),
    })
    .openapi('OcppTransactions'),
);
