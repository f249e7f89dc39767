/** The client of IEEE 2030.5 and its head-end: members of replies and requests. */
import { memo } from '../../core/lazy.ts';
import { connectionPointIdPattern, connectionPointIdText, hasCheckDigit } from '../../contract/csip-settings.ts';
import { csipCertificateNames, csipIdentities, csipRevisions, csipStates } from '../../contract/csip-client.ts';
import type {
  CsipCertificates,
  CsipClient,
  CsipConfig,
  CsipConnection,
  CsipControl,
  CsipCurve,
  CsipDefaultControl,
  CsipDiagnostic,
  CsipEndDevice,
  CsipLeftOutMode,
  CsipManagedDevice,
  CsipProgram,
  CsipResponse,
  CsipServer,
  CsipStatus,
  CsipTime,
} from '../../contract/csip-client.ts';
import { csipControlStates, csipResponseResults } from '../../contract/csip-reports.ts';
import type { CsipFoundServer, CsipHttpProbe } from '../../contract/csip-reports.ts';
import type { Plant } from '../../contract/plant.ts';
import { count, flag, integer, list, member, members, nested, number, text, time, word } from '../common/members.ts';
import { deviceParam, newestParam } from '../common/schemas.ts';
import { writer } from '../common/writers.ts';
import { pem } from '../common/pem.ts';
import { z } from '../description/zod.ts';
import { listInPieces } from '../http/streaming.ts';
import { defaultSettingsSchema, modesSchema } from './modes.ts';

const texts = member(() => z.record(z.string(), z.string()));

export const byServer = 'by the clock of the server';

const deviceIndices = () => list(count())('Indexes of the devices of this process that are concerned.');
const endDeviceLfdi = () => text('LFDI of the EndDevice: 40 hexadecimal digits.');
const controlMrid = () => text('mRID in upper-case hexadecimal digits.');

/** ms, as seconds to three digits. */
const seconds = nested({ schema: () => z.number(), reply: (ms: number) => Math.round(ms) / 1000 });
/** SFDI in decimal digits. */
const sfdi = nested({ schema: () => z.string(), reply: String as (value: number) => string });

/** DERControlResponse.status (IEEE 2030.5-2018, Table 27; 251 is of 2023, Table 31). */
const statusTexts: Readonly<Record<number, string>> = {
  1: 'received',
  2: 'started',
  3: 'completed',
  4: 'user has chosen to opt out',
  5: 'user has chosen to opt in',
  6: 'cancelled',
  7: 'superseded',
  8: 'partially completed with opt-out',
  9: 'partially completed with opt-in',
  10: 'completed, no participation',
  12: 'cannot be displayed',
  13: 'superseded by another server',
  14: 'superseded by another program',
  251: 'mode not supported',
  252: 'rejected: not applicable or not supported',
  253: 'rejected: invalid values',
  254: 'rejected: received too late',
};

const modes = member(modesSchema);
const defaultSettings = member(defaultSettingsSchema);

const leftOut = members<CsipLeftOutMode>()('CsipLeftOutMode', () => ({
  mode: text('Member of DERControlBase, such as `opModFreqWatt`.'),
  reason: word(['unsupported', 'invalid', 'outweighed'])(
    '`unsupported`: no physics for the mode; `invalid`: wrong value; `outweighed`: another mode has priority.',
  ),
  detail: text('The reason as a sentence.'),
}));
const leftOutModes = () => list(leftOut)('Modes that are not carried out, with reasons.');

const response = members<CsipResponse>()('CsipResponse', () => ({
  mrid: controlMrid(),
  end_device_lfdi: endDeviceLfdi(),
  device_indices: deviceIndices(),
  status: integer('DERControlResponse.status.'),
  status_text: text('The status in words.', ({ status: code }) => statusTexts[code] ?? 'unknown'),
  created_at: time(`createdDateTime, ${byServer}.`, ({ createdServerMs }) => createdServerMs),
  reply_to: text('Address to which the response is posted.'),
  result: word(csipResponseResults)(
    '`queued`: to be sent, or sent again; `refused`: by the server for good; ' +
      '`dropped`: by a fault, or the queue was full.',
  ),
  sent_at: time.orNull('When the server accepted or refused it; null: not yet.'),
  attempts: count('Attempts to send it.'),
  http_status: integer.orNull('Status of the last answer; null: no answer.'),
  last_error: text.orNull('Reason why the last attempt failed; null: it did not fail.'),
}));
export const responses = members<readonly CsipResponse[]>()('CsipResponses', () => ({
  responses: listInPieces(response)('Newest first.', (all) => all),
}));

