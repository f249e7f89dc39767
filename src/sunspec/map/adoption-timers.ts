/** Adoptions that take simulated time: IN_PROGRESS until their instant. */
import { addSeconds } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { CommitClock, RegisterBank } from './bank.ts';
import type { PointSlot } from './layout.ts';

export class AdoptionTimers {
  readonly #bank: RegisterBank;
  readonly #scheduler: Scheduler;
  readonly #clock: CommitClock;
  readonly #adoptionS: number;
  readonly #underWay = new Map<number, Timer>();

  constructor(bank: RegisterBank, scheduler: Scheduler, clock: CommitClock, adoptionS: number) {
    this.#bank = bank;
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#adoptionS = adoptionS;
  }

  /** Puts an adoption off to its instant, in place of one of the same model. @returns false where adoption takes no time */
  defer(request: PointSlot, by: Origin): boolean {
    if (this.#adoptionS <= 0) return false;
    this.drop(request);
    const due = addSeconds(this.#clock.sim(), this.#adoptionS);
    this.#underWay.set(
      request.modelId,
      this.#scheduler.at(due, () => {
        this.#bank.completeAdoption(request, by);
      }),
    );
    return true;
  }

  /** Ends an adoption of the same model that is under way without its effect. */
  drop({ modelId }: PointSlot): void {
    const before = this.#underWay.get(modelId);
    if (before) this.#scheduler.cancel(before);
    this.#underWay.delete(modelId);
  }
}
