/** Responses that nobody has asked for. IEEE 1815 4.1.7; dnp3 technical bulletin TB2015-002a */
import { Buffer } from 'node:buffer';
import { responseFragment } from '../application/control.ts';
import { iin } from '../application/types.ts';
import type { Answer, ObjectHeader } from '../application/types.ts';
import type { FragmentWriter } from '../application/writer.ts';
import type { EventBuffer, QueuedEvent } from './events.ts';
import { eventStep } from './read.ts';
import { Series } from './series.ts';
import type { Piece } from './series.ts';
import type { AssociationClock, OutstationLimits, StackLater } from './types.ts';

type EventClass = 1 | 2 | 3;
const classOfVariation: Readonly<Record<number, EventClass>> = { 2: 1, 3: 2, 4: 3 };

export interface UnsolicitedOptions {
  /** the ability, as configured */
  readonly isConfigured: boolean;
  readonly events: EventBuffer;
  readonly time: AssociationClock;
  readonly writer: FragmentWriter;
  readonly later: StackLater;
  readonly limits: OutstationLimits;
  readonly iin: () => number;
  /** false while no master is there, or an answer waits for its confirm */
  readonly mayAsk: () => boolean;
  readonly send: (fragment: Buffer) => void;
  /** the wait for a confirm is over, with or without it */
  readonly settled: () => void;
  readonly timedOut: () => void;
}

export class Unsolicited {
  readonly #options: UnsolicitedOptions;
  readonly #enabled = new Set<EventClass>();
  #nullConfirmed = false;
  #seq = 0;
  /** sent and not confirmed; null: none. Its series is null for the response without objects after a restart */
  #pending: { readonly series: Series | null; readonly piece: Piece | null } | null = null;
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

  /** Whether a response waits for its confirm. */
  get isPending(): boolean {
    return this.#pending !== null;
  }

  /** ENABLE_UNSOLICITED and DISABLE_UNSOLICITED. */
  change(headers: readonly ObjectHeader[], on: boolean, nothing: Buffer): Answer {
    if (!this.isConfigured) return { objects: nothing, iin2: iin.functionNotSupported };
    let iin2 = headers.length === 0 ? iin.parameterError : 0;
    for (const { group, variation, range } of headers) {
      const wanted = group === 60 ? classOfVariation[variation] : undefined;
      if (wanted === undefined || range.kind !== 'all') iin2 |= iin.parameterError;
      else if (on) this.#enabled.add(wanted);
      else this.#enabled.delete(wanted);
    }
    if (on) this.trigger();
    return { objects: nothing, iin2 };
  }

  /** There may be something to be sent: an event, a new connection, the end of another answer. */
  trigger(): void {
    if (!this.isConfigured || this.#endPause !== null || this.#pending !== null) return;
    // at the end of this turn: the events of a tick go together
    this.#endPause = this.#options.later(0, () => {
      this.#endPause = null;
      this.#send();
    });
  }

  /** @returns whether it was the confirm that is waited for */
  confirm(seq: number): boolean {
    const pending = this.#pending;
    if (pending === null || seq !== this.#seq) return false;
    this.#stopWaiting();
    if (pending.piece === null) this.#nullConfirmed = true;
    else pending.series?.confirm(pending.piece);
    pending.series?.abandon();
    this.#pending = null;
    this.#seq = (this.#seq + 1) & 0x0f;
    this.#options.settled();
    this.trigger();
    return true;
  }

  /** The connection has ended: what was sent may not have arrived. */
  sessionEnded(): void {
    this.#stopWaiting();
    this.#endPause?.();
    this.#endPause = null;
    this.#drop();
  }

  /** The association restarts. */
  restart(): void {
    this.sessionEnded();
    this.#enabled.clear();
    this.#nullConfirmed = false;
    this.#seq = 0;
  }

  #drop(): void {
    if (this.#pending === null) return;
    this.#pending.series?.abandon();
    this.#pending = null;
    // what follows is built anew
    this.#seq = (this.#seq + 1) & 0x0f;
  }

  #send(): void {
    const { events, time, writer, mayAsk } = this.#options;
    if (this.#pending !== null || !mayAsk()) return;
    if (!this.#nullConfirmed) {
      this.#pending = { series: null, piece: null };
      this.#transmit(null);
      return;
    }
    const taken: QueuedEvent[] = [];
    for (const wanted of this.#enabled) taken.push(...events.select({ class: wanted }));
    if (taken.length === 0) return;
    for (const each of taken) each.isSent = true;
    const series = new Series({ steps: [eventStep(taken, time)], events: taken, iin2: 0 }, events);
    const piece = series.next(writer);
    this.#pending = { series, piece };
    this.#transmit(piece);
  }

  #transmit(piece: Piece | null): void {
    const { limits, later, send } = this.#options;
    const control = { fir: true, fin: true, con: true, uns: true, seq: this.#seq };
    send(responseFragment(control, this.#options.iin(), piece?.objects ?? noObjects));
    this.#endWait = later(limits.confirmTimeoutMs, () => {
      this.#endWait = null;
      this.#options.timedOut();
      this.#drop();
      this.#endPause = later(limits.unsolicitedRetryMs, () => {
        this.#endPause = null;
        this.#send();
      });
      this.#options.settled();
    });
  }

  #stopWaiting(): void {
    this.#endWait?.();
    this.#endWait = null;
  }
}

const noObjects = Buffer.alloc(0);