export const control = members<CsipControl>()('CsipControl', () => ({
  mrid: controlMrid(),
  href: text.orNull('Its address on the server; null: none was given.'),
  description: text.orNull('As given by the server; null: none.'),
  version: integer.orNull('As given by the server; null: none.'),
  program_href: text('Address of its DERProgram.'),
  primacy: integer('Primacy of its program, 0 to 255; the lowest wins.'),
  state: word(csipControlStates)('`rejected`: answered with 251 (in 2023), 252 (in 2018), 253 or 254.'),
  creation_time: time(`creationTime, ${byServer}.`, ({ creationServerMs }) => creationServerMs),
  start: time(`Start of its interval, ${byServer}.`, ({ startServerMs }) => startServerMs),
  duration_s: number('Duration of its interval, s.'),
  effective_start: time(
    `Start with its random part, ${byServer}.`,
    ({ effectiveStartServerMs }) => effectiveStartServerMs,
  ),
  effective_duration_s: number('Duration with its random part, s.'),
  randomize_start_s: number('Range of the random part of the start, s; 0: none.'),
  randomize_duration_s: number('Range of the random part of the duration, s; 0: none.'),
  potentially_superseded: flag('EventStatus.potentiallySuperseded.'),
  response_required: integer('Bits: 1 received, 2 specific responses, 4 responses of the user.'),
  modes: modes(),
  modes_in_force: list(text())('Members of DERControlBase that act now; empty unless it is active.'),
  left_out: leftOutModes(),
  waiting: flag('The control is due, but the device accepts none now: it is under local control, or without power.'),
  overwritten: flag('Another writer has changed a point of the control since.'),
  opted_out: flag('The user does not take part.'),
  responses: list(response)('Responses to it, oldest first.'),
  end_device_lfdi: endDeviceLfdi(),
  device_indices: deviceIndices(),
}));
export const controls = members<readonly CsipControl[]>()('CsipControls', () => ({
  controls: listInPieces(control)('Latest start first.', (all) => all),
}));
export const controlWithXml = members<ReturnType<CsipClient['control']>>()('CsipControlWithXml', () => ({
  ...control.members(),
  xml: text.orNull('The DERControl as the server sent it last; null: not among the recorded messages.'),
}));

const curvePoint = members<CsipCurve['points'][number]>()('CsipCurvePoint', () => ({
  x: number('Scaled by its multiplier, in the unit of the curve type.'),
  y: number('Scaled by its multiplier, in the unit of the curve type.'),
  excitation: flag.orNull('True: under-excited; null: not part of the point.'),
}));

const curve = members<CsipCurve>()('CsipCurve', () => ({
  href: text.orNull('Its address on the server; null: none was given.'),
  mrid: text.orNull('mRID; null: none.'),
  description: text.orNull('As given by the server; null: none.'),
  curve_type: integer.orNull('DERCurveType; null: none was given.'),
  x_multiplier: integer('Power of ten of the x values on the wire.'),
  y_multiplier: integer('Power of ten of the y values on the wire.'),
  y_ref_type: integer.orNull('DERUnitRefType; null: none was given.'),
  points: list(curvePoint)('In the order of the server.'),
  open_loop_s: number.orNull('openLoopTms, s; null: none.'),
  ramp_dec_pct_per_s: number.orNull('rampDecTms, % per s; null: none.'),
  ramp_inc_pct_per_s: number.orNull('rampIncTms, % per s; null: none.'),
  ramp_pt1_s: number.orNull('rampPT1Tms, s; null: none.'),
  v_ref_pct: number.orNull('vRef, %; null: none.'),
}));
export const curves = members<readonly CsipCurve[]>()('CsipCurves', () => ({
  curves: list(curve)('Curves of all programs.', (all) => all),
}));

