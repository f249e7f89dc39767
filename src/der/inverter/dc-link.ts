/** Converts between AC power at the terminals and DC power of the source, losses included, in both directions. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Settings } from './settings.ts';
import type { DcRequest, DcSource } from '../source/source.ts';
import type { StorageFlow } from './storage-flow.ts';
import type { StackPower } from '../../contract/kinds/fuelcell.ts';

// Efficiency of the PVWatts inverter as a polynomial of z = dc / dc0: (a z + b / z + c) etaNom / etaRef.
const quadratic = 0.0162;
const constant = 0.0059;
const linear = 0.9858;
const etaRef = 0.9637;

/**
 * AC power in W that an inverter makes of `dcW` (PVWatts curve). Clipped at `etaNom * dc0W`; 0 below the
 * DC power that the inverter itself consumes, for NaN and for negative power. Never above `dcW`.
 * @param dc0W DC power in W at which the nominal AC power is reached
 * @param etaNom nominal efficiency, 0 to 1
 */
export function acFromDc(dcW: number, dc0W: number, etaNom: number): number {
  if (!(dcW > 0) || !(dc0W > 0) || !(etaNom > 0)) return 0;
  const eta = Math.min(etaNom, 1);
  const z = Math.min(dcW / dc0W, 1);
  const ac = (eta / etaRef) * ((linear - quadratic * z) * z - constant) * dc0W;
  // Nominal efficiencies above 0.997 would lift the middle of the curve over 100 %.
  return Math.max(0, Math.min(ac, eta * dc0W, dcW));
}

/**
 * DC power in W that makes `acW`: the inverse of {@link acFromDc} in closed form, 0 for 0.
 * More than the nominal AC power gives `dc0W`, the DC power at which the curve ends.
 */
export function dcFromAc(acW: number, dc0W: number, etaNom: number): number {
  if (!(acW > 0) || !(dc0W > 0) || !(etaNom > 0)) return 0;
  const eta = Math.min(etaNom, 1);
  if (acW >= eta * dc0W) return dc0W;
  const rest = constant + (acW / dc0W) * (etaRef / eta);
  // The smaller root, in the form without cancellation.
  const z = (2 * rest) / (linear + Math.sqrt(linear * linear - 4 * quadratic * rest));
  return Math.min(Math.max(z * dc0W, acW), dc0W);
}

interface DcLinkRatings {
  readonly wMaxRtgW: number;
  /** null: the source counts its power at the AC terminals */
  readonly efficiencyNominal: number | null;
}

type StorageLimits = Pick<Settings, 'dischargeMaxW' | 'dischargeMaxVa' | 'chargeLimitW' | 'storageFlow'>;

export class DcLink {
  /** AC power that the source could give in the prepared sub-step, W */
  availableW = 0;
  /** AC power that the source could absorb in the prepared sub-step, W */
  absorbableW = 0;
  /** AC power that the source could give once its ramps are over, W */
  potentialW = 0;
  #source: DcSource;
  #dc0W: number;
  #etaNominal: number | null;
  /** Reused for every `answer`; a source must not keep it. */
  readonly #request = { targetW: null as number | null, floorW: 0, ceilingW: 0 } satisfies DcRequest;

  constructor({ wMaxRtgW, efficiencyNominal }: DcLinkRatings, source: DcSource) {
    this.#etaNominal = efficiencyNominal;
    this.#dc0W = wMaxRtgW / (efficiencyNominal ?? 1);
    this.#source = source;
  }

  /** Takes over the ratings of another one before another source. */
  resume(other: DcLink, source: DcSource): void {
    this.#dc0W = other.#dc0W;
    this.#etaNominal = other.#etaNominal;
    this.#source = source;
  }

