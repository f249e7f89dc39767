/** Charging stations: members of replies and requests. */
import { addSeconds } from '../../core/time/clock.ts';
import { memo } from '../../core/lazy.ts';
import type { Device } from '../../contract/device.ts';
import {
  evseAuthorities,
  evseChargingStates,
  evseConnectorStandards,
  evseConnectorTypes,
  evseErrorCodes,
  evseLimitSources,
  evseSessionStates,
  evseSharingPolicies,
  evseConnectorStates,
  evseOccupancies,
} from '../../contract/kinds/evse.ts';
import type {
  ChargingCurvePoint,
  EvDetail,
  EvseConnectorDetail,
  EvseConnectorParameters,
  EvseDetail,
  EvseExternalLimit,
  EvseReservation,
  EvseSession,
} from '../../contract/kinds/evse.ts';
import { ocppTextFormats, ocppTextPriorities } from '../../contract/ocpp.ts';
import type { OcppAuthorization, OcppShownText, OcppStation, OcppTransactionEntry } from '../../contract/ocpp.ts';
import type { Plant } from '../../contract/plant.ts';
import { status } from '../charge-points/members.ts';
import {
  flag,
  integer,
  list,
  member,
  members,
  nested,
  number,
  text,
  word,
  inKilo,
  measured,
} from '../common/members.ts';
import { pointText } from '../common/points.ts';
import { durationS, deviceIndex, integerParam, isoTime } from '../common/schemas.ts';
import { overrideOf, writer } from '../common/writers.ts';
import { z } from '../description/zod.ts';
import { missingMember } from '../fleet/members.ts';
import { activeDeciderSchema } from '../grid-support/trace.ts';
import type { EvseProfile } from '../http/context.ts';
import { listInPieces } from '../http/streaming.ts';

/** A charging station with its state at the moment of the request: the context of its replies. */
export interface Station {
  readonly plant: Plant;
  readonly device: Device;
  readonly id: string;
  readonly detail: EvseDetail;
  /** null: OCPP is switched off */
  readonly ocpp: OcppStation | null;
  /** transactions of OCPP by session of the device; read at the first need */
  readonly transactionOf: (sessionId: string) => OcppTransactionEntry | undefined;
}

/** Simulated seconds since the start of the device, as ISO text. */
const simulatedTime = nested<number, string, Pick<Station, 'plant' | 'device'>>({
  schema: () => isoTime,
  reply: (seconds, { plant, device }) => new Date(plant.dateMs(addSeconds(device.startedAt, seconds))).toISOString(),
});

const chargingCurvePoint = members<ChargingCurvePoint>()(null, () => ({ soc_pct: number(), fraction: number() }));

const vehicle = members<EvDetail>()('ElectricVehicle', () => ({
  id: text.orNull(),
  battery_capacity_kwh: inKilo(({ batteryCapacityWh }) => batteryCapacityWh),
  soc_pct: measured(),
  target_soc_pct: measured('State of charge at which charging stops.'),
  reserve_soc_pct: measured('State of charge that the vehicle needs at departure: discharging stops here.'),
  max_charge_kw: inKilo(({ maxChargeW }) => maxChargeW),
  max_discharge_kw: inKilo(({ maxDischargeW }) => maxDischargeW),
  phases: integer('Phases of the on-board charger.'),
  charging_curve: list(chargingCurvePoint)(
    'Maximum power over the state of charge, as a fraction of `max_charge_kw`, linear between the points.',
  ),
  departure_time: text.orNull('As given; it has no effect.'),
}));

