/**
 * The clients of a process: one for each device, or one for all devices of an aggregator or of a site; and the EndDevices
 * that they have posted at a server (in-band registration), in the store of the process.
 */
import { z } from 'zod';
import type { CsipEvent } from '../contract/csip-reports.ts';
import { csipPemFiles } from '../contract/csip-settings.ts';
import type { CsipSettings } from '../contract/csip-settings.ts';
import type { CsipClient, CsipManagedDevice } from '../contract/csip-client.ts';
import type { Device } from '../contract/device.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { Findings } from '../core/findings/rule.ts';
import { connectGapMs } from '../core/device-adapter.ts';
import { errorText, SimError } from '../core/errors.ts';
import { hostAndPort } from '../core/net/listen.ts';
import { createRandom } from '../core/random.ts';
import type { RemoteClock, RemoteClockFactory } from '../core/time/remote-clock.ts';
import type { TlsIo } from '../core/tls/watch.ts';
import { Client } from './client.ts';
import type { ClientConduct, OpenedIdentity } from './client.ts';
import { AddressBook } from './addresses.ts';
import { csipRules } from '../finding-rules/csip.ts';
import { ServerJudge } from './findings/judge.ts';
import type { CsipRules } from './findings/model.ts';
import { identityOf, makeMember, membersOf, nmiOf } from './members.ts';
import type { FullMember, MemberParts } from './members.ts';
import { Notifications, SubscriptionFollower } from './notifications.ts';
import { ClientCredentials } from './transport/certificates.ts';
import type { CsipChannel } from './transport/messages.ts';
import type { ExchangeDisturber, SepExchange } from './transport/exchange.ts';
import { HttpExchange } from './transport/sep-exchange.ts';
import type { SepCodec } from './transport/sep-exchange.ts';
import { eventView } from './views/members.ts';
import type { Logger } from '../core/log/log.ts';
import { formOf, place, readEach } from '../core/slot-values.ts';
import { slotName } from '../core/store.ts';
import type { Slot, Store } from '../core/store.ts';
import type { RegistrationBook, WalkTarget } from './walk/model.ts';

/** EndDevices that were posted at one server (in-band registration): never twice, also over restarts. */
class Registrations implements RegistrationBook {
  readonly #slot: Slot;
  readonly #log: Pick<Logger, 'error' | 'warning'>;
  /** LFDIs */
  #posted = new Set<string>();

  /** @param server identifies the server: `host:port` */
  constructor(store: Store, server: string, log: Pick<Logger, 'error' | 'warning'>) {
    this.#slot = store.slot(slotName('csip', server, 'registered'));
    this.#log = log;
  }

  /** Loads the LFDIs that earlier processes posted. */
  async open(): Promise<void> {
    const stored = await readEach(this.#slot, formOf<string>(z.string()), this.#log);
    this.#posted = new Set([...this.#posted, ...stored]);
  }

  async begin({ lfdi }: WalkTarget): Promise<boolean> {
    if (this.#posted.has(lfdi)) return false;
    this.#posted.add(lfdi);
    // stored before the request leaves
    await this.#keep();
    return true;
  }

  failed({ lfdi }: WalkTarget): void {
    this.#posted.delete(lfdi);
    void this.#keep();
  }

  #keep(): Promise<void> {
    return this.#slot.replace([...this.#posted]).catch((error: unknown) => {
      this.#log.error(`registrations cannot be stored: ${errorText(error)}`);
    });
  }
}

const lfdiForm = formOf<readonly [index: number, lfdi: string | null]>(
  z.tuple([
    place,
    z
      .string()
      .regex(/^[0-9A-F]{40}$/)
      .nullable(),
  ]),
);

/** Settings of all clients in force; REST can change those below while the process runs. */
interface InForce extends ClientConduct {
  server: { host: string; port: number; tls: boolean };
  /** the server comes from flags or a file: the rules of outgoing connections do not apply */
  anywhere: boolean;
  revision: CsipSettings['revision'];
  dcap: string;
  pin: number | null;
  pollRateS: number | null;
  postRateS: number | null;
  useServerTime: boolean;
  subscribe: boolean;
  sendsAlarms: boolean;
  /** LFDIs given to devices behind an aggregator, by index */
  readonly lfdis: Map<number, string>;
  /** identifiers of the connection point: one for all devices, or one for each in their order */
  nmis: readonly string[];
}

