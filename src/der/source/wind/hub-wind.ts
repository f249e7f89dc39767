/** Wind at the hub: mean wind, turbulence, and their average over the rotor. */
import type { TurbulenceClass, WindParameters } from '../../../contract/kinds/wind.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { RandomStream } from '../../../core/random.ts';

/** Reference intensity of IEC 61400-1 at 15 m/s. */
const referenceIntensity: Readonly<Record<TurbulenceClass, number>> = { A: 0.16, B: 0.14, C: 0.12, none: 0 };
/** Kaimal integral scale of the longitudinal component for hubs above 60 m. */
const lengthScaleM = 340.2;
/** Maximum wind speed; higher values count as this. */
const maxMS = 60;
const minMS = 0.5;
/** Maximum slope of the mean over a rotor: the extreme coherent gust of IEC 61400-1, 15 m/s in 10 s. */
const maxRiseMS2 = 1.5;
const nodeTolerance = 1e-9;

/** Ratio of the wind speed at one height to that at another by the power law. */
export function shearFactor(heightM: number, referenceM: number, exponent: number): number {
  return heightM > 0 && referenceM > 0 ? Math.pow(heightM / referenceM, exponent) : 1;
}

/** Standard deviation of the IEC normal turbulence model, m/s. */
export function turbulenceSigmaMS(turbulenceClass: TurbulenceClass, hubMS: number): number {
  return referenceIntensity[turbulenceClass] * (0.75 * hubMS + 5.6);
}

/** Time constant of the turbulence, s. */
export function turbulenceTimeConstantS(hubMS: number): number {
  return lengthScaleM / Math.max(hubMS, minMS);
}

export interface WindOverride {
  readonly speedMS: number;
  readonly height: 'hub' | 'anemometer';
}

/**
 * Turbulence is an Ornstein-Uhlenbeck process on whole seconds of simulated time, linear in between, so that neither
 * tick nor sub-step changes it. It continues without effect during an override.
 */
export class HubWind {
  readonly #random: RandomStream;
  readonly #class: TurbulenceClass;
  readonly #shear: number;
  readonly #rotorDiameterM: number;
  #override: WindOverride | null = null;
  /** true: the mean wind of the next sub-step is a step */
  #switched = true;
  #meanMS = 0;
  #slopeMS2 = 0;
  /** seconds since the last node */
  #phaseS = 0;
  #fromMS = 0;
  #toMS = 0;
  #hubMS = 0;
  #rotorMS = 0;

  constructor(parameters: WindParameters, random: RandomStream) {
    this.#random = random;
    this.#class = parameters.turbulenceClass;
    this.#shear = shearFactor(parameters.hubHeightM, parameters.anemometerHeightM, parameters.shearExponent);
    this.#rotorDiameterM = parameters.rotorDiameterM;
  }

  /** Wind at hub height now, m/s. */
  get hubMS(): number {
    return this.#hubMS;
  }

  /** Wind at hub height without turbulence, m/s. */
  get meanMS(): number {
    return this.#meanMS;
  }

  /** Wind averaged over the rotor, m/s. */
  get rotorMS(): number {
    return this.#rotorMS;
  }

  /** Mean wind at the height of the anemometer, m/s. */
  get measuredMS(): number {
    return this.#shear > 0 ? this.#meanMS / this.#shear : this.#meanMS;
  }

  get override(): WindOverride | null {
    return this.#override;
  }

  set override(override: WindOverride | null) {
    this.#override = override;
    this.#switched = true;
  }

  /** Jumps to a steady wind without turbulence, the same over the rotor. @param measuredMS wind at anemometer height */
  settle(measuredMS: number): void {
    this.#meanMS = this.#target(measuredMS);
    this.#slopeMS2 = 0;
    this.#switched = false;
    this.#fromMS = 0;
    this.#toMS = this.#nextNode(0, this.#meanMS);
    this.#phaseS = 0;
    this.#hubMS = this.#meanMS;
    this.#rotorMS = this.#meanMS;
  }

  /** Begins a sub-step of `dtS`. @param measuredMS wind at anemometer height at its end */
  begin(dtS: number, measuredMS: number): void {
    const target = this.#target(measuredMS);
    // a switch between override and data is a step; the data themselves are linear
    if (this.#switched || !(dtS > 0)) this.#meanMS = target;
    this.#switched = false;
    this.#slopeMS2 = dtS > 0 ? (target - this.#meanMS) / dtS : 0;
  }

  /** Advances by a part of the sub-step, at most 1 s. @returns mean wind over the rotor during it, m/s */
  advance(stepS: number): number {
    this.#meanMS += this.#slopeMS2 * stepS;
    this.#phaseS += stepS;
    if (this.#phaseS >= 1 - nodeTolerance) {
      this.#phaseS = Math.max(0, this.#phaseS - 1);
      this.#fromMS = this.#toMS;
      this.#toMS = this.#nextNode(this.#fromMS, this.#meanMS - this.#slopeMS2 * this.#phaseS);
    }
    const gust = this.#override === null ? this.#fromMS + (this.#toMS - this.#fromMS) * this.#phaseS : 0;
    const before = this.#hubMS;
    this.#hubMS = Math.max(0, this.#meanMS + gust);
    const meanHubMS = (before + this.#hubMS) / 2;
    const rotorBefore = this.#rotorMS;
    const change =
      -(meanHubMS - rotorBefore) * Math.expm1((-stepS * Math.max(meanHubMS, minMS)) / this.#rotorDiameterM);
    const maxChange = maxRiseMS2 * stepS;
    this.#rotorMS += Math.min(Math.max(change, -maxChange), maxChange);
    return (rotorBefore + this.#rotorMS) / 2;
  }

  #target(measuredMS: number): number {
    const override = this.#override;
    const windMS = override === null ? measuredMS : override.speedMS;
    const hub = override?.height === 'hub' ? windMS : windMS * this.#shear;
    if (!Number.isFinite(hub)) return this.#meanMS;
    return Math.min(Math.max(hub, 0), maxMS);
  }

  /** State that a restart keeps; the slope is set at the begin of each sub-step. */
  kept(): Kept {
    return keptParts({
      random: this.#random.kept(),
      members: keptRecord(
        () => ({
          override: this.#override,
          switched: this.#switched,
          meanMS: this.#meanMS,
          phaseS: this.#phaseS,
          fromMS: this.#fromMS,
          toMS: this.#toMS,
          hubMS: this.#hubMS,
          rotorMS: this.#rotorMS,
        }),
        (values) => {
          this.#override = values.override;
          this.#switched = values.switched;
          this.#meanMS = values.meanMS;
          this.#phaseS = values.phaseS;
          this.#fromMS = values.fromMS;
          this.#toMS = values.toMS;
          this.#hubMS = values.hubMS;
          this.#rotorMS = values.rotorMS;
        },
      ),
    });
  }

  #nextNode(nowMS: number, meanMS: number): number {
    if (this.#class === 'none') return 0;
    const retained = Math.exp(-1 / turbulenceTimeConstantS(meanMS));
    return (
      nowMS * retained +
      turbulenceSigmaMS(this.#class, meanMS) * Math.sqrt(1 - retained * retained) * this.#random.normal()
    );
  }
}
