import type { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { SimError } from '../../../core/errors.ts';
import { lazily } from '../../../core/lazy.ts';
import { shortageOf } from '../../../core/shortage.ts';
import { firstLine, serialReason } from '../../../core/net/serial-reason.ts';

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
  /** Calls back when all output has left; never if the port fails before. */
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
export interface SerialLibrary {
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
