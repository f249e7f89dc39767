/** Adoptions that take time, in simulated time: between request and completion the result reads IN_PROGRESS. */
import { addSeconds } from '../../core/clock.ts';
import type { Origin } from '../../core/device.ts';
import type { Scheduler, Timer } from '../../core/scheduler.ts';
import type { CommitClock, RegisterBank } from './bank.ts';
import type { PointSlot } from './layout.ts';

/** The adoptions under way of one device. */
export class AdoptionTimers {
  readonly #bank: RegisterBank;
  readonly #scheduler: Scheduler;
  readonly #clock: CommitClock;
  readonly #adoptionS: number;
  readonly #running = new Map<PointSlot, Timer>();

  /** @param adoptionS time that an adoption takes, simulated seconds; 0 = none is deferred */
  constructor(bank: RegisterBank, scheduler: Scheduler, clock: CommitClock, adoptionS: number) {
    this.#bank = bank;
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#adoptionS = adoptionS;
  }

  /** What `BankOptions.deferAdoption` asks; takes the place of an adoption of the same model that is under way. */
  defer(request: PointSlot, by: Origin): boolean {
    if (this.#adoptionS <= 0) return false;
    const former = this.#running.get(request);
    if (former) this.#scheduler.cancel(former);
    this.#running.set(request, this.#scheduler.at(addSeconds(this.#clock.sim(), this.#adoptionS), () => {
      this.#running.delete(request);
      this.#bank.completeAdoption(request, by);
    }));
    return true;
  }

  /** Ends all of them without their effect (reset of the device). */
  clear(): void {
    for (const timer of this.#running.values()) this.#scheduler.cancel(timer);
    this.#running.clear();
  }
}
