/** Charge points, their messages, settings and transactions: members of replies and requests. */
import { memo } from '../../core/lazy.ts';
import {
  ocppBootStatuses,
  ocppConnectionStates,
  ocppDerControlStates,
  ocppFindingKinds,
  ocppMessageTypes,
  ocppSubprotocols,
} from '../../contract/ocpp.ts';
import type {
  OcppCallResult,
  OcppCertificateEntry,
  OcppConfiguration,
  OcppDerControlEntry,
  OcppFinding,
  OcppKeyEntry,
  OcppLocalList,
  OcppMessage,
  OcppProfileEntry,
  OcppReservationEntry,
  OcppSchedule,
  OcppStation,
  OcppStations,
  OcppStatus,
  OcppTokenEntry,
  OcppTransactionEntry,
  OcppVariableEntry,
} from '../../contract/ocpp.ts';
import {
  isOcppUrl,
  ocppPasswordText,
  ocppUrlText,
  ocppVersions,
  ocppVersionsSchema,
} from '../../contract/ocpp-settings.ts';
import { wireDirections } from '../../core/wire/wire-log.ts';
import { count, flag, integer, list, member, members, nested, number, text, time, word } from '../common/members.ts';
import { afterIdParam, deviceIndex, integerParam, newestParam, toIdParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { missingMember } from '../fleet/members.ts';
import { listInPieces } from '../http/streaming.ts';
import { derValuesSchema } from './der-values.ts';

const payloadSchema = memo(() =>
  z.record(z.string(), z.unknown()).openapi('OcppPayload', {
    description:
      'Members with the names of the standard, of any shape: they depend on action, version and vendor, and a message that breaks ' +
      'its schema is shown as it came.',
  }),
);

/** A profile is installed only if it fits the schema of its version, so that these members are there. */
const sentProfileSchema = memo(() => {
  const schedule = z.record(z.string(), z.unknown());
  return z
    .object({
      stackLevel: z.int().openapi({ description: 'Of profiles of one purpose the highest level decides.' }),
      chargingProfilePurpose: z.string().openapi({ description: 'In the words of the standard.' }),
      chargingProfileKind: z.string().openapi({ description: 'In the words of the standard.' }),
      chargingSchedule: z
        .union([schedule, z.array(schedule).min(1)])
        .openapi({ description: 'One schedule in 1.6, a list of them in 2.x.' }),
    })
    .catchall(z.unknown())
    .openapi('OcppSentProfile', {
      description:
        'A charging profile with the names of its version: these members are in all versions, and further ones of the version may follow.',
    });
});

/** Members by names of the standard. */
const json = (description: string) => payloadSchema().openapi({ description });

/** Payloads of OCPP are objects; any other value of a peer is shown under `value`. */
function membersOf(payload: unknown): Record<string, unknown> {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return isObject ? { ...payload } : { value: payload ?? null };
}

const payload = nested({ schema: payloadSchema, reply: membersOf });

/** Seconds and milliseconds to three decimals: more is noise. */
const rounded = (value: number) => Math.round(value * 1000) / 1000;
const threeDecimals = nested({ schema: () => z.number(), reply: rounded });

const securityProfile = memo(() => z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]));

const queue = members<OcppStatus['queue']>()('OcppQueue', () => ({
  calls: count('Calls that wait to be sent.'),
  transaction_messages: count('Messages of transactions that are not answered yet.'),
}));

const tls = members<NonNullable<OcppStatus['tls']>>()(null, () => ({
  version: text('For example `TLSv1.3`.'),
  cipher: text('Name of the cipher suite.', ({ suite }) => suite),
}));

export const status = members<OcppStatus>()('ChargePoint', () => ({
  id: text('Charge point identity.'),
  device_index: member(() => deviceIndex)(),
  enabled: flag('True if OCPP was switched on with `--ocpp_enable`.'),
  version: word(ocppVersions)(
    'Version at work: the one that the central system has chosen last, before its first choice the first one offered.',
  ),
  versions: list({ schema: () => z.enum(ocppVersions) })(
    'Versions that it offers with the next connection, in the order of preference.',
  ),
  subprotocol: word(ocppSubprotocols).orNull('Agreed with the central system; null: not connected.'),
  url: text.orNull('Endpoint of the central system, without credentials; null: disabled.'),
  connection_state: word(ocppConnectionStates)('State of the WebSocket.'),
  boot_status: word(ocppBootStatuses)('Answer to the last BootNotification.'),
  security_profile: member(securityProfile)(
    '0 none; 1 basic authentication; 2 with TLS; 3 TLS with client certificate.',
  ),
  heartbeat_interval_s: number.orNull(
    'Seconds between two Heartbeats; null: no BootNotification has been accepted yet.',
  ),
  last_heartbeat_at: time.orNull(
    'Wall time of the last answer to a Heartbeat; null: none.',
    (of) => of.lastHeartbeatMs,
  ),
  connected_since: time.orNull('Wall time; null: not connected.'),
  reconnect_in_s: threeDecimals.orNull('Time until the next attempt, s; null: none is planned.'),
  queue: nested(queue)(),
  last_error: text.orNull('In words; null: none.'),
  clock_offset_s: threeDecimals.orNull(
    'Time of the central system minus that of this machine, s; null: not received yet.',
  ),
  tls: nested(tls).orNull('Null: in clear, or not connected.'),
}));

