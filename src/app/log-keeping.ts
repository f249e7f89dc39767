/** Keeps lines of the log in the store: each is appended when it is logged, and outdated ones leave it together. */
import { moduleNames } from '../core/adapter.ts';
import { errorText } from '../core/errors.ts';
import { isDateMs } from '../core/kept-dates.ts';
import { logLevels } from '../core/log/log.ts';
import type { LogBook, LogEntry } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue, Slot, Store } from '../core/store.ts';
import type { Device } from '../contract/device.ts';
import { endAtRestart, openAlarms } from '../der/device/alarms.ts';

export const logSlot = slotName('log', 'lines');

export interface LogBounds {
  readonly lines: number;
  /** octets of JSON */
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
  /** called when the store refuses lines (with the reason), and when it takes them again (null) */
  readonly onRefusal: (reason: string | null) => void;
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
  /** of the slot */
  #lines = 0;
  #bytes = 0;
  /** number of changes so far */
  #changes = 0;
  /** the last change that the store refused; null: it takes them */
  #refused: number | null = null;
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

  #append(entry: LogEntry): void {
    this.#lines += 1;
    this.#bytes += JSON.stringify(entry).length;
    if (this.#lines > 2 * this.#bounds.lines || this.#bytes > 2 * this.#bounds.bytes) this.#replace();
    else this.#follow(this.#slot.append(valueOf(entry)));
  }

  /** Leaves the newest lines alone in the slot. */
  #replace(): void {
    const lines = this.#options.logBook.entries().filter(isKept).slice(-this.#bounds.lines);
    let from = lines.length;
    let bytes = 0;
    for (; from > 0; from -= 1) {
      const size = JSON.stringify(lines[from - 1]).length;
      if (bytes + size > this.#bounds.bytes) break;
      bytes += size;
    }
    const newest = lines.slice(from);
    this.#lines = newest.length;
    this.#bytes = bytes;
    this.#follow(this.#slot.replace(newest.map(valueOf)));
  }

  #follow(change: Promise<void>): void {
    this.#changes += 1;
    const number = this.#changes;
    change.then(
      () => {
        // changes from before the refusal become durable after it
        if (this.#refused === null || number < this.#refused) return;
        this.#refused = null;
        this.#options.onRefusal(null);
      },
      (error: unknown) => {
        if (this.#refused === null) this.#options.onRefusal(`lines of the log: ${errorText(error)}`);
        this.#refused = number;
      },
    );
  }
}