export const session = members<EvseSession, Station>()('ChargingSession', () => ({
  transaction_id: text(
    'With OCPP that of the transaction: given by the station in 2.x, by the central system in 1.6, and before it is ' +
      'received `local-` and `session_id`; without OCPP `session_id`.',
    ({ transactionId }, { ocpp, transactionOf }) =>
      // `local-`: not to be mistaken for an id of the central system
      transactionOf(transactionId)?.transactionId ?? (ocpp === null ? transactionId : `local-${transactionId}`),
  ),
  session_id: text(
    'Unique within its charge point, also after a reset of the device; each charge point counts from 1.',
    ({ transactionId }) => transactionId,
  ),
  charge_point_id: text((_of, { id }) => id),
  connector_id: integer(),
  state: word(evseSessionStates)('`starting`: authorised, no energy yet.'),
  id_token: text.orNull('`AUTO`: authorised by plugging in.'),
  remote_start_id: integer.orNull(),
  reservation_id: integer.orNull('The reservation that the session used up.'),
  started_at: simulatedTime('Simulated time.', ({ startedAtS }) => startedAtS),
  ended_at: simulatedTime.orNull(({ endedAtS }) => endedAtS),
  meter_start_wh: measured(),
  energy_wh: measured('Energy into the vehicle, Wh.'),
  energy_discharged_wh: measured(),
  stop_reason: text.orNull(),
  offline: flag(
    'Messages to the central system are still waiting.',
    ({ transactionId }, { transactionOf }) => (transactionOf(transactionId)?.queued ?? 0) > 0,
  ),
  charging_state: word(evseChargingStates)('Charging state of the transaction in OCPP 2.x.'),
}));
/** Null: an authorisation without a vehicle was taken back. */
export const sessionOrNull = memo(() => session.schema().nullable());

interface SessionOfStation {
  readonly station: Station;
  readonly session: EvseSession;
}
export const sessions = members<readonly SessionOfStation[]>()('ChargingSessions', () => ({
  sessions: listInPieces({
    schema: session.schema,
    reply: (of: SessionOfStation) => session.reply(of.session, of.station),
  })('Newest first; each station keeps its last 200.', (all) => all),
  missing: missingMember(),
}));

const cable = members<EvseConnectorDetail['cable']>()(null, () => ({
  ev_plugged: flag(),
  evse_plugged: flag(),
  locked: flag(),
}));

const reservation = members<EvseReservation, Station>()('Reservation', () => ({
  reservation_id: integer(),
  id_token: text(),
  expires_at: simulatedTime.orNull(({ expiresAtS }) => expiresAtS),
}));

export const connector = members<EvseConnectorDetail, Station>()('Connector', () => ({
  connector_id: integer(),
  evse_id: integer('EVSE of OCPP 2.x, of which this is connector 1.', ({ connectorId }) => connectorId),
  type: word(evseConnectorTypes)(),
  standard: word(evseConnectorStandards)(),
  max_power_kw: inKilo(({ maxPowerW }) => maxPowerW),
  min_power_kw: inKilo(
    'A limit below this power pauses charging; for the phases that the vehicle uses.',
    ({ minPowerW }) => minPowerW,
  ),
  phases: integer(),
  supply_phases: list(member(() => z.int().min(1).max(3))())(
    'Phases of the supply that carry the current, 1 to 3 = L1 to L3; without a vehicle those it may use; empty for DC.',
  ),
  bidirectional: flag(),
  status: word(evseConnectorStates)('Status of OCPP 1.6.'),
  status_ocpp_2: word(evseOccupancies)('Status of OCPP 2.x.', ({ occupancy }) => occupancy),
  error_code: word(['NoError', ...evseErrorCodes])(),
  error_info: text.orNull(),
  vendor_error_code: text.orNull(),
  operative: flag(),
  authorized: flag(({ authorised }) => authorised),
  contactor_closed: flag(),
  cable: nested(cable)(),
  ev: nested(vehicle).orNull(),
  session: nested(session).orNull('Last session of the vehicle, until the vehicle is unplugged; null: none.'),
  power_kw: inKilo('Positive into the vehicle.', ({ powerW }) => powerW),
  current_a: list(measured())('Per phase (AC), one value (DC).'),
  voltage_v: measured('Line to neutral (AC); 0 with the contactor open (DC).'),
  energy_wh: measured('Reading of the meter, energy into vehicles, Wh.'),
  energy_export_wh: measured('Reading of the meter, energy out of vehicles, Wh.'),
  wanted_kw: inKilo(
    'Power that the vehicle would take without limits; while it discharges, the power that it could deliver, negative.',
    ({ wantedW }) => wantedW,
  ),
  possible_kw: inKilo('Power that the hardware can carry now.', ({ possibleW }) => possibleW),
  allocated_kw: inKilo(
    'Power that the vehicle may take now: after sharing, profiles, local limit, functions of the device and site.',
    ({ allocatedW }) => allocatedW,
  ),
  limit_kw: inKilo('The limit in force.', ({ limitW }) => limitW),
  limit_source: word(evseLimitSources)(
    'Source of the limit in force; `der`: a grid-support function or the service state of the device, `site`: its connection point.',
  ),
  local_limit_kw: inKilo.orNull('Local limit of charging; null: none.', ({ localLimitW }) => localLimitW),
  local_limit_by: writer.orNull('Last writer; null: no limit.', ({ localLimitW, connectorId }, { device }) =>
    localLimitW === null ? null : overrideOf(device, 'evse_limit', connectorId),
  ),
  discharge_kw: inKilo.orNull('Requested discharge; null: none.', ({ dischargeW }) => dischargeW),
  discharge_by: writer.orNull('Last writer; null: no discharge.', ({ dischargeW, connectorId }, { device }) =>
    dischargeW === null ? null : overrideOf(device, 'evse_discharge', connectorId),
  ),
  reservation: nested(reservation).orNull(),
}));
export const connectors = members<EvseDetail, Station>()('Connectors', () => ({ connectors: list(connector)() }));