const defaultControl = members<CsipDefaultControl>()('CsipDefaultControl', () => ({
  mrid: text.orNull('mRID; null: none.'),
  href: text.orNull('Its address on the server; null: none was given.'),
  description: text.orNull('As given by the server; null: none.'),
  program_href: text('Address of its DERProgram.'),
  modes: modes(),
  modes_in_force: list(text())('Members of DERControlBase that act now, because no event has them.'),
  settings: defaultSettings('Its members other than the modes, in the unit of the name; absent: not in the control.'),
  left_out: leftOutModes(),
}));

const program = members<CsipProgram>()('CsipProgram', () => ({
  href: text('Its address on the server.'),
  mrid: text.orNull('mRID; null: none.'),
  description: text.orNull('As given by the server; null: none.'),
  primacy: integer('Primacy, 0 to 255; the lowest wins.'),
  fsa_hrefs: list(text())('FunctionSetAssignments that lead to the program.'),
  device_indices: deviceIndices(),
  has_default: flag('True if a DefaultDERControl was read.', (of) => of.defaultControl !== null),
  default_control: nested(defaultControl).orNull('Null: the program has none, or it could not be read.'),
  control_count: count('Events of its list on the server.'),
  curves: list(curve)('Curves of its list, and those that its controls name.'),
}));
export const programs = members<readonly CsipProgram[]>()('CsipPrograms', () => ({
  programs: listInPieces(program)('By primacy.', (all) => all),
}));

const server = members<CsipServer>()('CsipServer', () => ({
  host: text('Name or address of the server.'),
  port: integer('TCP port.'),
  dcap: text('Path of the DeviceCapability.'),
  tls: flag('True if the connection is encrypted.'),
  version_compat: word(csipRevisions)('Revision of IEEE 2030.5 that documents follow.', ({ revision }) => revision),
  tls_protocol: text.orNull('Of the last handshake; null: none.', ({ negotiated }) => negotiated?.protocol),
  cipher: text.orNull('Of the last handshake; null: none.', ({ negotiated }) => negotiated?.cipher),
}));

const communicationLost = members<NonNullable<CsipConnection['lost']>>()(null, () => ({
  since: time('Wall time at which the loss began.'),
  until: time.orNull('Wall time at which the loss ends; null: not before it is ended by hand.'),
}));

interface AtMoment {
  readonly nowMs: number;
}

const connection = members<CsipConnection, AtMoment>()('CsipConnection', () => ({
  attempts: count(
    'Attempts to reach the server: connections opened, and failed requests of the walk that are tried again.',
  ),
  consecutive_failures: count('Failed attempts since the last success.'),
  retry_in_s: seconds.orNull('Time until the next attempt, s; null: none is planned.', ({ retryInMs }) => retryInMs),
  last_contact: time.orNull('Wall time of the last answer; null: never.'),
  seconds_since_last_contact: seconds.orNull(
    'Time since the last answer, s; null: never.',
    ({ lastContactMs }, { nowMs }) => (lastContactMs === null ? null : Math.max(0, nowMs - lastContactMs)),
  ),
  last_error: text.orNull('The last error as text; null: none.'),
  last_error_at: time.orNull('Wall time of the last error; null: none.', ({ lastErrorMs }) => lastErrorMs),
  communication_lost: nested(communicationLost).orNull(
    'A loss of communication set by `csip/communication`; null: none.',
    ({ lost }) => lost,
  ),
}));

const registration = members<NonNullable<CsipEndDevice['registration']>>()(null, () => ({
  pin_matches: flag.orNull(
    'True if the PIN of the Registration is the configured PIN; null: no PIN is configured, or the Registration has none.',
  ),
  registered_at: time.orNull(
    `dateTimeRegistered, ${byServer}; null: none was given.`,
    ({ registeredServerMs }) => registeredServerMs,
  ),
}));

