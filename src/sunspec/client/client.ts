/** The built-in SunSpec master, as an adapter: one device, chosen at run time. */
import { AdapterLifecycle } from '../../core/adapter.ts';
import type { Adapter, AdapterStatus, CommState } from '../../core/adapter.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import { callLater } from '../../core/time/timers.ts';
import type { Later } from '../../core/time/timers.ts';
import { silentLogger } from '../../core/log/log.ts';
import type { Logger } from '../../core/log/log.ts';
import { createRandom } from '../../core/random.ts';
import type { ModbusMessages } from '../../core/wire/modbus.ts';
import { ModbusTap } from '../../core/wire/modbus.ts';
import type {
  ClientState,
  ClientStatus,
  ClientTarget,
  Discovery,
  ModelReading,
  PolledModel,
  PollSettings,
  PollStatus,
  RawWriteOutcome,
  ReadingValue,
  RemoteDevice,
  RemoteSample,
  SunSpecClient,
  WriteOutcome,
} from '../../contract/sunspec-client.ts';
import { Connection } from './connection.ts';
import type { Counters } from './connection.ts';
import { isOfPeer, checkTarget, connectTargetOf, endpointOf, withoutSecrets } from './peer.ts';
import { Poller, OperationQueue } from './poll.ts';
import type { Round } from './poll.ts';
import { Session } from './session.ts';
import { isSummaryModel, metricsOf, summaryModels } from './summary.ts';

/** size of the address space of registers */
const addresses = 65_536;

export interface SunSpecClientOptions {
  readonly clock?: WallClock;
  readonly logger?: Logger;
  /** seed of the random part of intervals between attempts to connect */
  readonly seed?: number;
  readonly later?: Later;
  /** receives the messages over TCP and TLS; default: no observer */
  readonly messages?: ModbusMessages;
  /** true: pseudo terminals count as serial lines; default false */
  readonly ptys?: boolean;
}

/** Idle until `connect`. */
export class SunSpecClientAdapter implements Adapter, SunSpecClient {
  readonly module = 'Modbus';
  readonly comm = 'sunspec_client';
  readonly outbound = true;
  readonly #lifecycle = new AdapterLifecycle();
  readonly #clock: WallClock;
  readonly #tap: ModbusTap | undefined;
  readonly #log: LimitedLog;
  readonly #queue: OperationQueue;
  readonly #poller: Poller;
  readonly #ptys: boolean;
  readonly #counters: Counters = { requests: 0, answers: 0, errors: 0, timeouts: 0, exceptions: 0, connections: 0 };
  readonly #listeners: ((sample: RemoteSample) => void)[] = [];
  readonly #deviceListeners: ((device: RemoteDevice) => void)[] = [];
  /** the device announced last to `onDevice` */
  #device: RemoteDevice | null = null;
  #session: Session | null = null;
  #connecting = false;
  #lastError: string | null = null;
  #lastErrorMs: number | null = null;
  #lastActivityMs: number | null = null;
  #sample: RemoteSample | null = null;

