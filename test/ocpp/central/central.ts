/**
 * A central system for tests, on express-ws: it accepts charge points, keeps what they send, answers their calls and does
 * what a test tells it to.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureVersion } from 'node:tls';
import express from 'express';
import type { Request } from 'express';
import expressWs from 'express-ws';
import type WebSocket from 'ws';
import type { VerifyClientCallbackAsync } from 'ws';
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

/** The last segment of the path. */
function identityOf(request: IncomingMessage): string {
  return decodeURIComponent((request.url ?? '').split('?')[0]?.split('/').at(-1) ?? '');
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
  #port = 0;
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
    const verifyClient: VerifyClientCallbackAsync = ({ req }, answer) => {
      this.#judge(req, answer);
    };
    const { app } = expressWs(express(), this.#server, {
      wsOptions: {
        handleProtocols: (offered) => this.subprotocols.find((each) => offered.has(each)) ?? false,
        verifyClient,
      },
    });
    app.ws('/{*path}', (socket, request) => {
      this.#attach(socket, request);
    });
  }

  /** @param port default a free one */
  static async open(options: CentralOptions = {}, port = 0): Promise<Central> {
    const central = new Central(options);
    await new Promise<void>((resolve, reject) => {
      central.#server.once('error', reject);
      central.#server.listen(port, '127.0.0.1', resolve);
    });
    // the server would ask the system each time, and tests look at it in each turn of the event loop
    central.#port = (central.#server.address() as AddressInfo).port;
    return central;
  }

  get port(): number {
    return this.#port;
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

  #judge(request: IncomingMessage, answer: Parameters<VerifyClientCallbackAsync>[1]): void {
    this.requests.push(request);
    const identity = identityOf(request);
    const status = this.admit(identity, passwordOf(request, identity), request);
    if (status === null) answer(true);
    else answer(false, status, 'Refused');
  }

  #attach(socket: WebSocket, request: Request): void {
    // express-ws adds a segment to the path of the request
    request.url = request.originalUrl.replace(/\/\.websocket(?=\?|$)/, '');
    this.#open.add(socket);
    socket.on('error', () => undefined);
    const closed = new Promise<{ code: number; reason: string }>((resolve) => {
      socket.once('close', (code: number, reason: Buffer) => {
        this.#open.delete(socket);
        resolve({ code, reason: reason.toString() });
      });
    });
    const identity = identityOf(request);
    const password = passwordOf(request, identity);
    if (socket.protocol === '') socket.close();
    else this.station(identity).attach({ socket, request, subprotocol: socket.protocol, password, closed });
  }
}
