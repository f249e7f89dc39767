/** Predicted claims of events to modes, each for a period; the claims to one mode do not overlap. */
import type { ModeName } from '../control/model.ts';
import { overlap } from './state.ts';
import type { Period } from './state.ts';

interface Claim {
  readonly period: Period;
  /** place of the event in the order of priority */
  readonly place: number;
}

export class Claims {
  /** by mode, in order of start */
  readonly #claims = new Map<ModeName, Claim[]>();

  /** Adds a claim that overlaps no other claim to its mode. */
  add(mode: ModeName, period: Period, place: number): void {
    const claims = this.#claims.get(mode);
    if (claims) claims.splice(firstAfter(claims, period), 0, { period, place });
    else this.#claims.set(mode, [{ period, place }]);
  }

  /** The last place, in the order of priority, of the events that claim a mode within a period; null: none. */
  takerOf(mode: ModeName, period: Period): number | null {
    const claims = this.#claims.get(mode) ?? [];
    let lastPlace: number | null = null;
    // claims do not overlap, so their ends are in order too
    for (let at = firstAfter(claims, { startS: period.endS, endS: Infinity }) - 1; at >= 0; at -= 1) {
      const claim = claims[at];
      if (claim === undefined || claim.period.endS < period.startS) break;
      if (overlap(claim.period, period)) lastPlace = Math.max(lastPlace ?? -1, claim.place);
    }
    return lastPlace;
  }
}

/** The index of the first claim after a period: with a later start, or with the same start and a later end. */
function firstAfter(claims: readonly Claim[], { startS, endS }: Period): number {
  const isAfter = (claim: Claim) =>
    claim.period.startS === startS ? claim.period.endS > endS : claim.period.startS > startS;
  let [low, high] = [0, claims.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const claim = claims[middle];
    if (claim === undefined || isAfter(claim)) high = middle;
    else low = middle + 1;
  }
  return low;
}