export interface ClientsOptions extends Omit<MemberParts, 'inForce' | 'eventsChanged'> {
  readonly remoteClock: RemoteClockFactory;
  readonly commAlarms: CommAlarmSwitch;
  readonly channel: CsipChannel;
  readonly codecOf: (revision: () => CsipSettings['revision'], aus: CsipSettings['aus']) => SepCodec;
  readonly disturber: ExchangeDisturber;
  readonly findings: Findings;
  /** PEM texts of the settings */
  readonly pem: TlsIo;
  /** servers that DNS-SD finds */
  readonly discover: CsipClient['discoverServers'];
  /** listeners to events, over restarts of the clients; absent: new ones */
  readonly followers?: Set<(event: CsipEvent) => void>;
}

/** A client with its certificates. */
export interface Connection {
  readonly client: Client;
  readonly credentials: ClientCredentials;
  readonly remoteClock: RemoteClock;
  /** devices that it stands for; of an aggregator and of a site they change */
  readonly devices: Device[];
}

/** Adds a device to a connection, in the order of the indexes. */
function enter({ devices }: Connection, device: Device): void {
  devices.splice(devices.findLastIndex(({ index }) => index < device.index) + 1, 0, device);
}

export class Clients {
  readonly options: ClientsOptions;
  readonly inForce: InForce;
  readonly notifications: Notifications;
  readonly #connections: Connection[] = [];
  readonly #followers: Set<(event: CsipEvent) => void>;
  /** devices of a site that are not in the plant yet: ends the wait for them */
  readonly #joining = new Map<number, () => void>();
  readonly #codec: SepCodec;
  readonly #lfdiSlot: Slot;
  readonly #rules: CsipRules;
  /** EndDevices that go on with their events before their client connects for the first time */
  readonly #resumed = new Map<Connection, readonly FullMember[]>();
  /** LFDIs set over REST by index; null: the one derived from the certificate */
  readonly #chosenLfdis = new Map<number, string | null>();
  #watching = false;
  #isStopped = false;
  #searching: ReturnType<ClientsOptions['discover']> | null = null;
  #discovered = false;

