/** Ticks by hand, while the clock is paused, and acts at exact simulated instants between the pieces of a tick. */
import { SimError, errorText } from '../../core/errors.ts';
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import { keptWriterOrNull } from '../../core/kept-dates.ts';
import { plainProvenance } from '../../core/origin.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { tickSeconds } from '../../core/time/sim-clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';
import { Turns } from '../../core/turns.ts';
import type { TickEvent } from '../../contract/plant.ts';
import type { Logger } from '../../core/log/log.ts';
import { Scheduler } from '../../core/time/scheduler.ts';

/** The plant as stepping uses it. */
interface SteppedPlant {
  readonly clock: SimClock;
  readonly tickIntervalS: number;
  readonly latest: () => TickEvent;
  /** Runs `work` while no device joins or leaves and no other tick runs. */
  readonly inTurn: (work: () => Promise<TickEvent>) => Promise<TickEvent>;
  /** @throws SimError STOPPING */
  readonly checkRunning: () => void;
  /** Runs one tick. @returns its event */
  readonly run: (seconds: number) => Promise<TickEvent>;
  readonly writer: (by: Origin | undefined) => Provenance;
  /** Lets other work run between two ticks. */
  readonly giveWay: () => Promise<void>;
}

const maxSteps = 100_000;

export class Stepping {
  readonly #plant: SteppedPlant;
  /** runs the requests one after the other; each may have many ticks */
  readonly #requests = new Turns();
  #steppedBy: Provenance | null = null;
  /** number of times that the clock has left the mode `paused` */
  #pausesEnded = 0;

  constructor(plant: SteppedPlant) {
    this.#plant = plant;
  }

  /** Last client that ran ticks, and the instant at which they began; null: none. */
  get steppedBy(): Provenance | null {
    return this.#steppedBy;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ steppedBy: this.#steppedBy && plainProvenance(this.#steppedBy) }),
      ({ steppedBy }) => {
        this.#steppedBy = keptWriterOrNull(steppedBy, 'writer of the last step');
      },
    );
  }

  /** Records the client that runs ticks, from the end of the last one on. */
  note(by: Origin | undefined): void {
    this.#steppedBy = this.#plant.writer(by);
  }

  /** True while a request has not ended. */
  get isBusy(): boolean {
    return this.#requests.isBusy;
  }

  /** Ends a pending request after its present tick, even if the clock is paused again. */
  endPause(): void {
    this.#pausesEnded += 1;
  }

  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT, STOPPING */
  async step(ticks: number, by: Origin | undefined): Promise<TickEvent> {
    if (!Number.isInteger(ticks) || ticks < 1 || ticks > maxSteps) {
      throw new SimError('COMMAND_BAD_VALUE', `ticks must be a whole number from 1 to ${maxSteps}`);
    }
    return this.#ticks(
      (done) => {
        this.#checkPaused();
        return this.#tick(this.#tickS, done, by);
      },
      (_event, done) => done === ticks,
    );
  }

  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT, STOPPING */
  async runTo(t: SimTime, by: Origin | undefined): Promise<TickEvent> {
    return this.#ticks(
      (done) => this.#towards(t, done, by),
      ({ sim }) => sim >= t,
    );
  }

  /**
   * Runs one tick, however long a tick is otherwise.
   * @param begin called at the instant at which the tick begins; the instant at which it ends
   * @throws SimError COMMAND_CONFLICT, STOPPING, and the errors of `begin`
   */
  async tickTo(begin: (now: SimTime) => SimTime, by: Origin | undefined): Promise<TickEvent> {
    return this.#ticks(
      (done) => {
        this.#checkPaused();
        const { tickTime } = this.#plant.clock;
        return this.#tick(secondsBetween(tickTime, begin(tickTime)), done, by);
      },
      () => true,
    );
  }

  /** @param next runs a tick @param isOver true after the last tick */
  #ticks(
    next: (done: number) => Promise<TickEvent>,
    isOver: (event: TickEvent, done: number) => boolean,
  ): Promise<TickEvent> {
    return this.#requests.take(async () => {
      const pausesEnded = this.#pausesEnded;
      for (let done = 0; ; ) {
        if (this.#pausesEnded !== pausesEnded) {
          throw new SimError(
            'COMMAND_CONFLICT',
            `the clock left the mode paused; ${done} ticks of the request have run`,
          );
        }
        // a change of the devices waits for one tick, not for thousands
        const event = await this.#plant.inTurn(() => next(done));
        done += 1;
        if (isOver(event, done)) return event;
        await this.#plant.giveWay();
      }
    });
  }

  /** Runs the next tick on the way to `t`; none if `t` is reached. @param done ticks so far */
  async #towards(t: SimTime, done: number, by: Origin | undefined): Promise<TickEvent> {
    const { clock, latest } = this.#plant;
    this.#checkPaused();
    const aheadS = secondsBetween(clock.tickTime, t);
    if (Number.isNaN(aheadS)) throw new SimError('COMMAND_BAD_VALUE', 'the instant is no number');
    if (aheadS < 0) throw new SimError('COMMAND_BAD_VALUE', `the instant lies ${-aheadS} s in the past`);
    const tickS = this.#tickS;
    if (aheadS === 0) return latest();
    if (aheadS > (maxSteps - done) * tickS) {
      throw new SimError(
        'COMMAND_BAD_VALUE',
        `the instant lies ${aheadS} s ahead, at ${tickS} s per tick; allowed: up to ${maxSteps} ticks`,
      );
    }
    return this.#tick(Math.min(aheadS, tickS), done, by);
  }

  #checkPaused(): void {
    if (!this.#plant.clock.paused)
      throw new SimError('COMMAND_CONFLICT', 'stepping needs the clock paused: POST controls/time {"mode":"paused"}');
    this.#plant.checkRunning();
  }

  /** Simulated seconds of a whole tick. */
  get #tickS(): number {
    const { clock, tickIntervalS } = this.#plant;
    return tickSeconds(clock.settings.rate, tickIntervalS);
  }

  #tick(seconds: number, done: number, by: Origin | undefined): Promise<TickEvent> {
    if (done === 0) this.note(by);
    return this.#plant.run(seconds);
  }
}

/** Acts at exact simulated instants, between the pieces of a tick. */
export class Timetable {
  readonly #clock: Pick<SimClock, 'actAt'>;
  readonly #log: Pick<Logger, 'error'>;
  readonly #scheduler = new Scheduler();

  constructor(clock: Pick<SimClock, 'actAt'>, log: Pick<Logger, 'error'>) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The instant at which a piece of a tick must end at the latest; Infinity while no act waits. */
  get nextDue(): number {
    return this.#scheduler.nextDue;
  }

  /**
   * Runs `act` at `t`.
   * @returns a function that cancels the act, as long as it has not begun
   * @throws SimError COMMAND_BAD_VALUE for an instant that is no number
   */
  at(t: SimTime, act: () => void): () => void {
    if (Number.isNaN(t)) throw new SimError('COMMAND_BAD_VALUE', 'an act needs the instant at which it runs');
    const timer = this.#scheduler.at(t, () => {
      try {
        act();
      } catch (error) {
        this.#log.error(`a timed act failed: ${errorText(error)}`);
      }
    });
    return () => {
      this.#scheduler.cancel(timer);
    };
  }

  /** Runs the acts due at `t`, to which all devices have advanced, and those that these acts add for `t`. */
  run(t: SimTime): void {
    this.#clock.actAt(t, () => {
      this.#scheduler.runDue(t);
    });
  }

  /** Drops all acts. */
  clear(): void {
    this.#scheduler.clear();
  }
}
