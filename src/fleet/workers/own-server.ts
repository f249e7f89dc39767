/** The NATS server of a gateway: on loopback, with a random password, in a private folder. It ends with the gateway. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { Restarts } from './restarts.ts';

const user = 'derbench';
const readyLimitMs = 10_000;
const endLimitMs = 2000;

/**
 * Starts the server in place of the shell, beside a process that waits for the end of file descriptor 3. That is the
 * end of the gateway, however it ends; a word before it means that the server has ended already.
 */
const guarded = `
{ if ! read -r _ <&3; then kill "$$"; sleep 1; rm -rf "$1"; fi; } >/dev/null 2>&1 &
exec "$0" -c "$2" 3<&-`;

export interface OwnServerOptions {
  readonly program: string;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly later: Later;
}

export class OwnServer {
  readonly user = user;
  readonly passwordFile: string;
  readonly #options: OwnServerOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'derbench-nats-'));
  readonly #password = randomBytes(24).toString('base64url');
  readonly #restarts = new Restarts();
  #port = -1;
  #child: ChildProcess | null = null;
  #isEnding = false;
  #cancel: () => void = () => undefined;

  private constructor(options: OwnServerOptions) {
    this.#options = options;
    this.passwordFile = join(this.#folder, 'password');
    writeFileSync(this.passwordFile, `${this.#password}\n`, { mode: 0o600 });
  }

  /** @throws Error with the last line of a server that does not start */
  static async start(options: OwnServerOptions): Promise<OwnServer> {
    const server = new OwnServer(options);
    try {
      await server.#open();
    } catch (error) {
      await server.end();
      throw error;
    }
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#cancel();
    const child = this.#child;
    if (child !== null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const cancel = this.#options.later(endLimitMs, () => child.kill('SIGKILL'));
      await exited;
      cancel();
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #open(): Promise<void> {
    const file = join(this.#folder, 'nats.conf');
    writeFileSync(file, this.#configuration(), { mode: 0o600 });
    const { program } = this.#options;
    // a process group of its own: an interrupt of the terminal ends the gateway, which ends the server last
    const child =
      process.platform === 'win32'
        ? spawn(program, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true })
        : spawn('/bin/sh', ['-c', guarded, program, this.#folder, file], {
            stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
            detached: true,
          });
    this.#child = child;
    child.once('exit', (code, signal) => {
      this.#ended(child, signal ?? `exit code ${code ?? ''}`);
    });
    this.#port = await this.#listening(child);
  }

  #configuration(): string {
    return [
      `listen: "127.0.0.1:${this.#port}"`,
      `authorization { user: ${user}, password: "${this.#password}" }`,
      'max_payload: 1MB',
      'max_pending: 256MB',
      'write_deadline: "10s"',
      `jetstream { store_dir: ${JSON.stringify(join(this.#folder, 'store'))}, max_mem: 64M, max_file: 64M }`,
      '',
    ].join('\n');
  }

  /** The port of a server that is ready. */
  #listening(child: ChildProcess): Promise<number> {
    return new Promise((resolve, reject) => {
      let port: number | null = null;
      let last = '';
      const fail = (reason: string) => {
        reject(new Error(`nats-server ${reason}${last === '' ? '' : `: ${last}`}`));
      };
      const cancel = this.#options.later(readyLimitMs, () => {
        fail('is not ready in time');
      });
      child.once('error', () => {
        fail('cannot be started');
      });
      child.once('exit', () => {
        cancel();
        fail('has ended at its start');
      });
      createInterface(child.stderr as Readable).on('line', (line) => {
        last = line;
        const [, text] = /Listening for client connections on .*:(\d+)/.exec(line) ?? [];
        if (text !== undefined) port = Number(text);
        if (port !== null && line.includes('Server is ready')) {
          cancel();
          resolve(port);
        }
        // the password stands in a private file, as a hash of it would
        if (/\[(WRN|ERR|FTL)\]/.test(line) && !line.includes('Plaintext passwords'))
          this.#options.log.warning(`nats-server: ${line.replace(/^.*?\] /, '')}`);
      });
    });
  }

  #ended(child: ChildProcess, how: string): void {
    (child.stdio[3] as Writable | null | undefined)?.end('ended\n');
    this.#child = null;
    if (this.#isEnding || this.#port < 0) return;
    const { log, clock, later } = this.#options;
    const waitMs = this.#restarts.waitMs(clock.monotonicMs());
    if (waitMs === null) {
      log.error(`nats-server has ended too often (${how}) and is not started again`);
      return;
    }
    log.warning(`nats-server has ended (${how}) and starts again in ${waitMs / 1000} s`);
    this.#cancel = later(waitMs, () => {
      this.#open().then(
        () => {
          log.info(`nats-server is back on ${this.url}`);
        },
        // its end is an event of its own
        () => undefined,
      );
    });
  }
}
