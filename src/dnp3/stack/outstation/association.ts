/** One master of an outstation: its requests, its events, its confirms. IEEE 1815 clause 4 */
import { Buffer } from 'node:buffer';
import { responseFragment, functionCodes, iin, silentFunctions } from '../application/types.ts';
import { parseRequest } from '../application/parse.ts';
import type { Answer, AppControl, Request } from '../application/types.ts';
import { FragmentWriter } from '../application/writer.ts';
import { EventBuffer, Indications } from './events.ts';
import { createFunctionSet } from './functions.ts';
import type { Report } from './events.ts';
import type { MasterObserver } from './observer.ts';
import { Outbox } from './outbox.ts';
import { planRead, ResponseSeries } from './read.ts';
import type { Piece } from './read.ts';
import type { AssociationClock, AssociationPort, Cast, Control, FunctionContext, FunctionSet } from './types.ts';
import type { OutstationOptions, PointEvent, Session } from './types.ts';
import { Unsolicited } from './unsolicited.ts';

const noObjects = Buffer.alloc(0);

/** Requests and responses since the start of one association. */
export interface AssociationCounters {
  requests: number;
  responses: number;
  unsolicited: number;
  refusals: number;
  confirmTimeouts: number;
}

export interface AssociationOptions {
  readonly outstation: OutstationOptions;
  readonly masterAddress: number;
  readonly selectedByOther: (kind: Control['kind'], index: number) => boolean;
}

/** An answer with fragments to send, or a confirm to wait for. */
interface Sending {
  readonly series: ResponseSeries;
  readonly functionCode: number;
  readonly iin2: number;
  /** the fragment that waits for its confirm */
  readonly piece: Piece;
  readonly report: Report;
  readonly seq: number;
  readonly octets: Buffer;
  endWait: (() => void) | null;
}

export class Association implements AssociationPort {
  readonly masterAddress: number;
  readonly time: AssociationClock;
  readonly events: EventBuffer;
  readonly unsolicited: Unsolicited;
  readonly counters: AssociationCounters = {
    requests: 0,
    responses: 0,
    unsolicited: 0,
    refusals: 0,
    confirmTimeouts: 0,
  };
  readonly #options: AssociationOptions;
  readonly #functions: FunctionSet;
  readonly #writer: FragmentWriter;
  readonly #outbox: Outbox;
  readonly #indications: Indications;
  readonly #observer: MasterObserver | undefined;
  #session: Session | null = null;
  #sending: Sending | null = null;
  /** sequence number of the last confirm, which the master may repeat */
  #confirmedSeq = -1;
  #last: { readonly octets: Buffer; readonly answer: Buffer | null } | null = null;
  /** a READ that waits for the end of an unsolicited response */
  #held: Request | null = null;
  #requestedRestart: 'cold' | 'warm' | null = null;
  #lastRequestMs: number | null = null;
  /** resolves when the removal of confirmed events is durable; null: it is */
  #confirmed: Promise<void> | null = null;

  constructor(options: AssociationOptions) {
    this.#options = options;
    this.masterAddress = options.masterAddress;
    this.#observer = options.outstation.observerOf?.(options.masterAddress);
    const { limits, masterClock, later, unsolicited } = options.outstation;
    this.time = masterClock(options.masterAddress);
    this.events = new EventBuffer(limits.eventsPerKind);
    this.#indications = new Indications(options.outstation, this);
    this.#writer = new FragmentWriter(limits.fragmentBytes);
    this.#functions = createFunctionSet(options.outstation);
    this.#outbox = new Outbox({ outstation: options.outstation, session: () => this.#session });
    this.unsolicited = new Unsolicited({
      isConfigured: unsolicited,
      events: this.events,
      time: this.time,
      writer: new FragmentWriter(limits.fragmentBytes),
      later,
      limits,
      report: () => this.#indications.report(),
      confirmed: (report) => {
        this.#indications.confirmed(report);
      },
      maySend: () => this.#session !== null && this.#sending === null,
      send: (fragment) => {
        this.#sendUnsolicited(fragment);
      },
      waitEnded: () => {
        this.#answerHeld();
      },
      timedOut: () => {
        this.counters.confirmTimeouts += 1;
      },
    });
  }

  get session(): Session | null {
    return this.#session;
  }

  /** monotonic ms of the last request; null: none yet */
  get lastRequestMs(): number | null {
    return this.#lastRequestMs;
  }

  /** IIN bits of the next response. */
  get indications(): number {
    return this.#indications.nextBits;
  }

  isSelected(kind: Control['kind'], index: number): boolean {
    return this.#functions.isSelected(kind, index);
  }

  get selectPending(): boolean {
    return this.#functions.hasSelect;
  }

  take(event: PointEvent): void {
    // computed now, because a later clock change would falsify it
    this.events.add(event, this.time.instantOf(event.stamp));
    this.unsolicited.trigger();
  }

