import type { SimTime } from './clock.ts';
import type { Origin } from './device.ts';
import { createRandom } from './random.ts';
import type { RandomStream } from './random.ts';
import type { FaultCondition, FaultKind, FaultLayer, FaultProtocol, FaultTarget } from './fault-kinds.ts';

/** Why a fault is over. */
export const faultEnds = ['cleared', 'count', 'duration', 'device_removed', 'device_reset'] as const;
export type FaultEnd = (typeof faultEnds)[number];

/** What the registry knows of a fault when it puts it in. */
export interface FaultFacts<P = unknown> {
  /** counts from 1 in each process */
  readonly id: number;
  readonly kind: FaultKind<P>;
  /** null: every device */
  readonly deviceIndex: number | null;
  readonly target: FaultTarget;
  readonly parameters: P;
  readonly when: FaultCondition | null;
  readonly count: number | null;
  readonly durationS: number | null;
  readonly probability: number;
  readonly every: number;
  /** of its random numbers: the same seed gives the same ones */
  readonly seed: number;
  /** the profile it came with */
  readonly profile: string | null;
  readonly by: Origin;
  /** wall time, ms since the epoch */
  readonly beganAtMs: number;
}

/** The two clocks by which a fault can end; only the one of its layer is set. */
export interface FaultDue {
  readonly sim: SimTime | null;
  readonly monotonicMs: number | null;
}

/** What the registry does about the ends of its faults. */
export interface FaultEnds {
  /** whether a clock has come to this */
  isDue(due: FaultDue): boolean;
  /** called when `count` strikes are used up */
  spent(fault: ActiveFault): void;
}

/** One fault in force. Whoever carries it out asks `strikes` at each occasion, and only then acts. */
export class ActiveFault<P = unknown> {
  readonly facts: FaultFacts<P>;
  readonly due: FaultDue;
  /** occasions at which it could have struck, and those at which it did */
  occasions = 0;
  strikeCount = 0;
  /** for what is random about it: noise, jitter, garbage */
  readonly random: RandomStream;
  readonly #chance: RandomStream;
  readonly #ends: FaultEnds;

  constructor(facts: FaultFacts<P>, due: FaultDue, ends: FaultEnds) {
    this.facts = facts;
    this.due = due;
    this.random = createRandom(facts.seed, 'fault', 'values');
    this.#chance = createRandom(facts.seed, 'fault', 'chance');
    this.#ends = ends;
  }

  get layer(): FaultLayer { return this.facts.kind.layer; }

  get protocol(): FaultProtocol { return this.facts.kind.protocol; }

  get parameters(): P { return this.facts.parameters; }

  /** Strikes left; null: no limit. */
  get remaining(): number | null {
    return this.facts.count === null ? null : this.facts.count - this.strikeCount;
  }

  /**
   * Whether its time has come although it has not been ended yet: requests come between ticks. A device lives behind
   * the clock while it catches up, and ends its effects at their instants by itself.
   */
  get isOver(): boolean { return this.layer !== 'effect' && this.#ends.isDue(this.due); }

  /** Whether it is one of this kind, whose parameters are then typed. */
  isOf<Q>(kind: FaultKind<Q>): this is ActiveFault<Q> {
    return (this.facts.kind as FaultKind) === kind;
  }

  concerns(deviceIndex: number): boolean {
    return this.facts.deviceIndex === null || this.facts.deviceIndex === deviceIndex;
  }

  /**
   * Whether it strikes at this occasion: by `every`, then by chance. Counts, and ends the fault after the last strike;
   * the strike that ends it is still carried out.
   */
  strikes(): boolean {
    if (this.remaining === 0 || this.isOver) return false;
    this.occasions += 1;
    if (this.occasions % this.facts.every !== 0) return false;
    if (this.facts.probability < 1 && this.#chance.next() >= this.facts.probability) return false;
    this.strikeCount += 1;
    if (this.remaining === 0) this.#ends.spent(this);
    return true;
  }
}
