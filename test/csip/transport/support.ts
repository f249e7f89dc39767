/** A server over real TLS or plain HTTP whose answers a test writes, and an exchange with it. */
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { SimError } from '../../../src/core/errors.ts';
import type { ErrorCode } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { listen } from '../../../src/core/net/listen.ts';
import { simTimeFromMs, systemClock } from '../../../src/core/time/clock.ts';
import { callLater } from '../../../src/core/time/timers.ts';
import { clientMaterial } from '../../../src/core/tls/client-context.ts';
import { WireLog } from '../../../src/core/wire/wire-log.ts';
import type { SepRequest } from '../../../src/csip/transport/exchange.ts';
import { csipChannel } from '../../../src/csip/transport/messages.ts';
import type { CsipChannel } from '../../../src/csip/transport/messages.ts';
import { HttpExchange } from '../../../src/csip/transport/sep-exchange.ts';
import type { ExchangeOptions, SepCodec, TlsIdentity } from '../../../src/csip/transport/sep-exchange.ts';
import type { Identity } from '../../support/pki.ts';
import { headEndPki } from '../../support/head-end.ts';

export const bothSuites = 'ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-GCM-SHA256:@SECLEVEL=0';

export class PeerServer {
  readonly port: number;
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  /** connections that have been accepted; over TLS after the handshake */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, port: number, handle: RequestListener) {
    this.#server = server;
    this.port = port;
    server.on('secureConnection', () => (this.connections += 1));
    server.on('connection', (socket: Socket) => {
      if (!('setSecureContext' in server)) this.connections += 1;
      socket.on('error', () => undefined);
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('tlsClientError', () => undefined);
    server.on('request', (request: IncomingMessage, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        this.requests.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
        handle(request, response);
      });
    });
  }

  static async open(options: ServerOptions | null, handle: RequestListener): Promise<PeerServer> {
    const server = options === null ? createHttpServer() : createServer(options);
    return new PeerServer(server, (await listen(server, '127.0.0.1', 0)).port, handle);
  }

  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): Promise<void> {
    this.hangUp();
    return new Promise((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}

/** Options of a head-end: mutual TLS 1.2 with both suites. */
export async function serverTls(more: ServerOptions = {}): Promise<ServerOptions> {
  const { server, root } = await headEndPki();
  return {
    ...server,
    ca: root.cert,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
    ciphers: bothSuites,
    ...more,
  };
}

/** The name of the root element alone; a document that is cut off is refused. */
export const rootCodec: SepCodec = {
  parse(octets) {
    const text = Buffer.from(octets).toString();
    const name = /^<(\w+)[^>]*?(?:\/>$|>[^]*<\/\1>$)/.exec(text)?.[1];
    if (name === undefined) throw new SimError('PEER_ERROR', 'it is not well-formed XML');
    return { name, value: { href: text } } as unknown as ReturnType<SepCodec['parse']>;
  },
  build: ({ name, value }) => `<${name}>${JSON.stringify(value)}</${name}>`,
};

/** What a client with this certificate presents. */
export function identityOf(
  own: Identity | null,
  rootCert: string,
  policy: 'csip' | 'csip_strict' = 'csip',
): TlsIdentity {
  const made = clientMaterial({ rootCert, ...own }, policy, { cert: 'cert', key: 'key', rootCert: 'root' });
  if ('issues' in made) throw new Error(JSON.stringify(made.issues));
  const context = createSecureContext(made.material.context);
  return {
    context,
    disturbed: () => context,
  };
}

export function testChannel(): CsipChannel {
  return csipChannel(new WireLog({ clock: systemClock, sim: () => simTimeFromMs(0), log: silentLogger }));
}

export function exchangeWith(port: number, more: Partial<ExchangeOptions> = {}): HttpExchange {
  return new HttpExchange({
    host: '127.0.0.1',
    port,
    tls: null,
    allowedHosts: [],
    anywhere: true,
    codec: rootCodec,
    clock: systemClock,
    later: callLater,
    channel: testChannel(),
    ...more,
  });
}

export const get = (href: string, more: Partial<SepRequest> = {}): SepRequest => ({
  method: 'GET',
  href,
  resource: 'Time',
  deviceIndex: 0,
  ...more,
});

const body = { name: 'Time', value: { currentTime: 7 } } as unknown as NonNullable<SepRequest['body']>;
export const post = (href: string, more: Partial<SepRequest> = {}): SepRequest =>
  get(href, { method: 'POST', body, ...more });

/** The error of a request: its code and message. */
export async function refusalOf(promise: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> {
  const found = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (!(found instanceof SimError)) throw new Error(`expected a SimError, got ${String(found)}`);
  return { code: found.code, message: found.message };
}