const endDevice = members<CsipEndDevice>()('CsipEndDevice', () => ({
  href: text('Its address on the server.'),
  lfdi: text.orNull('LFDI, 40 hexadecimal digits; null: none was given.'),
  sfdi: sfdi.orNull('SFDI in decimal digits; null: none was given.'),
  device_category: text.orNull('Bits of DeviceCategoryType, hexadecimal; null: none was given.'),
  enabled: flag.orNull('EndDevice.enabled; null: none was given.'),
  changed_time: time.orNull(
    `changedTime, ${byServer}; null: none was given.`,
    ({ changedServerMs }) => changedServerMs,
  ),
  post_rate_s: number.orNull('postRate, s; null: none was given.'),
  registration: nested(registration).orNull('Null: no Registration was read.'),
  device_indices: deviceIndices(),
  links: texts('Its links by name, such as `FunctionSetAssignmentsListLink`, with their `href`.'),
}));
export const endDevices = members<readonly CsipEndDevice[]>()('CsipEndDevices', () => ({
  end_devices: list(endDevice)('EndDevices of this client first, then others of the list.', (all) => all),
}));

export const serverTime = members<CsipTime>()('CsipTime', () => ({
  server_time: time('Now, by the clock of the server.', ({ serverNowMs }) => serverNowMs),
  offset_s: number('Clock of the server minus that of this machine, s.'),
  quality: integer.orNull('7: intentionally uncoordinated; null: none was given.'),
  tz_offset_s: number.orNull('tzOffset, s; null: none was given.'),
  dst_offset_s: number.orNull('dstOffset, s; null: none was given.'),
  age_s: number('Time since the Time resource was read, s.'),
  href: text.orNull('Address of the Time resource; null: none was given.'),
}));

const metering = members<NonNullable<CsipStatus['metering']>>()(null, () => ({
  mup_href: text.orNull('Address of the MirrorUsagePoint; null: not created.'),
  post_rate_s: number.orNull('Time between posts in force, s; null: the server has no MirrorUsagePointList.'),
  last_post: time.orNull('Wall time of the last accepted post; null: none.'),
  posted_count: count('Accepted posts of readings.'),
}));

export const status = members<CsipStatus, AtMoment & Pick<CsipClient, 'enabled'>>()('CsipStatus', () => ({
  enabled: flag('True if the client was switched on with `--csip_client_enable`.', (_of, { enabled }) => enabled),
  state: word(csipStates)(
    '`registering`: the server has no enabled EndDevice of the client yet, or its PIN is being checked; ' +
      '`retrying`: the server does not answer; `stopped`: disconnected by hand, or for good because the PIN is wrong or ' +
      'cannot be compared.',
  ),
  server: nested(server).orNull('Null: disabled.'),
  identity: word(csipIdentities).orNull('Null: disabled.'),
  lfdi: text.orNull(
    'LFDI of the EndDevice of the device, 40 hexadecimal digits, even before the server has the EndDevice. Behind an ' +
      'aggregator it differs from that of the certificate. Null: disabled, or no certificate.',
  ),
  sfdi: sfdi.orNull('SFDI that follows from the LFDI, in decimal digits; null: disabled, or no certificate.'),
  device_indices: deviceIndices(),
  connection: nested(connection)(),
  end_device: nested(endDevice).orNull('Null: not on the server yet.'),
  programs: list(program)('By primacy.'),
  active_controls: list(control)('Events that are active.'),
  default_control: modes.orNull(
    'Modes of default controls that act now; null: none.',
    ({ defaultModes }) => defaultModes,
  ),
  time: nested(serverTime).orNull('Null: no Time resource has been read.', (of) => of.time),
  poll_rates_s: member(() => z.record(z.string(), z.number()))(
    'Seconds between two polls, by resource, such as `EndDeviceList`.',
  ),
  metering: nested(metering).orNull('Null: disabled, or the EndDevice is not on the server yet.'),
  subscriptions: count('Number of subscriptions in `csip/subscriptions`, in any state.'),
}));

