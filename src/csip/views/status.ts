/** The state of one client for REST. */
import type {
  CsipConfig,
  CsipDiagnostic,
  CsipModes,
  CsipServer,
  CsipStatus,
  CsipTime,
} from '../../contract/csip-client.ts';
import type { JsonValue } from '../../core/store.ts';
import { showModes } from '../control/modes.ts';
import type { EndDevice } from '../end-device.ts';
import { membersOf } from '../members.ts';
import type { FullMember } from '../members.ts';
import type { Clients, Connection } from '../clients.ts';
import { controlsView, ownEndDeviceView, programView } from './members.ts';

function serverView({ inForce }: Clients, { client }: Connection): CsipServer {
  const { server, dcap, revision } = inForce;
  return { ...server, dcap, revision, negotiated: client.line.negotiated };
}

export function timeView({ client, remoteClock }: Connection, monotonicMs: number): CsipTime | null {
  const time = client.walk?.server?.time ?? null;
  if (time === null) return null;
  const { document, url, readAtMonotonicMs } = time;
  return {
    serverNowMs: remoteClock.nowMs(),
    offsetS: remoteClock.offsetS ?? 0,
    quality: document.quality ?? null,
    tzOffsetS: document.tzOffset ?? null,
    dstOffsetS: document.dstOffset ?? null,
    ageS: (monotonicMs - readAtMonotonicMs) / 1000,
    href: url,
  };
}

/** The default modes in force. null: none. */
function defaultModes({ inForce }: EndDevice): CsipModes | null {
  const modes: Record<string, JsonValue> = {};
  for (const { origin, control, modes: held } of inForce) {
    if (origin !== 'default') continue;
    const base = Object.fromEntries(
      Object.entries(control.base).filter(([name]) => held.some((mode) => mode === name)),
    );
    Object.assign(modes, showModes({ ...control, base }));
  }
  return Object.keys(modes).length === 0 ? null : modes;
}

function meteringOf(member: FullMember | undefined): CsipStatus['metering'] {
  const reporter = member?.submissions.reporter ?? null;
  if (reporter === null) return null;
  const { mupHref, postRateS, lastPostMs, posted } = reporter.readings(null);
  return { mupHref, postRateS, lastPostMs, postedCount: posted };
}

/** @param device the device whose EndDevice is shown */
export function statusView(
  clients: Clients,
  connection: Connection,
  device: number,
  monotonicMs: number,
  subscriptions: number,
): CsipStatus {
  const { client, credentials } = connection;
  const { line, walk } = client;
  const member = membersOf(connection).find(({ endDevice }) => endDevice.deviceIndices.includes(device));
  const facts = member?.endDevice.facts ?? null;
  const { loss, lastContactMs, lastError, lastErrorMs } = line;
  return {
    state: client.state,
    server: serverView(clients, connection),
    identity: clients.options.settings.identity,
    lfdi: credentials.facts?.lfdi ?? null,
    sfdi: credentials.facts?.sfdi ?? null,
    deviceIndices: client.deviceIndices,
    connection: {
      attempts: client.attempts,
      consecutiveFailures: client.consecutiveFailures,
      retryInMs: client.retryInMs,
      lastContactMs,
      lastError,
      lastErrorMs,
      lost: loss,
    },
    endDevice:
      member === undefined || facts === null ? null : ownEndDeviceView(facts, clients.inForce.pin, member.endDevice),
    programs: member?.endDevice.programs.map((program) => programView(program, member.endDevice)) ?? [],
    activeControls: member === undefined ? [] : controlsView(member).filter(({ state }) => state === 'active'),
    defaultModes: member === undefined ? null : defaultModes(member.endDevice),
    time: timeView(connection, monotonicMs),
    pollRatesS: walk?.pollRatesS ?? {},
    metering: meteringOf(member),
    subscriptions,
  };
}

export function configView({ inForce, options }: Clients, changedBy: CsipConfig['changedBy']): CsipConfig {
  const { server, dcap, revision, pollRateS, postRateS, useServerTime, subscribe, pin } = inForce;
  const { checkHostname, strictCipher, identity } = options.settings;
  return {
    serverHost: server.host,
    serverPort: server.port,
    dcap,
    tls: server.tls,
    revision,
    pollRateS,
    postRateS,
    useServerTime,
    subscribe,
    pinSet: pin !== null,
    checkHostname,
    strictCipher,
    identity,
    changedBy,
  };
}

/** Diagnoses for a client that does not work, or not as expected. */
export function diagnosticsView(connection: Connection, nowMs: number): readonly CsipDiagnostic[] {
  const { client, credentials, remoteClock } = connection;
  const { line, state, walk } = client;
  const diagnostics: CsipDiagnostic[] = [];
  const add = (severity: CsipDiagnostic['severity'], code: string, message: string) =>
    diagnostics.push({ severity, code, message });
  if (state === 'retrying') add('error', 'server-unreachable', `the server cannot be reached: ${line.lastError ?? ''}`);
  if (state === 'stopped') add('error', 'stopped', `the client is stopped: ${line.lastError ?? 'it was disconnected'}`);
  if (state === 'registering')
    add('warning', 'not-registered', 'the list of the server does not show an enabled EndDevice of this client');
  const { facts } = credentials;
  if (facts !== null && (facts.notAfterMs < nowMs || facts.notBeforeMs > nowMs))
    add('warning', 'certificate-not-valid', 'the certificate of the client is not valid today');
  const offsetS = Math.round(remoteClock.offsetS ?? 0);
  if (Math.abs(offsetS) > 60) add('warning', 'clock-offset', `the time of the server differs by ${offsetS} s`);
  if (walk?.server?.time?.document.quality === 7)
    add('info', 'time-uncoordinated', 'the time of the server is intentionally uncoordinated (quality 7)');
  for (const { endDevice } of membersOf(connection)) {
    if (endDevice.facts !== null && endDevice.facts.ders.length === 0)
      add('info', 'no-der', `the EndDevice ${endDevice.lfdi} has no DER for capability, settings and status`);
    if (endDevice.facts !== null && endDevice.programs.length === 0)
      add('info', 'no-program', `no DERProgram concerns the EndDevice ${endDevice.lfdi}`);
  }
  return diagnostics;
}
