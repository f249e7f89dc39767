/** A nats-server in a private directory, which tests end, halt and start again at the same port. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { freePorts } from '../../support/ports.ts';
import { installedPath } from './peers.ts';

export class NatsServer {
  readonly #program: string;
  readonly #directory: string;
  readonly #extra: string;
  readonly port: number;
  #child: ChildProcess | null = null;

  private constructor(program: string, port: number, extra: string) {
    this.#program = program;
    this.#directory = mkdtempSync(join(tmpdir(), 'derbench-nats-'));
    this.#extra = extra;
    this.port = port;
  }

  /** @param extra further lines of its configuration */
  static async start(peer: 'nats' | 'nats_new' = 'nats', extra = ''): Promise<NatsServer> {
    const server = new NatsServer(process.env['NATS_SERVER'] ?? installedPath(peer), await freePorts(1), extra);
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** @param store false: with an empty store */
  async start(store = true): Promise<void> {
    const storeDirectory = join(this.#directory, 'store');
    if (!store) rmSync(storeDirectory, { recursive: true, force: true });
    const file = join(this.#directory, 'nats.conf');
    const limits = 'max_mem: 64M, max_file: 64M';
    writeFileSync(
      file,
      `listen: 127.0.0.1:${this.port}\njetstream { store_dir: "${storeDirectory}", ${limits} }\n${this.#extra}\n`,
    );
    const child = spawn(this.#program, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    await readyLine(child.stderr);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#child = null;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  halt(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Resolves when the server says that it is ready; what it writes afterwards is read and dropped. */
function readyLine(stderr: Readable): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-10_000);
      if (output.includes('Server is ready')) resolve();
    });
    stderr.once('close', () => {
      reject(new Error(`nats-server has ended\n${output}`));
    });
  });
}