export const config = members<Partial<CsipConfig>, { readonly plant: Pick<Plant, 'dateMs'> }>()('CsipConfig', () => ({
  enabled: flag(
    'True if the client was switched on with `--csip_client_enable`.',
    ({ serverHost }) => serverHost !== undefined,
  ),
  server_host: text.orNull('Name or address of the server; null: disabled.'),
  server_port: integer.orNull('TCP port; null: disabled.'),
  dcap: text.orNull('Path of the DeviceCapability; null: disabled.'),
  tls: flag.orNull('True if the connection is encrypted; null: disabled.'),
  revision: word(csipRevisions).orNull('Revision of IEEE 2030.5 that documents follow; null: disabled.'),
  poll_rate_s: number.orNull('Seconds between polls; null: that of the server, or disabled.'),
  post_rate_s: number.orNull('Seconds between reports; null: that of the server, or disabled.'),
  use_server_time: flag.orNull('True if the client uses the clock of the server; null: disabled.'),
  subscribe: flag.orNull('True if resources are subscribed to; null: disabled.'),
  nmis: list(text())(
    'Identifiers of the connection point (NMI): none, one for all devices, or one for each in their order.',
    (of) => of.nmis ?? [],
  ),
  pin_set: flag.orNull('True if a PIN is checked; null: disabled.'),
  check_hostname: flag.orNull('True if the certificate of the server must name its host; null: disabled.'),
  strict_cipher: flag.orNull('True if CCM-8 is the only suite; null: disabled.'),
  identity: word(csipIdentities).orNull('Null: disabled.'),
  lfdi: text.orNull(
    'LFDI set for the device behind an aggregator; null: derived from the LFDI of the aggregator, not behind an ' +
      'aggregator, or disabled.',
  ),
  changed_by: writer.orNull('Last writer; null: as started.'),
}));

const managedDevice = members<CsipManagedDevice>()('CsipManagedDevice', () => ({
  device_indices: deviceIndices(),
  lfdi: endDeviceLfdi(),
  sfdi: sfdi('Its SFDI in decimal digits.'),
}));

export const certificates = members<CsipCertificates>()('CsipCertificates', () => ({
  selected: word(csipCertificateNames).orNull('Null: PEM texts are in use, or disabled.'),
  available: list(word(csipCertificateNames)())('Chains that can be selected.'),
  lfdi: text.orNull('LFDI, 40 hexadecimal digits; null: unreadable, or disabled.', (of) => of.certificate?.lfdi),
  sfdi: sfdi.orNull('SFDI in decimal digits; null: unreadable, or disabled.', (of) => of.certificate?.sfdi),
  subject: text.orNull(
    'Subject, empty in device certificates of the standard; null: unreadable, or disabled.',
    (of) => of.certificate?.subject,
  ),
  issuer: text.orNull('Issuer; null: unreadable, or disabled.', (of) => of.certificate?.issuer),
  not_before: time.orNull('Begin of its validity; null: unreadable, or disabled.', (of) => of.certificate?.notBeforeMs),
  not_after: time.orNull('End of its validity; null: unreadable, or disabled.', (of) => of.certificate?.notAfterMs),
  chain_length: integer.orNull(
    'Certificates of the chain, including that of the client; null: unreadable, or disabled.',
    (of) => of.certificate?.chainLength,
  ),
  end_devices: list(managedDevice)(
    'The EndDevices of the client with the identities to register at the server, even if it does not have them yet.',
    ({ endDevices: all }) => all,
  ),
}));

export const reconnection = members<{ readonly triggered: boolean }>()('CsipReconnect', () => ({
  triggered: flag('False: no client was waiting for its next attempt.'),
}));

const diagnostic = members<CsipDiagnostic>()('CsipDiagnostic', () => ({
  code: text('Machine-readable name.'),
  message: text('The finding as a sentence.'),
}));
const ofSeverity = (level: CsipDiagnostic['severity']) => (all: readonly CsipDiagnostic[]) =>
  all.filter(({ severity }) => severity === level);
