/** HTTP servers for tests of transfers: what arrives, and answers that a test chooses, down to the octets. */
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createRawServer } from 'node:net';
import type { AddressInfo, Server as RawServer, Socket } from 'node:net';
import type { Identity } from '../../support/pki.ts';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FileServer {
  readonly base: string;
  readonly received: Received[];
  close(): Promise<void>;
}

const listening = (server: Server | RawServer) =>
  new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });

const closed = (server: Server | RawServer) =>
  new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });

/** Reads each request whole before it is answered. */
export async function fileServer(answer: RequestListener, tls?: Identity): Promise<FileServer> {
  const received: Received[] = [];
  const listener: RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
      answer(request, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const port = await listening(server);
  return {
    base: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    received,
    close() {
      server.closeAllConnections();
      return closed(server);
    },
  };
}

/** Hands each connection over as octets. */
export async function rawServer(connected: (socket: Socket) => void): Promise<Omit<FileServer, 'received'>> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    connected(socket);
  });
  const port = await listening(server);
  return {
    base: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      return closed(server);
    },
  };
}
