/** The servers to compare with; each names what it needs if this machine cannot run it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, untilModbus, within } from './net.ts';
import { inCheckout, startServer, succeeds } from './processes.ts';
import type { Server } from './processes.ts';

export interface Peer extends Server {
  readonly port: number;
}

export interface PeerKind {
  readonly name: string;
  /** answers a request only when it comes after the last answer: several outstanding cannot be measured */
  readonly oneAtATime?: true;
  /** null when it can run, else what is missing */
  missing(): Promise<string | null>;
  start(): Promise<Peer>;
}

/** The interpreter for peers in Python. */
export const python = process.env['BENCH_PYTHON'] ?? 'python3';

let scratch: string | undefined;

/** A directory for compiled programs and generated series; removed at the end of this process. */
export function scratchDirectory(): string {
  if (scratch === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'derbench-bench-'));
    process.on('exit', () => {
      rmSync(made, { recursive: true, force: true });
    });
    scratch = made;
  }
  return scratch;
}

/** Compiles one C file. Resolves with the program, or null where there is no compiler or library. */
export async function compiled(source: string, flags: readonly string[] = []): Promise<string | null> {
  const program = join(scratchDirectory(), source.replaceAll('/', '_').replace(/\.c$/, ''));
  return (await succeeds('gcc', ['-O2', '-o', program, inCheckout(source), ...flags])) ? program : null;
}

async function startPeer(command: string, args: readonly string[]): Promise<Peer> {
  const port = await freePorts();
  const server = startServer(command, [...args, String(port)]);
  await within(20, untilModbus(port), server.failed);
  return { ...server, port };
}

export const minimal: PeerKind = {
  name: 'minimal node:net',
  missing: () => Promise.resolve(null),
  start: () => startPeer(process.execPath, [inCheckout('bench/peers/minimal-responder.mjs')]),
};

export const modbusSerial: PeerKind = {
  name: 'modbus-serial',
  missing() {
    try {
      createRequire(import.meta.url).resolve('modbus-serial');
      return Promise.resolve(null);
    } catch {
      return Promise.resolve('the package is not installed');
    }
  },
  start: () => startPeer(process.execPath, [inCheckout('bench/peers/modbus-serial-server.mjs')]),
};

export const pymodbus: PeerKind = {
  name: 'pymodbus',
  // it clears its receive buffer with every answer that it sends
  oneAtATime: true,
  missing: async () =>
    (await succeeds(python, ['-c', 'import pymodbus']))
      ? null
      : `${python} cannot import pymodbus (see bench/README.md)`,
  start: () => startPeer(python, [inCheckout('bench/peers/pymodbus_server.py')]),
};

const libmodbusSource = 'bench/peers/libmodbus_server.c';
const libmodbusFlags = ['-I/usr/include/modbus', '-lmodbus'];
const libmodbusProgram = () => compiled(libmodbusSource, libmodbusFlags);

export const libmodbus: PeerKind = {
  name: 'libmodbus',
  missing: async () => ((await libmodbusProgram()) === null ? 'gcc or libmodbus-dev is missing' : null),
  async start() {
    const program = await libmodbusProgram();
    if (program === null) throw new Error('libmodbus could not be compiled');
    return startPeer(program, []);
  },
};
