/** The state of one client for REST, and the settings that REST changes at run time. */
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
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
import { missingIssuer } from '../transport/certificates.ts';
import type { EndDevice } from '../end-device.ts';
import type { ListedControl } from '../events/model.ts';
import { membersOf } from '../members.ts';
import type { FullMember } from '../members.ts';
import type { Clients, Connection } from '../clients.ts';
import { controlsView, ownEndDeviceView, programView } from './members.ts';
import { SimError } from '../../core/errors.ts';
import { isRefusedTarget, refusedTargetText } from '../../core/net/outbound.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import type { Remark } from '../walk/remarks.ts';

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

/** The modes of default controls in force; null: none. */
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
  const { client } = connection;
  const { line, walk } = client;
  const identity = clients.identityOf({ index: device });
  const member = membersOf(connection).find(({ endDevice }) => endDevice.deviceIndices.includes(device));
  const facts = member?.endDevice.facts ?? null;
  const { loss, lastContactMs, lastError, lastErrorMs } = line;
  return {
    state: client.state,
    server: serverView(clients, connection),
    identity: clients.options.settings.identity,
    lfdi: identity?.lfdi ?? null,
    sfdi: identity?.sfdi ?? null,
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
      member === undefined || facts === null
        ? null
        : ownEndDeviceView(facts, member.target.pin ?? clients.inForce.pin, member.endDevice),
    programs: member?.endDevice.programs.map((program) => programView(program, member.endDevice)) ?? [],
    activeControls: member === undefined ? [] : controlsView(member).filter(({ state }) => state === 'active'),
    defaultModes: member === undefined ? null : defaultModes(member.endDevice),
    time: timeView(connection, monotonicMs),
    pollRatesS: walk?.pollRatesS ?? {},
    metering: meteringOf(member),
    subscriptions,
  };
}

export function configView(
  { inForce, options }: Clients,
  device: number,
  changedBy: CsipConfig['changedBy'],
): CsipConfig {
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
    lfdi: inForce.lfdis.get(device) ?? null,
    changedBy,
  };
}

/** The reason why a client waits to be admitted, and the time until the next reading. */
function admissionText(walk: Connection['client']['walk']): string {
  const { refusal = null, retryInMs = null } = walk?.admission ?? {};
  const next = retryInMs === null ? '' : `; it is read again in ${Math.ceil(retryInMs / 1000)} s`;
  return (refusal ?? 'the list of the server does not show an enabled EndDevice of this client') + next;
}

/** Diagnoses for a client that does not work, or not as expected. */
export function diagnosticsView(connection: Connection, nowMs: number): readonly CsipDiagnostic[] {
  const { client, remoteClock } = connection;
  const { line, state, walk } = client;
  const diagnostics: CsipDiagnostic[] = [];
  const add = (severity: CsipDiagnostic['severity'], code: string, message: string) =>
    diagnostics.push({ severity, code, message });
  if (state === 'retrying') add('error', 'server-unreachable', `the server cannot be reached: ${line.lastError ?? ''}`);
  if (state === 'stopped') add('error', 'stopped', `the client is stopped: ${line.lastError ?? 'it was disconnected'}`);
  if (state === 'registering') add('warning', 'not-registered', admissionText(walk));
  for (const { code, message } of certificateRemarks(connection, nowMs)) add('warning', code, message);
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
  const edited = membersOf(connection).flatMap(({ endDevice }) => editedEvents(endDevice));
  // several devices behind an aggregator give equal remarks
  const distinct = new Map([...(walk?.remarks ?? []), ...edited].map((each) => [`${each.code} ${each.message}`, each]));
  for (const { code, message } of [...distinct.values()].slice(0, maxRemarksShown)) add('warning', code, message);
  return diagnostics;
}

function certificateRemarks({ credentials: { facts, pem } }: Connection, nowMs: number): readonly Remark[] {
  const isOutOfDate = facts !== null && (facts.notAfterMs < nowMs || facts.notBeforeMs > nowMs);
  const issuer = missingIssuer(pem);
  const lacks = `comes without that of its issuer ${issuer}, so that a server may refuse it`;
  return [
    ...(isOutOfDate
      ? [{ code: 'certificate-not-valid', message: 'the certificate of the client is not valid today' }]
      : []),
    ...(issuer === null ? [] : [{ code: 'certificate-chain', message: `the certificate of the client ${lacks}` }]),
  ];
}

/** Maximum number of remarks shown at once; more would hide the first. */
const maxRemarksShown = 100;

/** The parts of an event that have changed although they may not. Times are compared by the clock of the FSA. */
function changedParts(first: ListedControl, latest: ListedControl): readonly string[] {
  const sameTime = (a: number, b: number) => Math.abs(a + first.aheadS - (b + latest.aheadS)) < 0.5;
  const same: Readonly<Record<string, boolean>> = {
    creationTime: sameTime(first.creationS, latest.creationS),
    interval: sameTime(first.startS, latest.startS) && first.durationS === latest.durationS,
    randomizeStart: first.randomizeStartS === latest.randomizeStartS,
    randomizeDuration: first.randomizeDurationS === latest.randomizeDurationS,
    deviceCategory: first.deviceCategory === latest.deviceCategory,
    DERControlBase: isDeepStrictEqual(first.control.base, latest.control.base),
  };
  return Object.keys(same).filter((name) => same[name] === false);
}