  /** Restarts the association; the next response reports it. */
  restart(): void {
    this.#observer?.restarted();
    this.#abandon();
    this.unsolicited.restart();
    this.#functions.sessionEnded();
    this.#last = null;
    this.#held = null;
    this.#indications.restart();
    this.time.forget();
    if (this.#session !== null) this.unsolicited.trigger();
  }

  open(session: Session): void {
    const formerSession = this.#session;
    if (formerSession !== null) {
      this.close(formerSession);
      formerSession.replaced();
    }
    this.#session = session;
    this.#observer?.opened(session.peer);
    this.unsolicited.trigger();
  }

  close(session: Session): void {
    if (this.#session !== session) return;
    this.#session = null;
    this.#observer?.closed();
    this.#abandon();
    this.unsolicited.sessionEnded();
    this.#functions.sessionEnded();
    this.#last = null;
    this.#held = null;
  }

  receive(fragment: Buffer, cast: Cast, from?: string): void {
    const request = parseRequest(fragment);
    if (request === null) {
      if (cast === 'unicast') this.#observer?.dropped(fragment);
      return;
    }
    this.#lastRequestMs = this.#options.outstation.clock.monotonicMs();
    if (request.functionCode === functionCodes.confirm) {
      if (cast === 'unicast') this.#confirm(request.control);
      return;
    }
    this.counters.requests += 1;
    this.#observer?.requested(request, cast);
    if (cast !== 'unicast') this.#receiveBroadcast(request, cast, from);
    else this.#receiveRequest(request);
  }

  #receiveBroadcast(request: Request, cast: Cast, from?: string): void {
    this.#abandon();
    this.#held = null;
    this.#functions.precede(request);
    this.#indications.broadcast(cast);
    // a broadcast gets no answer: READ would return nothing, and no master could follow up a SELECT
    const { functionCode } = request;
    if (functionCode !== functionCodes.read && functionCode !== functionCodes.select) {
      this.#carryOut(request, from);
      void this.#durable(functionCode);
    }
    this.#restartIfRequested();
  }

  #receiveRequest(request: Request): void {
    if (this.#repeatsLast(request)) {
      const { answer } = this.#last ?? {};
      if (answer) this.#send(answer, request.functionCode);
      return;
    }
    this.#abandon();
    this.#functions.precede(request);
    if (request.functionCode === functionCodes.read) {
      this.#last = null;
      if (this.unsolicited.isPending) this.#held = { ...request, octets: Buffer.from(request.octets) };
      else this.#read(request);
      return;
    }
    // the master no longer waits for the answer to an earlier READ
    this.#held = null;
    const answer = this.#carryOut(request);
    this.#observer?.answered(request, answer.iin2);
    const isSilent = silentFunctions.has(request.functionCode);
    const octets = isSilent ? null : this.#respond(request, answer);
    if (isSilent) void this.#durable(request.functionCode);
    this.#restartIfRequested();
    // kept over a restart: the master may repeat the request that caused it
    this.#last = { octets: Buffer.from(request.octets), answer: octets };
  }

  /** True if a request repeats the last one: the same answer is sent, and nothing is carried out again. */
  #repeatsLast({ octets, functionCode }: Request): boolean {
    // a repeated RECORD_CURRENT_TIME records the time once more
    if (functionCode === functionCodes.read || functionCode === functionCodes.recordCurrentTime) return false;
    // an expired SELECT must be executed again, or its OPERATE would be refused
    if (functionCode === functionCodes.select && !this.#functions.hasSelect) return false;
    return this.#last?.octets.equals(octets) === true;
  }

  #carryOut(request: Request, from = this.#session?.peer): Answer {
    const { functionCode, refusal, headers } = request;
    if (functionCode === functionCodes.enableUnsolicited || functionCode === functionCodes.disableUnsolicited) {
      // if unsolicited responses are off, the function is unknown, whatever the objects
      if (refusal !== 0 && this.unsolicited.isConfigured) return { objects: noObjects, iin2: refusal };
      return this.unsolicited.change(headers, functionCode === functionCodes.enableUnsolicited);
    }
    const handler = this.#functions.handler(functionCode);
    if (handler === undefined) return { objects: noObjects, iin2: iin.functionNotSupported };
    if (refusal !== 0) return { objects: noObjects, iin2: refusal };
    this.#options.outstation.database.refresh();
    return handler(request, this.#context(from ?? `${this.masterAddress}`));
  }

