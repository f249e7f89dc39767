/** The clients of the process for REST. */
import type {
  CsipCertificateName,
  CsipCertificates,
  CsipClaim,
  CsipClient,
  CsipConfig,
  CsipConfigPatch,
  CsipControl,
  CsipCurve,
  CsipDiagnostic,
  CsipEndDevice,
  CsipPem,
  CsipProgram,
  CsipResponse,
  CsipStatus,
  CsipTime,
} from '../../contract/csip-client.ts';
import type {
  CsipDerDocument,
  CsipHttpProbe,
  CsipLogEventRequest,
  CsipMessages,
  CsipNotification,
  CsipSubscriptions,
  CsipControlState,
  CsipEvent,
} from '../../contract/csip-reports.ts';
import { SimError } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import { modeTable } from '../control/modes.ts';
import { membersOf } from '../members.ts';
import type { FullMember } from '../members.ts';
import type { Clients, Connection } from '../clients.ts';
import { httpProbe } from '../transport/http.ts';
import { SubscriptionFollower } from '../notifications.ts';
import type { Subscriptions } from '../notify/subscriptions.ts';
import { Configurator, configView, diagnosticsView, statusView, timeView } from './status.ts';
import {
  controlsView,
  controlView,
  curveView,
  endDeviceView,
  eventView,
  ownEndDeviceView,
  programView,
  responsesView,
} from './members.ts';
import type { CsipChannel } from '../transport/messages.ts';
import { resolved } from '../walk/reader.ts';

interface FacadeParts {
  readonly messages: CsipMessages;
  readonly rawControls: RawControls;
  readonly discover: CsipClient['discoverServers'];
}

const httpPort = 80;

export class ClientFacade implements CsipClient {
  readonly enabled = true;
  readonly messages: CsipMessages;
  readonly #clients: Clients;
  readonly #parts: FacadeParts;
  readonly #configurator: Configurator;

  constructor(clients: Clients, parts: FacadeParts) {
    this.#clients = clients;
    this.#parts = parts;
    this.messages = parts.messages;
    this.#configurator = new Configurator(clients);
  }

