/** Acts at exact simulated instants, between the pieces of a tick. */
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { Scheduler } from '../../core/time/scheduler.ts';
import type { SimClock } from '../../core/time/sim-clock.ts';

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
   * @returns cancels the act, as long as it has not begun
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

  /** Runs what is due at `t`, to which all devices have advanced, including what these acts add for this instant. */
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
