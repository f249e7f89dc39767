/** Bodies of the operations at a connector. */
import { memo } from '../../core/memo.ts';
import { evseErrorCodes } from '../../contract/kinds/evse.ts';
import { z } from '../description/zod.ts';
import { isoTime } from '../common/schemas.ts';

const idToken = z.string().min(1).max(255);
const percent = z.number().min(0).max(100);
const watts = { leastKw: 0.001, mostKw: 1e4 } as const;
const power = z.number().min(0).max(1e6);

type CurvePoint = { readonly soc_pct: number; readonly fraction: number };

/** The first wrong point of a curve, with the reason; null: none. */
function curveIssue(points: readonly CurvePoint[]): { readonly at: number; readonly why: string } | null {
  let before = -1;
  for (const [at, { soc_pct: soc, fraction }] of points.entries()) {
    if (soc <= before) return { at, why: 'must be at a higher soc_pct than the point before' };
    if (fraction === 0 && at < points.length - 1) return { at, why: 'fraction may be 0 in the last point only' };
    before = soc;
  }
  return null;
}

const curve = z
  .array(z.strictObject({ soc_pct: percent, fraction: z.number().min(0).max(1) }))
  .min(2)
  .max(100)
  .superRefine((points, ctx) => {
    const issue = curveIssue(points);
    if (issue) ctx.addIssue({ code: 'custom', path: [issue.at], message: issue.why });
  });

const evShape = {
  id: z.string().min(1).max(255).nullable().optional(),
  battery_capacity_kwh: z.number().min(watts.leastKw).max(watts.mostKw).optional(),
  soc_pct: percent.optional(),
  target_soc_pct: percent.optional(),
  reserve_soc_pct: percent.optional().openapi({ description: 'State of charge at which discharging stops.' }),
  max_charge_kw: z.number().min(watts.leastKw).max(watts.mostKw).optional(),
  max_discharge_kw: z.number().min(0).max(watts.mostKw).optional(),
  phases: z
    .union([z.literal(1), z.literal(3)], { error: 'must be 1 or 3' })
    .optional()
    .openapi({ description: 'Of the on-board charger.' }),
  charging_curve: curve.optional().openapi({
    description: '2 to 100 points of rising `soc_pct`; `fraction` of `max_charge_kw`, 0 in the last point only.',
  }),
  departure_time: isoTime.nullable().optional(),
};

const evPatchSchema = z.strictObject(evShape).openapi('ElectricVehiclePatch');
export type EvPatchBody = z.output<typeof evPatchSchema>;

export const evBodySchema = memo(() =>
  z
    .strictObject(evShape)
    .refine((body) => Object.values(body).some((value) => value !== undefined), {
      error: `at least one of ${Object.keys(evShape).join(', ')} is required`,
    })
    .openapi('ElectricVehicleRequest', { minProperties: 1 }),
);

export const plugBodySchema = memo(() =>
  z
    .strictObject({
      ev: evPatchSchema
        .optional()
        .openapi({ description: 'Members in which the vehicle differs from the one in the profile.' }),
      ev_side: z.boolean().optional().openapi({ description: 'Plugs the cable into the vehicle; default true.' }),
      evse_side: z.boolean().optional().openapi({ description: 'Plugs the cable into the station; default true.' }),
    })
    .refine((body) => body.ev_side !== false || body.evse_side !== false, {
      path: ['ev_side'],
      error: 'at least one side of the cable must be plugged in',
    })
    .refine((body) => body.ev === undefined || body.ev_side !== false, {
      path: ['ev'],
      error: 'goes only with a cable that is plugged into the vehicle',
    })
    .openapi('PlugRequest'),
);

export const unplugBodySchema = memo(() =>
  z
    .strictObject({
      ev_side: z
        .boolean()
        .optional()
        .openapi({ description: 'Takes the cable out of the vehicle; default if it is in.' }),
      evse_side: z.boolean().optional().openapi({
        description: 'Takes a loose cable out of the station; default if it is in and no session keeps it.',
      }),
    })
    .refine((body) => body.ev_side !== false || body.evse_side !== false, {
      path: ['ev_side'],
      error: 'at least one side of the cable must be taken out',
    })
    .openapi('UnplugRequest'),
);