export const chargePoints = members<OcppStations>()('ChargePoints', () => ({
  enabled: flag('True if OCPP was switched on with `--ocpp_enable`.'),
  charge_points: listInPieces(status)('In the order of their devices; disabled: none.', ({ list: stations }) =>
    stations.map((station) => station.status),
  ),
  missing: missingMember(),
}));

const callError = members<OcppCallResult['answer'] & { readonly kind: 'error' }>()('OcppCallError', () => ({
  code: text('Error code of OCPP-J.'),
  description: text('In the words of the central system.'),
  details: payload(
    'As the central system has sent them; the standard leaves their members open.',
    ({ details }) => details ?? {},
  ),
}));

export const callResult = members<OcppCallResult>()('OcppCallResult', () => ({
  message_id: text('Id of the message on the wire.'),
  action: text('Name of the message.'),
  duration_ms: nested({ schema: () => z.number().min(0), reply: rounded })('From the sending to the answer, ms.'),
  result: payload.optional(
    'Payload of the CALLRESULT; it fits the schema of the action in the version that is spoken, except where the call was sent with ' +
      '`validate` false. Absent: the answer is a CALLERROR.',
    ({ answer }) => (answer.kind === 'result' ? (answer.payload ?? null) : undefined),
  ),
  error: nested(callError).optional('The CALLERROR; absent: the answer is a CALLRESULT.', ({ answer }) =>
    answer.kind === 'error' ? answer : undefined,
  ),
}));

const message = members<OcppMessage>()('OcppMessage', () => ({
  id: member(() => z.int().min(1))('Rises with each message of the simulator.'),
  timestamp: time('Wall time.', ({ atMs }) => atMs),
  direction: word(wireDirections)('`in`: received by the charge point; `out`: sent by it.'),
  type: word(ocppMessageTypes)('`invalid`: not a frame of OCPP-J.'),
  message_id: text.orNull('Id on the wire; null: none.'),
  action: text.orNull('Name of the call, also in its answer; null: unknown.'),
  payload: member(() => z.union([payloadSchema(), z.string()]))(
    'Payload; for an error `{code, description, details}`; for `invalid` the text. Secrets are hidden.',
    (of) => (typeof of.payload === 'string' ? of.payload : membersOf(of.payload)),
  ),
  duration_ms: threeDecimals.orNull('Of an answer: time since its call, ms; null: no answer, or the call is unknown.'),
  truncated: flag('True if the end of a long message was cut off.'),
}));

/** Names of the members of a message. */
export const messageMembers = (): readonly string[] => Object.keys(message.members());
export const messages = members<readonly OcppMessage[]>()('OcppMessages', () => ({
  messages: listInPieces(message)('Oldest first.', (all) => all),
}));

const finding = members<OcppFinding>()('OcppFinding', () => ({
  id: member(() => z.int().min(1))('Rises by one with each finding.'),
  timestamp: time('Wall time.', ({ atMs }) => atMs),
  kind: word(ocppFindingKinds)('Violation of the schema, or of a rule.'),
  action: text.orNull('Name of the message; null: unknown.'),
  message_id: text.orNull('Id on the wire; null: unknown.'),
  clause: text('Clause of the specification, such as `OCPP-J 1.6 4.1.4`.'),
  text: text('Description of the finding in a sentence.'),
}));
export const findings = members<OcppStation>()('OcppFindings', () => ({
  findings: list(finding)('Newest first.', (station) => station.findings()),
}));

const key = members<OcppKeyEntry>()('OcppKey', () => ({
  key: text('Name of the key.'),
  value: text.orNull('Null: it can only be written.'),
  readonly: flag('True if the central system may not change it.'),
  reboot_required: flag('True if a change takes effect only after a reboot.'),
}));

const variable = members<OcppVariableEntry>()('OcppVariable', () => ({
  component: text('Name of the component, with its instance in brackets where it has one.'),
  variable: text('Name of the variable.'),
  attribute: text('`Actual`, `Target`, ...'),
  value: text.orNull('Null: write-only.'),
  mutability: text('`ReadOnly`, `ReadWrite`, `WriteOnly`.'),
  evse_id: integer.orNull('Null: of the station.'),
  connector_id: integer.orNull('Null: of the station or an EVSE.'),
  instance: text.orNull('Of the variable; null: none.'),
  reboot_required: flag('True if a change takes effect only after a reboot.'),
}));

