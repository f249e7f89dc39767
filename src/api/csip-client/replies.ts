/** The state of the client of IEEE 2030.5 as members of replies. */
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
  CsipProgram,
  CsipResponse,
  CsipServer,
  CsipStatus,
  CsipTime,
} from '../../contract/csip-client.ts';
import type { Plant } from '../../contract/plant.ts';
import { isoOrNull } from '../common/schemas.ts';
import { writerReply } from '../common/writer-replies.ts';
import type { ConfigReply } from './config-schemas.ts';
import type { ControlReply, CurveReply, ProgramReply, ResponseReply } from './control-schemas.ts';
import type { StatusReply } from './schemas.ts';

export const iso = (ms: number) => new Date(ms).toISOString();
/** ms to s, to the ms */
const seconds = (ms: number) => Math.round(ms) / 1000;
const secondsOrNull = (ms: number | null) => (ms === null ? null : seconds(ms));
const digits = (value: number | null) => (value === null ? null : String(value));

/** DERControlResponse.status (IEEE 2030.5-2018, Table 27; 12 to 14 and 251 in their meaning of 2023). */
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
  12: 'superseded by another server',
  13: 'superseded by another program',
  14: 'resumed',
  251: 'mode not supported',
  252: 'rejected: not applicable or not supported',
  253: 'rejected: invalid values',
  254: 'rejected: received too late',
};

function serverReply({ host, port, dcap, tls, revision, negotiated }: CsipServer): StatusReply['server'] {
  return {
    host,
    port,
    dcap,
    tls,
    version_compat: revision,
    tls_protocol: negotiated?.protocol ?? null,
    cipher: negotiated?.cipher ?? null,
  };
}

function connectionReply(connection: CsipConnection, nowMs: number): StatusReply['connection'] {
  const { lastContactMs, lost } = connection;
  return {
    attempts: connection.attempts,
    consecutive_failures: connection.consecutiveFailures,
    retry_in_s: secondsOrNull(connection.retryInMs),
    last_contact: isoOrNull(lastContactMs),
    seconds_since_last_contact: lastContactMs === null ? null : seconds(Math.max(0, nowMs - lastContactMs)),
    last_error: connection.lastError,
    last_error_at: isoOrNull(connection.lastErrorMs),
    communication_lost: lost && { since: iso(lost.sinceMs), until: isoOrNull(lost.untilMs) },
  };
}

export function endDeviceReply(device: CsipEndDevice) {
  const { registration } = device;
  return {
    href: device.href,
    lfdi: device.lfdi,
    sfdi: digits(device.sfdi),
    device_category: device.deviceCategory,
    enabled: device.enabled,
    changed_time: isoOrNull(device.changedServerMs),
    post_rate_s: device.postRateS,
    registration: registration && {
      pin_matches: registration.pinMatches,
      registered_at: isoOrNull(registration.registeredServerMs),
    },
    device_indices: [...device.deviceIndices],
    links: { ...device.links },
  };
}

export function timeReply(time: CsipTime) {
  return {
    server_time: iso(time.serverNowMs),
    offset_s: time.offsetS,
    quality: time.quality,
    tz_offset_s: time.tzOffsetS,
    dst_offset_s: time.dstOffsetS,
    age_s: time.ageS,
    href: time.href,
  };
}

export function curveReply(curve: CsipCurve): CurveReply {
  return {
    href: curve.href,
    mrid: curve.mrid,
    description: curve.description,
    curve_type: curve.curveType,
    x_multiplier: curve.xMultiplier,
    y_multiplier: curve.yMultiplier,
    y_ref_type: curve.yRefType,
    points: curve.points.map((point) => ({ ...point })),
    open_loop_s: curve.openLoopS,
    ramp_dec_pct_per_s: curve.rampDecPctPerS,
    ramp_inc_pct_per_s: curve.rampIncPctPerS,
    ramp_pt1_s: curve.rampPt1S,
    v_ref_pct: curve.vRefPct,
  };
}

const leftOutReply = ({ leftOut }: Pick<CsipControl, 'leftOut'>) => leftOut.map((each) => ({ ...each }));

function defaultControlReply(control: CsipDefaultControl): ProgramReply['default_control'] {
  return {
    mrid: control.mrid,
    href: control.href,
    description: control.description,
    program_href: control.programHref,
    modes: control.modes,
    modes_in_force: [...control.modesInForce],
    settings: control.settings,
    left_out: leftOutReply(control),
  };
}

