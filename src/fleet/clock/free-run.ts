/** Ticks of real time of a shard, on the grid of slots that all shards have in common. */
import type { ClockPatch, SimTime } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { yieldToLoop } from '../../core/turns.ts';
import type { Origin } from '../../core/origin.ts';
import type { ClockedPlant } from './plant.ts';
import { isPaused, patchTo, simOf, slotEndMs, tickAt, tickOf } from './record.ts';
import type { ClockRecord } from './record.ts';

/** A tick of a shard that is late has at most so many slots. */
const maxSlots = 10;

export interface FreeRunOptions {
  readonly plant: Pick<ClockedPlant, 'latest' | 'time' | 'setTime' | 'tick' | 'skippedTicks'>;
  readonly later: Later;
  /** time of the fleet, ms */
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}

interface Waiting {
  readonly record: ClockRecord;
  readonly done: () => void;
}

export class FreeRun {
  readonly #options: FreeRunOptions;
  #record: ClockRecord;
  /** changes that are not in force yet, in their order */
  #pending: ClockRecord[] = [];
  #waiting: Waiting[] = [];
  #cancel: () => void = () => undefined;
  #isStarted = false;
  #running: Promise<void> | null = null;

  /** @param record the one by which the plant was made */
  constructor(record: ClockRecord, options: FreeRunOptions) {
    this.#record = record;
    this.#options = options;
  }

  /** The record in force. */
  get record(): ClockRecord {
    return this.#record;
  }

  start(): void {
    this.#isStarted = true;
    this.#apply(this.#record);
    this.#run();
  }

  /** Resolves when a tick under way has ended. */
  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#cancel();
    for (const { done } of this.#waiting.splice(0)) done();
    await this.#running;
  }

  /**
   * Takes over a change; it comes into force at its instant. Older ones than those present are left out. The clock of
   * another fleet, which has begun meanwhile, comes into force at once.
   */
  follow(record: ClockRecord): void {
    const { newest } = this;
    if (record.fleet !== newest.fleet) this.#pending = [record];
    else if (record.seq <= newest.seq) return;
    else this.#pending.push(record);
    this.#run();
  }

  /** The last record that has come, which may not be in force yet. */
  get newest(): ClockRecord {
    return this.#pending.at(-1) ?? this.#record;
  }

  /** Resolves when a change, a later one or that of another fleet is in force, or the shard ends. */
  inForce(record: ClockRecord): Promise<void> {
    if (!this.#isAhead(record)) return Promise.resolve();
    return new Promise((done) => {
      this.#waiting.push({ record, done });
    });
  }

  #isAhead(record: ClockRecord): boolean {
    return !covers(this.#record, record) && this.#pending.some((pending) => covers(pending, record));
  }

  #run(): void {
    if (!this.#isStarted || this.#running !== null) return;
    this.#cancel();
    this.#running = this.#work()
      .catch((error: unknown) => {
        this.#options.onFailure(error);
        return true;
      })
      .then((isStill) => {
        this.#running = null;
        this.#plan(isStill);
      });
  }

  /** Runs what is due, one tick after the other. @returns true: the plant stood still, and would do so again */
  async #work(): Promise<boolean> {
    const { plant } = this.#options;
    for (;;) {
      const next = this.#nextTick();
      if (!this.#isStarted || next === null) return false;
      const { latest } = plant;
      const slots = next - this.#lastTick;
      await plant.tick(slots, next, simOf(this.#record, next));
      // paused by a change, or at its end: there is nothing to wait for here
      if (plant.latest.sim === latest.sim) return true;
      plant.skippedTicks += Math.max(0, plant.latest.tick - latest.tick - 1);
      await yieldToLoop();
    }
  }

  get #lastTick(): number {
    return tickOf(this.#record, this.#options.plant.latest.sim);
  }

  /** Brings changes into force that are due. @returns the tick to run now; null: none is due */
  #nextTick(): number | null {
    const { nowMs } = this.#options;
    for (;;) {
      const [pending] = this.#pending;
      if (pending === undefined || !this.#isDue(pending)) break;
      this.#pending.shift();
      this.#apply(pending);
    }
    if (isPaused(this.#record)) return null;
    const due = Math.min(tickAt(this.#record, nowMs()), this.#pending[0]?.tick0 ?? Infinity);
    const last = this.#lastTick;
    return due <= last ? null : Math.min(due, last + maxSlots);
  }

  /** True for a change whose instant has come; the grid of another fleet does not wait for that. */
  #isDue({ fleet, sim0Us }: ClockRecord): boolean {
    return isPaused(this.#record) || fleet !== this.#record.fleet || this.#options.plant.latest.sim >= sim0Us;
  }

  #apply(record: ClockRecord): void {
    const { plant, onFailure } = this.#options;
    this.#record = record;
    try {
      const patch = patchTo(record, { ...plant.time, shiftMs: shiftOf(plant.time) });
      if (patch !== null) setTime(plant, patch, record.changedBy);
    } catch (error) {
      onFailure(error);
    }
    const reached = this.#waiting.filter((each) => !this.#isAhead(each.record));
    this.#waiting = this.#waiting.filter((each) => this.#isAhead(each.record));
    for (const { done } of reached) done();
  }

  #plan(isStill: boolean): void {
    if (!this.#isStarted || isPaused(this.#record)) {
      // a change that came meanwhile begins at once
      if (this.#isStarted && this.#pending.length > 0) this.#run();
      return;
    }
    const { later, nowMs } = this.#options;
    const due = tickAt(this.#record, nowMs());
    // a slot may have ended since the last look: waiting for the one behind it would join the two
    if (!isStill && this.#nextTick() !== null) {
      this.#run();
      return;
    }
    const next = Math.max(this.#lastTick, due) + 1;
    const waitMs = Math.max(0, slotEndMs(this.#record, next) - nowMs());
    this.#cancel = later(waitMs, () => {
      this.#run();
    });
    if (this.#pending.some((record) => this.#isDue(record))) this.#run();
  }
}

/** True for a record that is the other one, or a later one of its fleet. */
const covers = (record: ClockRecord, { fleet, seq }: ClockRecord) => record.fleet === fleet && record.seq >= seq;

const shiftOf = ({ dateMs, sim }: { readonly dateMs: number; readonly sim: SimTime }) => dateMs - sim / 1000;

function setTime(plant: Pick<ClockedPlant, 'setTime'>, patch: ClockPatch, by: Origin | null): void {
  plant.setTime(patch, by ?? undefined);
}
