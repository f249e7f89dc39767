/** Between the AC output and the source: conversion losses both ways, and the question what the source would do. */
import type { DcRequest, DcSource } from '../source/source.ts';
import { acFromDc, dcFromAc } from './efficiency.ts';

export interface DcLinkRatings {
  readonly wMaxRtgW: number;
  /** null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
}

export class DcLink {
  /** AC power that the source could give in the prepared sub-step, and that it could take */
  availableW = 0;
  absorbableW = 0;
  /** AC power that the source could give once its own ramps are over */
  potentialW = 0;
  #source: DcSource;
  readonly #dc0W: number;
  readonly #etaNominal: number | null;
  readonly #request = { targetW: null as number | null, floorW: 0, ceilingW: 0 } satisfies DcRequest;

  constructor({ wMaxRtgW, efficiencyNominal }: DcLinkRatings, source: DcSource) {
    this.#etaNominal = efficiencyNominal;
    this.#dc0W = wMaxRtgW / (efficiencyNominal ?? 1);
    this.#source = source;
  }

  /** Takes over what a prepared source offers. */
  read(source: DcSource): void {
    this.#source = source;
    this.availableW = this.#acOf(source.availableDcW);
    this.potentialW = source.potentialDcW === undefined ? this.availableW : this.#acOf(source.potentialDcW);
    this.absorbableW = source.absorbableDcW > 0 ? -this.#acOf(-source.absorbableDcW) : 0;
  }

  /** AC power that the source could take once its own ramps are over. */
  get potentialAbsorbableW(): number {
    const dcW = this.#source.potentialAbsorbableDcW;
    return dcW === undefined ? this.absorbableW : Math.max(this.absorbableW, -this.#acOf(-dcW));
  }

  /** Least AC power below which the source gives nothing at all. */
  get leastGivenW(): number {
    const { minOutputDcW = 0 } = this.#source;
    return minOutputDcW > 0 ? this.#acOf(minOutputDcW) : 0;
  }

  /** Least AC power below which the source takes nothing at all. */
  get leastAbsorbedW(): number {
    const { minAbsorbedDcW = 0 } = this.#source;
    return minAbsorbedDcW > 0 ? -this.#acOf(-minAbsorbedDcW) : 0;
  }

  /** Most AC power that ramps of the source admit after `seconds` from `acW` on, in the direction of `side`; infinite: it has none. */
  risenW(acW: number, side: 1 | -1, seconds: number): number {
    const riseWS = (side > 0 ? this.#source.outputRampDcWS : this.#source.absorbedRampDcWS) ?? Infinity;
    if (riseWS === Infinity) return side * Infinity;
    return this.#acOf(side * (Math.max(0, side * this.#dcOf(acW)) + riseWS * seconds));
  }

  /** Whether the source offers more than `acW` needs. */
  exceeds(acW: number, marginW: number): boolean {
    return this.#source.availableDcW > this.#dcOf(acW) + marginW;
  }

  /**
   * AC power at which the source runs when asked for `targetW` (null: nobody asks) between the limits, W. The
   * ceiling lies within what was read; target and floor may lie below what the source can take now.
   */
  answerW(targetW: number | null, floorW: number, ceilingW: number): number {
    const request = this.#request;
    request.targetW = targetW === null ? null : this.#dcOf(targetW);
    request.floorW = this.#dcOf(floorW);
    request.ceilingW = this.#dcOf(ceilingW);
    const dcW = this.#source.answer(request);
    // what was asked for comes back to the last bit: ramps and functions compare it with their targets
    if (dcW === request.targetW && targetW !== null) return targetW;
    if (dcW === request.ceilingW) return ceilingW;
    if (dcW === request.floorW) return floorW;
    return Math.max(floorW, Math.min(ceilingW, this.#acOf(dcW)));
  }

  /** DC power behind the AC power; in the dim of dawn and dusk the converter itself uses up what there is. */
  dcW(pW: number): number {
    const source = this.#source;
    if (pW < 0) return Math.max(-source.absorbableDcW, this.#dcOf(pW));
    if (this.availableW <= 0) return source.absorbableDcW > 0 ? 0 : Math.max(0, source.availableDcW);
    return Math.min(source.availableDcW, this.#dcOf(pW));
  }

  #acOf(dcW: number): number {
    if (this.#etaNominal === null) return dcW;
    return dcW < 0 ? -dcFromAc(-dcW, this.#dc0W, this.#etaNominal) : acFromDc(dcW, this.#dc0W, this.#etaNominal);
  }

  #dcOf(acW: number): number {
    if (this.#etaNominal === null) return acW;
    return acW < 0 ? -acFromDc(-acW, this.#dc0W, this.#etaNominal) : dcFromAc(acW, this.#dc0W, this.#etaNominal);
  }
}
