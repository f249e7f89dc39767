/**
 * Dynamics of a fuel cell plant: temperature of the stack, lags of voltage and air supply, loading ramp and reversal.
 * Exact for any step at constant power.
 */
import type { FuelCellChemistry, FuelCellParameters } from '../../../contract/kinds/fuelcell.ts';
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { zeroCelsiusK } from '../constants.ts';

/** Thermal data of a stack. */
export interface StackHeat {
  /** temperature that heater and cooling maintain */
  readonly holdC: number;
  /** the stack is ready from this temperature */
  readonly readyC: number;
  readonly capacityJK: number;
  readonly lossWK: number;
  readonly coolingWK: number;
  readonly heaterW: number;
}

/** Per watt of rated gross power. */
const perWatt = {
  // 20 kJ/K and 0.3 kW/K for 5 kW; cools down in two hours; the heater can maintain 100 K above ambient
  PEMFC: { holdC: 65, readyC: 50, capacityJK: 4, lossWK: 4 / 7200, coolingWK: 0.06, heaterW: (100 * 4) / 7200 },
  // heats up from cold in about two and a half hours
  SOFC: { holdC: 750, readyC: 700, capacityJK: 4, lossWK: 4 / 7900, coolingWK: 0.02, heaterW: (1000 * 4) / 7900 },
} as const satisfies Record<FuelCellChemistry, StackHeat>;

/** Thermal data of a stack of this rated gross power, W. */
export function stackHeat(chemistry: FuelCellChemistry, ratedGrossW: number): StackHeat {
  const { holdC, readyC, capacityJK, lossWK, coolingWK, heaterW } = perWatt[chemistry];
  return {
    holdC,
    readyC,
    capacityJK: capacityJK * ratedGrossW,
    lossWK: lossWK * ratedGrossW,
    coolingWK: coolingWK * ratedGrossW,
    heaterW: heaterW * ratedGrossW,
  };
}

/**
 * Stack temperature after `dtS`, C. The stack is heated up to `holdC` and cooled only above it.
 * @param heatW heat of the reaction, W
 * @param energized false: a stack that is not ready yet cools down; a ready one is kept warm
 */
export function nextTemperatureC(
  heat: StackHeat,
  fromC: number,
  heatW: number,
  ambientC: number,
  energized: boolean,
  dtS: number,
): number {
  const { holdC, lossWK, capacityJK } = heat;
  let leftS = dtS;
  if (fromC < holdC) {
    const heaterW = energized || fromC >= heat.readyC ? heat.heaterW : 0;
    const goalC = ambientC + (heatW + heaterW) / lossWK;
    const tauS = capacityJK / lossWK;
    const untilHoldS = goalC > holdC ? tauS * Math.log((goalC - fromC) / (goalC - holdC)) : Infinity;
    if (untilHoldS >= leftS) return goalC - (goalC - fromC) * Math.exp(-leftS / tauS);
    leftS -= untilHoldS;
  }
  const warmC = Math.max(fromC, holdC);
  const conductance = lossWK + heat.coolingWK;
  const goalC = ambientC + heatW / conductance;
  if (warmC === holdC && goalC <= holdC) return holdC;
  return Math.max(holdC, goalC + (warmC - goalC) * Math.exp((-leftS * conductance) / capacityJK));
}

/** A PEM stack below its ready temperature is derated, down to `coldShare` at this temperature. */
const coldC = 0;
const coldShare = 0.3;
/** a PEM stack is derated from here to 0 at `hottestC` */
const hotC = 80;
const hottestC = 90;

/** Share of rated power that a stack of this temperature may deliver. */
export function admittedShare(chemistry: FuelCellChemistry, heat: StackHeat, temperatureC: number): number {
  if (chemistry === 'SOFC') return temperatureC >= heat.readyC ? 1 : 0;
  if (temperatureC < heat.readyC) {
    return coldShare + (1 - coldShare) * Math.max(0, (temperatureC - coldC) / (heat.readyC - coldC));
  }
  return Math.max(0, Math.min(1, (hottestC - temperatureC) / (hottestC - hotC)));
}

const fuelCellTauS = 0.5;
const electrolyserTauS = 5;
const airTauS = 1.5;
/** a smaller gap, as a share of the target, is closed at once */
const settledTolerance = 1e-9;
/**
 * share of the steady amount of oxygen below which the voltage falls no further, because the control reduces the load
 */
const minAirShare = 0.25;
const nernstVK = 4.308e-5 / 2;

/** Lagging voltage and air supply of a stack. */
export class StackLags {
  #voltageV = 0;
  #airW = 0;

