/** Addresses of servers for replayed clients, and the connections to them. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { errorText, SimError } from '../../core/errors.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import type { RecordedMessage } from './recording.ts';

/** Address of a server. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Addresses of devices: a common one, or one by index. */
export interface DeviceTargets {
  /** for devices that are not in `byDevice` */
  readonly all: Target | null;
  readonly byDevice: ReadonlyMap<number, Target>;
  /** for the map of another manufacturer, which has a separate port; null: its requests are skipped */
  readonly proxy: Target | null;
  /** for connections to no device, such as the port of the meter; null: as `all` */
  readonly meter: Target | null;
}

/** @throws SimError PEER_ERROR, PEER_TIMEOUT */
function openSocket({ host, port }: Target, timeoutMs: number): Promise<Socket> {
  const name = hostAndPort(host, port);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const limit = setTimeout(() => {
      socket.destroy();
      reject(new SimError('PEER_TIMEOUT', `no connection to ${name} within ${timeoutMs / 1000} s`));
    }, timeoutMs);
    socket.once('connect', () => {
      clearTimeout(limit);
      socket.removeAllListeners('error');
      socket.on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', (error) => {
      clearTimeout(limit);
      reject(new SimError('PEER_ERROR', `cannot connect to ${name}: ${errorText(error)}`));
    });
  });
}

export interface Link {
  readonly closed: boolean;
  close(): void;
}

export interface LinksOptions<L extends Link> {
  readonly targets: DeviceTargets;
  readonly timeoutMs: number;
  readonly make: (socket: Socket) => L;
  /** key of the recorded connection of a message */
  readonly connectionOf: (message: RecordedMessage) => string;
}

/**
 * The connections of a replay, one for each recorded connection. A connection is opened to the first device among its
 * recorded requests, and closed after the last of them, since a server may limit the number of connections.
 */
export class Links<L extends Link> {
  readonly #open = new Map<string, L>();
  readonly #devices = new Map<string, number>();
  readonly #last = new Map<string, RecordedMessage>();
  readonly #options: LinksOptions<L>;

  /** @param requests all requests of the replay in order */
  constructor(requests: readonly RecordedMessage[], options: LinksOptions<L>) {
    this.#options = options;
    for (const request of requests) {
      const connection = options.connectionOf(request);
      this.#last.set(connection, request);
      if (request.deviceIndex !== null && !this.#devices.has(connection))
        this.#devices.set(connection, request.deviceIndex);
    }
  }

  /** The connection for a request. null: no address for its device. @throws SimError PEER_ERROR, PEER_TIMEOUT */
  async of(request: RecordedMessage): Promise<L | null> {
    const connection = this.#options.connectionOf(request);
    const existing = this.#open.get(connection);
    if (existing !== undefined && !existing.closed) return existing;
    const { timeoutMs, make } = this.#options;
    const target = this.#targetOf(request, this.#devices.get(connection));
    if (target === null) return null;
    const link = make(await openSocket(target, timeoutMs));
    this.#open.set(connection, link);
    return link;
  }

  /** Notes about addresses of devices that are not used, one sentence each. */
  unusedTargets(): readonly string[] {
    const replayed = new Set(this.#devices.values());
    return [...this.#options.targets.byDevice.keys()]
      .filter((index) => !replayed.has(index))
      .map((index) => `the address of device ${index} is not used: no recorded connection is one to that device`);
  }

  #targetOf({ details }: RecordedMessage, device: number | undefined): Target | null {
    const { all, byDevice, proxy, meter } = this.#options.targets;
    if (details.interface === 'modbus_proxy') return proxy;
    return device === undefined ? (meter ?? all) : (byDevice.get(device) ?? all);
  }

  /** Marks a request as finished, with or without an answer. */
  done(request: RecordedMessage): void {
    const connection = this.#options.connectionOf(request);
    if (this.#last.get(connection) !== request) return;
    this.#open.get(connection)?.close();
    this.#open.delete(connection);
  }

  close(): void {
    for (const link of this.#open.values()) link.close();
  }
}
