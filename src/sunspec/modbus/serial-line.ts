/**
 * Modbus over serial line 1.02: one master, any number of devices, half duplex; and the ports of the operating system.
 */
import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { errorText, SimError, shortageOf } from '../../core/errors.ts';
import { sendLate, serve, serveWatched } from './server/exchange.ts';
import type { ConnectionJudge } from './server/context.ts';
import type { LateAnswer, Service } from './server/exchange.ts';
import { maxAdu } from './framing/framing.ts';
import type { Asker } from './server/pdu.ts';
import { RtuFraming } from './framing/rtu.ts';
import type { RtuTiming } from './framing/rtu.ts';
import { SilenceWatch } from './framing/silence.ts';
import { lazily } from '../../core/lazy.ts';
import { firstLine, serialReason } from '../../core/net/listen.ts';

/** Maximum interval between bursts of a USB adapter driver (16 ms), with reserve. */
const burstMs = 30;
/** Above this rate the times are fixed (2.5.1.1). */
const fixedTimesAboveBaud = 19_200;

/**
 * Times of a line: a pause is 3.5 characters of 11 bits. A begun frame is dropped after a silence too long to be caused
 * by a driver.
 */
export function lineTiming(baudRate: number): RtuTiming {
  const pauseMs = baudRate > fixedTimesAboveBaud ? 1.75 : (3.5 * 11 * 1000) / baudRate;
  return { pauseMs, gapMs: pauseMs + burstMs };
}

const scratch = Buffer.allocUnsafeSlow(maxAdu);

/** An open port: cuts octets into requests, and sends one answer at a time. */
export class SerialLine implements Asker {
  readonly peer: string;
  readonly judge: ConnectionJudge | null;
  readonly connectedAtMs: number;
  /** monotonic time of the last octets received */
  lastMs: number;
  requests = 0;
  readonly #service: Service;
  readonly #port: SerialChannel;
  readonly #framing: RtuFraming;
  readonly #silence: SilenceWatch;
  readonly #pauseMs: number;
  #dropAnswer: (() => void) | undefined;
  /** true while an answer is being sent */
  #sending = false;
  #closed = false;

  constructor(service: Service, port: SerialChannel, { path, baudRate }: SerialSettings) {
    const { clock, counters, report } = service.context;
    const timing = lineTiming(baudRate);
    this.#service = service;
    this.#port = port;
    this.#pauseMs = timing.pauseMs;
    this.peer = path;
    this.judge = service.context.judge?.connected({ address: path, transport: 'serial' }) ?? null;
    this.connectedAtMs = clock.nowMs();
    this.lastMs = clock.monotonicMs();
    this.#framing = new RtuFraming({
      ...timing,
      isOwn: (address) => service.units(address) !== undefined,
      onUnreadable: () => {
        counters.unreadable += 1;
        report.failed(`octets on ${path} are no frame: noise, a wrong CRC or a part of one`);
      },
    });
    this.#silence = new SilenceWatch(
      this.#framing,
      service.context,
      () => this.lastMs,
      () => {
        this.#pump();
      },
    );
    port.on('data', (chunk) => {
      this.#receive(chunk);
    });
  }

  get unsentBytes(): number {
    return this.#port.writableLength;
  }

  get heldBytes(): number {
    return this.unsentBytes + this.#framing.heldLength + this.#port.readableLength;
  }

  /** True while an answer is being sent; octets received meanwhile wait. */
  get paused(): boolean {
    return this.#sending;
  }

  /** Stops serving; no further answer is sent. */
  close(): void {
    if (!this.#closed) this.judge?.closed(false);
    this.#closed = true;
    this.#silence.close();
    this.#dropAnswer?.();
  }

  internalError(error: unknown): void {
    const { counters, log, report } = this.#service.context;
    const text = `a request on ${this.peer} failed and was answered with exception 4: ${errorText(error)}`;
    counters.internalErrors += 1;
    report.failed(text);
    log.error(text);
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return;
    const { clock, counters } = this.#service.context;
    this.lastMs = counters.lastActivityMs = clock.monotonicMs();
    this.judge?.received(this.lastMs);
    this.#framing.push(chunk, this.lastMs);
    this.#pump();
  }

  #pump(): void {
    while (!this.#sending && !this.#closed && this.#framing.next() === 'frame') {
      const late = this.#exchange();
      if (late !== null) this.#send(late);
    }
    if (!this.#sending && !this.#closed) this.#silence.watch();
  }

  /** Serves the request at hand; null: no answer. */
  #exchange(): LateAnswer | null {
    const { disturber, tap, counters } = this.#service.context;
    const before = counters.requests;
    const watched =
      disturber?.active === true || tap?.active === true
        ? serveWatched(this.#framing, this.#service, this, scratch, 0)
        : null;
    const end = watched === null ? serve(this.#framing, this.#service, this, scratch, 0) : watched.end;
    this.requests += counters.requests - before;
    if (watched !== null && watched.late !== null) return watched.late;
    const tapped = watched?.tapped ?? null;
    if (end === 0) {
      tapped?.ended();
      return null;
    }
    const chunks = [Buffer.from(scratch.subarray(0, end))];
    return { chunks, delayMs: 0, gapMs: 0, close: false, ...(tapped !== null && { tapped }) };
  }

  /** Sends an answer after the pause that a master needs; nothing is read before the answer is sent. */
  #send(late: LateAnswer): void {
    const { clock, later } = this.#service.context;
    const minDelayMs = Math.ceil(Math.max(0, this.#pauseMs - (clock.monotonicMs() - this.lastMs)));
    this.#sending = true;
    this.#port.pause();
    this.#dropAnswer = sendLate(
      { ...late, minDelayMs, delayMs: Math.ceil(late.delayMs) },
      later,
      (chunk) => {
        this.#port.write(chunk);
      },
      () => {
        this.#port.drain(() => {
          this.#sent();
        });
      },
    );
  }

  #sent(): void {
    this.#sending = false;
    if (this.#closed) return;
    this.#pump();
    // reading while an answer is being sent would only fill the memory
    if (!this.paused) this.#port.resume();
  }
}

