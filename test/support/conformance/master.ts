/** A Modbus master over any line, the interface of the conformance procedures. */
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { ModbusRTUClient } from 'jsmodbus';
import modbusSerial from 'modbus-serial';
import { adu } from '../modbus-client.ts';
import type { RawClient } from '../modbus-client.ts';
import { rtu } from '../rtu.ts';

/** The device has answered with an exception. */
export class ModbusRefusal extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exception ${code}`);
    this.code = code;
  }
}

/** Requests of an independent implementation, to one unit id. */
export interface Master {
  /** function 3. @throws ModbusRefusal */
  read(address: number, count: number): Promise<readonly number[]>;
  /** function 6. @throws ModbusRefusal */
  writeOne(address: number, value: number): Promise<void>;
  /** function 16. @throws ModbusRefusal */
  writeMany(address: number, values: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

/** Raw octets inside a framing. */
export interface Wire {
  readonly framing: 'mbap' | 'rtu';
  send(octets: Buffer): void;
  /** A request around a PDU in hex. */
  frame(pdu: string, unitId?: number): Buffer;
  /** PDU of the next answer, hex, from this unit id. @throws Error when it comes from another one */
  answer(unitId?: number): Promise<string>;
  /** Everything received and not yet taken. */
  readonly pending: number;
  readonly closed: boolean;
  untilClosed(): Promise<void>;
  close(): void;
}

/** The exception code that answers a request; 0 if it succeeds. */
export async function exceptionOf(request: Promise<unknown>): Promise<number> {
  try {
    await request;
    return 0;
  } catch (error) {
    if (error instanceof ModbusRefusal) return error.code;
    throw error;
  }
}

const answerMs = 5000;

/** modbus-serial over any of its transports. */
export class SerialMaster implements Master {
  readonly #client: InstanceType<typeof modbusSerial.default>;

  private constructor(client: InstanceType<typeof modbusSerial.default>, unitId: number) {
    this.#client = client;
    client.setTimeout(answerMs);
    client.setID(unitId);
  }

  static async tcp(port: number, unitId: number): Promise<SerialMaster> {
    const client = new modbusSerial.default();
    await client.connectTCP('127.0.0.1', { port });
    return new SerialMaster(client, unitId);
  }

  static async over(socket: TLSSocket, unitId: number): Promise<SerialMaster> {
    const client = new modbusSerial.default();
    await client.linkTCP(socket, { port: socket.remotePort ?? 0 });
    return new SerialMaster(client, unitId);
  }

  /** Plain RTU frames over TCP, which the library calls telnet. */
  static async rtuOverTcp(port: number, unitId: number): Promise<SerialMaster> {
    const client = new modbusSerial.default();
    await client.connectTelnet('127.0.0.1', { port });
    return new SerialMaster(client, unitId);
  }

  /** On a serial port of the machine. */
  static async rtu(
    path: string,
    unitId: number,
    line: { readonly baudRate: number; readonly parity: 'none' | 'even' | 'odd' },
  ): Promise<SerialMaster> {
    const client = new modbusSerial.default();
    await client.connectRTUBuffered(path, line);
    return new SerialMaster(client, unitId);
  }

  async read(address: number, count: number): Promise<readonly number[]> {
    return (await this.#carried(this.#client.readHoldingRegisters(address, count))).data;
  }

  async writeOne(address: number, value: number): Promise<void> {
    await this.#carried(this.#client.writeRegister(address, value));
  }

  async writeMany(address: number, values: readonly number[]): Promise<void> {
    await this.#carried(this.#client.writeRegisters(address, [...values]));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#client.close(() => {
        resolve();
      });
    });
  }

  async #carried<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      const { modbusCode } = error as { modbusCode?: number };
      throw modbusCode === undefined ? error : new ModbusRefusal(modbusCode);
    }
  }
}

/** Waits for the answer to a request; moves the clock where a test does that. */
export type Driver = <T>(request: Promise<T>) => Promise<T>;

/** jsmodbus on a serial line. */
export class LineMaster implements Master {
  readonly #client: ModbusRTUClient;
  readonly #socket: Duplex;
  readonly #drive: Driver;

  constructor(socket: Duplex, unitId: number, drive: Driver) {
    this.#socket = socket;
    this.#drive = drive;
    // the library expects a serial port, but uses only members of every stream
    this.#client = new ModbusRTUClient(
      socket as unknown as ConstructorParameters<typeof ModbusRTUClient>[0],
      unitId,
      answerMs,
    );
  }

  async read(address: number, count: number): Promise<readonly number[]> {
    const { response } = await this.#carried(this.#client.readHoldingRegisters(address, count));
    return Array.from(response.body.valuesAsArray);
  }

  async writeOne(address: number, value: number): Promise<void> {
    await this.#carried(this.#client.writeSingleRegister(address, value));
  }

  async writeMany(address: number, values: readonly number[]): Promise<void> {
    await this.#carried(this.#client.writeMultipleRegisters(address, [...values]));
  }

  close(): Promise<void> {
    this.#socket.destroy();
    return Promise.resolve();
  }

  async #carried<T>(request: Promise<T>): Promise<T> {
    try {
      return await this.#drive(request);
    } catch (error) {
      const code = (error as { response?: { body?: { code?: number } } }).response?.body?.code;
      throw code === undefined ? error : new ModbusRefusal(code);
    }
  }
}

/** A raw client with frames around what it sends. */
export class RawWire implements Wire {
  readonly framing: 'mbap' | 'rtu';
  readonly #client: RawClient;
  readonly #unitId: number;
  readonly #drive: Driver;

  constructor(client: RawClient, framing: 'mbap' | 'rtu', unitId: number, drive: Driver = (request) => request) {
    this.#client = client;
    this.framing = framing;
    this.#unitId = unitId;
    this.#drive = drive;
  }

  get pending(): number {
    return this.#client.received.length;
  }
  get closed(): boolean {
    return this.#client.closed;
  }

  send(octets: Buffer): void {
    this.#client.send(octets);
  }

  frame(pdu: string, unitId: number = this.#unitId): Buffer {
    return this.framing === 'rtu' ? rtu(unitId, pdu) : adu(1, unitId, pdu);
  }

  async answer(unitId: number = this.#unitId): Promise<string> {
    const [from, pdu] = await this.#drive(this.framing === 'rtu' ? this.#rtuAnswer() : this.#mbapAnswer());
    if (from !== unitId) throw new Error(`an answer of unit id ${from} where that of ${unitId} was expected: ${pdu}`);
    return pdu;
  }

  async untilClosed(): Promise<void> {
    await this.#client.untilClosed();
  }

  close(): void {
    this.#client.destroy();
  }

  async #mbapAnswer(): Promise<readonly [number, string]> {
    const answer = await this.#client.answer();
    return [answer[6] ?? 0, answer.subarray(7).toString('hex')];
  }

  /** The length follows from the function, or from the count of octets behind it. */
  async #rtuAnswer(): Promise<readonly [number, string]> {
    const head = await this.#client.take(3);
    const [address = 0, code = 0, third = 0] = head;
    const rest = (code & 0x80) !== 0 ? 0 : code === 3 || code === 4 ? third : 3;
    const tail = await this.#client.take(rest + 2);
    const pdu = Buffer.concat([head.subarray(1), tail.subarray(0, rest)]).toString('hex');
    const whole = Buffer.concat([head, tail]);
    if (!rtu(address, pdu).equals(whole)) throw new Error(`wrong CRC: ${whole.toString('hex')}`);
    return [address, pdu];
  }
}

/** One end of a cable: octets written at one end arrive at the other. */
class CableEnd extends Duplex {
  isOpen = true;
  other: CableEnd | undefined;

  override _read(): void {
    /* it comes by itself */
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.other?.push(chunk);
    done();
  }

  /** As a serial port: calls back when everything written has left. */
  drain(then: () => void): void {
    setImmediate(then);
  }

  /** As a serial port. */
  close(then: () => void): void {
    this.isOpen = false;
    this.destroy();
    setImmediate(then);
  }
}

/** A cable between two serial ports. */
export function cable(): readonly [CableEnd, CableEnd] {
  const [a, b] = [new CableEnd(), new CableEnd()];
  a.other = b;
  b.other = a;
  return [a, b];
}
