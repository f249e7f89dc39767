/**
 * What the TransactionEvents of one station say together (part 2, block E). A number is missing, an event comes after the
 * end, a register falls: each is noticed at the event that shows it. An event that is sent again, since its answer was
 * lost, counts once.
 */

/** Payload of a TransactionEvent that fits its schema. */
interface Event {
  readonly eventType: 'Started' | 'Updated' | 'Ended';
  readonly timestamp: string;
  readonly seqNo: number;
  readonly idToken?: { readonly idToken: string };
  readonly transactionInfo: { readonly transactionId: string; readonly stoppedReason?: string };
  readonly meterValue?: readonly {
    readonly sampledValue: readonly {
      readonly value: number;
      readonly measurand?: string;
      readonly phase?: string;
      readonly location?: string;
    }[];
  }[];
}

export interface BookedTransaction {
  readonly transactionId: string;
  /** the event of each number, from 0 on */
  readonly events: readonly Event[];
  readonly ended: boolean;
}

const register = 'Energy.Active.Import.Register';

/** Readings of the import register in an event, in their order, Wh. */
function registersOf({ meterValue = [] }: Event): readonly number[] {
  return meterValue
    .flatMap(({ sampledValue }) => sampledValue)
    .filter(({ measurand = register, phase, location = 'Outlet' }) => {
      return measurand === register && phase === undefined && location === 'Outlet';
    })
    .map(({ value }) => value);
}

const startsOnce = (transaction: readonly Event[], { eventType, seqNo }: Event) => {
  if (transaction.length > 0) return eventType === 'Started' ? 'it has started before' : null;
  if (eventType !== 'Started') return 'its first event is not Started';
  return seqNo === 0 ? null : `its first number is ${seqNo}`;
};

function follows(transaction: readonly Event[], event: Event): string | null {
  const last = transaction.at(-1);
  if (last === undefined) return null;
  if (last.eventType === 'Ended') return 'it has ended before';
  if (event.seqNo !== last.seqNo + 1) return `number ${event.seqNo} follows ${last.seqNo}`;
  if (Date.parse(event.timestamp) < Date.parse(last.timestamp)) return 'it is earlier than the event before it';
  return null;
}

export class TransactionBooks {
  readonly #books = new Map<string, Event[]>();
  /** highest reading of the import register, by transaction */
  readonly #highestWh = new Map<string, number>();

  get transactions(): readonly BookedTransaction[] {
    return [...this.#books].map(([transactionId, events]) => ({
      transactionId,
      events,
      ended: events.at(-1)?.eventType === 'Ended',
    }));
  }

  /** @throws Error: the station has sent no event of it */
  transaction(transactionId: string): BookedTransaction {
    const found = this.transactions.find((each) => each.transactionId === transactionId);
    if (found === undefined) throw new Error(`there is no transaction ${transactionId}`);
    return found;
  }

  /** Books an event. @returns null: it fits those before it; else why not */
  issue(payload: unknown): string | null {
    const event = payload as Event;
    const { transactionId } = event.transactionInfo;
    const events = this.#books.get(transactionId) ?? [];
    this.#books.set(transactionId, events);
    const before = events.find(({ seqNo }) => seqNo === event.seqNo);
    if (before !== undefined)
      return JSON.stringify(before) === JSON.stringify(event) ? null : `two events have the number ${event.seqNo}`;
    const issue = startsOnce(events, event) ?? follows(events, event) ?? this.#falls(transactionId, event);
    events.push(event);
    return issue;
  }

  /** The end may repeat what the meter has shown before, in its order. */
  #falls(transactionId: string, event: Event): string | null {
    const readings = registersOf(event);
    const at = readings.findIndex((value, i) => value < (readings[i - 1] ?? value));
    if (at >= 0) return `the import register falls from ${readings[at - 1]} to ${readings[at]} in one event`;
    const last = readings.at(-1);
    if (last === undefined) return null;
    const highest = this.#highestWh.get(transactionId) ?? last;
    if (last < highest) return `the import register falls from ${highest} to ${last}`;
    this.#highestWh.set(transactionId, last);
    return null;
  }
}