  #context(peer: string): FunctionContext {
    const { outstation, selectedByOther, masterAddress } = this.#options;
    return {
      outstation,
      master: { address: masterAddress, peer },
      time: this.time,
      receivedMs: this.#lastRequestMs ?? 0,
      selectedByOther,
      controlled: (control, status) => {
        this.#observer?.controlled(control, status);
      },
      clearRestart: () => {
        this.#indications.hasRestarted = false;
      },
      requestRestart: (kind) => {
        this.#requestedRestart = kind;
      },
    };
  }

  #restartIfRequested(): void {
    if (this.#requestedRestart === null) return;
    this.#options.outstation.log.info(`master ${this.masterAddress} has asked for a ${this.#requestedRestart} restart`);
    this.#requestedRestart = null;
    this.restart();
  }

  #read(request: Request): void {
    const { outstation } = this.#options;
    const { database, attributes } = outstation;
    database.refresh();
    const plan =
      request.refusal !== 0
        ? { steps: [], events: [], iin2: request.refusal }
        : planRead(request.headers, {
            database,
            attributes,
            events: this.events,
            time: this.time,
            iin: () => this.indications,
          });
    if (plan.iin2 !== 0) this.counters.refusals += 1;
    this.#observer?.answered(request, plan.iin2);
    const series = new ResponseSeries(plan, this.events);
    this.#transmit({
      series,
      functionCode: request.functionCode,
      iin2: plan.iin2,
      piece: series.next(this.#writer),
      seq: request.control.seq,
    });
  }

  /** Sends a piece of an answer, and waits for a confirm if the piece requests it. @returns the fragment */
  #transmit(part: Omit<Sending, 'report' | 'octets' | 'endWait'>): Buffer {
    const { piece, seq, iin2 } = part;
    const asksForConfirm = piece.events.length > 0 || !piece.isLast || this.#indications.asksForConfirm;
    const control = { fir: piece.isFirst, fin: piece.isLast, con: asksForConfirm, uns: false, seq };
    const report = this.#indications.report();
    const octets = responseFragment(control, report.bits | iin2, piece.objects);
    const sending: Sending = { ...part, report, octets, endWait: null };
    this.#sending = asksForConfirm ? sending : null;
    if (asksForConfirm) this.#waitForConfirm(sending);
    this.counters.responses += 1;
    this.#send(octets, part.functionCode);
    if (!asksForConfirm) this.unsolicited.trigger();
    return octets;
  }

  #waitForConfirm(sending: Sending): void {
    const { later, limits, log } = this.#options.outstation;
    sending.endWait = later(limits.confirmTimeoutMs, () => {
      if (this.#sending !== sending) return;
      this.counters.confirmTimeouts += 1;
      log.debug(`master ${this.masterAddress} has not confirmed fragment ${sending.seq}`);
      this.#abandon();
    });
  }

  #respond(request: Request, { objects, iin2 }: Answer): Buffer {
    if (iin2 !== 0) this.counters.refusals += 1;
    const series = new ResponseSeries({ steps: [], events: [], iin2 }, this.events);
    const piece: Piece = { objects, isFirst: true, isLast: true, events: [] };
    const { control, functionCode } = request;
    return this.#transmit({ series, functionCode, iin2, piece, seq: control.seq });
  }

  #confirm(control: AppControl): void {
    this.#observer?.confirmed(control);
    const { seq, uns } = control;
    if (this.#options.outstation.disturber.ignoresConfirm()) return;
    if (uns) {
      this.unsolicited.confirm(seq);
      this.#keepConfirm();
      return;
    }
    const sending = this.#sending;
    if (sending === null) return;
    if (seq !== sending.seq) {
      // a repeated confirm of the previous fragment shows that the present one may have been lost
      if (seq === this.#confirmedSeq && !sending.piece.isFirst) this.#send(sending.octets, sending.functionCode);
      return;
    }
    sending.endWait?.();
    sending.series.confirm(sending.piece);
    this.#keepConfirm();
    this.#confirmedSeq = seq;
    this.#indications.confirmed(sending.report);
    if (sending.piece.isLast) {
      this.#sending = null;
      this.unsolicited.trigger();
      return;
    }
    this.#transmit({ ...sending, piece: sending.series.next(this.#writer), seq: (seq + 1) & 0x0f });
  }

  /** Ends an answer that waits for a confirm, without the confirm. */
  #abandon(): void {
    const sending = this.#sending;
    if (sending === null) return;
    sending.endWait?.();
    sending.series.abandon();
    this.#sending = null;
    // unsolicited responses wait for the end of an answer
    this.unsolicited.trigger();
  }

  #answerHeld(): void {
    const held = this.#held;
    if (held === null || this.#session === null) return;
    this.#held = null;
    this.#abandon();
    this.#read(held);
  }

  #sendUnsolicited(fragment: Buffer): void {
    this.counters.unsolicited += 1;
    this.#send(fragment, functionCodes.unsolicitedResponse);
  }

  #send(octets: Buffer, functionCode: number): void {
    if (this.#session !== null) this.#observer?.sent(octets);
    this.#outbox.send(octets, functionCode, this.#durable(functionCode));
  }

  /** Resolves when a response to this function may go out; null: at once. */
  #durable(functionCode: number): Promise<void> | null {
    const { durable } = this.#options.outstation;
    if (durable === undefined || functionCode === functionCodes.unsolicitedResponse) return null;
    // a response shows the master that its confirms have arrived
    return functionCode === functionCodes.read ? this.#confirmed : durable(functionCode);
  }

  /** Makes the removal of confirmed events durable. */
  #keepConfirm(): void {
    const confirmed = this.#options.outstation.durable?.(functionCodes.confirm) ?? null;
    this.#confirmed = confirmed;
    void confirmed?.then(() => {
      if (this.#confirmed === confirmed) this.#confirmed = null;
    });
  }
}