export const configuration = members<OcppConfiguration>()('OcppConfiguration', () => ({
  keys: list(key).optional('1.6 only.', (of) => (of.kind === 'keys' ? of.keys : undefined)),
  variables: list(variable).optional('2.x only.', (of) => (of.kind === 'variables' ? of.variables : undefined)),
}));

const profile = members<OcppProfileEntry>()('OcppChargingProfile', () => ({
  connector_id: count('0: the station.'),
  profile_id: integer('Id of the profile.'),
  stack_level: integer('Of profiles of one purpose the highest level decides.'),
  purpose: text('In the words of the standard.'),
  kind: text('In the words of the standard.'),
  transaction_id: text.orNull('Null: not bound to a transaction.'),
  effective: flag('True if it decides the limit of its purpose now.'),
  profile: nested({ schema: sentProfileSchema, reply: membersOf })('As the central system has sent it.'),
}));
export const profiles = members<readonly OcppProfileEntry[]>()('OcppChargingProfiles', () => ({
  charging_profiles: list(profile)('Installed profiles.', (all) => all),
}));

const period = members<OcppSchedule['periods'][number]>()('OcppSchedulePeriod', () => ({
  start_s: number('Begin of the period, s from the begin of the schedule.'),
  limit: number.orNull('Limit in `unit`; null: no profile limits.'),
  number_phases: integer.orNull('Phases that may be used; null: not limited.'),
  setpoint: number.optional('2.1: set-point, positive into the vehicle.'),
  discharge_limit: number.optional('2.1: limit of the discharge, not positive.'),
  operation_mode: text.optional('2.1: operation mode.', ({ mode }) => mode),
}));
export const schedule = members<OcppSchedule>()('OcppCompositeSchedule', () => ({
  connector_id: count('0: the station.'),
  start: time('Begin of the schedule.'),
  duration_s: number('Length of the schedule, s.'),
  unit: word(['W', 'A'])('Unit of the limits.'),
  periods: list(period)(),
}));

const reservation = members<OcppReservationEntry>()('OcppReservation', () => ({
  reservation_id: integer(),
  connector_id: count('0: any connector.'),
  id_token: text(),
  expires_at: time.orNull(
    'By the clock of the central system; a reservation made over REST ends by simulated time instead. Null: it has no end.',
    ({ expiresMs }) => expiresMs,
  ),
}));
export const reservations = members<OcppStation>()('OcppReservations', () => ({
  reservations: list(reservation)((station) => station.functions.reservations()),
}));

const derControl = members<OcppDerControlEntry>()('OcppDerControl', () => ({
  control_id: text('Id given by the central system.'),
  control_type: text('In the words of the standard.'),
  is_default: flag('True: in force while no scheduled control of its type is in force.'),
  is_superseded: flag('True: another control has superseded it; a scheduled control is removed at its end.'),
  start_time: time.orNull('By the clock of the central system; null: of a default.', ({ startMs }) => startMs),
  duration_s: threeDecimals.orNull('Null: until the control is cleared or superseded.'),
  priority: count('The lower number wins.'),
  active: flag('In force on the device.'),
  state: word(ocppDerControlStates)(
    '`scheduled`: before its start; `standby`: another control of its type runs; `superseded`; ' +
      '`applied`: in force; due, but `waiting`: the device accepts no control now, `outweighed`: a control of ' +
      'another type excludes it, `refused`: the device cannot carry it out.',
  ),
  overwritten: flag('Another writer has changed a part of the control since.'),
  values: nested({ schema: derValuesSchema, reply: membersOf })(
    'As the central system has sent them, by `control_type`; the schemas of SetDERControl, which they fit.',
  ),
}));
export const derControls = members<OcppStation>()('OcppDerControls', () => ({
  controls: list(derControl)('In the order in which they were set.', (station) => station.functions.derControls()),
}));

const token = members<OcppTokenEntry>()('OcppToken', () => ({
  id_token: text(),
  status: text('In the words of the standard.'),
  expires_at: time.orNull('Null: does not expire.', ({ expiresMs }) => expiresMs),
  parent_id_token: text.orNull('Parent token; null: none.'),
}));
export const localList = members<OcppLocalList>()('OcppLocalList', () => ({
  version: integer('0: there is no list.'),
  entries: list(token)('The list as the central system has sent it.'),
  cache: list(token)('Tokens that the central system has answered for.'),
}));

