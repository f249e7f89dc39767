/**
 * Modbus TCP under modbus-serial: adds headers to requests and removes them from answers. The library's own port waits
 * for ever after a header that is not valid, and does not let its user choose which answer fits a request.
 */
import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { socketErrorText } from '../../core/net/connect.ts';
import { crc16, spanOf } from '../../core/wire/modbus.ts';
import { peerOf } from '../../core/net/listen.ts';
import type { ModbusTap, TappedExchange } from '../../core/wire/modbus.ts';
import type { TransactionIds } from '../../contract/sunspec-client.ts';

const headerOctets = 6;
const minBody = 2;
const maxBody = 254;
/** unit id, function, code */
const exceptionOctets = 3;
/** The library speaks RTU to its ports. */
const crcOctets = 2;
const maxId = 0xffff;
/** Number of requests whose late answers are recognised. */
const maxRemembered = 16;

interface Events {
  /** unit id, PDU and CRC of the answer to the request under way */
  readonly data: [frame: Buffer];
  /** reason why no further answer can come: connection ended, or stream unreliable */
  readonly ended: [reason: string];
  /** reason why the received frame is not the answer to the pending request */
  readonly unfit: [reason: string];
}

/** The port interface of modbus-serial over a connected socket. One request at a time. */
export class MbapPort extends EventEmitter<Events> {
  readonly #socket: Socket;
  readonly #acceptsZero: boolean;
  readonly #tap: ModbusTap | undefined;
  readonly #peer: string;
  readonly #frame = Buffer.alloc(headerOctets + maxBody);
  #filled = 0;
  #requiredOctets = headerOctets;
  #octets = 0;
  #id = 0;
  #unitId = 0;
  #waiting = false;
  /** true after octets that are not Modbus; later octets are ignored */
  #broken = false;
  /** transaction id of a frame that answers another request */
  #foreignId: number | null = null;
  /** the last request, while there is an observer */
  #tapped: TappedExchange | null = null;
  /** the last requests by transaction id, oldest first; null: no observer at the time */
  readonly #remembered = new Map<number, TappedExchange | null>();

