/** Ticks whose pieces end at instants from outside: plants that are parts of a fleet step together by them. */
import { SimError } from '../../core/errors.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';
import type { TickEvent } from '../../contract/plant.ts';
import type { Site } from '../site/site.ts';
import type { Timetable } from './stepping.ts';
import type { TickRun } from './tick-run.ts';

/** The plant as ticks from outside use it. */
interface DrivenPlant {
  readonly clock: Pick<SimClock, 'paused' | 'tickTime'>;
  readonly run: Pick<TickRun, 'begin' | 'advancePiece' | 'publish'>;
  readonly timetable: Pick<Timetable, 'nextDue'>;
  readonly site: Pick<Site, 'nextCut' | 'nextSharing' | 'anyLimit'>;
  readonly latest: () => TickEvent;
  /** the next instant at which a tick of real time ends by a guide; Infinity: none */
  readonly guideDue: () => number;
  /** true while steps of the plant itself are under way */
  readonly isStepping: () => boolean;
  /** Runs `work` while no device joins or leaves and no other tick runs. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  /** @throws SimError STOPPING */
  readonly checkRunning: () => void;
  /** Records the client that runs the tick. */
  readonly stepped: (by: Origin | undefined) => void;
}

/** A tick under way. */
interface OpenTick {
  /** instant that all devices have reached */
  at: SimTime;
  /** true while a piece or the end of the tick is under way */
  isBusy: boolean;
  /** Lets devices join and other ticks run. */
  readonly release: () => void;
}

export class DrivenTicks {
  readonly #plant: DrivenPlant;
  #open: OpenTick | null = null;

  constructor(plant: DrivenPlant) {
    this.#plant = plant;
  }

  /** True from the begin of a tick to its end: no device joins or leaves meanwhile. */
  get isOpen(): boolean {
    return this.#open !== null;
  }

  /** The instant that all devices have reached. */
  get reached(): SimTime {
    return this.#open?.at ?? this.#plant.clock.tickTime;
  }

  /**
   * The next instant at which the plant ends a piece by itself, microseconds: acts of the timetable, limits and meters
   * of the site, and with a running clock the guide of its ticks. One that has passed is that of acts which the begin of
   * a tick runs. Infinity: none.
   */
  get dueUs(): number {
    const { clock, timetable, site, guideDue } = this.#plant;
    return Math.min(timetable.nextDue, site.nextCut(this.reached), clock.paused ? Infinity : guideDue());
  }

  /** The next instant at which limits are shared again, should any part of the fleet have limits, microseconds. */
  get sharingUs(): number {
    return this.#plant.site.nextSharing(this.reached);
  }

  /** True if limits of the site are in force here. */
  get isLimited(): boolean {
    return this.#plant.site.anyLimit;
  }

  /**
   * Begins a tick at the end of the last one, and runs the acts that are due there.
   * @param by null: the client of the last step continues
   * @throws SimError COMMAND_CONFLICT while the clock runs, or another tick or step is under way; STOPPING
   */
  async begin(by?: Origin | null): Promise<void> {
    const { clock, run, inTurn, stepped } = this.#plant;
    this.#checkFree();
    await new Promise<void>((resolve, reject) => {
      const work = async () => {
        this.#checkFree();
        if (by !== null) stepped(by);
        run.begin(clock.tickTime);
        await new Promise<void>((release) => {
          this.#open = { at: clock.tickTime, isBusy: false, release };
          resolve();
        });
      };
      inTurn(work).catch(reject);
    });
  }

  #checkFree(): void {
    const { clock, isStepping, checkRunning } = this.#plant;
    checkRunning();
    if (!clock.paused) throw new SimError('COMMAND_CONFLICT', 'the clock runs; stepping needs it paused');
    if (this.#open || isStepping()) throw new SimError('COMMAND_CONFLICT', 'a step is under way');
  }

  /**
   * Advances all devices to an instant, or to an earlier one at which the plant ends a piece by itself.
   * @returns the instant reached
   * @throws SimError COMMAND_CONFLICT without a tick, COMMAND_BAD_VALUE for an instant that has been reached, STOPPING
   */
  advancePiece(to: SimTime): Promise<SimTime> {
    return this.#inTick(async (tick) => {
      if (!(to > tick.at)) throw new SimError('COMMAND_BAD_VALUE', `the devices have reached ${tick.at}, not ${to}`);
      const reached = await this.#plant.run.advancePiece(tick.at, to);
      if (reached === null) this.#close();
      else tick.at = reached;
      this.#plant.checkRunning();
      return tick.at;
    });
  }

  /**
   * Ends the tick where the devices are: registers and snapshots show that instant. Nothing is shown where they have not
   * advanced.
   * @param number number of the tick, if it is above the last one; default: the next
   * @throws SimError COMMAND_CONFLICT without a tick, STOPPING
   */
  publish(number?: number): Promise<TickEvent> {
    return this.#inTick(async (tick) => {
      const { run, latest, clock, checkRunning } = this.#plant;
      const before = latest().tick;
      if (tick.at > clock.tickTime) {
        await run.publish(tick.at, number);
        if (latest().tick === before) checkRunning();
      }
      this.#close();
      return latest();
    });
  }

  /** Ends the tick without showing it, at the end of the plant. */
  end(): void {
    // work under way notices the end by itself
    if (this.#open?.isBusy === false) this.#close();
  }

  async #inTick<T>(work: (tick: OpenTick) => Promise<T>): Promise<T> {
    const tick = this.#open;
    if (!tick) throw new SimError('COMMAND_CONFLICT', 'no tick has begun');
    if (tick.isBusy) throw new SimError('COMMAND_CONFLICT', 'a piece of the tick is under way');
    tick.isBusy = true;
    try {
      return await work(tick);
    } catch (error) {
      // a tick that failed half-way cannot go on, as one of the plant itself
      if (!(error instanceof SimError && error.code === 'COMMAND_BAD_VALUE')) this.#close();
      throw error;
    } finally {
      tick.isBusy = false;
    }
  }

  #close(): void {
    const tick = this.#open;
    this.#open = null;
    tick?.release();
  }
}
