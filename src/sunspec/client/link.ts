/** One connection to the device: modbus-serial over `MbapPort` or a serial line. A new connection is a new link. */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type modbusSerial from 'modbus-serial';
import { openSocket } from '../../core/net/connect.ts';
import { serialReason } from '../../core/net/listen.ts';
import type { ModbusTap } from '../../core/wire/modbus.ts';
import type { ClientTarget } from '../../contract/sunspec-client.ts';
import { errorText, checkDescriptorsToRequire } from '../../core/errors.ts';
import { lazily } from '../../core/lazy.ts';
import { exceptionError, peerError, peerTimeout, UnfitAnswer, connectTargetOf, endpointOf } from './peer.ts';
import { MbapPort } from './mbap-port.ts';

type ModbusRTU = InstanceType<typeof modbusSerial.default>;

export interface Link {
  /** false after `close`, and after the connection has ended otherwise */
  readonly open: boolean;
  /** true if a late answer could be taken for the next one */
  readonly suspect: boolean;
  /** Reads `count` registers. @throws SimError PEER_ERROR, PEER_TIMEOUT */
  read(address: number, count: number): Promise<Buffer>;
  /** @throws SimError PEER_ERROR, PEER_TIMEOUT */
  write(functionCode: 6 | 16, address: number, registers: readonly number[]): Promise<void>;
  /** Closes at once; a pending request fails. */
  close(reason: string): void;
}

interface LinkOptions {
  readonly target: ClientTarget;
  /** aborts an attempt to connect */
  readonly signal: AbortSignal;
  /** called when the connection ends, except after `close` */
  readonly onEnd: (reason: string) => void;
  /** receives the messages over TCP and TLS; absent: no observer */
  readonly tap?: ModbusTap;
}

const parities = { N: 'none', E: 'even', O: 'odd' } as const;

class ModbusLink implements Link {
  readonly #client: ModbusRTU;
  readonly #options: LinkOptions;
  readonly #port: MbapPort | null;
  readonly #release: () => void;
  #fail: ((error: Error) => void) | null = null;
  #ended: string | null = null;

  /** @param release frees the remaining resources of a serial line */
  constructor(client: ModbusRTU, options: LinkOptions, port: MbapPort | null, release: () => void) {
    this.#client = client;
    this.#options = options;
    this.#release = release;
    this.#port = port;
    // without a time-out the library waits for ever
    client.setTimeout(options.target.timeoutMs);
    client.on('error', (error) => {
      this.#end(errorText(error));
    });
    client.on('close', () => {
      this.#end('the device closed the connection');
    });
    port?.on('ended', (reason) => {
      this.#end(reason);
    });
    port?.on('unfit', (reason) => {
      this.#fail?.(new UnfitAnswer(`the answer makes no sense: ${reason}`));
    });
  }

  get open(): boolean {
    return this.#ended === null;
  }

  get suspect(): boolean {
    // on a serial line a late answer looks like the next one
    return this.#port?.suspect ?? true;
  }

  async read(address: number, count: number): Promise<Buffer> {
    const { buffer } = await this.#ask(`reading ${count} registers at ${address}`, () =>
      this.#client.readHoldingRegisters(address, count),
    );
    if (buffer.length !== count * 2)
      throw new UnfitAnswer(`the answer has ${buffer.length} octets of data, ${count * 2} were requested`);
    return buffer;
  }

  async write(functionCode: 6 | 16, address: number, registers: readonly number[]): Promise<void> {
    const what = `writing ${registers.length} registers at ${address}`;
    const [register = 0] = registers;
    if (functionCode === 6) {
      const echo = await this.#ask(what, () => this.#client.writeRegister(address, register));
      if (echo.address !== address || echo.value !== register)
        throw peerError(
          `the answer to the write repeats ${echo.value} at ${echo.address}, not ${register} at ${address}`,
        );
      return;
    }
    const echo = await this.#ask(what, () => this.#client.writeRegisters(address, [...registers]));
    if (echo.address !== address || echo.length !== registers.length) {
      throw peerError(
        `the answer to the write names ${echo.length} registers at ${echo.address}, not ${registers.length} at ${address}`,
      );
    }
  }

  close(reason: string): void {
    this.#finish(reason);
  }

  async #ask<T>(what: string, request: () => Promise<T>): Promise<T> {
    if (this.#ended !== null) throw peerError(this.#ended);
    this.#client.setID(this.#options.target.unitId);
    const broken = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    try {
      return await Promise.race([request(), broken]);
    } catch (error) {
      throw this.#inWords(error, what);
    } finally {
      this.#fail = null;
    }
  }

  #inWords(error: unknown, what: string): unknown {
    const { timeoutMs, unitId } = this.#options.target;
    const { modbusCode, errno } = error as { modbusCode?: unknown; errno?: unknown };
    if (typeof modbusCode === 'number') return exceptionError(modbusCode);
    if (errno === 'ETIMEDOUT') {
      this.#port?.timedOut();
      return peerTimeout(
        `no answer from unit ${unitId} within ${timeoutMs / 1000} s, ${what}${this.#port?.receivedInWords ?? ''}`,
      );
    }
    if (error instanceof Error && error.name === 'SimError') return error;
    return new UnfitAnswer(`the answer makes no sense, ${what}: ${errorText(error)}`);
  }

  #end(reason: string): void {
    if (this.#ended !== null) return;
    this.#finish(reason);
    this.#options.onEnd(reason);
  }

  #finish(reason: string): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#fail?.(peerError(reason));
    // removes the timers and listeners of the library
    this.#client.destroy(() => undefined);
    this.#release();
  }
}

const require = createRequire(import.meta.url);
/** Loads the library at the first connection. */
const library = lazily(() => (require('modbus-serial') as typeof modbusSerial).default, checkDescriptorsToRequire);

async function openLine(options: LinkOptions, target: Extract<ClientTarget, { transport: 'rtu' }>): Promise<Link> {
  const { path, baud, parity, stopBits } = target.serial;
  const client = new (await library())();
  // opening may fail before any other listener exists
  client.on('error', () => undefined);
  try {
    await client.connectRTUBuffered(path, { baudRate: baud, parity: parities[parity], stopBits, dataBits: 8 });
  } catch (error) {
    throw peerError(`cannot open ${endpointOf(target)}: ${serialReason(error)}`);
  }
  // a closed client removes its listeners from the port, whose late errors would then end the process
  const { _port: port } = client as unknown as { readonly _port: EventEmitter };
  const release = () => {
    port.on('error', () => undefined);
    client.close(() => undefined);
  };
  if (options.signal.aborted) {
    release();
    throw peerError('the attempt to connect was given up');
  }
  return new ModbusLink(client, options, null, release);
}

/**
 * Connects.
 * @throws SimError PEER_ERROR, PEER_TIMEOUT; COMMAND_BAD_VALUE for certificates that cannot be used
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { target, signal } = options;
  if (target.transport === 'rtu') return openLine(options, target);
  const Client = await library();
  const port = new MbapPort(await openSocket(connectTargetOf(target), signal), target.transactionIds, options.tap);
  const client = new Client(port);
  client.open();
  return new ModbusLink(client, options, port, () => undefined);
}