const externalLimit = members<EvseExternalLimit, Station>()(null, () => ({
  limit_kw: inKilo('Maximum consumption of the station, from 0.', ({ limitW }) => limitW),
  decided_by: member(() => activeDeciderSchema)('Function or limit that sets it.'),
  changed_by: writer.orNull('Last writer of the points of the limit; null: none.', (of) => of.writer),
}));

const shownText = members<OcppShownText>()('ShownText', () => ({
  message_id: integer.orNull(
    'Id given by the central system; null: a text of the station, such as the cost or the price.',
  ),
  priority: word(ocppTextPriorities)('`AlwaysFront`: shown alone; `InFront`: shown instead of texts of `NormalCycle`.'),
  format: word(ocppTextFormats)('QRCODE: the text of the code.'),
  language: text.orNull('RFC 5646; null: the message names none.'),
  text: text('Text in `format`.'),
}));

interface ConnectorOfStation {
  readonly station: Station;
  readonly connectorId: number;
}

export const display = members<ConnectorOfStation>()('ConnectorDisplay', () => ({
  connector_id: integer(),
  texts: list(shownText)(
    'Texts between which the display alternates; empty without OCPP, and with OCPP 1.6, which has no display.',
    ({ station: { ocpp }, connectorId }) => ocpp?.functions.display(connectorId) ?? [],
  ),
}));

const vehicles = members<NonNullable<EvseDetail['battery']>>()(null, () => ({
  capacity_kwh: inKilo(({ capacityWh }) => capacityWh),
  soc_pct: measured(),
}));

const evse = members<Station, Station>()('ChargingStation', () => ({
  id: text('Charge point identity.'),
  device_index: member(() => deviceIndex)(({ device }) => device.index),
  profile: text.orNull(({ device }) => device.profileName),
  vendor: text(({ detail }) => detail.vendor),
  model: text(({ detail }) => detail.model),
  serial_number: text.orNull(({ device }) => pointText(device.bank, 1, 'SN')),
  firmware_version: text(({ detail }) => detail.firmwareVersion),
  ocpp: nested(status).orNull('Charge point of OCPP; null: OCPP is switched off.', ({ ocpp }) => ocpp?.status),
  max_power_kw: inKilo(({ detail }) => detail.maxPowerW),
  power_kw: inKilo('Power into all vehicles together.', ({ detail }) => detail.powerW),
  standby_kw: inKilo('Consumption of the station itself.', ({ detail }) => detail.standbyW),
  energy_wh: measured('Energy from the grid, standby included, Wh.', ({ detail }) => detail.energyWh),
  energy_export_wh: measured(({ detail }) => detail.energyExportWh),
  sharing: word(evseSharingPolicies)(({ detail }) => detail.sharing),
  authority: word(evseAuthorities)(
    'Decides whether a token may charge: the station, or a central system.',
    ({ detail }) => detail.authority,
  ),
  external_limit: nested(externalLimit).orNull(
    'External limit below `max_power_kw`, shown also while vehicles want less; null: none.',
    ({ detail }) => detail.externalLimit,
  ),
  battery: nested(vehicles).orNull(
    'All plugged vehicles together; null: no vehicle is plugged.',
    ({ detail }) => detail.battery,
  ),
  connectors: list(connector)(({ detail }) => detail.connectors),
}));