/** Events whose content the server has changed under the same mRID: the one that was read first stays in force. */
function editedEvents({ controls, programs }: EndDevice): readonly Remark[] {
  const firstRead = new Map(controls.map(({ listed }) => [listed.mrid, listed]));
  return programs.flatMap(({ listed: { controls: latest = [] } }) =>
    latest.flatMap((each) => {
      const first = firstRead.get(each.mrid);
      const parts = first === undefined ? [] : changedParts(first, each);
      if (parts.length === 0) return [];
      const message =
        `the event ${each.mrid} has another ${parts.join(', ')} than at first: an event may not change, and the ` +
        'first reading stays in force; a new event needs a new mRID';
      return [{ code: 'event-edited', message }];
    }),
  );
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
   * Changes all clients, except that certificates change for the connection of the device, and the LFDI for the device.
   * @throws SimError COMMAND_BAD_VALUE with JSON pointers, COMMAND_CONFLICT if the listener cannot start;
   *   then nothing is changed
   */
  async apply(patch: CsipConfigPatch, device: number, by: Origin): Promise<void> {
    const { inForce, options } = this.#clients;
    const connection = this.#clients.connectionOf(device);
    const { server: configured } = options.settings;
    const host = patch.serverHost ?? inForce.server.host;
    if (!isHost(host)) {
      const detail = 'is no IP address or host name';
      throw new SimError('COMMAND_BAD_VALUE', `${host} ${detail}`, [{ name: '/server_host', detail }]);
    }
    const port = patch.serverPort ?? inForce.server.port;
    const tls = patch.tls ?? inForce.server.tls;
    // an address from flags may be any; an address from a request follows the rules of outgoing connections
    const anywhere = !configured.guarded && host === configured.host && port === configured.port;
    if (!anywhere && isRefusedTarget(host))
      throw new SimError('COMMAND_BAD_VALUE', `${host} ${refusedTargetText}`, [
        { name: '/server_host', detail: refusedTargetText },
      ]);
    if (patch.lfdi !== undefined) this.#checkLfdi(patch.lfdi, device, connection);
    this.#checkNmis(patch.nmis?.length ?? 0);
    const { certPem, keyPem, rootCertPem } = patch;
    const texts = {
      ...(certPem !== undefined && { cert: certPem }),
      ...(keyPem !== undefined && { key: keyPem }),
      ...(rootCertPem !== undefined && { rootCert: rootCertPem }),
    };
    const before = this.#connectionSettings();
    // steps that may fail come first
    const endListening = await this.#startListening(patch.subscribe ?? inForce.subscribe);
    try {
      if (Object.keys(texts).length > 0) connection.credentials.use(texts);
    } catch (error) {
      await endListening();
      throw error;
    }
    inForce.server = { host, port, tls };
    inForce.anywhere = anywhere;
    this.#applyOtherSettings(patch);
    if (patch.lfdi !== undefined) await this.#clients.chooseLfdi(device, patch.lfdi);
    const { plant, clock } = options;
    this.#changedBy = { ...by, at: plant.time.sim, wallMs: clock.nowMs() };
    if (this.#connectionSettings() !== before) await this.#clients.restart();
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

  /** Starts to listen for notifications if `on` and not listening yet. @returns a function that undoes this */
  async #startListening(on: boolean): Promise<() => Promise<void>> {
    const { notifications, connections } = this.#clients;
    const [first] = connections;
    if (!on || first === undefined || notifications.base !== null) return () => Promise.resolve();
    try {
      await notifications.open(first.credentials);
    } catch (error) {
      const isConflict =
        error instanceof SimError && (error.code === 'LISTEN_FAILED' || error.code === 'CONFIG_INVALID');
      if (!isConflict) throw error;
      throw new SimError('COMMAND_CONFLICT', error.message, error.issues);
    }
    return () => notifications.close();
  }

  /** Settings that need a new connection when they change, as text to compare. */
  #connectionSettings(): string {
    const { server, dcap, revision, postRateS, pin, subscribe, lfdis, nmis } = this.#clients.inForce;
    return JSON.stringify([server, dcap, revision, postRateS, pin, subscribe, [...lfdis], nmis]);
  }

  /** @throws SimError COMMAND_BAD_VALUE for an LFDI that the device cannot have */
  #checkLfdi(lfdi: string | null, device: number, connection: Connection): void {
    const refuse = (detail: string) => {
      throw new SimError('COMMAND_BAD_VALUE', `lfdi ${detail}`, [{ name: '/lfdi', detail }]);
    };
    if (this.#clients.options.settings.identity !== 'aggregator')
      refuse('can be given to devices behind an aggregator only (csip_identity aggregator)');
    const others = this.#clients
      .endDevicesOf(connection)
      .flatMap((each) => (each.deviceIndices.includes(device) ? [] : each.lfdi));
    if (lfdi !== null && [connection.credentials.facts?.lfdi, ...others].includes(lfdi))
      refuse('is that of the aggregator or of another device');
  }

  #applyOtherSettings(patch: CsipConfigPatch): void {
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
