import type { SimTime } from '../time/clock.ts';
import { keptParts, keptRecord } from '../kept.ts';
import type { Kept } from '../kept.ts';
import type { Origin } from '../origin.ts';
import { createRandom } from '../random.ts';
import type { RandomStream } from '../random.ts';
import { meterIndex } from './kinds.ts';
import type { FaultCondition, FaultKind, FaultLayer, FaultProtocol, FaultTarget } from './kinds.ts';

/** Reasons for the end of a fault. */
export const faultEnds = ['cleared', 'count', 'duration', 'device_removed', 'device_reset'] as const;
export type FaultEnd = (typeof faultEnds)[number];

/** The properties of a fault at its injection. */
export interface FaultFacts<P = unknown> {
  /** counts from 1, on over a restart that keeps the faults */
  readonly id: number;
  readonly kind: FaultKind<P>;
  /** null: every device, or a group; `meterIndex`: the meter */
  readonly deviceIndex: number | null;
  readonly target: FaultTarget;
  readonly parameters: P;
  readonly when: FaultCondition | null;
  readonly count: number | null;
  readonly durationS: number | null;
  readonly probability: number;
  readonly every: number;
  /** seed of its random numbers */
  readonly seed: number;
  /** name of its fault profile; null: none */
  readonly profile: string | null;
  /** name of the device profile that defines it; null: none */
  readonly deviceProfile: string | null;
  readonly by: Origin;
  /** wall time, ms since the epoch */
  readonly beganAtMs: number;
}

/** End of a fault by its duration; only the member for the clock of its layer is set. */
export interface FaultDue {
  readonly sim: SimTime | null;
  readonly monotonicMs: number | null;
}

/** Callbacks to the registry about the end of a fault. */
export interface FaultEnds {
  /** true if the clock of the layer has reached the end */
  isDue(due: FaultDue): boolean;
  /** called at the last of `count` strikes, before its effect */
  spent(fault: ActiveFault): void;
}

/** One fault in force. The code that applies it calls `strikes` at each occasion and acts only if that is true. */
export class ActiveFault<P = unknown> {
  readonly facts: FaultFacts<P>;
  readonly due: FaultDue;
  /** occasions at which it could have struck */
  occasions = 0;
  /** occasions at which it struck */
  strikeCount = 0;
  /** reason of its end; null: still in force */
  end: FaultEnd | null = null;
  /** for random values of the fault: noise, jitter, garbage */
  readonly random: RandomStream;
  readonly #chance: RandomStream;
  /** random number for the next occasion, if `wouldStrike` has drawn it already; null: not yet drawn */
  #drawn: number | null = null;
  readonly #ends: FaultEnds;
  /** true if the fault has a duration; stored, since it is read very often */
  readonly #isTimed: boolean;
  /** by device: occasions since its last turn by `every` */
  readonly #sinceTurn = new Map<number | null, number>();
  /** indexes of the remaining devices of its group; null: no group */
  readonly #group: Set<number> | null;

  /** @param group indexes of the only devices that it strikes if it has no single device; null: every device */
  constructor(facts: FaultFacts<P>, due: FaultDue, ends: FaultEnds, group: readonly number[] | null = null) {
    this.facts = facts;
    this.#group = group && new Set(group);
    this.due = due;
    this.random = createRandom(facts.seed, 'fault', 'values');
    this.#chance = createRandom(facts.seed, 'fault', 'chance');
    this.#ends = ends;
    this.#isTimed = due.sim !== null || due.monotonicMs !== null;
  }

  get layer(): FaultLayer {
    return this.facts.kind.layer;
  }

  get protocol(): FaultProtocol {
    return this.facts.kind.protocol;
  }

  get parameters(): P {
    return this.facts.parameters;
  }

  /** Strikes left; null: no limit. */
  get remaining(): number | null {
    return this.facts.count === null ? null : this.facts.count - this.strikeCount;
  }

  /**
   * True if its duration is over although the registry has not ended it yet: requests arrive between ticks. False for
   * effects: a device that catches up is behind the clock, and ends each effect at the right instant itself.
   */
  get isOver(): boolean {
    return this.#isTimed && this.layer !== 'effect' && this.#ends.isDue(this.due);
  }

