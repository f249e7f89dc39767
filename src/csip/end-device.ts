/**
 * One EndDevice of this process: the schedule of its events on the time of the server, the device under control, and
 * what is owed to the server for both. It goes on while the server cannot be reached.
 */
import { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { formOf, instant, readWhole, record, serial } from '../core/slot-values.ts';
import type { JsonValue, Slot } from '../core/store.ts';
import type { SimTime, WallClock } from '../core/time/clock.ts';
import type { RemoteClock } from '../core/time/remote-clock.ts';
import { LoopShare, yieldToLoop } from '../core/turns.ts';
import type { ControlInForce, ControlOutcome, ControlTarget } from './control/model.ts';
import type { KnownControl, ListedProgram, OwedResponse, ScheduleInput, ScheduleOptions } from './events/model.ts';
import { askedBefore, newControls, readInParts } from './events/receive.ts';
import { restoreSchedule, savedSchedule, saveInParts, saveSchedule } from './events/state.ts';
import { changedControls, createSchedule, defaultControls, knownControls, nextStep } from './events/schedule.ts';
import type { ScheduleState } from './events/state.ts';
import type { EndDeviceFacts, FoundProgram } from './walk/model.ts';

/** A control that the device does not take is tried again each second, on the clock that times events. */
const retryMs = 1000;
/** Preparations of a reading whose devices change meanwhile, before it is taken in within one turn. */
const maxPreparations = 3;
/** Maximum of new events of a reading that is taken in at once; more are asked about in parts first. */
const newAtOnce = 50;
/** Maximum of steps that are made up for after a restart; what remains is one step at the present. */
const maxMissedSteps = 1000;
/** Events from which on a step, its outcomes and its save have a turn of the event loop each. */
const manyEvents = 500;

export interface EndDeviceOptions {
  /** 40 hex digits, upper case */
  readonly lfdi: string;
  /** indices of its present devices */
  readonly deviceIndices: () => readonly number[];
  readonly target: ControlTarget;
  readonly remoteClock: RemoteClock;
  readonly wall: WallClock;
  readonly log: Logger;
  /** keeps the schedule */
  readonly slot: Slot;
  readonly schedule: Omit<ScheduleOptions, 'check' | 'deviceCategory'>;
  /** bits of DeviceCategoryType of its present devices */
  readonly deviceCategory: () => number;
  /** queues responses in their order; resolves when they are durable */
  readonly owe: (responses: readonly OwedResponse[]) => Promise<void>;
  /** the queue behind `owe`; absent: it ends with the process */
  readonly queue?: {
    /** id of the last response in it */
    readonly lastId: number;
    /** The schedule of an earlier process goes on. @param lastId `lastId` when it was stored */
    resume(lastId: number): void;
  };
  /** called within each change of the states of events */
  readonly eventsChanged: (endDevice: EndDevice, changed: readonly KnownControl[]) => void;
  /** of the turns of the event loop, for work on many events; default: one of its own */
  readonly share?: LoopShare;
}

/** The time of the server and that of the machine at one instant, ms since the epoch. */
type KeptTime = Readonly<Record<'remoteMs' | 'wallMs', number>>;

/** Stored with a schedule. */
interface KeptAlong {
  readonly expired: boolean;
  /** the PIN was refused: controls wait until it is confirmed */
  readonly ceased: boolean;
  /** id of the last response in the queue: the store may refuse a later schedule, and keep its responses */
  readonly lastId?: number;
}

const keptForm = formOf<readonly [schedule: JsonValue, time: KeptTime | null, along: KeptAlong]>(
  z.tuple([
    savedSchedule,
    record<KeptTime>({ remoteMs: instant, wallMs: instant }).nullable(),
    record<KeptAlong>({
      expired: z.boolean(),
      ceased: z.boolean(),
      lastId: serial.optional(),
    }),
  ]),
);

export class EndDevice {
  readonly #options: EndDeviceOptions;
  readonly #endChanges: () => void;
  #state: ScheduleState = createSchedule();
  #inForce: readonly ControlInForce[] = [];
  #outcomes: ReadonlyMap<string, ControlOutcome> = new Map();
  #facts: EndDeviceFacts | null = null;
  #programs: readonly FoundProgram[] = [];
  #cancelNext: (() => void) | null = null;
  #cancelRetry: (() => void) | null = null;
  /** communication was lost for so long that events gave way to default controls */
  #expired = false;
  #closed = false;
  /** the PIN is refused, or an earlier process had it refused: no control acts until it is confirmed */
  #ceased = false;
  /** closed for good: the schedule is not stored any more */
  #isForgotten = false;
  /** a reading is being prepared in parts; a later one waits for its end */
  #isPreparing = false;
  /** the latest reading that came during a preparation; null: none */
  #nextReading: readonly FoundProgram[] | null = null;
  /** counts the calls of `ceaseReading`: a preparation from before does not count any more */
  #cessations = 0;
  /** outcomes have changed, and the schedule learns of them in a later turn */
  #isOutcomeDue = false;
  readonly #share: LoopShare;
  /** responses of steps whose state is not stored yet, in their order */
  #toOwe: OwedResponse[] = [];
  /** resolves when all pending writes are durable */
  #owed: Promise<void> = Promise.resolve();
  /** the last save, successful or not */
  #saved: { readonly state: ScheduleState; readonly expired: boolean; readonly time: KeptTime | null } | null = null;
  #isOpen = false;
  /** the logged reason why the state could not be kept; null: none */
  #unkept: string | null = null;

  constructor(options: EndDeviceOptions) {
    this.#options = options;
    this.#share = options.share ?? new LoopShare();
    // the listener runs within a commit, which must end first
    this.#endChanges = options.target.onChange((reset) => queueMicrotask(() => this.#deviceChanged(reset)));
  }

  get lfdi(): string {
    return this.#options.lfdi;
  }

  get deviceIndices(): readonly number[] {
    return this.#options.deviceIndices();
  }

  get target(): ControlTarget {
    return this.#options.target;
  }

  /** null: it is not on the server, or its PIN is not verified */
  get facts(): EndDeviceFacts | null {
    return this.#facts;
  }

  set facts(facts: EndDeviceFacts | null) {
    this.#facts = facts;
    if (facts === null || !this.#ceased) return;
    this.#ceased = false;
    this.#step({ kind: 'time' });
  }

  /** as last found; kept while the server cannot be reached */
  get programs(): readonly FoundProgram[] {
    return this.#programs;
  }

  get controls(): readonly KnownControl[] {
    return knownControls(this.#state);
  }

  /** events of all readings by mRID */
  get events(): ScheduleState['events'] {
    return this.#state.events;
  }

  get inForce(): readonly ControlInForce[] {
    return this.#inForce;
  }

  /** Simulated instant of a time of the server, s; null: it is on the clock of the machine. */
  simOf(serverS: number): SimTime | null {
    return this.#options.remoteClock.simOf(serverS * 1000);
  }

  outcomeOf(id: string): ControlOutcome | null {
    return this.#outcomes.get(id) ?? null;
  }

  /**
   * Restores the stored schedule, and goes on with the events under way. Events that ended meanwhile are completed:
   * with 3 if they had been started, with 10 otherwise. A second call does nothing.
   */
  async open(): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { slot, queue, log } = this.#options;
    const isStored = (await slot.read()).length > 0;
    const stored = await readWhole(slot, keptForm, log);
    if (stored !== null) {
      const [schedule, time, { expired, ceased, lastId = Infinity }] = stored;
      if (time !== null) this.#takeTime(time);
      queue?.resume(lastId);
      [this.#state, this.#expired, this.#ceased] = [restoreSchedule(schedule), expired, ceased];
      if (time !== null) this.#catchUp(time.remoteMs / 1000);
      this.#step({ kind: 'time' });
    }
    // a hold of an earlier process ends where no control asks for it
    if (isStored && this.#inForce.length === 0) this.#apply();
  }

  /**
   * The programs of all its FSAs; empty: it has left the server. With many events, new or known, a reading counts some
   * turns of the event loop later, as a whole.
   */
  follow(programs: readonly FoundProgram[]): void {
    if (this.#isPreparing) {
      // one that took the place of the other each time would never let a reading count
      this.#nextReading = programs;
      return;
    }
    const listed = programs.map((program) => program.listed);
    const news = newControls(this.#state, listed);
    if (news.length > newAtOnce || this.#hasMany) void this.#prepare(programs, listed);
    else this.#take(programs, listed, this.#schedule);
  }

  /** The walk has ended: a reading that is still being prepared has no effect. */
  ceaseReading(): void {
    this.#cessations += 1;
    this.#nextReading = null;
  }

  /**
   * Prepares a reading in parts. Answers about events hold for the devices as they were when they were asked: after a
   * change of the devices the preparation begins anew, and at last the reading is taken in within one turn.
   */
  async #prepare(programs: readonly FoundProgram[], listed: readonly ListedProgram[]): Promise<void> {
    const cessations = this.#cessations;
    const isOver = () => cessations !== this.#cessations || this.#closed;
    const { log } = this.#options;
    this.#isPreparing = true;
    try {
      for (let round = 1; ; round += 1) {
        const prepared = await this.#readAhead(listed);
        if (isOver()) return;
        const isCurrent = prepared.stamp === this.#deviceStamp;
        if (!isCurrent && round < maxPreparations) continue;
        this.#bringOutcomes();
        // the state that it was read into may have changed meanwhile
        const read = isCurrent && this.#state === prepared.before ? prepared.read : undefined;
        this.#take(programs, listed, isCurrent ? prepared.schedule : this.#schedule, read);
        return;
      }
    } catch (error) {
      log.error(`the events of ${this.lfdi} could not be processed: ${errorText(error)}`);
    } finally {
      this.#isPreparing = false;
      const next = this.#nextReading;
      this.#nextReading = null;
      if (next !== null && !this.#closed) this.follow(next);
    }
  }

  /** Asks about the new events of a reading and reads it into the present state, both in parts. */
  async #readAhead(listed: readonly ListedProgram[]) {
    const stamp = this.#deviceStamp;
    const present = this.#schedule;
    const asked = await this.#share.runInParts(askedBefore(newControls(this.#state, listed), present));
    const schedule = { ...present, ...asked };
    const before = this.#state;
    const read = await this.#share.runInParts(readInParts(before, listed, this.#nowS(), schedule));
    return { stamp, schedule, before, read };
  }

  /** Equal while nothing of the devices has changed that an answer about an event depends on. */
  get #deviceStamp(): string {
    const { target, deviceCategory } = this.#options;
    return `${deviceCategory()} ${target.stamp}`;
  }

  #take(
    programs: readonly FoundProgram[],
    listed: readonly ListedProgram[],
    schedule: ScheduleOptions,
    read?: ScheduleState,
  ): void {
    this.#programs = programs;
    this.#step({ kind: 'programs', programs: listed }, schedule, read);
  }

  /** Opts the user in to an event or out of it. */
  opt(mrid: string, takesPart: boolean): void {
    this.#step({ kind: 'opt', mrid, in: takesPart });
  }

  /** @param expired true: communication was lost for too long, and default controls alone act; false: events act too */
  expire(expired: boolean): void {
    if (expired === this.#expired) return;
    this.#expired = expired;
    this.#step({ kind: 'time' });
  }

  /** Ends all controls for good, since the PIN is refused; the next process applies none before it is confirmed. */
  cease(): Promise<void> {
    this.#ceased = true;
    this.#saved = null;
    this.#keep([]);
    return this.close(false);
  }

  /**
   * Ends all controls.
   * @param forget true: forgets known events as well
   * @param leave true: leaves the values of controls in the devices, for the next process
   */
  async close(forget: boolean, leave = false): Promise<void> {
    if (this.#closed) return;
    this.#bringOutcomes();
    this.#closed = true;
    this.#endChanges();
    this.#cancelNext?.();
    this.#cancelRetry?.();
    if (leave) this.#options.target.leave();
    else this.#options.target.close();
    this.#isForgotten = forget;
    await this.#owed;
    if (forget) await this.#options.slot.replace([]);
  }

  /**
   * Takes the steps that were due while no process ran, each at its instant: an event that has come and gone meanwhile
   * still supersedes another one. None of them reaches the device.
   */
  #catchUp(sinceS: number): void {
    const before = this.#state;
    const nowS = this.#nowS();
    let atS: number | null = sinceS;
    for (let steps = 0; atS !== null && atS < nowS && steps < maxMissedSteps && !this.#hasMany; steps += 1) {
      const step = nextStep(this.#state, { kind: 'time' }, atS, this.#schedule);
      this.#state = step.state;
      this.#toOwe.push(...step.responses);
      atS = step.nextS !== null && step.nextS > atS ? step.nextS : null;
    }
    const changed = changedControls(before, this.#state);
    if (changed.length > 0) this.#options.eventsChanged(this, changed);
  }

  /** Continues the last time of the server: the time of this machine could end events that have not begun. */
  #takeTime({ remoteMs, wallMs }: KeptTime): void {
    const { remoteClock, wall } = this.#options;
    if (remoteClock.offsetS === null) remoteClock.sync(remoteMs + wall.nowMs() - wallMs, wall.monotonicMs());
  }

  /** null: the server has sent no time */
  get #time(): KeptTime | null {
    const { remoteClock, wall } = this.#options;
    return remoteClock.offsetS === null ? null : { remoteMs: remoteClock.nowMs(), wallMs: wall.nowMs() };
  }

  #nowS(): number {
    // timed acts run up to half a millisecond early
    return Math.round(this.#options.remoteClock.nowMs()) / 1000;
  }

  get #schedule(): ScheduleOptions {
    const { schedule, target, deviceCategory } = this.#options;
    return { ...schedule, deviceCategory: deviceCategory(), check: (control) => target.check(control) };
  }

  get #hasMany(): boolean {
    return this.#state.events.size > manyEvents;
  }

  #step(input: ScheduleInput, schedule = this.#schedule, read?: ScheduleState): void {
    if (this.#closed) return;
    if (input.kind !== 'outcomes') this.#bringOutcomes();
    const before = this.#state;
    const step = nextStep(before, input, this.#nowS(), schedule, read);
    this.#state = step.state;
    const changed = changedControls(before, step.state);
    const { nextS } = step;
    this.#cancelNext?.();
    this.#cancelNext =
      nextS === null ? null : this.#options.remoteClock.at(nextS * 1000, () => this.#step({ kind: 'time' }));
    this.#keep(step.responses);
    if (changed.length > 0) this.#options.eventsChanged(this, changed);
    this.#bring(this.#ceased ? [] : this.#expired ? defaultControls(step.state) : step.inForce);
  }

  /** After a reset events under way are not applied again, but default controls are. */
  #deviceChanged(reset: boolean): void {
    if (reset) this.#step({ kind: 'reset' });
    this.#apply();
  }

  #bring(inForce: readonly ControlInForce[]): void {
    // a waiting control is retried at each reading too: the clock may have been set back
    if (this.#cancelRetry === null && isDeepStrictEqual(inForce, this.#inForce)) return;
    this.#inForce = inForce;
    this.#apply();
  }

  /** Brings the controls in force to the device, and its outcomes to the schedule. */
  #apply(): void {
    if (this.#closed) return;
    this.#cancelRetry?.();
    this.#cancelRetry = null;
    const { target, remoteClock } = this.#options;
    const outcomes = target.apply(this.#inForce);
    const changed = !isDeepStrictEqual(outcomes, this.#outcomes);
    this.#outcomes = outcomes;
    if ([...outcomes.values()].some(({ state }) => state === 'waiting'))
      this.#cancelRetry = remoteClock.at(remoteClock.nowMs() + retryMs, () => this.#apply());
    if (!changed) return;
    if (this.#hasMany) void this.#bringOutcomesLater();
    else this.#step({ kind: 'outcomes', outcomes });
  }

  /** The schedule gets the outcomes in a later turn, and only the latest ones. */
  async #bringOutcomesLater(): Promise<void> {
    if (this.#isOutcomeDue) return;
    this.#isOutcomeDue = true;
    await yieldToLoop();
    this.#bringOutcomes();
  }

  /** Brings outcomes that are due to the schedule: an event that ends in this turn has to have started before. */
  #bringOutcomes(): void {
    if (!this.#isOutcomeDue) return;
    this.#isOutcomeDue = false;
    this.#step({ kind: 'outcomes', outcomes: this.#outcomes });
  }

  #keep(responses: readonly OwedResponse[]): void {
    const isLater = this.#hasMany;
    this.#toOwe.push(...responses);
    this.#owed = this.#owed
      .then(() => (isLater ? yieldToLoop() : undefined))
      .then(() => this.#save())
      .catch((error: unknown) => {
        const reason = errorText(error);
        const { log } = this.#options;
        if (reason !== this.#unkept) log.error(`the events of ${this.lfdi} cannot be stored: ${reason}`);
        this.#unkept = reason;
      });
  }

  /**
   * Stores the state, once for several steps at one instant, and queues the responses of all steps so far. Both are
   * changes of one turn, of which a process that ends leaves all or none: a decision never contradicts a response that
   * was sent.
   */
  async #save(): Promise<void> {
    if (this.#hasMany) await yieldToLoop();
    const { slot, owe, queue } = this.#options;
    const state = this.#state;
    const owed = this.#toOwe;
    this.#toOwe = [];
    const isStored = !this.#isForgotten && !this.#isSaved(state, owed);
    const saved = isStored ? await this.#savedForm(state) : null;
    // the ids of these responses are part of what is stored
    const changes = owed.length > 0 ? [owe(owed)] : [];
    if (isStored) {
      const [time, expired] = [this.#time, this.#expired];
      this.#saved = { state, expired, time };
      const along: KeptAlong = { expired, ceased: this.#ceased, ...(queue && { lastId: queue.lastId }) };
      changes.push(slot.replace([saved, time, along as unknown as JsonValue]));
    }
    for (const result of await Promise.allSettled(changes)) if (result.status === 'rejected') throw result.reason;
    if (isStored) this.#unkept = null;
  }

  /** True if the last save has everything of this state, and a time that differs by less than a second. */
  #isSaved(state: ScheduleState, owed: readonly OwedResponse[]): boolean {
    const saved = this.#saved;
    if (saved === null || owed.length > 0 || saved.expired !== this.#expired) return false;
    if (state === saved.state) return true;
    const [before, time] = [saved.time, this.#time];
    const aheadMs = (each: KeptTime | null) => (each === null ? 0 : each.remoteMs - each.wallMs);
    if ((before === null) !== (time === null) || Math.abs(aheadMs(time) - aheadMs(before)) >= 1000) return false;
    const { events, programs } = state;
    return !this.#hasMany && isDeepStrictEqual([events, programs], [saved.state.events, saved.state.programs]);
  }

  async #savedForm(state: ScheduleState): Promise<JsonValue> {
    if (!this.#hasMany) return saveSchedule(state);
    const saved = await this.#share.runInParts(saveInParts(state));
    // the store writes it in a turn of its own
    await yieldToLoop();
    return saved;
  }
}