  status(device: number | null): CsipStatus {
    const index = this.#index(device);
    const connection = this.#clients.connectionOf(index);
    const count = this.subscriptions(device).items.length;
    return statusView(this.#clients, connection, index, this.#monotonicMs, count);
  }

  config(device: number | null): CsipConfig {
    this.#connectionOf(device);
    return configView(this.#clients, this.#index(device), this.#configurator.changedBy);
  }

  async configure(patch: CsipConfigPatch, device: number | null, by: Origin): Promise<CsipConfig> {
    await this.#configurator.apply(patch, this.#index(device), by);
    return this.config(device);
  }

  connect(device: number | null): void {
    this.#clients.connect(this.#connectionsOf(device));
  }

  async disconnect(device: number | null): Promise<void> {
    await Promise.all(this.#connectionsOf(device).map(({ client }) => client.disconnect()));
  }

  reconnect(device: number | null): boolean {
    return this.#connectionsOf(device).filter(({ client }) => client.reconnect()).length > 0;
  }

  rediscover(device: number | null): void {
    for (const { client } of this.#running(device)) void client.rediscover();
  }

  poll(device: number | null): void {
    for (const { client } of this.#running(device)) void client.poll();
  }

  setCommunicationLost(lost: boolean, durationS: number | null, device: number | null): void {
    for (const { client } of this.#connectionsOf(device)) {
      if (lost) client.line.lose(durationS);
      else client.line.restore();
    }
  }

  time(device: number | null): CsipTime | null {
    return timeView(this.#connectionOf(device), this.#monotonicMs);
  }

  endDevices(device: number | null): readonly CsipEndDevice[] {
    const connection = this.#connectionOf(device);
    const members = membersOf(connection).flatMap(({ endDevice, target }) =>
      endDevice.facts === null
        ? []
        : [ownEndDeviceView(endDevice.facts, target.pin ?? this.#clients.inForce.pin, endDevice)],
    );
    const others = connection.client.walk?.seen.filter(({ url }) => !members.some(({ href }) => href === url)) ?? [];
    return [...members, ...others.map((located) => endDeviceView(located, null, []))];
  }

  programs(device: number | null): readonly CsipProgram[] {
    return this.#members(device).flatMap(({ endDevice }) =>
      endDevice.programs.map((program) => programView(program, endDevice)),
    );
  }

  controls(device: number | null, state?: CsipControlState): readonly CsipControl[] {
    const all = this.#members(device).flatMap(controlsView);
    return state === undefined ? all : all.filter((control) => control.state === state);
  }

  events(): readonly CsipEvent[] {
    return this.#clients.connections
      .flatMap(membersOf)
      .flatMap(({ endDevice }) => endDevice.controls.map((control) => eventView(control, endDevice)));
  }

  onEvent(listener: (event: CsipEvent) => void): () => void {
    return this.#clients.onEvent(listener);
  }

  control(mrid: string, device: number | null): CsipControl & { readonly xml: string | null } {
    const { control, member } = this.#controlOf(mrid, device);
    const { mrid: listed, href } = control.listed;
    return { ...controlView(control, member), xml: this.#parts.rawControls.of(listed, href) };
  }

  opt(mrid: string, takesPart: boolean, device: number | null): CsipControl {
    const { control, member } = this.#controlOf(mrid, device);
    if (control.state !== 'active' && control.state !== 'scheduled')
      throw new SimError('COMMAND_CONFLICT', `the event ${mrid} is ${control.state}`);
    member.endDevice.opt(control.listed.mrid, takesPart);
    return this.control(mrid, device);
  }

  claims(mrid: string, device: number): readonly CsipClaim[] {
    const { control: entry, member } = this.#controlOf(mrid, device);
    const { mrid: id, control } = entry.listed;
    return [...member.endDevice.target.claims(id, control, device)].map(([mode, values]) => ({
      mode: modeTable[mode].rest,
      values,
    }));
  }

  curves(device: number | null): readonly CsipCurve[] {
    const allCurves = this.#members(device).flatMap(({ endDevice }) =>
      endDevice.programs.flatMap(({ curves }) => curves),
    );
    return [...new Map(allCurves.map((curve) => [curve.url, curveView(curve)])).values()];
  }

  responses(device: number | null, mrid?: string): readonly CsipResponse[] {
    const all = this.#members(device).flatMap((member) => responsesView(member, mrid?.toUpperCase()));
    return all.sort((a, b) => b.createdServerMs - a.createdServerMs);
  }

  der(device: number | null): ReturnType<CsipClient['der']> {
    const reporter = this.#member(device)?.submissions.reporter ?? null;
    if (reporter === null) return { capability: null, settings: null, status: null, availability: null };
    return reporter.lastSent(this.#index(device));
  }

  async postDer(which: readonly CsipDerDocument[], device: number | null): Promise<void> {
    await this.#reporter(device).sendNow(which, this.#index(device));
  }

  readings(device: number | null): ReturnType<CsipClient['readings']> {
    const reporter = this.#member(device)?.submissions.reporter ?? null;
    return reporter?.readings(this.#index(device)) ?? { mupHref: null, postRateS: null, sets: [] };
  }

  async postReadings(device: number | null): Promise<void> {
    await this.#reporter(device).sendReadings();
  }

  logEvents(device: number | null): ReturnType<CsipClient['logEvents']> {
    const events = this.#member(device)?.submissions.reporter?.logEvents ?? [];
    return { enabled: this.#clients.inForce.sendsAlarms, events };
  }

  enableLogEvents(on: boolean): void {
    this.#clients.inForce.sendsAlarms = on;
    for (const connection of this.#clients.connections)
      for (const { submissions } of membersOf(connection))
        if (submissions.reporter !== null) submissions.reporter.sendsAlarms = on;
  }

  async sendLogEvent(event: CsipLogEventRequest, device: number | null): Promise<void> {
    await this.#reporter(device).sendLogEvent(event, this.#index(device));
  }

  subscriptions(device: number | null): CsipSubscriptions {
    const subscriptions = this.#subscriptions(device);
    return { notificationUri: this.#clients.notifications.base, items: subscriptions?.list() ?? [] };
  }

  async subscribe(resource: string, on: boolean, device: number | null): Promise<CsipSubscriptions> {
    const subscriptions = this.#subscriptions(device);
    if (subscriptions === null) throw new SimError('COMMAND_CONFLICT', 'no listener for notifications runs');
    await subscriptions.choose(resource, on);
    return this.subscriptions(device);
  }

  notifications(device: number | null, limit: number): readonly CsipNotification[] {
    return this.#subscriptions(device)?.notifications.slice(0, limit) ?? [];
  }

  certificates(device: number | null): CsipCertificates {
    const connection = this.#connectionOf(device);
    return { ...connection.credentials.view, endDevices: this.#clients.endDevicesOf(connection) };
  }

  async selectCertificate(choice: CsipCertificateName | CsipPem, device: number | null): Promise<CsipCertificates> {
    const { credentials } = this.#connectionOf(device);
    if (typeof choice === 'string') credentials.select(choice);
    else credentials.use(choice);
    return Promise.resolve(this.certificates(device));
  }

  httpProbe(path: string | null, port: number | null, device: number | null): Promise<CsipHttpProbe> {
    this.#connectionOf(device);
    const { server, dcap, anywhere } = this.#clients.inForce;
    return httpProbe({ host: server.host, port: port ?? httpPort, path: path ?? dcap, anywhere });
  }

  diagnostics(device: number | null): readonly CsipDiagnostic[] {
    return diagnosticsView(this.#connectionOf(device), this.#clients.options.clock.nowMs());
  }

  discoverServers(): ReturnType<CsipClient['discoverServers']> {
    return this.#parts.discover();
  }

  get #monotonicMs(): number {
    return this.#clients.options.clock.monotonicMs();
  }

  #index(device: number | null): number {
    return device ?? this.#clients.connections[0]?.devices[0]?.index ?? this.#clients.options.plant.firstIndex;
  }

  #connectionOf(device: number | null): Connection {
    return this.#clients.connectionOf(this.#index(device));
  }

  /** The connection of a device; null: all connections. */
  #connectionsOf(device: number | null): readonly Connection[] {
    return device === null ? this.#clients.connections : [this.#clients.connectionOf(device)];
  }

  /** @throws SimError NOT_CONNECTED */
  #running(device: number | null): readonly Connection[] {
    const running = this.#connectionsOf(device).filter(({ client }) => client.state !== 'stopped');
    if (running.length === 0) throw new SimError('NOT_CONNECTED', 'the client is stopped until csip/connect');
    return running;
  }

  /** The EndDevices of a device; null: those of the first client. */
  #members(device: number | null): readonly FullMember[] {
    const all = membersOf(this.#connectionOf(device));
    return device === null ? all : all.filter(({ endDevice }) => endDevice.deviceIndices.includes(device));
  }

  #member(device: number | null): FullMember | undefined {
    const index = this.#index(device);
    return this.#members(index).find(({ endDevice }) => endDevice.deviceIndices.includes(index));
  }

  /** null: not listening for notifications, or disconnected */
  #subscriptions(device: number | null): Subscriptions | null {
    const { client } = this.#connectionOf(device);
    const follower = client.opened?.subscriptions ?? null;
    return follower instanceof SubscriptionFollower ? follower.subscriptions : null;
  }

  #reporter(device: number | null) {
    const reporter = this.#member(device)?.submissions.reporter ?? null;
    if (reporter === null) throw new SimError('NOT_CONNECTED', 'the EndDevice was not found on the server yet');
    return reporter;
  }

  #controlOf(mrid: string, device: number | null) {
    const upperMrid = mrid.toUpperCase();
    for (const member of this.#members(device)) {
      const control = member.endDevice.controls.find(({ listed }) => listed.mrid === upperMrid);
      if (control !== undefined) return { control, member };
    }
    throw new SimError('UNKNOWN_RESOURCE', `there is no control ${mrid}`);
  }
}

interface RawControls {
  /**
   * The XML of the control at `href`, otherwise of one with the same mRID at another address.
   * @returns null if no recorded message contains it
   */
  of(mrid: string, href: string | null): string | null;
}

/** A DERControl element, which has no descendant of the same name. */
const controlElement = /<((?:[\w.-]+:)?DERControl)(?:\s[^>]*)?>[\s\S]*?<\/\1\s*>/g;
const hrefAttribute = /^<[^>]*?\shref\s*=\s*["']([^"']*)["']/;
const mridElement = /<(?:[\w.-]+:)?mRID\b[^>]*>\s*([0-9A-Fa-f]+)\s*</;

/** Finds the XML of controls in the recorded messages; it is stored nowhere else. */
export function rawControls(channel: CsipChannel): RawControls {
  return {
    of(mrid, href) {
      let another: string | null = null;
      for (const entry of [...channel.list({})].reverse()) {
        const { responseBody = null } = channel.decode(entry) ?? {};
        if (responseBody?.includes('DERControl') !== true) continue;
        for (const [text] of responseBody.matchAll(controlElement)) {
          if (mridElement.exec(text)?.[1]?.toUpperCase() !== mrid) continue;
          if (resolved(hrefAttribute.exec(text)?.[1] ?? '', entry.facts.url) === href) return text;
          another ??= text;
        }
      }
      return another;
    },
  };
}
