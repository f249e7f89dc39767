/** The listening servers of the code under test, found from outside, and their failures. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Server, Socket } from 'node:net';

/** An error of a system call on a listening socket. */
export function acceptError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`accept ${code}`), { code, syscall: 'accept' });
}

/** The server of this process that has accepted a connection to a port. */
export async function serverAt(port: number, host = '127.0.0.1'): Promise<Server> {
  let server: Server | undefined;
  const onSocket = (message: unknown) => {
    // the member that an HTTP server which takes the socket over leaves alone
    const { socket } = message as { socket: Socket & { readonly _server?: Server } };
    if (socket.localPort === port) server = socket._server;
  };
  subscribe('net.server.socket', onSocket);
  const client = connect(port, host);
  client.on('error', () => undefined);
  try {
    await once(client, 'connect');
    while (server === undefined) await new Promise((resolve) => setImmediate(resolve));
    return server;
  } finally {
    unsubscribe('net.server.socket', onSocket);
    client.destroy();
  }
}

/** True if a port accepts a connection. */
export async function accepts(port: number, host = '127.0.0.1'): Promise<boolean> {
  const client = connect(port, host);
  try {
    await once(client, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}
