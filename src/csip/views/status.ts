/** The state of one client for REST, and the settings that REST changes at run time. */
import { isIP } from 'node:net';
import type {
  CsipConfig,
  CsipDiagnostic,
  CsipModes,
  CsipServer,
  CsipStatus,
  CsipTime,
  CsipConfigPatch,
} from '../../contract/csip-client.ts';
import type { JsonValue } from '../../core/store.ts';
import { showModes } from '../control/modes.ts';
import type { EndDevice } from '../end-device.ts';
import { membersOf } from '../members.ts';
import type { FullMember } from '../members.ts';
import type { Clients, Connection } from '../clients.ts';
import { controlsView, ownEndDeviceView, programView } from './members.ts';
import { SimError } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Origin, Provenance } from '../../core/origin.ts';

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
function defaultModes(endDevice: EndDevice): CsipModes | null {
  const modes: Record<string, JsonValue> = {};
  for (const { id, origin, control, modes: heldModes } of endDevice.inForce) {
    if (origin !== 'default') continue;
    const out = endDevice.outcomeOf(id)?.leftOut ?? [];
    const acts = (name: string) => heldModes.some((mode) => mode === name) && !out.some(({ mode }) => mode === name);
    const base = Object.fromEntries(Object.entries(control.base).filter(([name]) => acts(name)));
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
      retryInMs: client.state === 'registering' ? (walk?.admission.retryInMs ?? null) : client.retryInMs,
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
  const { server, dcap, revision, pollRateS, postRateS, useServerTime, subscribe, pin, nmis } = inForce;
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
    nmis,
    pinSet: pin !== null,
    checkHostname,
    strictCipher,
    identity,
    changedBy,
  };
}

/** The reason why a client waits to be admitted, and the time of the next reading. */
function admissionText(walk: Connection['client']['walk']): string {
  const { refusal = null, retryInMs = null } = walk?.admission ?? {};
  const next = retryInMs === null ? '' : `; it is read again in ${Math.ceil(retryInMs / 1000)} s`;
  return (refusal ?? 'the list of the server does not show an enabled EndDevice of this client') + next;
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
  if (state === 'registering') add('warning', 'not-registered', admissionText(walk));
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

const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (/^[\w.-]{1,253}$/.test(text) && URL.canParse(`http://${text}`));

export class Configurator {
  readonly #clients: Clients;
  #changedBy: Provenance | null = null;

  constructor(clients: Clients) {
    this.#clients = clients;
  }

  /** null: unchanged since the start */
  get changedBy(): Provenance | null {
    return this.#changedBy;
  }

  /**
   * Changes all clients; certificates change for one connection only.
   * @throws SimError COMMAND_BAD_VALUE with JSON pointers, COMMAND_CONFLICT if the address for notifications is taken;
   *   nothing is changed then
   */
  async apply(patch: CsipConfigPatch, connection: Connection, by: Origin): Promise<void> {
    const { inForce, options } = this.#clients;
    const { server: started } = options.settings;
    const host = patch.serverHost ?? inForce.server.host;
    if (!isHost(host)) {
      const detail = 'is no IP address or host name';
      throw new SimError('COMMAND_BAD_VALUE', `${host} ${detail}`, [{ name: '/server_host', detail }]);
    }
    const port = patch.serverPort ?? inForce.server.port;
    const tls = patch.tls ?? inForce.server.tls;
    // an address from flags may be anywhere; one of a request follows the rules of outgoing connections
    const anywhere = host === started.host && port === started.port;
    if (!anywhere && isRefusedTarget(host))
      throw new SimError('COMMAND_BAD_VALUE', `${host} ${refusedTargetText}`, [
        { name: '/server_host', detail: refusedTargetText },
      ]);
    this.#checkNmis(patch.nmis?.length ?? 0);
    const { certPem, keyPem, rootCertPem } = patch;
    const texts = {
      ...(certPem !== undefined && { cert: certPem }),
      ...(keyPem !== undefined && { key: keyPem }),
      ...(rootCertPem !== undefined && { rootCert: rootCertPem }),
    };
    const before = this.#connected();
    // steps that may fail come first
    const endListening = await this.#listening(patch.subscribe ?? inForce.subscribe);
    try {
      if (Object.keys(texts).length > 0) connection.credentials.use(texts);
    } catch (error) {
      await endListening();
      throw error;
    }
    inForce.server = { host, port, tls };
    inForce.anywhere = anywhere;
    this.#takeConduct(patch);
    const { plant, clock } = options;
    this.#changedBy = { ...by, at: plant.time.sim, wallMs: clock.nowMs() };
    if (this.#connected() !== before) await this.#clients.restart();
    else if (patch.pollRateS !== undefined || patch.useServerTime !== undefined)
      for (const { client } of this.#clients.connections) void client.rediscover();
  }

  /** @throws SimError COMMAND_BAD_VALUE */
  #checkNmis(count: number): void {
    const { settings, plant } = this.#clients.options;
    const { length } = plant.devices;
    if (count <= 1 || (settings.identity !== 'site' && count === length)) return;
    const detail =
      settings.identity === 'site'
        ? 'must be one, since the devices of a site share their connection point'
        : `must be one, or one for each of the ${length} devices`;
    throw new SimError('COMMAND_BAD_VALUE', `${count} identifiers ${detail}`, [{ name: '/nmis', detail }]);
  }

  /** Starts or stops listening for notifications. @returns undoes it */
  async #listening(on: boolean): Promise<() => Promise<void>> {
    const { notifications, connections } = this.#clients;
    const [first] = connections;
    if (!on || first === undefined || notifications.base !== null) return () => Promise.resolve();
    try {
      await notifications.open(first.credentials);
    } catch (error) {
      if (!(error instanceof SimError) || error.code !== 'LISTEN_FAILED') throw error;
      throw new SimError('COMMAND_CONFLICT', error.message, error.issues);
    }
    return () => notifications.close();
  }

  /** Settings that need a new connection when they change. */
  #connected(): string {
    const { server, dcap, revision, postRateS, pin, subscribe, nmis } = this.#clients.inForce;
    return JSON.stringify([server, dcap, revision, postRateS, pin, subscribe, nmis]);
  }

  #takeConduct(patch: CsipConfigPatch): void {
    const { inForce, options } = this.#clients;
    const { rates } = options.settings;
    inForce.dcap = patch.dcap ?? inForce.dcap;
    inForce.revision = patch.revision ?? inForce.revision;
    if (patch.pollRateS !== undefined) inForce.pollRateS = patch.pollRateS ?? rates.pollS;
    if (patch.postRateS !== undefined) inForce.postRateS = patch.postRateS ?? rates.postS;
    inForce.useServerTime = patch.useServerTime ?? inForce.useServerTime;
    inForce.subscribe = patch.subscribe ?? inForce.subscribe;
    if (patch.pin !== undefined) inForce.pin = patch.pin;
    inForce.nmis = patch.nmis ?? inForce.nmis;
  }
}
