/** Temperature of a stack as one lumped heat capacity, exact for any step at constant power. */
import type { FuelCellChemistry } from '../../../contract/kinds/fuelcell.ts';

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
