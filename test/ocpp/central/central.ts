/**
 * A central system for tests, on plain `ws`: it accepts charge points, keeps what they send, answers their calls and does
 * what a test tells it to.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureVersion } from 'node:tls';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { answers16 } from './answers.ts';
import type { CentralAnswer } from './answers.ts';
import { answers2 } from './answers-2.ts';
import { versionOf } from './judge.ts';
import type { CentralVersion } from './judge.ts';
import { CentralStation } from './station.ts';
import { violated } from './violations.ts';

export interface CentralOptions {
  /** accepted ones, best first; empty: none is agreed to and every connection is closed at once. Default: ocpp1.6 */
  readonly subprotocols?: readonly string[];
  /** time of the answers, ms since the epoch; default the machine's */
  readonly nowMs?: () => number;
  /** absent: in clear */
  readonly tls?: {
    readonly cert: string;
    readonly key: string;
    /** asks for certificates of this authority, and refuses connections without one */
    readonly clientCa?: string;
    readonly maxVersion?: SecureVersion;
    readonly minVersion?: SecureVersion;
    readonly ciphers?: string;
  };
  /** status that refuses a connection; null: it is let in. Default: everybody is let in */
  readonly admit?: (identity: string, password: Buffer | null, request: IncomingMessage) => number | null;
  /** in place of the answers of each version */
  readonly answers?: Readonly<Record<string, CentralAnswer>>;
  /** Told of each frame, of either side, that is none or breaks its schema. Default: the test that runs fails. */
  readonly wrong?: (text: string) => void;
}

/** Octets behind the first colon after the identity, which may have colons itself. */
function passwordOf(request: IncomingMessage, identity: string): Buffer | null {
  const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ');
  if (scheme !== 'Basic') return null;
  const octets = Buffer.from(value, 'base64');
  const user = Buffer.from(`${identity}:`);
  return octets.subarray(0, user.length).equals(user) ? octets.subarray(user.length) : octets;
}

export class Central {
  readonly #options: CentralOptions;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #open = new Set<WebSocket>();
  readonly #stations = new Map<string, CentralStation>();
  /** requests for a connection, also refused ones */
  readonly requests: IncomingMessage[] = [];
  /** as the option; may be changed */
  admit: NonNullable<CentralOptions['admit']>;
  subprotocols: readonly string[];

  private constructor(options: CentralOptions) {
    this.#options = options;
    this.admit = options.admit ?? (() => null);
    this.subprotocols = options.subprotocols ?? ['ocpp1.6'];
    const { tls } = options;
    this.#server =
      tls === undefined
        ? createServer()
        : createTlsServer({
            ...tls,
            ...(tls.clientCa !== undefined && { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true }),
          });
    this.#sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => this.subprotocols.find((each) => offered.has(each)) ?? false,
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.#upgrade(request, socket, head);
    });
  }

  /** @param port default a free one */
  static async open(options: CentralOptions = {}, port = 0): Promise<Central> {
    const central = new Central(options);
    await new Promise<void>((resolve, reject) => {
      central.#server.once('error', reject);
      central.#server.listen(port, '127.0.0.1', resolve);
    });
    return central;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** without an identity: `ws://127.0.0.1:port/ocpp` */
  get url(): string {
    return `${this.#options.tls === undefined ? 'ws' : 'wss'}://127.0.0.1:${this.port}/ocpp`;
  }

  /** There is one for every identity, also before it has connected. */
  station(identity: string): CentralStation {
    const known = this.#stations.get(identity);
    if (known !== undefined) return known;
    const { nowMs = Date.now, answers = {}, wrong = violated } = this.#options;
    const defaults = (version: CentralVersion) => (version === 'ocpp1.6' ? answers16(nowMs) : answers2(version, nowMs));
    const [first = 'ocpp1.6'] = this.subprotocols;
    const station = new CentralStation(identity, { version: versionOf(first), defaults, answers, wrong });
    this.#stations.set(identity, station);
    return station;
  }

  get stations(): readonly CentralStation[] {
    return [...this.#stations.values()];
  }

  /** Ends every connection and listens no more. */
  async close(): Promise<void> {
    for (const socket of this.#open) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.requests.push(request);
    socket.on('error', () => socket.destroy());
    const identity = decodeURIComponent((request.url ?? '').split('?')[0]?.split('/').at(-1) ?? '');
    const password = passwordOf(request, identity);
    const status = this.admit(identity, password, request);
    if (status !== null) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (opened) => {
      this.#open.add(opened);
      opened.on('error', () => undefined);
      const closed = new Promise<{ code: number; reason: string }>((resolve) => {
        opened.once('close', (code: number, reason: Buffer) => {
          this.#open.delete(opened);
          resolve({ code, reason: reason.toString() });
        });
      });
      if (opened.protocol === '') opened.close();
      else this.station(identity).attach({ socket: opened, request, subprotocol: opened.protocol, password, closed });
    });
  }
}
