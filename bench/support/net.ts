/** Ports, and the first right answer of a server. */
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const host = '127.0.0.1';
const retryMs = 2;

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

// below the ephemeral ports of Linux, else a master could occupy a server's port
let nextPort = 20_000 + (process.pid % 5000);

/** First of `count` consecutive ports that are free now. @throws Error when there are none */
export async function freePorts(count = 1): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (nextPort + count > 32_000) nextPort = 20_000;
    const first = nextPort;
    nextPort += count;
    let port = first;
    while (port < first + count && (await canListen(port))) port += 1;
    if (port === first + count) return first;
  }
  throw new Error(`no ${count} consecutive free ports were found`);
}

/** The four octets of registers 40000 and 40001. */
function firstRegisters(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, noDelay: true });
    const chunks: Buffer[] = [];
    socket.on('error', reject);
    socket.on('close', () => {
      reject(new Error('closed without an answer'));
    });
    socket.on('connect', () => {
      socket.write(Buffer.from([0, 1, 0, 0, 0, 6, 1, 3, 0x9c, 0x40, 0, 2]));
    });
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      if (bytes.length < 13) return;
      socket.destroy();
      resolve(bytes.toString('latin1', 9, 13));
    });
  });
}

/** Resolves when a server answers Modbus. @param marker the octets at 40000; without, any answer will do */
export async function untilModbus(port: number, marker?: string): Promise<void> {
  for (;;) {
    try {
      const answer = await firstRegisters(port);
      if (marker === undefined || answer === marker) return;
    } catch {
      // not listening yet
    }
    await wait(retryMs);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    socket.once('error', () => {
      resolve(false);
    });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Resolves when a server accepts connections. */
export async function untilListening(port: number): Promise<void> {
  while (!(await accepts(port))) await wait(retryMs);
}

function httpStatus(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}

/** Resolves when a URL answers with status 200. */
export async function untilHttpOk(url: string): Promise<void> {
  for (;;) {
    try {
      if ((await httpStatus(url)) === 200) return;
    } catch {
      // not listening yet
    }
    await wait(retryMs);
  }
}

/** @throws Error when `work` takes longer, or `failed` rejects before */
export async function within<T>(seconds: number, work: Promise<T>, failed: Promise<never>): Promise<T> {
  const ended = new AbortController();
  const late = wait(seconds * 1000, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`nothing after ${seconds} s`);
  });
  try {
    return await Promise.race([work, failed, late]);
  } finally {
    ended.abort();
    late.catch(() => undefined);
  }
}
