/** A scripted Modbus TCP device: a register image, and rules with precedence over it. */
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { listen } from '../../src/core/net/listen.ts';
import { adu } from './modbus-client.ts';

export interface PeerRequest {
  readonly transactionId: number;
  readonly unitId: number;
  readonly functionCode: number;
  readonly address: number;
  /** registers */
  readonly count: number;
  /** of a write */
  readonly registers: readonly number[];
  readonly socket: Socket;
  /** number of the request since the start, from 0 */
  readonly number: number;
}

/** The answer of a rule: an exception code, raw octets, silence, or that it does not apply. */
export type Ruling = { readonly exception: number } | { readonly octets: Buffer } | 'silence' | undefined;
export type Rule = (request: PeerRequest) => Ruling;

function parsed(frame: Buffer, socket: Socket, number: number): PeerRequest {
  const functionCode = frame[7] ?? 0;
  const address = frame.readUInt16BE(8);
  const single = functionCode === 6;
  const registers = single
    ? [frame.readUInt16BE(10)]
    : functionCode === 16
      ? Array.from({ length: (frame[12] ?? 0) / 2 }, (_, i) => frame.readUInt16BE(13 + 2 * i))
      : [];
  return {
    transactionId: frame.readUInt16BE(0),
    unitId: frame[6] ?? 0,
    functionCode,
    address,
    count: single ? 1 : frame.readUInt16BE(10),
    registers,
    socket,
    number,
  };
}

const word = (value: number) => value.toString(16).padStart(4, '0');

export class ScriptedPeer {
  /** from register 0 on; registers beyond get exception 2 */
  readonly image: Buffer;
  readonly first: number;
  readonly requests: PeerRequest[] = [];
  /** has precedence over the image */
  rule: Rule = () => undefined;
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  port = 0;

  private constructor(image: Buffer, first: number) {
    this.image = image;
    this.first = first;
    this.#server = createServer((socket) => {
      this.#serve(socket);
    });
  }

  /** @param first address of the first register of the image */
  static async open(image: Buffer, first: number, rule?: Rule, port = 0): Promise<ScriptedPeer> {
    const peer = new ScriptedPeer(image, first);
    if (rule) peer.rule = rule;
    peer.port = (await listen(peer.#server, '127.0.0.1', port)).port;
    return peer;
  }

  /** Ends the connections, not the listener. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.drop();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  /** The proper answer. */
  answerTo(request: PeerRequest): Buffer {
    const { functionCode, transactionId, unitId, address, count, registers } = request;
    const at = (address - this.first) * 2;
    if (at < 0 || at + count * 2 > this.image.length) return this.exception(request, 2);
    if (functionCode === 3) {
      const data = this.image.subarray(at, at + count * 2).toString('hex');
      return adu(transactionId, unitId, `03${(count * 2).toString(16).padStart(2, '0')}${data}`);
    }
    registers.forEach((register, i) => this.image.writeUInt16BE(register, at + 2 * i));
    const what = functionCode === 6 ? (registers[0] ?? 0) : count;
    return adu(transactionId, unitId, functionCode.toString(16).padStart(2, '0') + word(address) + word(what));
  }

  exception({ transactionId, unitId, functionCode }: PeerRequest, code: number): Buffer {
    return adu(transactionId, unitId, (functionCode | 0x80).toString(16) + code.toString(16).padStart(2, '0'));
  }

  #serve(socket: Socket): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    let pending = Buffer.alloc(0);
    socket.on('data', (data) => {
      pending = Buffer.concat([pending, data]);
      while (pending.length >= 6 && pending.length >= 6 + pending.readUInt16BE(4)) {
        const length = 6 + pending.readUInt16BE(4);
        this.#take(parsed(pending.subarray(0, length), socket, this.requests.length));
        pending = pending.subarray(length);
      }
    });
  }

  #take(request: PeerRequest): void {
    this.requests.push(request);
    const ruling = this.rule(request);
    if (ruling === 'silence' || request.socket.destroyed) return;
    if (ruling === undefined) request.socket.write(this.answerTo(request));
    else request.socket.write('octets' in ruling ? ruling.octets : this.exception(request, ruling.exception));
  }
}
