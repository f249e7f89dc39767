import type { SimTime } from '../time/clock.ts';
import type { Origin } from '../origin.ts';
import { createRandom } from '../random.ts';
import type { RandomStream } from '../random.ts';
import type { FaultCondition, FaultKind, FaultLayer, FaultProtocol, FaultTarget } from './kinds.ts';

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
  /** why it is over; null: it has not been ended */
  end: FaultEnd | null = null;
  /** for what is random about it: noise, jitter, garbage */
  readonly random: RandomStream;
  readonly #chance: RandomStream;
  readonly #ends: FaultEnds;
  /** by device: occasions since its last turn */
  readonly #sinceTurn = new Map<number | null, number>();

  constructor(facts: FaultFacts<P>, due: FaultDue, ends: FaultEnds) {
    this.facts = facts;
    this.due = due;
    this.random = createRandom(facts.seed, 'fault', 'values');
    this.#chance = createRandom(facts.seed, 'fault', 'chance');
    this.#ends = ends;
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
   * Whether its time has come although it has not been ended yet: requests come between ticks. A device lives behind
   * the clock while it catches up, and ends its effects at their instants by itself.
   */
  get isOver(): boolean {
    return this.layer !== 'effect' && this.#ends.isDue(this.due);
  }

  /** Whether somebody has ended it before its time, so that nothing of it is to go on. */
  get isTakenBack(): boolean {
    return this.end !== null && this.end !== 'count' && this.end !== 'duration';
  }

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
   * @param deviceIndex the device whose occasion it is; null: none alone
   */
  strikes(deviceIndex: number | null): boolean {
    if (this.end !== null || this.isOver) return false;
    this.occasions += 1;
    if (!this.#isTurn(deviceIndex)) return false;
    if (this.facts.probability < 1 && this.#chance.next() >= this.facts.probability) return false;
    this.strikeCount += 1;
    if (this.remaining === 0) this.#ends.spent(this);
    return true;
  }

  /** A device has left; its index goes to no other. */
  forget(deviceIndex: number): void {
    this.#sinceTurn.delete(deviceIndex);
  }

  /** Each n-th occasion of each device: with one count for all, a master that asks two in turns would find one sound. */
  #isTurn(deviceIndex: number | null): boolean {
    const { every } = this.facts;
    if (every === 1) return true;
    const occasions = (this.#sinceTurn.get(deviceIndex) ?? 0) + 1;
    const turn = occasions === every;
    this.#sinceTurn.set(deviceIndex, turn ? 0 : occasions);
    return turn;
  }
}