  constructor(options: ClientsOptions) {
    this.options = options;
    this.#followers = options.followers ?? new Set();
    const { server, rates, pin, withoutRegistration, register, timeStaleS, lost, revision, notifications, aus, nmis } =
      options.settings;
    this.inForce = {
      server: { host: server.host, port: server.port, tls: server.tls },
      anywhere: !server.guarded,
      dcap: server.dcap,
      revision,
      pin,
      withoutRegistration,
      register,
      pollRateS: rates.pollS,
      postRateS: rates.postS,
      useServerTime: true,
      timeStaleS,
      lostAfterS: lost.afterS,
      lostExpiryS: lost.expiryS,
      subscribe: notifications.subscribe,
      sendsAlarms: true,
      lfdis: new Map(),
      nmis,
    };
    this.#lfdiSlot = options.store.slot(slotName('csip', 'lfdis'));
    this.#rules = options.findings.rules('csip', csipRules);
    this.#codec = options.codecOf(() => this.inForce.revision, aus);
    this.notifications = new Notifications({ ...options, codec: this.#codec });
  }

  get connections(): readonly Connection[] {
    return this.#connections;
  }

  /** Calls back within each change of the state of an event. @returns function that unsubscribes */
  onEvent(listener: (event: CsipEvent) => void): () => void {
    this.#followers.add(listener);
    return () => {
      this.#followers.delete(listener);
    };
  }

  /** @throws SimError UNKNOWN_DEVICE */
  connectionOf(device: number): Connection {
    const connection = this.#connections.find(({ devices }) => devices.some(({ index }) => index === device));
    if (connection === undefined) throw new SimError('UNKNOWN_DEVICE', `there is no CSIP client for device ${device}`);
    return connection;
  }

  /**
   * Makes the clients of devices, without connecting yet.
   * @throws SimError CONFIG_INVALID for certificates that cannot be used; nothing is left
   */
  add(devices: readonly Device[]): readonly Connection[] {
    if (devices.length === 0) return [];
    for (const device of devices) this.#presetLfdi(device);
    const groups = this.options.settings.identity === 'per_device' ? devices.map((device) => [device]) : [[...devices]];
    const connections = groups.map((group) => this.#connection(group));
    this.#connections.push(...connections);
    if (this.#watching) for (const { credentials } of connections) credentials.watch();
    return connections;
  }

  /**
   * Goes on with the events and controls that an earlier process left, whether a server can be reached or not.
   */
  async resume(): Promise<void> {
    for (const connection of this.#connections) {
      if (!(await this.#isStored(connection))) continue;
      const members = await this.#makeMembers(connection);
      this.#resumed.set(connection, members);
      await Promise.all(members.map(({ endDevice }) => endDevice.open()));
    }
  }

  /** Puts the LFDI of the settings of a device in force, which a request can change. */
  #presetLfdi({ index, csip }: Device): void {
    const { plant, settings } = this.options;
    const lfdi = csip?.lfdi ?? settings.lfdis[index - plant.firstIndex];
    if (lfdi !== undefined && !this.#chosenLfdis.has(index)) this.inForce.lfdis.set(index, lfdi);
  }

  async #isStored(connection: Connection): Promise<boolean> {
    const { store, keepPart } = this.options;
    if (keepPart !== undefined) return connection.credentials.facts !== null;
    for (const { lfdi } of this.endDevicesOf(connection)) {
      const stored = await store.slot(slotName('csip', lfdi, 'events')).read();
      if (stored.length > 0) return true;
    }
    return false;
  }

  /** The EndDevices that `resume` made, once; null: none, or the certificate has changed since. */
  async #takeResumed(connection: Connection): Promise<readonly FullMember[] | null> {
    const members = this.#resumed.get(connection) ?? null;
    this.#resumed.delete(connection);
    const lfdis = new Set(this.endDevicesOf(connection).map(({ lfdi }) => lfdi));
    if (members === null || members.every(({ target }) => lfdis.has(target.lfdi))) return members;
    await this.#endResumed(members, false);
    return null;
  }

  async #endResumed(members: readonly FullMember[], leave: boolean): Promise<void> {
    await Promise.all(
      members.flatMap(({ submissions, endDevice }) => [submissions.close(), endDevice.close(false, leave)]),
    );
  }

  /** Takes the LFDIs that were set over REST in an earlier process. */
  async restoreLfdis(): Promise<void> {
    for (const [index, lfdi] of await readEach(this.#lfdiSlot, lfdiForm, this.options.log)) {
      this.#chosenLfdis.set(index, lfdi);
      if (lfdi === null) this.inForce.lfdis.delete(index);
      else this.inForce.lfdis.set(index, lfdi);
    }
  }

  /**
   * Sets the LFDI of a device behind an aggregator; the next process has it too.
   * @param lfdi null: the one derived from the certificate
   */
  async chooseLfdi(index: number, lfdi: string | null): Promise<void> {
    if (lfdi === null) this.inForce.lfdis.delete(index);
    else this.inForce.lfdis.set(index, lfdi);
    this.#chosenLfdis.set(index, lfdi);
    await this.#lfdiSlot.replace([...this.#chosenLfdis]);
  }

  /** Connects all that are disconnected, spread over some time. */
  connect(connections: readonly Connection[] = this.#connections): void {
    // a restart can outlive the clients
    if (this.#isStopped) return;
    const gapMs = connectGapMs(connections.length);
    connections.forEach(({ client }, at) => client.connect(at * gapMs));
  }

  /** Listens for notifications where subscriptions are wanted. @throws SimError LISTEN_FAILED */
  async listen(): Promise<void> {
    const [first] = this.#connections;
    if (this.inForce.subscribe && first !== undefined) await this.notifications.open(first.credentials);
  }

  watch(): void {
    this.#watching = true;
    for (const { credentials } of this.#connections) credentials.watch();
  }

  reload(): void {
    for (const { credentials } of this.#connections) credentials.reload();
  }

  /** Reconnects after a change of server, revision or certificate; keeps the events. */
  async restart(connections: readonly Connection[] = this.#connections): Promise<void> {
    const running = connections.filter(({ client }) => client.state !== 'stopped');
    await Promise.all(running.map(({ client }) => client.disconnect(false)));
    this.connect(running);
  }

  /** A device joins: a client of its own, one more EndDevice, or one more DER. @throws as `add` */
  async join(device: Device): Promise<void> {
    const [first] = this.#connections;
    if (this.options.settings.identity === 'per_device' || first === undefined) {
      this.connect(this.add([device]));
      return;
    }
    if (this.options.settings.identity === 'aggregator') {
      this.#presetLfdi(device);
      enter(first, device);
      await this.restart([first]);
      return;
    }
    if (this.options.plant.devices.includes(device)) {
      enter(first, device);
      this.#regroup(first);
      return;
    }
    // the controls of a site act on a device as soon as it is in the plant
    this.#joining.set(
      device.index,
      this.options.plant.onDevices(({ added }) => {
        if (added !== device) return;
        this.#endJoining(device.index);
        enter(first, device);
        this.#regroup(first);
      }),
    );
  }

  async leave(index: number): Promise<void> {
    this.#endJoining(index);
    const connection = this.#connections.find(({ devices }) => devices.some((device) => device.index === index));
    if (connection === undefined) return;
    const { devices, client, credentials } = connection;
    this.inForce.lfdis.delete(index);
    if (this.#chosenLfdis.delete(index)) await this.#lfdiSlot.replace([...this.#chosenLfdis]);
    devices.splice(
      devices.findIndex((device) => device.index === index),
      1,
    );
    if (devices.length > 0) {
      if (this.options.settings.identity === 'site') this.#regroup(connection);
      else await this.restart([connection]);
      return;
    }
    this.#connections.splice(this.#connections.indexOf(connection), 1);
    credentials.unwatch();
    const resumed = this.#resumed.get(connection) ?? [];
    this.#resumed.delete(connection);
    await Promise.all([client.disconnect(), this.#endResumed(resumed, false)]);
  }

  #endJoining(index: number): void {
    this.#joining.get(index)?.();
    this.#joining.delete(index);
  }

  /** Applies the controls in force to the changed devices of a site. */
  #regroup(connection: Connection): void {
    for (const member of membersOf(connection)) member.regroup();
    // the server may lack a DER
    void connection.client.rediscover();
  }

  async stop(keepsControls = true): Promise<void> {
    this.#isStopped = true;
    for (const index of this.#joining.keys()) this.#endJoining(index);
    for (const { credentials } of this.#connections) credentials.unwatch();
    const leave = keepsControls && this.options.keepPart !== undefined;
    await Promise.all(this.#connections.map(({ client }) => client.disconnect(false, leave)));
    await Promise.all([...this.#resumed.values()].map((members) => this.#endResumed(members, leave)));
    this.#resumed.clear();
    await this.notifications.close();
  }

  #connection(devices: Device[]): Connection {
    const { settings, clock, later, seed, log, pem, remoteClock: makeClock, commAlarms } = this.options;
    const [{ index } = { index: 0 }] = devices;
    const remoteClock = makeClock(log);
    const credentials = new ClientCredentials({
      files: csipPemFiles(settings, index),
      names: { cert: 'csip_cert', key: 'csip_key', rootCert: 'csip_root_cert' },
      strictCipher: settings.strictCipher,
      testPki: settings.certificates.kind === 'test_pki' ? settings.certificates.directory : null,
      io: pem,
      clock,
      logger: log,
      onChange: () => {
        if (connection === this.#connections[0]) this.notifications.certificatesChanged(credentials);
        void this.restart([connection]);
      },
    });
    const client: Client = new Client({
      deviceIndices: () => devices.map((device) => device.index),
      conduct: this.inForce,
      open: (line) => this.#open(connection, line),
      clock,
      later,
      jitter: createRandom(seed, 'csip', index, 'client'),
      remoteClock,
      commAlarms,
      log,
      ...(this.options.share && { share: this.options.share }),
    });
    const connection: Connection = { client, credentials, remoteClock, devices };
    return connection;
  }

  async #makeMembers({ client, credentials, remoteClock, devices }: Connection): Promise<readonly FullMember[]> {
    const { facts: certificate } = credentials;
    if (certificate === null) throw new SimError('CONFIG_INVALID', 'the certificate of the client cannot be read');
    const eventsChanged: MemberParts['eventsChanged'] = (endDevice, changed) => {
      for (const control of changed) for (const listener of this.#followers) listener(eventView(control, endDevice));
    };
    const parts = { ...this.options, inForce: this.inForce, eventsChanged };
    const onLost = () => client.rediscoverMissing();
    const exchange = client.line;
    const groups = this.options.settings.identity === 'site' ? [devices] : devices.map((device) => [device]);
    return Promise.all(
      groups.map((group) => makeMember(parts, { certificate, devices: group, exchange, remoteClock, onLost })),
    );
  }

  async #open(connection: Connection, line: SepExchange): Promise<OpenedIdentity> {
    const { client, credentials } = connection;
    const { settings, clock, later, channel, disturber, log, seed } = this.options;
    if (settings.discover) await this.#search();
    // a search takes seconds, and another adapter may have the devices by now
    if (this.#isStopped) throw new SimError('NOT_CONNECTED', 'the client has stopped');
    const certificate = credentials.facts;
    if (certificate === null) throw new SimError('CONFIG_INVALID', 'the certificate of the client cannot be read');
    const { host, port, tls } = this.inForce.server;
    const judge = this.#judgeOf(connection, certificate.lfdi, () => exchange);
    const exchange: HttpExchange = new HttpExchange({
      host,
      port,
      tls: tls ? { identity: credentials, checkHostname: settings.checkHostname } : null,
      allowedHosts: settings.allowedHosts,
      anywhere: this.inForce.anywhere,
      codec: this.#codec,
      clock,
      later,
      channel,
      disturber,
      witness: judge,
    });
    // open fallible resources first: members subscribe to their devices when they are created
    const registrations = new Registrations(this.options.store, `${host}:${port}`, log);
    await registrations.open();
    const addresses = await AddressBook.open(
      this.options.store.slot(slotName('csip', certificate.lfdi, 'subscriptions')),
      log,
    );
    const members = (await this.#takeResumed(connection)) ?? (await this.#makeMembers(connection));
    const subscriptions = this.notifications.subscriptions({
      exchange: line,
      secret: credentials.secret,
      automatic: this.inForce.subscribe,
      jitter: createRandom(seed, 'csip', certificate.lfdi, 'subscriptions'),
      reread: (url) => void client.walk?.reread(url),
      addresses,
      witness: judge,
    });
    // devices may have joined or left meanwhile
    for (const member of members) member.regroup();
    return {
      exchange,
      certificate,
      members,
      registrations,
      subscriptions: subscriptions && new SubscriptionFollower(subscriptions),
      judge,
    };
  }

  /** The judge of the server at a connection. */
  #judgeOf(connection: Connection, ownLfdi: string, exchange: () => HttpExchange): ServerJudge {
    const { findings, clock, settings } = this.options;
    const { host, port, tls } = this.inForce.server;
    return new ServerJudge({
      findings,
      rules: this.#rules,
      clock,
      origin: new URL(`${tls ? 'https' : 'http'}://${hostAndPort(host, port)}`).origin,
      isSecure: tls,
      subscribes: this.inForce.subscribe,
      ownLfdi,
      lfdis: new Set(this.endDevicesOf(connection).map(({ lfdi }) => lfdi)),
      isAggregator: settings.identity === 'aggregator',
      lists: (mrid) => connection.client.members.some(({ endDevice }) => endDevice.events.get(mrid)?.present === true),
      tls: () => exchange().handshake,
    });
  }

  /** Takes the first server that DNS-SD finds; without one, and where multicast is refused, that of the settings. */
  async #search(): Promise<void> {
    const { discover, log } = this.options;
    if (this.#discovered) return;
    this.#searching ??= discover().finally(() => {
      this.#searching = null;
    });
    try {
      const first = (await this.#searching).find(({ permitted }) => permitted);
      if (this.#isStopped) return;
      if (first === undefined) {
        log.warning('DNS-SD has found no server; that of the settings is used');
        return;
      }
      const { tls } = this.inForce.server;
      const port = tls ? (first.httpsPort ?? first.port) : first.port;
      this.inForce.server = { host: first.addresses[0] ?? first.host, port, tls };
      this.inForce.anywhere = false;
      this.inForce.dcap = first.dcap ?? this.inForce.dcap;
      this.#discovered = true;
    } catch (error) {
      log.warning(`${errorText(error)}; the server of the settings is used`);
    }
  }

  /** LFDI and SFDI of the EndDevice of a device; null: its certificate cannot be read. */
  identityOf(device: Pick<Device, 'index'>): Pick<CsipManagedDevice, 'lfdi' | 'sfdi'> | null {
    const { facts } = this.connectionOf(device.index).credentials;
    return facts === null ? null : identityOf({ ...this.options, inForce: this.inForce }, facts, device);
  }

  /** The EndDevices of a connection, whether the server has them or not. */
  endDevicesOf({ devices }: Connection): readonly CsipManagedDevice[] {
    const groups = this.options.settings.identity === 'site' ? [devices] : devices.map((device) => [device]);
    return groups.flatMap((group) => {
      const [first] = group;
      const identity = first === undefined ? null : this.identityOf(first);
      if (first === undefined || identity === null) return [];
      const nmi = nmiOf(this.inForce.nmis, this.options.plant, first);
      return [{ ...identity, nmi, deviceIndices: group.map(({ index }) => index) }];
    });
  }
}