  /** @param tap receives the messages; default: no observer */
  constructor(socket: Socket, transactionIds: TransactionIds, tap?: ModbusTap) {
    super();
    this.#socket = socket;
    this.#acceptsZero = transactionIds === 'zero';
    this.#tap = tap;
    this.#peer = peerOf(socket);
    socket.on('data', (data: Buffer) => {
      this.#take(data);
    });
    socket.on('error', (error) => {
      this.emit('ended', `the connection broke: ${socketErrorText(error)}`);
    });
    socket.on('close', () => {
      this.#reportEnd();
      this.emit('ended', 'the device closed the connection');
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** True if a late answer could be mistaken for the next one. */
  get suspect(): boolean {
    return this.#octets > 0 || this.#acceptsZero;
  }

  /** Description of the octets received since the request; empty if there are none. */
  get receivedInWords(): string {
    if (this.#octets === 0) return '';
    if (this.#foreignId === null) return `; ${this.#octets} octets of an unfinished answer came`;
    const hint =
      this.#foreignId === 0 ? '; if the device always answers with 0, connect with transaction_id "zero"' : '';
    return `; an answer came with transaction id ${this.#foreignId}, which is not that of the request${hint}`;
  }

  open(opened: () => void): void {
    opened();
  }

  close(closed: () => void): void {
    this.destroy();
    closed();
  }

  /** Gives up the pending request; its answer may still come. */
  timedOut(): void {
    // an answer that has begun is reported when it is complete or the connection ends
    if (this.#filled === 0) this.#tapped?.ended();
  }

  destroy(): void {
    this.#reportEnd();
    this.#socket.destroy();
  }

  /** @param frame unit id, PDU and CRC */
  write(frame: Buffer): void {
    // never 0: some devices always answer with that id
    this.#id = (this.#id % maxId) + 1;
    this.#unitId = frame[0] ?? 0;
    this.#waiting = true;
    this.#octets = 0;
    this.#foreignId = null;
    const body = frame.subarray(0, -crcOctets);
    const header = Buffer.alloc(headerOctets);
    header.writeUInt16BE(this.#id, 0);
    header.writeUInt16BE(body.length, 4);
    const adu = Buffer.concat([header, body]);
    this.#tapped?.ended();
    this.#tapped = this.#tap?.active === true ? this.#tapRequest(this.#tap, adu) : null;
    this.#remember(this.#id, this.#tapped);
    this.#socket.write(adu);
  }

  #tapRequest(tap: ModbusTap, adu: Buffer): TappedExchange {
    return tap.request({
      kind: 'request',
      direction: 'out',
      peer: this.#peer,
      // no simulated device
      deviceIndex: null,
      raw: adu,
      framing: 'mbap',
      unitId: this.#unitId,
      ...spanOf(adu, headerOctets + 1, adu.length),
      broadcast: false,
      names: null,
      unanswered: 'no_answer_in_time',
    });
  }

  #remember(id: number, tapped: TappedExchange | null): void {
    this.#remembered.set(id, tapped);
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= maxRemembered) return;
      this.#remembered.delete(oldest);
    }
  }

  /** Reports an answer to the wire log. @param octets from the transaction id on */
  #reportAnswer(octets: Buffer): void {
    const id = octets.readUInt16BE(0);
    const tapped = this.#acceptsZero && id === 0 ? this.#tapped : this.#remembered.get(id);
    if (tapped !== undefined) tapped?.answered(octets);
    else if (this.#tap?.active === true) this.#tapForeign(this.#tap, octets);
  }

  #tapForeign(tap: ModbusTap, octets: Buffer): void {
    tap.request({
      kind: 'foreign',
      direction: 'in',
      peer: this.#peer,
      deviceIndex: null,
      raw: octets,
      framing: 'mbap',
      unitId: octets[headerOctets] ?? 0,
      functionCode: (octets[headerOctets + 1] ?? 0) & 0x7f,
      // an answer names no registers
      address: null,
      count: null,
      broadcast: false,
      names: null,
      unanswered: null,
    });
  }

  /** Reports the end of the connection to the wire log, with the part of an answer received so far. */
  #reportEnd(): void {
    const octets = this.#frame.subarray(0, this.#filled);
    this.#filled = 0;
    this.#requiredOctets = headerOctets;
    if (octets.length >= headerOctets) this.#reportAnswer(octets);
    else if (octets.length > 0) this.#tapped?.answered(octets);
    this.#tapped?.ended('connection_ended');
  }

  #take(data: Buffer): void {
    this.#octets += data.length;
    if (this.#broken) return;
    let at = 0;
    while (at < data.length) {
      const taken = data.copy(this.#frame, this.#filled, at, at + this.#requiredOctets - this.#filled);
      at += taken;
      this.#filled += taken;
      if (this.#filled < this.#requiredOctets) return;
      if (this.#filled > headerOctets) this.#answered(this.#frame.subarray(0, this.#filled));
      else if (!this.#readHeader(data.subarray(at))) return;
    }
  }

  /** Emits `ended` for an invalid header. @param rest octets after the header @returns false: invalid */
  #readHeader(rest: Buffer): boolean {
    const protocol = this.#frame.readUInt16BE(2);
    const length = this.#frame.readUInt16BE(4);
    this.#requiredOctets = headerOctets + length;
    if (protocol === 0 && length >= minBody && length <= maxBody) return true;
    this.#broken = true;
    // a broken header has no valid transaction id, so the octets count as the answer to the last request
    this.#tapped?.answered(Buffer.concat([this.#frame.subarray(0, headerOctets), rest]));
    this.#filled = 0;
    this.emit(
      'ended',
      protocol === 0
        ? `the answer is not Modbus TCP: its length field says ${length}`
        : `the answer is not Modbus TCP: its protocol id is ${protocol}`,
    );
    return false;
  }

  #answered(adu: Buffer): void {
    this.#filled = 0;
    this.#requiredOctets = headerOctets;
    this.#reportAnswer(adu);
    const id = adu.readUInt16BE(0);
    const isZero = this.#acceptsZero && id === 0;
    if (!this.#waiting || (id !== this.#id && !isZero)) {
      this.#foreignId ??= id;
      // an answer with id 0 to the next request would look the same
      if (isZero) this.emit('ended', 'an answer with transaction id 0 came without a request');
      return;
    }
    this.#waiting = false;
    if (isZero && this.#refuseException(adu)) return;
    const frame = Buffer.alloc(adu.length - headerOctets + crcOctets);
    adu.copy(frame, 0, headerOctets);
    const end = frame.length - crcOctets;
    frame.writeUInt16LE(crc16(frame, 0, end), end);
    this.emit('data', frame);
  }

  /**
   * Emits `unfit` for an exception with a wrong unit id or length: the library checks both in all other answers.
   * @returns true: emitted
   */
  #refuseException(adu: Buffer): boolean {
    const unitId = adu[headerOctets] ?? 0;
    const isException = (adu[headerOctets + 1] ?? 0) >= 0x80;
    if (!isException || (unitId === this.#unitId && adu.length === headerOctets + exceptionOctets)) return false;
    this.emit('unfit', `an exception of ${adu.length - headerOctets} octets from unit ${unitId} came`);
    return true;
  }
}
