/** The ids, alarms and waiting LogEvents of one EndDevice, over reconnections and restarts. */
import { z } from 'zod';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { formOf, place, readHeaded, record, recordOf, serial } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { LogEvent } from '../xml/documents.ts';
import { isReceived } from '../xml/stored.ts';
import { alarmBits } from './model.ts';
import type { AlarmBit } from './model.ts';

/** Number of ids, which have 16 bits. */
const idCount = 0x1_0000;

/** Alarms that have been announced, by device. */
type ReportedAlarms = readonly (readonly [deviceIndex: number, bits: readonly AlarmBit[]])[];

/** An event without a final answer of the server. */
interface WaitingLogEvent {
  readonly event: LogEvent;
  readonly deviceIndex: number;
}

interface Kept {
  readonly alarms: ReportedAlarms;
  /** oldest first */
  readonly waiting: readonly WaitingLogEvent[];
}

const idForm = formOf<number>(serial);
const keptForm = recordOf<Kept>({
  alarms: z.array(z.tuple([place, z.array(z.literal(alarmBits))])),
  waiting: z.array(
    record<WaitingLogEvent>({
      event: z.custom((value) => isReceived('LogEvent', value), 'is no LogEvent'),
      deviceIndex: place,
    }),
  ),
});

/** Ids are consecutive; a stored event has its id for good, so that a server recognises one that is sent again. */
export class LogEventIds {
  readonly #slot: Slot;
  readonly #log: Logger;
  #next: number;
  #kept: Kept;
  #isTaken = false;

  private constructor(slot: Slot, log: Logger, next: number, kept: Kept) {
    this.#slot = slot;
    this.#log = log;
    this.#next = next;
    this.#kept = kept;
  }

  /** @param slot stores the next id, the alarms and the events that wait */
  static async open(slot: Slot, log: Logger): Promise<LogEventIds> {
    const stored = await readHeaded(slot, [idForm, keptForm], log);
    const [kept = { alarms: [], waiting: [] }] = stored?.rest ?? [];
    return new LogEventIds(slot, log, (stored?.head ?? 0) % idCount, kept);
  }

  get alarms(): ReportedAlarms {
    return this.#kept.alarms;
  }

  /** The events that waited when the slot was opened; none at a second call. */
  takeWaiting(): readonly WaitingLogEvent[] {
    if (this.#isTaken) return [];
    this.#isTaken = true;
    return this.#kept.waiting;
  }

  next(): number {
    const id = this.#next;
    this.#next = (id + 1) % idCount;
    void this.#store();
    return id;
  }

  /** Resolves when they are stored, or cannot be. */
  keep(alarms: ReportedAlarms, waiting: readonly WaitingLogEvent[]): Promise<void> {
    this.#kept = { alarms, waiting };
    return this.#store();
  }

  #store(): Promise<void> {
    return this.#slot.replace([this.#next, this.#kept as unknown as JsonValue]).catch((error: unknown) => {
      this.#log.error(`log events cannot be stored: ${errorText(error)}`);
    });
  }
}