export const diagnostics = members<readonly CsipDiagnostic[]>()('CsipDiagnostics', () => ({
  errors: list(diagnostic)('Causes that keep the client from working.', ofSeverity('error')),
  warnings: list(diagnostic)('Defects of the server, its documents or the certificate.', ofSeverity('warning')),
  info: list(diagnostic)('Hints.', ofSeverity('info')),
}));

const foundServer = members<CsipFoundServer>()('CsipFoundServer', () => ({
  name: text('Name of the service instance.'),
  host: text('Its host name.'),
  addresses: list(text())('IPv4 and IPv6.'),
  port: integer('TCP port.'),
  https_port: integer.orNull('TCP port of TLS; null: none was given.'),
  dcap: text.orNull('Path of the DeviceCapability; null: none was given.'),
  level: text.orNull('Conformance level; null: none was given.'),
  permitted: flag('True if the outbound rules permit to connect to it.'),
}));
export const foundServers = members<readonly CsipFoundServer[]>()('CsipFoundServers', () => ({
  servers: list(foundServer)('At most 32 servers; their answers are not checked.', (all) => all),
}));

export const probeAnswer = members<CsipHttpProbe>()('CsipProbe', () => ({
  url: text('URL of the request.'),
  status: integer('HTTP status of the answer.'),
  location: text.orNull('Header `Location`; null: none.'),
}));

/** `device` of operations on one client. */
export const clientParam = deviceParam.optional().openapi({
  description: 'The client of the device of this index; default the client of the first device.',
});
export const clientQuery = z.strictObject({ device: clientParam });

/** `device` of operations on one client or on all. */
export const clientsQuery = z.strictObject({
  device: deviceParam
    .optional()
    .openapi({ description: 'Only the client of the device of this index; default all clients.' }),
});

const maxMrid = 32;
const mridPattern = new RegExp(`^[0-9A-Fa-f]{1,${maxMrid}}$`);
const mridError = { error: `must be 1 to ${maxMrid} hexadecimal digits` };
const mridParam = (description: string) =>
  z
    .string()
    .regex(mridPattern, mridError)
    .transform((digits) => digits.toUpperCase())
    .openapi({ param: { name: 'mrid' }, type: 'string', pattern: mridPattern.source, description });
export const mridParams = z.strictObject({
  mrid: mridParam(`mRID of an event, 1 to ${maxMrid} hexadecimal digits.`),
});

export const defaultLimit = 100;
const maxLimit = 1000;
const limit = newestParam(maxLimit, defaultLimit).optional();

export const controlsQuery = z.strictObject({
  device: clientParam,
  state: z
    .enum(csipControlStates)
    .optional()
    .openapi({ param: { name: 'state' }, description: 'Only events in this state; default all.' }),
  limit,
});
export const responsesQuery = z.strictObject({
  device: clientParam,
  mrid: mridParam(`Only responses to the event with this mRID, 1 to ${maxMrid} hexadecimal digits.`).optional(),
  limit,
});

export const optBodySchema = memo(() =>
  z
    .strictObject({ in: z.boolean().openapi({ description: 'True: the user takes part in the event.' }) })
    .openapi('CsipOptRequest'),
);

/** Maximum duration of a loss of communication, s: a day. */
const maxLossS = 86_400;

export const communicationBodySchema = memo(() =>
  z
    .strictObject({
      lost: z.boolean().openapi({ description: 'True: cuts the communication; false: restores it.' }),
      duration_s: z.number().gt(0).max(maxLossS).optional().openapi({
        description: 'Wall time after which the loss ends by itself, s; default: never. Only if `lost` is true.',
      }),
    })
    .refine(({ lost, duration_s: durationS }) => lost || durationS === undefined, {
      path: ['duration_s'],
      error: 'needs lost true',
    })
    .openapi('CsipCommunicationRequest'),
);

const maxPathLength = 500;
const maxPort = 65_535;
const path = z
  .string()
  .regex(/^\/[!-~]*$/, { error: 'must begin with / and have visible ASCII characters only' })
  .max(maxPathLength)
  .optional();
const port = z.int().min(1).max(maxPort).optional();

