import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A raw master: sends octets and waits for octets, and knows of the protocol only the frame length. */
export class RawClient {
  readonly socket: Socket;
  #chunks: Buffer[] = [];
  #length = 0;
  closed = false;
  #wake: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#wake?.();
    });
    socket.on('close', () => {
      this.closed = true;
      this.#wake?.();
    });
  }

  /** Everything received and not yet taken. */
  get received(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  /** A master on a socket that is connected already. */
  static over(socket: Socket): RawClient {
    return new RawClient(socket);
  }

  send(bytes: Buffer | string): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'hex') : bytes);
  }

  /** The next `size` octets; fails when the connection ends before. */
  async take(size: number): Promise<Buffer> {
    await this.#until(() => this.#length >= size || this.closed);
    if (this.#length < size) throw new Error(`closed after ${this.#length} of ${size} octets`);
    const { received } = this;
    this.#chunks = [received.subarray(size)];
    this.#length -= size;
    return received.subarray(0, size);
  }

  /** The next answer, by its MBAP length. */
  async answer(): Promise<Buffer> {
    await this.#until(() => this.#length >= 6 || this.closed);
    if (this.#length < 6) throw new Error('closed without an answer');
    return this.take(6 + this.received.readUInt16BE(4));
  }

  async request(bytes: Buffer | string): Promise<string> {
    this.send(bytes);
    return (await this.answer()).toString('hex');
  }

  /** Everything received up to the end of the connection. */
  async untilClosed(): Promise<Buffer> {
    await this.#until(() => this.closed);
    return this.received;
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #until(ready: () => boolean): Promise<void> {
    while (!ready())
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

/** An ADU around a PDU in hex. */
export function adu(transactionId: number, unitId: number, pdu: string): Buffer {
  const body = Buffer.from(pdu, 'hex');
  const header = Buffer.alloc(7);
  header.writeUInt16BE(transactionId, 0);
  header.writeUInt16BE(body.length + 1, 4);
  header[6] = unitId;
  return Buffer.concat([header, body]);
}

/** FC3 request. */
export function readRequest(transactionId: number, address: number, count: number, unitId = 1): Buffer {
  const pdu = Buffer.from([3, address >> 8, address & 0xff, count >> 8, count & 0xff]);
  return adu(transactionId, unitId, pdu.toString('hex'));
}