  /** Moves towards the static voltage, V, and the air for this gross power, W; - in electrolysis. */
  follow(staticV: number, grossW: number, dtS: number): void {
    this.#voltageV = lag(this.#voltageV, staticV, grossW < 0 ? electrolyserTauS : fuelCellTauS, dtS);
    this.#airW = lag(this.#airW, Math.max(0, grossW), airTauS, dtS);
  }

  settle(staticV: number, grossW: number): void {
    this.#voltageV = staticV;
    this.#airW = Math.max(0, grossW);
  }

  /** Present voltage, V; lower while air is missing. */
  voltageV(grossW: number, cells: number, temperatureC: number): number {
    if (!(grossW > 0) || this.#airW >= grossW) return this.#voltageV;
    const share = Math.max(minAirShare, this.#airW / grossW);
    return this.#voltageV + cells * nernstVK * (temperatureC + zeroCelsiusK) * Math.log(share);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({ voltageV: this.#voltageV, airW: this.#airW }),
      ({ voltageV, airW }) => {
        [this.#voltageV, this.#airW] = [voltageV, airW];
      },
    );
  }
}

function lag(from: number, to: number, tauS: number, dtS: number): number {
  if (from === to) return to;
  const next = to - (to - from) * Math.exp(-dtS / tauS);
  return Math.abs(next - to) <= settledTolerance * Math.abs(to) ? to : next;
}

/** Minimum load of fuel cell and electrolyser, share of rated power; below it they idle. */
export const minFuelCellShare = 0.03;
export const minElectrolyserShare = 0.1;
/** a dwell shorter than this has ended */
const clockResolutionS = 1e-6;

type Limits = Pick<FuelCellParameters, 'rampUpPctS' | 'rampDownPctS' | 'dwellS' | 'operatingMode'>;

/** Loading ramp, and the dwell before the power of a reversible plant may change its direction. */
export class Readiness {
  readonly #limits: Limits;
  /** direction of the last power; 0: none since `settle` */
  #side: -1 | 0 | 1 = 0;
  /** load that the plant is ready for in direction `#side`, of rated */
  #level = 0;
  /** time until the other direction may start, s */
  #dwellS = 0;
  #counting = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Remaining dwell before the other direction may start, s; 0 while power flows. */
  get dwellRemainingS(): number {
    return this.#counting ? this.#dwellS : 0;
  }

  /** Time until the dwell ends if the plant stays idle, s. */
  get untilOpenS(): number {
    return this.#counting ? this.#dwellS : Infinity;
  }

  /** Maximum load of one direction at the end of `dtS`, of rated. @param pctS ramp, percent of rated per second */
  maxShare(side: -1 | 1, dtS: number, pctS: number): number {
    if (this.#dwellS > 0 && side !== this.#side) return 0;
    // an idle plant is ready for its minimum load
    const minShare = side > 0 ? minFuelCellShare : minElectrolyserShare;
    return Math.max(this.#side === side ? this.#level : 0, minShare) + (pctS / 100) * dtS;
  }

  /** Runs for `dtS` at a share of rated power, + fuel cell, - electrolysis. */
  run(share: number, dtS: number): void {
    const { operatingMode, rampDownPctS } = this.#limits;
    const magnitude = Math.abs(share);
    const side = share > 0 ? 1 : share < 0 ? -1 : this.#side;
    const decayedLevel = side === this.#side ? this.#level - (rampDownPctS / 100) * dtS : 0;
    this.#level = Math.max(magnitude, decayedLevel);
    if (operatingMode === 'bidirectional') this.#countDwell(magnitude, side !== this.#side, dtS);
    this.#side = side;
  }

  #countDwell(magnitude: number, reversed: boolean, dtS: number): void {
    this.#counting = false;
    if (magnitude >= minFuelCellShare || reversed) this.#dwellS = this.#limits.dwellS;
    if (magnitude >= minFuelCellShare) return;
    const leftS = this.#dwellS - dtS;
    this.#dwellS = leftS < clockResolutionS ? 0 : leftS;
    this.#counting = this.#dwellS > 0;
  }

  /** Jumps to the state after a long run at a share of rated power. */
  settle(share: number): void {
    this.#level = 0;
    this.#side = 0;
    this.#dwellS = 0;
    this.#counting = false;
    if (Math.abs(share) >= minFuelCellShare) this.run(share, 0);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        side: this.#side,
        level: this.#level,
        dwellS: this.#dwellS,
        counting: this.#counting,
      }),
      (values) => {
        this.#side = values.side;
        this.#level = values.level;
        this.#dwellS = values.dwellS;
        this.#counting = values.counting;
      },
    );
  }
}