export const probeBodySchema = memo(() =>
  z
    .strictObject({
      path: path.openapi({
        description: `Path and query, at most ${maxPathLength} characters; default the DeviceCapability.`,
      }),
      http_port: port.openapi({ description: `TCP port, 1 to ${maxPort}; default 80.` }),
    })
    .openapi('CsipProbeRequest'),
);

const maxHostLength = 253;
const maxRateS = 86_400;
const maxPin = 999_999;
const lfdiPattern = /^[0-9A-Fa-f]{40}$/;
const maxNmis = 4096;

const pemMembers = {
  cert_pem: pem('Certificate of this client with its intermediates'),
  key_pem: pem('Private key of the certificate, not encrypted'),
  root_cert_pem: pem('Root certificates that the certificate of the server must descend from'),
};
/** Members that neither logs nor refusals repeat. */
export const secretMembers = ['cert_pem', 'key_pem', 'root_cert_pem', 'pin'];

const rate = (description: string) =>
  z
    .int()
    .min(1)
    .max(maxRateS)
    .nullable()
    .optional()
    .openapi({
      description: `${description} in place of that of the server, 1 to ${maxRateS} s; null: the rate of the server.`,
    });

export const configBodySchema = memo(() =>
  z
    .strictObject({
      server_host: z
        .string()
        .min(1)
        .max(maxHostLength)
        .optional()
        .openapi({ description: `Name or address of the server, at most ${maxHostLength} characters.` }),
      server_port: port.openapi({ description: `TCP port, 1 to ${maxPort}.` }),
      dcap: path.openapi({ description: `Path of the DeviceCapability, at most ${maxPathLength} characters.` }),
      tls: z.boolean().optional().openapi({ description: 'True: the connection is encrypted.' }),
      ...z.strictObject(pemMembers).partial().shape,
      revision: z.enum(csipRevisions).optional().openapi({ description: 'Revision that documents follow.' }),
      poll_rate_s: rate('Seconds between polls of every resource'),
      post_rate_s: rate('Seconds between reports and readings'),
      use_server_time: z.boolean().optional().openapi({ description: 'False: the clock of this machine is used.' }),
      subscribe: z.boolean().optional().openapi({ description: 'True: resources are subscribed to.' }),
      lfdi: z
        .string()
        .regex(lfdiPattern, { error: 'must be 40 hexadecimal digits' })
        .transform((digits) => digits.toUpperCase())
        .nullable()
        .optional()
        .openapi({
          type: ['string', 'null'],
          pattern: lfdiPattern.source,
          description:
            'LFDI of the device behind an aggregator, 40 hexadecimal digits; its SFDI is derived from it. ' +
            'Null: derived from the LFDI of the aggregator.',
        }),
      nmis: z
        .array(z.string().regex(connectionPointIdPattern, { error: `must be ${connectionPointIdText}` }))
        .max(maxNmis)
        .optional()
        .openapi({
          description:
            'Identifiers of the connection point (NMI) for CSIP-AUS, each of 1 to 32 characters without comma, and ' +
            'without blanks around it: none, ' +
            `one for all devices, or one for each device in their order, at most ${maxNmis}.`,
        }),
      pin: z
        .int()
        .min(0)
        .max(maxPin)
        .refine(hasCheckDigit, { error: 'must be 5 digits and their check digit, for example 111115' })
        .nullable()
        .optional()
        .openapi({ description: `PIN with its check digit, 0 to ${maxPin}; null: no PIN is checked. Never shown.` }),
    })
    .openapi('CsipConfigRequest', { description: 'Settings to change; absent members keep their values.' }),
);

export const selectionBodySchema = memo(() =>
  z
    .union([
      z
        .strictObject({
          select: z
            .enum(csipCertificateNames)
            .openapi({ description: 'A chain of `--use_test_pki_certs`; `default`: the configured files.' }),
        })
        .openapi('CsipCertificateName'),
      z.strictObject(pemMembers).openapi('CsipCertificateTexts'),
    ])
    .openapi('CsipCertificateRequest'),
);
