/** Adoptions that take simulated time: the result point reads IN_PROGRESS until the time has passed. */
import { addSeconds } from '../../core/time/clock.ts';
import type { Origin } from '../../core/origin.ts';
import type { Scheduler, Timer } from '../../core/time/scheduler.ts';
import type { CommitClock, RegisterBank } from './register-bank.ts';
import type { AdoptionOutcome, Commit, CommitParticipant } from './commit.ts';
import type { PointSlot } from './layout.ts';

export interface AdoptionTimersOptions {
  /** duration of an adoption, s; 0: inside the commit */
  readonly adoptionS: number;
  /** an outcome decided elsewhere; null: the usual one */
  readonly overrule?: (request: PointSlot, by: Origin) => AdoptionOutcome | null;
}

/** Settles the adoption requests of a bank. A later request for a model replaces the running one. */
export class AdoptionTimers implements CommitParticipant {
  readonly #bank: RegisterBank;
  readonly #scheduler: Scheduler;
  readonly #clock: CommitClock;
  readonly #options: AdoptionTimersOptions;
  /** by model */
  readonly #underWay = new Map<number, Timer>();

  constructor(bank: RegisterBank, scheduler: Scheduler, clock: CommitClock, options: AdoptionTimersOptions) {
    this.#bank = bank;
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#options = options;
  }

  prepare(commit: Commit): null {
    for (const request of commit.adoptions) commit.settle(request, this.#outcome(request, commit.by));
    return null;
  }

  #outcome(request: PointSlot, by: Origin): AdoptionOutcome {
    // a reversion adopts at the instant at which its timer ends
    if (by.source === 'reversion') return 'ADOPT';
    const overruled = this.#options.overrule?.(request, by) ?? null;
    if (overruled !== null) {
      this.#drop(request);
      return overruled;
    }
    if (this.#options.adoptionS <= 0) return 'ADOPT';
    this.#start(request, by);
    return 'IN_PROGRESS';
  }

  #start(request: PointSlot, by: Origin): void {
    this.#drop(request);
    const due = addSeconds(this.#clock.sim(), this.#options.adoptionS);
    this.#underWay.set(
      request.modelId,
      this.#scheduler.at(due, () => {
        this.#bank.completeAdoption(request, by);
      }),
    );
  }

  #drop({ modelId }: PointSlot): void {
    const before = this.#underWay.get(modelId);
    if (before) this.#scheduler.cancel(before);
    this.#underWay.delete(modelId);
  }
}