  /** Bounds discharge and charge of a storage, W at the AC terminals; takes effect with the next sub-step. */
  limitStorage({ dischargeMaxW, dischargeMaxVa, chargeLimitW, storageFlow }: StorageLimits): void {
    const source = this.#source;
    const dischargeW = Math.min(dischargeMaxW, dischargeMaxVa);
    if (source.dischargeLimitDcW !== undefined)
      source.dischargeLimitDcW = dischargeW === Infinity ? Infinity : this.#dcOf(dischargeW);
    if (source.chargeLimitDcW !== undefined)
      source.chargeLimitDcW = chargeLimitW === Infinity ? Infinity : -this.#dcOf(-chargeLimitW);
    source.boundFlow?.(this.#atSource(storageFlow));
  }

  /** Bounds at the DC port of a storage. In a hybrid the bounds already are DC powers of the battery. */
  #atSource(flow: StorageFlow): StorageFlow {
    if (this.#source.ports.length > 1) return flow;
    const dcOf = (boundW: number) => (Number.isFinite(boundW) ? this.#dcOf(boundW) : boundW);
    return { ...flow, floorW: dcOf(flow.floorW), ceilingW: dcOf(flow.ceilingW) };
  }

  /** Takes over the powers of a prepared source. */
  read(source: DcSource): void {
    this.#source = source;
    this.availableW = this.#acOf(source.availableDcW);
    this.potentialW = source.potentialDcW === undefined ? this.availableW : this.#acOf(source.potentialDcW);
    this.absorbableW = source.absorbableDcW > 0 ? -this.#acOf(-source.absorbableDcW) : 0;
  }

  /** State that a restart keeps; a command may have changed the source since it was read. */
  kept(): Kept {
    return keptRecord(
      () => ({ availableW: this.availableW, absorbableW: this.absorbableW, potentialW: this.potentialW }),
      (saved) => {
        ({ availableW: this.availableW, absorbableW: this.absorbableW, potentialW: this.potentialW } = saved);
      },
    );
  }

  /** True if a setting limits the discharge of a storage. */
  get dischargeLimited(): boolean {
    return this.#source.dischargeLimited ?? false;
  }

  /** True if the source powers the converter, which otherwise gives no reactive power. */
  get powered(): boolean {
    return this.#source.availableDcW > 0 || this.#source.absorbableDcW > 0;
  }

  /** AC power that the source could absorb once its ramps are over, W. */
  get potentialAbsorbableW(): number {
    const dcW = this.#source.potentialAbsorbableDcW;
    return dcW === undefined ? this.absorbableW : Math.max(this.absorbableW, -this.#acOf(-dcW));
  }

  /** Minimum AC power: below it the source gives nothing, W. */
  get minInjectW(): number {
    const { minOutputDcW = 0 } = this.#source;
    return minOutputDcW > 0 ? this.#acOf(minOutputDcW) : 0;
  }

  /** Minimum AC power: below it the source absorbs nothing, W. */
  get minAbsorbW(): number {
    const { minAbsorbedDcW = 0 } = this.#source;
    return minAbsorbedDcW > 0 ? -this.#acOf(-minAbsorbedDcW) : 0;
  }

  /**
   * Maximum AC power that ramps of the source allow `seconds` after `acW`, in the direction of `side`; infinite for a
   * source without ramps.
   */
  rampedW(acW: number, side: 1 | -1, seconds: number): number {
    const riseWS = (side > 0 ? this.#source.outputRampDcWS : this.#source.absorbedRampDcWS) ?? Infinity;
    if (riseWS === Infinity) return side * Infinity;
    return this.#acOf(side * (Math.max(0, side * this.#dcOf(acW)) + riseWS * seconds));
  }

  /** True if the source could give more than `acW` needs. */
  exceeds(acW: number, marginW: number): boolean {
    return this.#source.availableDcW > this.#dcOf(acW) + marginW;
  }

  /**
   * AC power at which the source runs with this target (null: none) and these limits, W. The ceiling is at most
   * `availableW`; target and floor may lie below what the source can absorb now.
   */
  answerW(targetW: number | null, floorW: number, ceilingW: number): number {
    const request = this.#request;
    request.targetW = targetW === null ? null : this.#dcOf(targetW);
    request.floorW = this.#dcOf(floorW);
    request.ceilingW = this.#dcOf(ceilingW);
    const dcW = this.#source.answer(request);
    // returned unchanged to the last bit, since ramps and functions compare the answer with their targets
    if (dcW === request.targetW && targetW !== null) return targetW;
    if (dcW === request.ceilingW) return ceilingW;
    if (dcW === request.floorW) return floorW;
    return Math.max(floorW, Math.min(ceilingW, this.#acOf(dcW)));
  }

  /** AC power of a DC power, independent of the source, W. */
  acOf(dcW: number): number {
    return this.#acOf(dcW);
  }

  /** DC power of an AC power, independent of the source, W. */
  dcOf(acW: number): number {
    return this.#dcOf(acW);
  }

  /** DC power for an AC power. Near dawn and dusk the converter itself consumes all DC power. */
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

/** Conversion between power of the stack and AC power; null: no fuel cell. */
export function stackPower({ stack }: DcSource, link: DcLink): StackPower | null {
  if (!stack) return null;
  return {
    acW: (stackW) => link.acOf(stack.dcW(stackW)),
    stackW: (acW) => stack.stackW(link.dcOf(acW)),
  };
}
