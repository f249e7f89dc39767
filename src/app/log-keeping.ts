/** Keeps lines of the log in the store: each is appended when it is logged, and outdated ones leave it together. */
import { moduleNames } from '../core/adapter.ts';
import { isDateMs } from '../core/kept-dates.ts';
import { LogBuffer, logLevels } from '../core/log/log.ts';
import type { LogBook, LogEntry } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue, Slot, Store } from '../core/store.ts';
import type { Device } from '../contract/device.ts';
import { endAtRestart, openAlarms } from '../der/device/alarms.ts';

export const logSlot = slotName('log', 'lines');

export interface LogBounds {
  readonly lines: number;
  /** octets of the messages, which JSON may double: far below the 8 MiB of a slot */
  readonly bytes: number;
}

/** Lines that a restart keeps at least; the slot has up to twice as many. */
export const defaultLogBounds: LogBounds = { lines: 1000, bytes: 1024 * 1024 };

interface Options {
  readonly logBook: LogBook;
  readonly store: Pick<Store, 'slot'>;
  /** values of the slot from an earlier process */
  readonly values: () => readonly JsonValue[];
  readonly plant: { readonly devices: readonly Pick<Device, 'index' | 'alarms'>[] };
  readonly bounds?: LogBounds;
}

/** True for lines about events of devices, and for what has failed; requests are too many and may have secrets. */
const isKept = ({ module, level }: LogEntry): boolean =>
  level === 'warning' || level === 'error' || (level === 'info' && (module === 'AC' || module === 'DC'));

const isNumberOrNull = (value: unknown) => value === null || Number.isFinite(value);

function isEntry(value: unknown): value is LogEntry {
  const { id, timeMs, simMs, level, module, deviceIndex, message } = (value ?? {}) as Partial<LogEntry>;
  return (
    Number.isSafeInteger(id) &&
    isDateMs(timeMs) &&
    (simMs === null || isDateMs(simMs)) &&
    isNumberOrNull(deviceIndex) &&
    typeof message === 'string' &&
    (logLevels as readonly unknown[]).includes(level) &&
    (moduleNames as readonly unknown[]).includes(module)
  );
}

/** The entries that an earlier process kept; values that are none, or are out of order, are left out. */
function entriesOf(values: readonly unknown[]): readonly LogEntry[] {
  let last = 0;
  return values.filter((value): value is LogEntry => {
    if (!isEntry(value) || value.id <= last) return false;
    last = value.id;
    return true;
  });
}

const valueOf = (entry: LogEntry): JsonValue => ({ ...entry });

export class LogKeeping {
  readonly #options: Options;
  readonly #bounds: LogBounds;
  readonly #slot: Slot;
  /** lines of the slot: the log itself may drop them earlier for lines that are not kept */
  readonly #lines = new LogBuffer();
  /** octets of their messages */
  #bytes = 0;
  #unsubscribe: () => void = () => undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#bounds = options.bounds ?? defaultLogBounds;
    this.#slot = options.store.slot(logSlot);
  }

  /**
   * Puts the lines of the earlier process into the log, and keeps those of this one from here on. Alarms that were active
   * then and are not now get the line of their end.
   */
  open(): void {
    const { logBook, values, plant } = this.#options;
    logBook.precede(entriesOf(values()));
    const lines = logBook.entries();
    for (const entry of lines.filter(isKept)) this.#push(entry);
    this.#replace();
    this.#unsubscribe = logBook.onEntry((entry) => {
      if (isKept(entry)) this.#append(entry);
    });
    const active = new Set(plant.devices.flatMap(({ index, alarms }) => alarms.map(({ code }) => `${index} ${code}`)));
    for (const { code, entry } of openAlarms(lines)) {
      const { module, deviceIndex } = entry;
      if (deviceIndex === null || active.has(`${deviceIndex} ${code}`)) continue;
      logBook.logger(module).info(endAtRestart(code), deviceIndex);
    }
  }

  close(): void {
    this.#unsubscribe();
  }

  #push(entry: LogEntry): void {
    this.#lines.push(entry);
    this.#bytes += Buffer.byteLength(entry.message);
  }

  #append(entry: LogEntry): void {
    this.#push(entry);
    if (this.#exceeds(2)) this.#replace();
    else void this.#slot.append(valueOf(entry));
  }

  /** @param times the bounds */
  #exceeds(times: number): boolean {
    return this.#lines.size > times * this.#bounds.lines || this.#bytes > times * this.#bounds.bytes;
  }

  /** Leaves the newest lines of each module alone in the slot. */
  #replace(): void {
    while (this.#exceeds(1)) this.#bytes -= Buffer.byteLength(this.#lines.drop()?.message ?? '');
    void this.#slot.replace(this.#lines.list().map(valueOf));
  }
}
