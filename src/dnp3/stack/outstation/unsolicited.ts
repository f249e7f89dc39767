/** Unsolicited responses. IEEE 1815 4.1.7; dnp3 technical bulletin TB2015-002a */
import { Buffer } from 'node:buffer';
import { responseFragment, iin } from '../application/types.ts';
import type { Answer, ObjectHeader } from '../application/types.ts';
import type { FragmentWriter } from '../application/writer.ts';
import type { EventBuffer, QueuedEvent, Report } from './events.ts';
import { classOfVariation, eventStep, ResponseSeries } from './read.ts';
import type { Piece } from './read.ts';
import type { AssociationClock, OutstationLimits, StackLater } from './types.ts';

type EventClass = 1 | 2 | 3;

export interface UnsolicitedOptions {
  /** true if the configuration allows unsolicited responses */
  readonly isConfigured: boolean;
  readonly events: EventBuffer;
  readonly time: AssociationClock;
  readonly writer: FragmentWriter;
  readonly later: StackLater;
  readonly limits: OutstationLimits;
  /** report of a fragment sent now */
  readonly report: () => Report;
  readonly confirmed: (report: Report) => void;
  /** False while no master is connected, or the confirm of an answer is awaited. */
  readonly maySend: () => boolean;
  readonly send: (fragment: Buffer) => void;
  /** Called after each wait for a confirm, also after a timeout. */
  readonly waitEnded: () => void;
  /** Called after the timeout of a confirm. */
  readonly timedOut: () => void;
}

interface Attempt {
  /** null: the response without objects after a restart */
  readonly series: ResponseSeries | null;
  readonly piece: Piece;
  readonly report: Report;
}

const noObjects = Buffer.alloc(0);
const nullResponse: Piece = { objects: noObjects, isFirst: true, isLast: true, events: [] };

/** True if two attempts carry the same events with the same times. */
function isSame(a: Piece, b: Piece): boolean {
  return (
    a.objects.equals(b.objects) &&
    a.events.length === b.events.length &&
    a.events.every((event, at) => event === b.events[at])
  );
}

export class Unsolicited {
  readonly #options: UnsolicitedOptions;
  readonly #enabled = new Set<EventClass>();
  #nullConfirmed = false;
  #seq = 0;
  /** attempt whose confirm is awaited; null: none */
  #pending: Attempt | null = null;
  /** unconfirmed attempt that used the present sequence number; null: none did */
  #unconfirmed: Attempt | null = null;
  #endWait: (() => void) | null = null;
  #endPause: (() => void) | null = null;

  constructor(options: UnsolicitedOptions) {
    this.#options = options;
  }

  get isConfigured(): boolean {
    return this.#options.isConfigured;
  }

  get nullConfirmed(): boolean {
    return this.#nullConfirmed;
  }

  get classes(): readonly EventClass[] {
    return [...this.#enabled].sort((a, b) => a - b);
  }

  /** True if a response waits for its confirm. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** ENABLE_UNSOLICITED and DISABLE_UNSOLICITED. */
  change(headers: readonly ObjectHeader[], on: boolean): Answer {
    if (!this.isConfigured) return { objects: noObjects, iin2: iin.functionNotSupported };
    let iin2 = headers.length === 0 ? iin.parameterError : 0;
    for (const { group, variation, range } of headers) {
      const eventClass = group === 60 ? classOfVariation[variation] : undefined;
      if (eventClass === undefined || range.kind !== 'all') iin2 |= iin.parameterError;
      else if (on) this.#enabled.add(eventClass);
      else this.#enabled.delete(eventClass);
    }
    if (on) this.trigger();
    return { objects: noObjects, iin2 };
  }

  /** Sends soon if possible. Call it after an event, a new connection, or the end of an answer. */
  trigger(): void {
    if (!this.isConfigured || this.#endPause !== null || this.#pending !== null) return;
    // at the end of this turn, so that the events of a tick share a fragment
    this.#endPause = this.#options.later(0, () => {
      this.#endPause = null;
      this.#send();
    });
  }

  /** Handles a confirm; no effect if none is awaited. */
  confirm(seq: number): void {
    const pending = this.#pending;
    if (pending === null || seq !== this.#seq) return;
    this.#stopWaiting();
    if (pending.series === null) this.#nullConfirmed = true;
    pending.series?.confirm(pending.piece);
    pending.series?.abandon();
    this.#pending = null;
    this.#advance();
    this.#options.confirmed(pending.report);
    this.#options.waitEnded();
    this.trigger();
  }

  /** Ends the session: the last fragment may not have arrived. */
  sessionEnded(): void {
    this.#stopWaiting();
    this.#endPause?.();
    this.#endPause = null;
    this.#drop();
  }

  /** Called when the association restarts. */
  restart(): void {
    this.sessionEnded();
    this.#enabled.clear();
    this.#nullConfirmed = false;
    this.#unconfirmed = null;
    this.#seq = 0;
  }

  #drop(): void {
    if (this.#pending === null) return;
    this.#pending.series?.abandon();
    this.#pending = null;
  }

  #advance(): void {
    this.#unconfirmed = null;
    this.#seq = (this.#seq + 1) & 0x0f;
  }

  #send(): void {
    const { events, time, writer, maySend } = this.#options;
    if (this.#pending !== null || !maySend()) return;
    if (!this.#nullConfirmed) {
      this.#transmit(null, nullResponse);
      return;
    }
    const batch: QueuedEvent[] = [];
    for (const eventClass of this.#enabled) batch.push(...events.select({ class: eventClass }));
    if (batch.length === 0) return;
    for (const each of batch) each.isSent = true;
    const series = new ResponseSeries({ steps: [eventStep(batch, time)], events: batch, iin2: 0 }, events);
    this.#transmit(series, series.next(writer));
  }

  #transmit(series: ResponseSeries | null, piece: Piece): void {
    const { limits, later, send } = this.#options;
    // a retry keeps its number, so that the master recognises it; a new fragment gets the next one
    if (this.#unconfirmed !== null && !isSame(this.#unconfirmed.piece, piece)) this.#advance();
    const presentReport = this.#options.report();
    // the confirm may be that of the first attempt
    this.#pending = { series, piece, report: this.#unconfirmed?.report ?? presentReport };
    this.#unconfirmed = this.#pending;
    const control = { fir: true, fin: true, con: true, uns: true, seq: this.#seq };
    send(responseFragment(control, presentReport.bits, piece.objects));
    this.#endWait = later(limits.confirmTimeoutMs, () => {
      this.#endWait = null;
      this.#options.timedOut();
      this.#drop();
      this.#endPause = later(limits.unsolicitedRetryMs, () => {
        this.#endPause = null;
        this.#send();
      });
      this.#options.waitEnded();
    });
  }

  #stopWaiting(): void {
    this.#endWait?.();
    this.#endWait = null;
  }
}