  /** True if it was ended early, so that its effects must stop at once. */
  get isTakenBack(): boolean {
    return this.end !== null && this.end !== 'count' && this.end !== 'duration';
  }

  /** True if the fault is of this kind; narrows the type of its parameters. */
  isOf<Q>(kind: FaultKind<Q>): this is ActiveFault<Q> {
    return (this.facts.kind as FaultKind) === kind;
  }

  /** True if it strikes every device, also one that joins later. */
  get isOfAll(): boolean {
    return this.facts.deviceIndex === null && this.#group === null;
  }

  /** Number of devices left in its group; null: no group. */
  get groupSize(): number | null {
    return this.#group?.size ?? null;
  }

  /** Indexes of the devices left in its group; null: no group. */
  get group(): readonly number[] | null {
    return this.#group && [...this.#group];
  }

  concerns(deviceIndex: number): boolean {
    if (this.#group !== null) return this.#group.has(deviceIndex);
    const { deviceIndex: only } = this.facts;
    return only === null ? deviceIndex !== meterIndex : only === deviceIndex;
  }

  /**
   * True if it strikes at this occasion, by `every` and then by `probability`. Counts the occasion, and ends the fault
   * with its last strike, which is still applied.
   * @param deviceIndex the device concerned; null: no single one
   */
  strikes(deviceIndex: number | null): boolean {
    if (this.end !== null || this.isOver) return false;
    this.occasions += 1;
    if (!this.#takeTurn(deviceIndex)) return false;
    if (!this.#isChosen(true)) return false;
    this.strikeCount += 1;
    if (this.remaining === 0) this.#ends.spent(this);
    return true;
  }

  /** True if it would strike at an occasion now. Counts no occasion, and does not change the next one. */
  wouldStrike(deviceIndex: number | null): boolean {
    if (this.end !== null || this.isOver) return false;
    const { every } = this.facts;
    if (every > 1 && (this.#sinceTurn.get(deviceIndex) ?? 0) + 1 < every) return false;
    return this.#isChosen(false);
  }

  /** @param isUsed false: the next call gets the same random number again */
  #isChosen(isUsed: boolean): boolean {
    if (this.facts.probability === 1) return true;
    const drawn = this.#drawn ?? this.#chance.next();
    this.#drawn = isUsed ? null : drawn;
    return drawn < this.facts.probability;
  }

  /** State that a restart keeps, besides the properties of the fault and its group. */
  kept(): Kept {
    return keptParts({
      members: keptRecord(
        () => ({
          occasions: this.occasions,
          strikeCount: this.strikeCount,
          end: this.end,
          drawn: this.#drawn,
          sinceTurn: [...this.#sinceTurn],
        }),
        ({ occasions, strikeCount, end, drawn, sinceTurn }) => {
          this.occasions = occasions;
          this.strikeCount = strikeCount;
          this.end = end;
          this.#drawn = drawn;
          this.#sinceTurn.clear();
          for (const [deviceIndex, since] of sinceTurn) this.#sinceTurn.set(deviceIndex, since);
        },
      ),
      random: this.random.kept(),
      chance: this.#chance.kept(),
    });
  }

  /** Drops the state of a removed device; its index is never used again. */
  forget(deviceIndex: number): void {
    this.#sinceTurn.delete(deviceIndex);
    this.#group?.delete(deviceIndex);
  }

  /**
   * Counts an occasion of a device. With one count for all devices, `every: 2` would never strike one of two devices
   * that a master polls in turn.
   * @returns true at every n-th occasion of the device
   */
  #takeTurn(deviceIndex: number | null): boolean {
    const { every } = this.facts;
    if (every === 1) return true;
    const occasions = (this.#sinceTurn.get(deviceIndex) ?? 0) + 1;
    const isTurn = occasions === every;
    this.#sinceTurn.set(deviceIndex, isTurn ? 0 : occasions);
    return isTurn;
  }
}