/** One station, which is its own context. */
export const station = { schema: evse.schema, reply: (of: Station) => evse.reply(of, of) };
export const stations = members<readonly Station[]>()('ChargingStations', () => ({
  evses: listInPieces(station)((all) => all),
  missing: missingMember(),
}));

const connectorOfProfile = members<EvseConnectorParameters>()(null, () => ({
  connector_id: integer(),
  type: word(evseConnectorTypes)(),
  standard: word(evseConnectorStandards)(),
  max_power_kw: inKilo(({ maxPowerW }) => maxPowerW),
  bidirectional: flag(),
}));

const profile = members<EvseProfile>()('ChargingStationProfile', () => ({
  name: text(),
  description: text.orNull(),
  connectors: list(connectorOfProfile)(({ evse: { connectors: all } }) => all),
  max_power_kw: inKilo('Maximum power of the whole station.', ({ evse: { maxPowerW } }) => maxPowerW),
  battery_kwh: inKilo(
    'Battery capacity of the vehicle that is plugged in by default.',
    ({ evse: { ev } }) => ev.batteryCapacityWh,
  ),
  v2g: flag('At least one connector is bidirectional.', ({ evse: { connectors: all } }) =>
    all.some(({ bidirectional }) => bidirectional),
  ),
  bundled: flag('Comes with the simulator.'),
}));
export const profiles = members<readonly EvseProfile[]>()('ChargingStationProfiles', () => ({
  profiles: list(profile)((all) => all),
}));

const authorizationStatuses = [
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
] as const;

export const authorization = members<OcppAuthorization>()('Authorization', () => ({
  status: word(authorizationStatuses)((of) => authorizationStatuses.find((each) => each === of.status) ?? 'Unknown'),
  id_token_info: member(() => z.record(z.string(), z.unknown())).orNull(
    'Answer of the central system about the token; null: the station decided.',
    ({ info }) => info,
  ),
}));

const generatorOf = ({ detail }: Station) => detail.generator;
const generator = members<Station, Station>()('SessionGenerator', () => ({
  charge_point_id: text(({ id }) => id),
  running: flag('Vehicles come and go by themselves.', (of) => generatorOf(of) !== null),
  seed: integer.orNull('The same seed gives the same vehicles.', (of) => generatorOf(of)?.seed),
  rate_per_hour: number.orNull('Arrivals per hour at each connector.', (of) => generatorOf(of)?.ratePerHour),
  id_token: text.orNull('Token presented where plugging in presents none by itself.', (of) => generatorOf(of)?.idToken),
  started_at: simulatedTime.orNull('Simulated time.', (of) => generatorOf(of)?.startedAtS),
  arrivals: integer('Vehicles that were plugged in.', (of) => generatorOf(of)?.arrivals ?? 0),
  turned_away: integer(
    'Vehicles not plugged in: the connector was occupied, reserved, faulted or out of operation.',
    (of) => generatorOf(of)?.turnedAway ?? 0,
  ),
  departures: integer('Vehicles that have left after their stay.', (of) => generatorOf(of)?.departures ?? 0),
  present: integer('Vehicles plugged in now.', (of) => generatorOf(of)?.present ?? 0),
  next_arrival_at: simulatedTime.orNull(
    'Simulated time of the next arrival at any connector.',
    (of) => generatorOf(of)?.nextArrivalS,
  ),
}));
export const generators = members<readonly Station[]>()('SessionGenerators', () => ({
  generators: list({ schema: generator.schema, reply: (of: Station) => generator.reply(of, of) })((all) => all),
}));

export const stationParams = z.strictObject({
  id: z.string().openapi({
    param: { name: 'id' },
    description:
      'Charge point identity, URL-encoded, case-sensitive; where no station has it, the index of its device.',
  }),
});

/** Maximum connector number in a path; below it, a number that the station does not have is a 404. */
const maxConnectorId = 999_999_999;