export function programReply(program: CsipProgram): ProgramReply {
  const { defaultControl } = program;
  return {
    href: program.href,
    mrid: program.mrid,
    description: program.description,
    primacy: program.primacy,
    fsa_hrefs: [...program.fsaHrefs],
    device_indices: [...program.deviceIndices],
    has_default: defaultControl !== null,
    default_control: defaultControl && defaultControlReply(defaultControl),
    control_count: program.controlCount,
    curves: program.curves.map(curveReply),
  };
}

export function responseReply(response: CsipResponse): ResponseReply {
  return {
    mrid: response.mrid,
    end_device_lfdi: response.endDeviceLfdi,
    device_indices: [...response.deviceIndices],
    status: response.status,
    status_text: statusTexts[response.status] ?? 'unknown',
    created_at: iso(response.createdServerMs),
    reply_to: response.replyTo,
    result: response.result,
    sent_at: isoOrNull(response.sentAtMs),
    attempts: response.attempts,
    http_status: response.httpStatus,
    last_error: response.lastError,
  };
}

export function controlReply(control: CsipControl): ControlReply {
  return {
    mrid: control.mrid,
    href: control.href,
    description: control.description,
    version: control.version,
    program_href: control.programHref,
    primacy: control.primacy,
    state: control.state,
    creation_time: iso(control.creationServerMs),
    start: iso(control.startServerMs),
    duration_s: control.durationS,
    effective_start: iso(control.effectiveStartServerMs),
    effective_duration_s: control.effectiveDurationS,
    randomize_start_s: control.randomizeStartS,
    randomize_duration_s: control.randomizeDurationS,
    potentially_superseded: control.potentiallySuperseded,
    response_required: control.responseRequired,
    modes: control.modes,
    modes_in_force: [...control.modesInForce],
    left_out: leftOutReply(control),
    waiting: control.waiting,
    overwritten: control.overwritten,
    opted_out: control.optedOut,
    responses: control.responses.map(responseReply),
    end_device_lfdi: control.endDeviceLfdi,
    device_indices: [...control.deviceIndices],
  };
}

export function statusReply({ enabled }: Pick<CsipClient, 'enabled'>, status: CsipStatus, nowMs: number): StatusReply {
  const { server, endDevice, time, metering } = status;
  return {
    enabled,
    state: status.state,
    server: server && serverReply(server),
    identity: status.identity,
    lfdi: status.lfdi,
    sfdi: digits(status.sfdi),
    device_indices: [...status.deviceIndices],
    connection: connectionReply(status.connection, nowMs),
    end_device: endDevice && endDeviceReply(endDevice),
    programs: status.programs.map(programReply),
    active_controls: status.activeControls.map(controlReply),
    default_control: status.defaultModes,
    time: time && timeReply(time),
    poll_rates_s: { ...status.pollRatesS },
    metering: metering && {
      mup_href: metering.mupHref,
      post_rate_s: metering.postRateS,
      last_post: isoOrNull(metering.lastPostMs),
      posted_count: metering.postedCount,
    },
    subscriptions: status.subscriptions,
  };
}

export function configReply(plant: Pick<Plant, 'dateMs'>, config: CsipConfig | null): ConfigReply {
  const members: Partial<CsipConfig> = config ?? {};
  return {
    enabled: config !== null,
    server_host: members.serverHost ?? null,
    server_port: members.serverPort ?? null,
    dcap: members.dcap ?? null,
    tls: members.tls ?? null,
    revision: members.revision ?? null,
    poll_rate_s: members.pollRateS ?? null,
    post_rate_s: members.postRateS ?? null,
    use_server_time: members.useServerTime ?? null,
    subscribe: members.subscribe ?? null,
    pin_set: members.pinSet ?? null,
    check_hostname: members.checkHostname ?? null,
    strict_cipher: members.strictCipher ?? null,
    identity: members.identity ?? null,
    changed_by: writerReply(plant, members.changedBy),
  };
}

export function certificatesReply({ selected, available, certificate }: CsipCertificates) {
  return {
    selected,
    available: [...available],
    lfdi: certificate?.lfdi ?? null,
    sfdi: digits(certificate?.sfdi ?? null),
    subject: certificate?.subject ?? null,
    issuer: certificate?.issuer ?? null,
    not_before: isoOrNull(certificate?.notBeforeMs),
    not_after: isoOrNull(certificate?.notAfterMs),
    chain_length: certificate?.chainLength ?? null,
  };
}

export function diagnosticsReply(found: readonly CsipDiagnostic[]) {
  const of = (wanted: CsipDiagnostic['severity']) =>
    found.filter(({ severity }) => severity === wanted).map(({ code, message }) => ({ code, message }));
  return { errors: of('error'), warnings: of('warning'), info: of('info') };
}
