/** The bounds of the power of a battery, which move to new values within a ramp time. */
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { equalBounds, freeFlow } from '../../inverter/storage-flow.ts';
import type { StorageFlow } from '../../inverter/storage-flow.ts';

const minStepS = 0.001;

/** Powers are DC watts, + to discharge. */
export class FlowBounds {
  /** lower bound now; -Infinity: none */
  floorW = -Infinity;
  /** upper bound now; Infinity: none */
  ceilingW = Infinity;
  #target: StorageFlow = freeFlow;
  #remainingS = 0;
  readonly #powerW: number;

  /** @param powerW rated power in both directions; in a ramp a bound beyond it counts as this */
  constructor(powerW: number) {
    this.#powerW = powerW;
  }

  /** False if the storage may not charge from the grid. */
  get fromGrid(): boolean {
    return this.#target.fromGrid;
  }

  /** Time until the end of the ramp, s; Infinity: no ramp. */
  get remainingS(): number {
    return this.#remainingS > 0 ? Math.max(this.#remainingS, minStepS) : Infinity;
  }

  /** Power of the battery within the bounds. @param demandW power without bounds */
  admit(demandW: number): number {
    return Math.min(this.ceilingW, Math.max(this.floorW, demandW));
  }

  /** Sets new bounds. @returns true if anything changed */
  set(flow: StorageFlow): boolean {
    const former = this.#target;
    this.#target = flow;
    if (equalBounds(flow, former)) return flow.fromGrid !== former.fromGrid;
    this.#remainingS = flow.rampS;
    if (flow.rampS <= 0) this.#arrive();
    return true;
  }

  /** Advances the ramp. */
  advance(dtS: number): void {
    if (this.#remainingS <= 0) return;
    const share = Math.min(1, dtS / this.#remainingS);
    this.#remainingS -= dtS;
    if (this.#remainingS <= 0) {
      this.#arrive();
      return;
    }
    this.floorW = this.#between(this.floorW, this.#target.floorW, share);
    this.ceilingW = this.#between(this.ceilingW, this.#target.ceilingW, share);
  }

  #arrive(): void {
    this.#remainingS = 0;
    this.floorW = this.#target.floorW;
    this.ceilingW = this.#target.ceilingW;
  }

  #between(fromW: number, toW: number, share: number): number {
    if (fromW === toW) return toW;
    const [a, b] = [this.#finite(fromW), this.#finite(toW)];
    return a + (b - a) * share;
  }

  #finite(boundW: number): number {
    return Math.max(-this.#powerW, Math.min(this.#powerW, boundW));
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        floorW: this.floorW,
        ceilingW: this.ceilingW,
        target: this.#target,
        remainingS: this.#remainingS,
      }),
      ({ floorW, ceilingW, target, remainingS }) => {
        this.floorW = floorW;
        this.ceilingW = ceilingW;
        this.#target = target;
        this.#remainingS = remainingS;
      },
    );
  }
}
