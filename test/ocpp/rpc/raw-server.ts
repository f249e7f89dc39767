/** A server that answers the opening of a WebSocket as a test says, also wrongly. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Head of an answer that opens the connection, with this subprotocol. */
export function switching(key: string, subprotocol: string): string {
  const accept = createHash('sha1').update(`${key}${guid}`).digest('base64');
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  return [...lines, `Sec-WebSocket-Accept: ${accept}`, `Sec-WebSocket-Protocol: ${subprotocol}`, '', ''].join('\r\n');
}

export interface RawServer {
  readonly url: string;
  /** heads of requests so far */
  readonly requests: string[];
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

/** @param answer what is written back; null: nothing, the request is left open */
export async function startRawServer(answer: (key: string) => string | null): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    socket.once('data', (data) => {
      const head = data.toString();
      requests.push(head);
      const [, key = ''] = /Sec-WebSocket-Key: (\S+)/i.exec(head) ?? [];
      const text = answer(key);
      if (text !== null) socket.write(text);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ocpp`,
    requests,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