export const authorizeBodySchema = memo(() =>
  z
    .strictObject({
      id_token: idToken,
      type: z
        .string()
        .min(1)
        .max(20)
        .optional()
        .openapi({
          description:
            'Type of the token in OCPP 2.x, by default by the form of its text: ISO14443, ISO15693, or KeyCode ' +
            'for what is no UID of a card. It has no effect in 1.6.',
        }),
    })
    .openapi('AuthorizeRequest'),
);

export const authorizationSchema = memo(() =>
  z
    .strictObject({
      status: z.enum([
        'Accepted',
        'Blocked',
        'ConcurrentTx',
        'Expired',
        'Invalid',
        'NoCredit',
        'NotAllowedTypeEVSE',
        'NotAtThisLocation',
        'NotAtThisTime',
        'Unknown',
      ]),
      id_token_info: z
        .record(z.string(), z.unknown())
        .nullable()
        .openapi({ description: 'Answer of the central system about the token; null: the station decided.' }),
    })
    .openapi('Authorization'),
);

export const startBodySchema = memo(() =>
  z
    .strictObject({
      id_token: idToken
        .optional()
        .openapi({ description: 'Required at stations that do not authorise by plugging in.' }),
      authorize: z
        .boolean()
        .optional()
        .openapi({ description: 'Default true; false: starts without authorisation and only stores the token.' }),
    })
    .openapi('StartSessionRequest'),
);

export const stopBodySchema = memo(() =>
  z
    .strictObject({
      reason: z.string().min(1).max(50).optional().openapi({ description: 'A reason of OCPP; default `Local`.' }),
      id_token: idToken.optional().openapi({ description: 'Must be the token that started the session.' }),
    })
    .openapi('StopSessionRequest'),
);

export const holdBodySchema = memo(() =>
  z
    .strictObject({
      by: z.enum(['ev', 'evse']).openapi({ description: 'Side that stops the energy: the vehicle or the station.' }),
    })
    .openapi('SuspendRequest'),
);

export const limitBodySchema = memo(() =>
  z
    .strictObject({
      power_kw: power.nullable().openapi({
        description:
          'Maximum power into the vehicle; discharge is not limited. Null ends the limit; below `min_power_kw` charging pauses.',
      }),
    })
    .openapi('LocalLimitRequest'),
);

export const dischargeBodySchema = memo(() =>
  z
    .strictObject({
      power_kw: power.nullable().openapi({ description: 'Power out of the vehicle; null returns to charging.' }),
    })
    .openapi('DischargeRequest'),
);

export const availabilityBodySchema = memo(() =>
  z.strictObject({ operative: z.boolean() }).openapi('AvailabilityRequest'),
);

export const faultBodySchema = memo(() =>
  z
    .strictObject({
      error_code: z.enum(evseErrorCodes).openapi({ description: 'OCPP 1.6.' }),
      info: z.string().max(50).optional(),
      vendor_error_code: z.string().max(50).optional(),
    })
    .openapi('ConnectorFaultRequest'),
);

export const meterBodySchema = memo(() =>
  z
    .strictObject({
      energy_wh: z
        .number()
        .min(0)
        .max(1e12)
        .optional()
        .openapi({ description: 'New reading; the energy of sessions stays.' }),
      send: z.boolean().optional().openapi({
        description:
          'True: sends the values of the connector to the central system, with the new reading if one is given.',
      }),
    })
    .refine((body) => body.energy_wh !== undefined || body.send !== undefined, {
      error: 'at least one of energy_wh, send is required',
    })
    .openapi('MeterRequest', { minProperties: 1 }),
);

export const reserveBodySchema = memo(() =>
  z
    .strictObject({
      reservation_id: z.int().min(0).max(2_147_483_647),
      id_token: idToken.openapi({ description: 'The only token that may start here.' }),
      expires_in_s: z.number().gt(0).max(1e8).nullable().optional().openapi({
        description: 'Simulated seconds; null or absent: the reservation lasts until it is used or cancelled.',
      }),
    })
    .openapi('ReserveRequest'),
);
