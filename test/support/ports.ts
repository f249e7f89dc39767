import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { SimError } from '../../src/core/errors.ts';
import { listen } from '../../src/core/net/listen.ts';
import { settled } from './handles.ts';

/**
 * Below the ephemeral ports, which outgoing connections and listeners on port 0 of other tests get. Each worker has a
 * thousand of its own, so that no other one takes a port between the search for it and its use.
 */
const minPort = 12_000 + 1000 * (Number(process.env['MOCHA_WORKER_ID'] ?? 0) % 18);
const maxPort = minPort + 999;
const attempts = 50;

export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}

async function areFree(first: number, count: number): Promise<boolean> {
  const servers = Array.from({ length: count }, () => createServer());
  const bound = await Promise.allSettled(servers.map((server, i) => listen(server, '127.0.0.1', first + i)));
  await Promise.all(servers.map(closed));
  // a test may count the handles that are open
  await settled();
  for (const each of bound) {
    if (each.status === 'rejected' && !(each.reason instanceof SimError)) throw each.reason;
  }
  return bound.every(({ status }) => status === 'fulfilled');
}

/** The first of `count` consecutive free ports, for a test that must know them before it listens. */
export async function freePorts(count: number): Promise<number> {
  for (let i = 0; i < attempts; i += 1) {
    const first = randomInt(minPort, maxPort + 2 - count);
    if (await areFree(first, count)) return first;
  }
  throw new Error(`no ${count} free ports in a row found from ${minPort} to ${maxPort}`);
}

/** A listener on the last of `count` consecutive ports; the others are free. It keeps no process of a failed test alive. */
export async function occupied(count = 1): Promise<{ server: Server; port: number }> {
  const server = createServer().unref();
  const { port } = await listen(server, '127.0.0.1', (await freePorts(count)) + count - 1);
  return { server, port };
}