const certificate = members<OcppCertificateEntry>()('OcppCertificate', () => ({
  use: text('In the words of the standard.'),
  subject: text('Distinguished name of the owner.'),
  issuer: text('Distinguished name of the issuer.'),
  serial_number: text('Hexadecimal.'),
  valid_from: time('Begin of validity.'),
  valid_to: time('End of validity.'),
  fingerprint: text('SHA-256, hexadecimal.'),
}));
export const certificates = members<OcppStation>()('OcppCertificates', () => ({
  certificates: list(certificate)((station) => station.functions.certificates()),
}));

const transaction = members<OcppTransactionEntry>()('OcppTransaction', () => ({
  transaction_id: text.orNull(
    '1.6: given by the central system, null until it is received; 2.x: given by the station.',
  ),
  session_id: text('`session_id` of the session in `evse/sessions`.'),
  connector_id: integer(),
  id_token: text(),
  started_at: time('By the clock of the central system.', ({ startedMs }) => startedMs),
  ended_at: time.orNull('Null: it is still running.', ({ endedMs }) => endedMs),
  meter_start_wh: number('Reading of the meter at its begin.'),
  meter_stop_wh: number.orNull('Null: it is still running.'),
  stop_reason: text.orNull('Null: none.'),
  queued: count('Its messages that still wait.'),
}));
export const transactions = members<OcppStation>()('OcppTransactions', () => ({
  transactions: list(transaction)('Newest first.', (station) => station.functions.transactions()),
}));

export const stationParams = z.strictObject({
  id: z.string().openapi({
    param: { name: 'id' },
    description:
      'Charge point identity, URL-encoded, case-sensitive; where no station has it, the index of its device.',
  }),
});

export const connectBodySchema = memo(() =>
  z
    .strictObject({
      url: z
        .string()
        .refine(isOcppUrl, { error: `must be ${ocppUrlText}` })
        .optional()
        .openapi({
          description:
            'Endpoint of the central system, at most 1000 characters: a ws or wss URL without credentials, query and fragment. ' +
            'Outbound rules apply. Default unchanged.',
          example: 'ws://127.0.0.1:8180/steve/websocket/CentralSystemService',
        }),
      security_profile: securityProfile().optional().openapi({ description: 'Default unchanged.' }),
      password: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .openapi({ description: `Of security profiles 1 and 2: ${ocppPasswordText}. Never shown. Default unchanged.` }),
      version: ocppVersionsSchema.optional().openapi({
        description:
          'Version to be offered, or several in the order of preference, each once; the central system chooses one. Default unchanged.',
        example: ['ocpp2.0.1j', 'ocpp1.6j'],
      }),
    })
    .openapi('OcppConnectRequest'),
);

const isCloseCode = (code: number) => (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || code >= 3000;

export const disconnectBodySchema = memo(() =>
  z
    .strictObject({
      code: z
        .int()
        .min(1000)
        .max(4999)
        .refine(isCloseCode, { error: 'must be a close code that an endpoint may send (RFC 6455 7.4)' })
        .optional()
        .openapi({ description: 'Close code of the WebSocket, 1000 to 4999; default 1000.' }),
    })
    .openapi('OcppDisconnectRequest'),
);

export const bootBodySchema = memo(() =>
  z
    .strictObject({
      reason: z
        .string()
        .min(1)
        .max(50)
        .optional()
        .openapi({ description: 'Reason of the boot in 2.x, at most 50 characters; refused for 1.6, which has none.' }),
    })
    .openapi('OcppBootRequest'),
);

export const maxCallText = 32_768;
const maxAction = 100;

export const callBodySchema = memo(() =>
  z
    .strictObject({
      action: z
        .string()
        .min(1)
        .max(maxAction)
        .openapi({ description: `Name of the message, at most ${maxAction} characters.`, example: 'DataTransfer' }),
      payload: json('Members of the message with the names of the standard.'),
      validate: z.boolean().optional().openapi({
        description: 'False: also sends a payload that breaks its schema, for negative tests. Default true.',
      }),
      timeout_s: z
        .number()
        .min(1)
        .max(300)
        .optional()
        .openapi({ description: 'How long to wait for the answer, 1 to 300 s; default 30.' }),
    })
    .openapi('OcppCallRequest'),
);

const maxMessages = 1000;
export const defaultMessages = 100;

export const messagesQuery = z.strictObject({
  limit: newestParam(maxMessages, defaultMessages).optional(),
  after_id: afterIdParam.optional().openapi({ description: 'Only messages with a higher id.' }),
  to_id: toIdParam.optional(),
  action: z
    .string()
    .min(1)
    .max(maxAction)
    .optional()
    .openapi({
      param: { name: 'action' },
      description: `Only calls of this name and their answers, at most ${maxAction} characters; default all.`,
      example: 'StartTransaction',
    }),
  direction: z
    .enum(wireDirections)
    .optional()
    .openapi({ param: { name: 'direction' }, description: '`in`: received; `out`: sent. Default both.' }),
});

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