export const connectorParams = z.strictObject({
  ...stationParams.shape,
  cid: integerParam('cid', 1, maxConnectorId, 'Connector number, from 1.'),
});

export const sessionsQuerySchema = z.strictObject({
  state: z
    .enum(evseSessionStates)
    .optional()
    .openapi({ param: { name: 'state' }, description: 'Only sessions in this state; default all.' }),
  limit: integerParam('limit', 1, 1000, 'Maximum number of entries, the newest; default 100.').optional(),
});

const idToken = z.string().min(1).max(255);
const percent = z.number().min(0).max(100);
const watts = { minKw: 0.001, maxKw: 1e4 } as const;
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
  battery_capacity_kwh: z.number().min(watts.minKw).max(watts.maxKw).optional(),
  soc_pct: percent.optional(),
  target_soc_pct: percent.optional(),
  reserve_soc_pct: percent.optional().openapi({ description: 'State of charge at which discharging stops.' }),
  max_charge_kw: z.number().min(watts.minKw).max(watts.maxKw).optional(),
  max_discharge_kw: z.number().min(0).max(watts.maxKw).optional(),
  phases: z
    .union([z.literal(1), z.literal(3)], { error: 'must be 1 or 3' })
    .optional()
    .openapi({ description: 'Phases of the on-board charger.' }),
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
      error: 'is allowed only with a cable that is plugged into the vehicle',
    })
    .openapi('PlugRequest'),
);

export const unplugBodySchema = memo(() =>
  z
    .strictObject({
      ev_side: z
        .boolean()
        .optional()
        .openapi({ description: 'Unplugs the cable from the vehicle; default true if it is plugged in there.' }),
      evse_side: z.boolean().optional().openapi({
        description:
          'Unplugs a loose cable from the station; default true if it is plugged in there and no session keeps it.',
      }),
    })
    .refine((body) => body.ev_side !== false || body.evse_side !== false, {
      path: ['ev_side'],
      error: 'at least one side of the cable must be unplugged',
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
            'for text that is not the UID of a card. It has no effect in 1.6.',
        }),
    })
    .openapi('AuthorizeRequest'),
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

export const suspendBodySchema = memo(() =>
  z
    .strictObject({
      by: z.enum(['ev', 'evse']).openapi({ description: 'Side that suspends charging: the vehicle or the station.' }),
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
      error_code: z.enum(evseErrorCodes).openapi({ description: 'Error code of OCPP 1.6.' }),
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
        .openapi({ description: 'New reading; the energy of sessions does not change.' }),
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
      expires_in_s: durationS.openapi({
        description: 'Simulated seconds; null or absent: the reservation lasts until it is used or cancelled.',
      }),
    })
    .openapi('ReserveRequest'),
);

export const generatorDefaults = { seed: 1, ratePerHour: 1, idToken: 'GENERATOR' } as const;

export const generatorBodySchema = memo(() =>
  z
    .strictObject({
      charge_point_id: z.string().optional().openapi({ description: 'Only this station; default all.' }),
      seed: z
        .int()
        .optional()
        .openapi({ description: `The same seed gives the same vehicles; default ${generatorDefaults.seed}.` }),
      rate_per_hour: z
        .number()
        .min(0.001)
        .max(60)
        .optional()
        .openapi({
          description: `Arrivals at each connector in a simulated hour; default ${generatorDefaults.ratePerHour}.`,
        }),
      id_token: z
        .string()
        .min(1)
        .max(255)
        .optional()
        .openapi({
          description: `Token presented where plugging in presents none by itself; default ${generatorDefaults.idToken}.`,
        }),
      stop: z.boolean().optional().openapi({ description: 'True: ends the generator.' }),
      vehicles: z.enum(['leave', 'stay']).optional().openapi({
        description: 'Effect on the vehicles of a generator that ends or is replaced; default `leave`.',
      }),
    })
    .superRefine(({ stop, seed, rate_per_hour: rate, id_token: token }, ctx) => {
      if (stop !== true) return;
      for (const [name, value] of Object.entries({ seed, rate_per_hour: rate, id_token: token }))
        if (value !== undefined) ctx.addIssue({ code: 'custom', path: [name], message: 'does not go with stop' });
    })
    .openapi('SessionGeneratorRequest'),
);
