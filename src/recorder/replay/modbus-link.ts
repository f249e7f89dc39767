/** One connection of a replayed Modbus master. */
import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Received } from './modbus-compare.ts';
import type { ReplayOptions } from './options.ts';

type Limits = Pick<ReplayOptions, 'timeoutMs' | 'silenceMs'>;

const lengthEnd = 6;

export class ModbusLink {
  readonly #socket: Socket;
  readonly #limits: Limits;
  #octets: Buffer = Buffer.alloc(0);
  #closed = false;
  #wake: () => void = () => undefined;

  constructor(socket: Socket, limits: Limits) {
    this.#socket = socket;
    this.#limits = limits;
    socket.on('data', (chunk: Buffer) => {
      this.#octets = Buffer.concat([this.#octets, chunk]);
      this.#wake();
    });
    socket.on('close', () => {
      this.#closed = true;
      this.#wake();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /**
   * Sends a request and waits for a frame that is at least as long as the recorded answer.
   * @param recorded octets of the recorded answer; 0: none
   */
  async ask(request: Buffer, recorded: number): Promise<Received> {
    // octets of a late answer belong to an earlier request
    this.#octets = Buffer.alloc(0);
    this.#socket.write(request);
    const { timeoutMs, silenceMs } = this.#limits;
    const end = performance.now() + (recorded === 0 ? silenceMs : timeoutMs);
    while (!this.#closed && !this.#isWhole(recorded)) {
      const began = this.#octets.length > 0;
      const leftMs = Math.min(end - performance.now(), began ? silenceMs : Infinity);
      if (leftMs <= 0) break;
      const more = await this.#change(leftMs);
      if (!more && began) break;
    }
    const octets = this.#octets;
    this.#octets = Buffer.alloc(0);
    return { octets, closed: this.#closed };
  }

  close(): void {
    this.#socket.destroy();
  }

  #isWhole(recorded: number): boolean {
    const { length } = this.#octets;
    return length >= lengthEnd && length >= Math.max(recorded, lengthEnd + this.#octets.readUInt16BE(4));
  }

  /** @returns false: timeout without a change */
  #change(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const limit = setTimeout(() => {
        resolve(false);
      }, ms);
      this.#wake = () => {
        clearTimeout(limit);
        resolve(true);
      };
    });
  }
}