export interface SerialSettings {
  /** device file or name */
  readonly path: string;
  readonly baudRate: number;
  readonly parity: 'none' | 'even' | 'odd';
  readonly stopBits: 1 | 2;
}

/** An open serial port, in the terms of `serialport`. */
export interface SerialChannel {
  readonly isOpen: boolean;
  readonly writableLength: number;
  readonly readableLength: number;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'close' | 'end', listener: () => void): unknown;
  write(chunk: Buffer): boolean;
  /** Calls back when all output is sent; never if the port fails before. */
  drain(then: () => void): void;
  pause(): unknown;
  resume(): unknown;
  close(then: () => void): void;
}

/** Opens a port. @throws SimError LISTEN_FAILED with the reason as text, SHORTAGE */
export type SerialOpener = (settings: SerialSettings) => Promise<SerialChannel>;

interface ClosedPort extends SerialChannel {
  open(then: (error: Error | null) => void): void;
}

/** The used part of the package `serialport`. */
interface SerialLibrary {
  readonly SerialPort: new (options: SerialSettings & { readonly autoOpen: false; readonly dataBits: 8 }) => ClosedPort;
}

const require = createRequire(import.meta.url);

/**
 * Opens real ports. The library has a native part, so it is loaded with the first port.
 * @param load replaces the library
 */
export function createSerialOpener(
  load: () => Promise<SerialLibrary> = lazily(() => require('serialport') as SerialLibrary),
): SerialOpener {
  return async (settings) => {
    const { SerialPort } = await load().catch((cause: unknown) => {
      throw (
        shortageOf(cause) ??
        openFailed(settings.path, `the native part of the package serialport cannot be loaded (${firstLine(cause)})`)
      );
    });
    try {
      const port = new SerialPort({ ...settings, autoOpen: false, dataBits: 8 });
      // first of all: an `error` without a listener would end the process
      port.on('error', () => undefined);
      await new Promise<void>((resolve, reject) => {
        port.open((error) => {
          if (error === null) resolve();
          else reject(error);
        });
      });
      return port;
    } catch (cause) {
      throw openFailed(settings.path, serialReason(cause));
    }
  };
}

function openFailed(path: string, reason: string): SimError {
  return new SimError('LISTEN_FAILED', `cannot open the serial port ${path}: ${reason}`, [
    { name: path, detail: reason },
  ]);
}
