import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

const loopbackName = process.platform === 'linux' ? 'lo' : 'lo0';

/**
 * A capture of loopback traffic to a file. A beacon port shows its progress: once a connection to the beacon appears
 * in the capture, everything before it is in the file.
 */
export class Capture {
  readonly #child: ChildProcess;
  readonly #beacon: Server;
  readonly #exited: Promise<unknown>;
  #seen = '';
  #wake: () => void = () => undefined;
  ended = false;

  private constructor(file: string, port: number, beacon: Server) {
    this.#beacon = beacon;
    const filter = `tcp port ${port} or tcp port ${(beacon.address() as AddressInfo).port}`;
    this.#child = spawn('tshark', ['-i', loopbackName, '-n', '-l', '-P', '-w', file, '-f', filter], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'close').then(() => {
      this.ended = true;
      this.#wake();
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#seen += chunk.toString();
      this.#wake();
    });
    this.#child.stderr?.resume();
  }

  /** The running capture; null when this user may not capture. */
  static async start(file: string, port: number): Promise<Capture | null> {
    const beacon = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(beacon, 'listening');
    const capture = new Capture(file, port, beacon);
    await capture.catchUp();
    if (!capture.ended) return capture;
    beacon.close();
    return null;
  }

  /** Resolves when a connection that begins now is in the capture, or the capture has ended. */
  async catchUp(): Promise<void> {
    const marks = new Set<string>();
    const knock = () => {
      const socket = connect((this.#beacon.address() as AddressInfo).port, '127.0.0.1', () => {
        marks.add(` ${socket.localPort ?? 0} `);
        socket.destroy();
      });
    };
    knock();
    // the capture does not contain connections from before its begin
    const knocking = setInterval(knock, 250);
    const caughtUp = () => [...marks].some((mark) => this.#seen.includes(mark));
    while (!this.ended && !caughtUp())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    clearInterval(knocking);
  }

  async stop(): Promise<void> {
    await this.catchUp();
    this.#child.kill('SIGINT');
    await this.#exited;
    this.#beacon.close();
  }
}