  constructor(options: SunSpecClientOptions = {}) {
    const { clock = systemClock, logger = silentLogger, seed = 1, later = callLater, messages } = options;
    this.#ptys = options.ptys ?? false;
    this.#clock = clock;
    this.#tap = messages && new ModbusTap(messages, this.comm, clock);
    this.#log = new LimitedLog(logger, clock, 'the SunSpec client', later);
    const monotonicMs = () => clock.monotonicMs();
    this.#queue = new OperationQueue(monotonicMs);
    this.#poller = new Poller({
      monotonicMs,
      later,
      nowMs: () => clock.nowMs(),
      random: createRandom(seed, 'sunspec_client', 'retries'),
      round: (settings, isCurrent) => this.#round(settings, isCurrent),
    });
  }

  start(): Promise<void> {
    return this.#lifecycle.start(() => undefined);
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(async () => {
      this.#closeSession(new SimError('STOPPING', 'the simulator is stopping'));
      await this.#poller.settled();
      this.#log.flush();
    });
  }

  status(): AdapterStatus {
    const { requests, answers, errors } = this.#counters;
    const state: CommState = this.#lifecycle.stopping ? 'stopped' : this.#poller.retrying ? 'retrying' : this.#state;
    const connection = this.#session?.connection;
    return this.#lifecycle.status({
      enabled: connection !== undefined,
      state,
      detail: state === 'connected' ? null : this.#lastError,
      endpoint: connection ? endpointOf(connection.target) : null,
      peers: connection?.open === true ? 1 : 0,
      lastActivityMs: this.#lastActivityMs,
      rxCount: answers,
      txCount: requests,
      errorCount: errors,
      lastError:
        this.#lastError === null || this.#lastErrorMs === null
          ? null
          : { text: this.#lastError, atMs: this.#lastErrorMs },
    });
  }

  view(): ClientStatus {
    const session = this.#session;
    const target = session?.connection.target;
    return {
      state: this.#state,
      target: target ? withoutSecrets(target) : null,
      endpoint: target ? endpointOf(target) : null,
      identity: session?.identity ?? null,
      discovery: session?.discovery ?? null,
      poll: this.#poller.status(),
      counters: { ...this.#counters },
      lastError: this.#lastError,
      lastErrorMs: this.#lastErrorMs,
      sample: this.#sample,
    };
  }

  async connect(target: ClientTarget): Promise<ClientStatus> {
    if (this.#lifecycle.stopping) throw new SimError('STOPPING', 'the simulator is stopping');
    checkTarget(target, this.#ptys);
    // unusable certificates are an error of the request, not of the device
    if (target.transport !== 'rtu') connectTargetOf(target);
    this.#closeSession(new SimError('COMMAND_CONFLICT', 'the SunSpec client was connected anew'));
    const session: Session = new Session(
      new Connection({
        target,
        counters: this.#counters,
        ...(this.#tap && { tap: this.#tap }),
        monotonicMs: () => this.#clock.monotonicMs(),
        onLink: (reason) => {
          this.#onLink(session, reason);
        },
        onActivity: () => {
          this.#lastActivityMs = this.#clock.nowMs();
        },
      }),
      () => this.#clock.nowMs(),
    );
    this.#session = session;
    this.#connecting = true;
    try {
      await this.#operation(session, () => session.scan());
    } catch (error) {
      session.connection.drop(errorText(error));
      throw error;
    } finally {
      if (this.#session === session) this.#connecting = false;
    }
    if (this.#session !== session) throw leftError();
    this.#log.info(
      `SunSpec client: ${endpointOf(target)}, unit ${target.unitId}, ${session.discovery?.models.length ?? 0} models`,
    );
    this.#poller.start();
    return this.view();
  }

  disconnect(): Promise<ClientStatus> {
    this.#closeSession(new SimError('COMMAND_CONFLICT', 'the SunSpec client was disconnected'));
    return Promise.resolve(this.view());
  }

  async scan(): Promise<Discovery> {
    const session = this.#requireSession();
    return this.#operation(session, () => session.scan());
  }

  async readModel(id: number, index: number, fresh: boolean): Promise<ModelReading> {
    const session = this.#requireSession();
    session.model(id, index);
    const cachedReading = fresh ? undefined : session.cachedReading(id, index);
    return cachedReading ?? this.#operation(session, () => session.read(id, index));
  }

  async readRegisters(address: number, count: number): Promise<readonly number[]> {
    checkRange(address, count, '/count');
    const session = this.#requireSession();
    return this.#operation(session, () => session.readRegisters(address, count));
  }

  async writePoints(id: number, index: number, values: Readonly<Record<string, ReadingValue>>): Promise<WriteOutcome> {
    const session = this.#requireSession();
    session.model(id, index);
    return this.#operation(session, () => session.writePoints(id, index, values));
  }

  async writeRegisters(address: number, registers: readonly number[]): Promise<RawWriteOutcome> {
    checkRange(address, registers.length, '/registers');
    const session = this.#requireSession();
    return this.#operation(session, () => session.writeRegisters(address, registers));
  }

  poll(settings: PollSettings): PollStatus {
    this.#poller.settings = settings;
    this.#poller.stop();
    if (this.#session !== null && !this.#lifecycle.stopping) this.#poller.start();
    return this.#poller.status();
  }

  onDevice(listener: (device: RemoteDevice) => void): void {
    this.#deviceListeners.push(listener);
  }

  onSample(listener: (sample: RemoteSample) => void): void {
    this.#listeners.push(listener);
  }

  get #state(): ClientState {
    const session = this.#session;
    if (session === null) return 'disabled';
    if (this.#connecting) return 'connecting';
    const isConnected = session.connection.open && session.discovery !== null && !this.#poller.retrying;
    return isConnected ? 'connected' : 'error';
  }

  /** The session of a device whose map was found. @throws SimError NOT_CONNECTED */
  #requireSession(): Session {
    if (this.#session?.discovery) return this.#session;
    const why = this.#session === null ? 'no connection was requested' : (this.#lastError ?? 'it has not found a map');
    throw new SimError('NOT_CONNECTED', `The SunSpec client has no device: ${why}.`);
  }

  #operation<T>(session: Session, work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#session !== session) throw leftError();
      session.connection.beginOperation();
      try {
        return await work();
      } catch (error) {
        if (this.#session === session) this.#noteFailure(error);
        throw error;
      } finally {
        if (this.#session === session && session.discovery !== null) this.#announceDevice(session.connection.target);
      }
    });
  }

  #noteFailure(error: unknown): void {
    if (!isOfPeer(error)) return;
    this.#lastError = error.message;
    this.#lastErrorMs = this.#clock.nowMs();
    this.#log.warning(`SunSpec client: ${error.message}`);
  }

  #onLink(session: Session, reason: string | null): void {
    if (this.#session !== session || reason === null) return;
    this.#lastError = reason;
    this.#lastErrorMs = this.#clock.nowMs();
  }

  /** Closes connection and session of the present device. */
  #closeSession(why: SimError): void {
    this.#poller.stop();
    this.#poller.forget();
    this.#queue.clear(why);
    this.#session?.connection.close();
    this.#session = null;
    this.#connecting = false;
    this.#sample = null;
    this.#lastError = null;
    this.#lastErrorMs = null;
  }

  async #round(settings: PollSettings, isCurrent: () => boolean): Promise<Round> {
    const session = this.#session;
    if (session === null) return { polled: [], cut: false, lost: false };
    const readings: ModelReading[] = [];
    const polled: PolledModel[] = [];
    let cut = false;
    let lost = false;
    try {
      await this.#operation(session, () => readAll(session, settings, isCurrent, { readings, polled }));
    } catch (error) {
      cut = true;
      lost = isOfPeer(error) && (!session.connection.open || session.discovery === null);
    }
    if (isCurrent() && readings.length > 0) this.#publish(readings);
    return { polled, cut, lost };
  }

  #announceDevice(target: ClientTarget): void {
    const device = { endpoint: endpointOf(target), unitId: target.unitId };
    if (this.#device?.endpoint === device.endpoint && this.#device.unitId === device.unitId) return;
    this.#device = device;
    for (const listener of this.#deviceListeners) listener(device);
  }

  #publish(readings: readonly ModelReading[]): void {
    const sample = { metrics: metricsOf(readings), atMs: this.#clock.nowMs(), round: this.#poller.rounds };
    this.#sample = sample;
    for (const listener of this.#listeners) listener(sample);
  }
}

function leftError(): SimError {
  return new SimError('COMMAND_CONFLICT', 'the SunSpec client has left the device');
}

/** @param name member of the request. @throws SimError COMMAND_BAD_VALUE for registers after the last address */
function checkRange(address: number, count: number, name: string): void {
  const room = addresses - address;
  if (count <= room) return;
  const detail = `leads beyond the last address: from ${address} on there are ${room} registers`;
  throw new SimError('COMMAND_BAD_VALUE', `${name.slice(1)} ${detail}`, [{ name, detail }]);
}

/**
 * Reads the models of a round while it is the current one. A model that cannot be read does not prevent reading the
 * others. `polled` receives an entry for every model, `readings` the models of the summary.
 * @throws SimError PEER_ERROR, PEER_TIMEOUT when the connection is lost or the map is not found
 */
async function readAll(
  session: Session,
  settings: PollSettings,
  isCurrent: () => boolean,
  { readings, polled }: { readonly readings: ModelReading[]; readonly polled: PolledModel[] },
): Promise<void> {
  if (!isCurrent()) return;
  const { models } = session.discovery ?? (await session.scan());
  const modelIds = settings.models ?? summaryModels(models);
  for (const id of modelIds) {
    const present = models.filter((model) => model.id === id).map(({ index }) => index);
    for (const index of present.length > 0 ? present : [0]) {
      if (!isCurrent()) return;
      try {
        const reading = await session.read(id, index);
        polled.push({ id, index, readAtMs: reading.readAtMs, error: null });
        if (isSummaryModel(id)) readings.push(reading);
      } catch (error) {
        polled.push({ id, index, readAtMs: session.readAtMs(id, index), error: errorText(error) });
        if (!(error instanceof SimError) || (isOfPeer(error) && !session.connection.open)) throw error;
      }
    }
  }
}

/** A client without a device. */
export function createSunSpecClient(options: SunSpecClientOptions = {}): SunSpecClientAdapter {
  return new SunSpecClientAdapter(options);
}
