/** The clients of IEEE 2030.5 as an adapter: its state, devices that join and leave, lines at the start. */
import type { AdapterParts } from '../contract/adapter-parts.ts';
import type { CsipClient } from '../contract/csip-client.ts';
import type { CsipSettings } from '../contract/csip-settings.ts';
import type { Device } from '../contract/device.ts';
import { newerError, startLine } from '../core/adapter.ts';
import type { AdapterError, AdapterStatus, CommState } from '../core/adapter.ts';
import type { LoadedAdapter } from '../core/device-adapter.ts';
import { hostAndPort, withRemedy } from '../core/net/listen.ts';
import { LoopShare } from '../core/turns.ts';
import { Clients } from './clients.ts';
import type { ClientsOptions } from './clients.ts';
import { discoverServers } from './discovery.ts';
import { createCsipDisturber } from './faults/disturber.ts';
import { csipChannel, CsipMessageBook } from './transport/messages.ts';
import { ClientFacade, rawControls } from './views/facade.ts';
import { buildDocument, documentInParts, parseDocument } from './xml/codec.ts';
import { xmlLimits } from './xml/tree.ts';

/** EndDevices whose identities are shown at the start. */
const maxIdentityLines = 8;

class CsipAdapter implements LoadedAdapter<Device, CsipClient> {
  readonly view: CsipClient;
  readonly #clients: Clients;
  /** address of the server at the start, for people */
  readonly #endpoint: string;
  readonly #searches: AbortController;

  /** @param searches ends the searches for servers */
  constructor(clients: Clients, view: CsipClient, { server }: CsipSettings, searches: AbortController) {
    this.#searches = searches;
    this.#clients = clients;
    this.view = view;
    this.#endpoint = `${server.tls ? 'https' : 'http'}://${hostAndPort(server.host, server.port)}${server.dcap}`;
  }

  async open(devices: readonly Device[]): Promise<void> {
    await this.#clients.restoreLfdis();
    this.#clients.add(devices);
    try {
      await this.#clients.listen();
    } catch (error) {
      throw withRemedy(error, '--csip_notify_port');
    }
    await this.#clients.resume();
    this.#clients.watch();
    this.#clients.connect();
  }

  join(device: Device): Promise<void> {
    return this.#clients.join(device);
  }

  leave(index: number): Promise<void> {
    return this.#clients.leave(index);
  }

  close(): Promise<void> {
    this.#searches.abort();
    return this.#clients.stop();
  }

  release(): Promise<void> {
    this.#searches.abort();
    return this.#clients.stop(false);
  }

  reload(): void {
    this.#clients.reload();
  }

  startLines(): readonly string[] {
    const { connections, notifications } = this.#clients;
    const count = connections.length;
    const clients = startLine('CSIP', `${count} client${count === 1 ? '' : 's'} of ${this.#endpoint}`);
    const { base } = notifications;
    return [
      clients,
      ...(base === null ? [] : [startLine('CSIP', `notifications at ${base}`)]),
      ...this.#identityLines(),
    ];
  }

  /** LFDI and SFDI of each EndDevice, for its registration at the server. */
  #identityLines(): readonly string[] {
    const all = this.#clients.connections.flatMap((connection) => this.#clients.endDevicesOf(connection));
    const lines = all.slice(0, maxIdentityLines).map(({ deviceIndices, lfdi, sfdi }) => {
      const [first, ...rest] = deviceIndices;
      const who = rest.length === 0 ? `device ${first}` : `devices ${first} to ${rest.at(-1)}`;
      return startLine('CSIP', `${who}: LFDI ${lfdi}, SFDI ${sfdi}`);
    });
    const more = all.length - lines.length;
    return more === 0
      ? lines
      : [...lines, startLine('CSIP', `${more} more EndDevices: GET /api/sim/csip/certificates`)];
  }

  status(): Partial<AdapterStatus> {
    const clients = this.#clients.connections.map(({ client }) => client);
    const running = clients.filter(({ state }) => state === 'running').length;
    const sum = (of: (client: (typeof clients)[number]) => number) =>
      clients.reduce((total, each) => total + of(each), 0);
    const contacts = clients.flatMap(({ line }) => line.lastContactMs ?? []);
    return {
      state: stateOf(clients),
      detail: detailOf(clients, running) ?? this.#clients.notifications.trouble,
      endpoint: clients[0]?.line.origin || this.#endpoint,
      peers: running,
      lastActivityMs: contacts.length === 0 ? null : Math.max(...contacts),
      rxCount: sum(({ line }) => line.received),
      txCount: sum(({ line }) => line.sent),
      errorCount: sum(({ line }) => line.failed),
      lastError: clients.reduce<AdapterError | null>(
        (last, { line: { lastError: text, lastErrorMs: atMs } }) =>
          text === null || atMs === null ? last : newerError(last, { text, atMs }),
        null,
      ),
    };
  }
}

type ClientState = Clients['connections'][number]['client']['state'];

/** Combined state of several clients: `connected` when all are at work, except the ended ones. */
function stateOf(clients: readonly { readonly state: ClientState; readonly ceased: boolean }[]): CommState {
  const states = clients.map(({ state }) => state).filter((state) => state !== 'stopped');
  if (states.length === 0) return clients.some(({ ceased }) => ceased) ? 'error' : 'stopped';
  if (states.every((state) => state === 'running')) return 'connected';
  return states.includes('retrying') ? 'retrying' : 'connecting';
}

function detailOf(
  clients: readonly { readonly state: ClientState; readonly line: { readonly lastError: string | null } }[],
  running: number,
): string | null {
  if (running === clients.length) return null;
  const [first] = clients.filter(({ state }) => state !== 'running');
  const why = first?.line.lastError ?? first?.state ?? null;
  return clients.length === 1 ? why : `${running} of ${clients.length} are running: ${why}`;
}

/** Octets of a document that is read within the turn of the event loop in which it arrives. */
const parsedAtOnce = 8 * 1024;

/** Loaded when a process with CSIP starts. */
export function createCsip(
  settings: CsipSettings,
  { faults, wireLog, logBook, ...parts }: AdapterParts,
  followers: ClientsOptions['followers'] = new Set(),
): LoadedAdapter<Device, CsipClient> {
  const channel = csipChannel(wireLog);
  const share = new LoopShare();
  const searches = new AbortController();
  const discover = () => discoverServers({ later: parts.later, signal: searches.signal });
  const clients = new Clients({
    ...parts,
    settings,
    followers,
    share,
    log: logBook.logger('CSIP'),
    discover,
    channel,
    disturber: createCsipDisturber(faults),
    codecOf: (revision, aus) => ({
      parse: (octets) =>
        octets.length <= parsedAtOnce
          ? parseDocument(octets, xmlLimits, parts.findings.on)
          : share.runInParts(documentInParts(octets, xmlLimits, parts.findings.on)),
      build: (document) => buildDocument(document, { revision: revision(), aus }),
    }),
  });
  const messages = new CsipMessageBook(channel);
  const view = new ClientFacade(clients, { messages, rawControls: rawControls(channel), discover });
  return new CsipAdapter(clients, view, settings, searches);
}
