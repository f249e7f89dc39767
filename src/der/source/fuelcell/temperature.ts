/** Temperature of a stack as one lump of heat, exact for any step at constant power. */
import type { FuelCellChemistry } from '../../../contract/kinds/fuelcell.ts';

/** Heat of a stack; the quantities per watt are per watt of rated gross power. */
export interface StackHeat {
  /** the cooling keeps this temperature while it can */
  readonly holdC: number;
  /** from here on the stack is ready */
  readonly readyC: number;
  readonly capacityJK: number;
  readonly lossWK: number;
  readonly coolingWK: number;
  readonly heaterW: number;
}

const perWatt = {
  // 20 kJ/K and 0.3 kW/K for 5 kW; two hours to cool down; the heater could keep 100 K above the surroundings
  PEMFC: { holdC: 65, readyC: 50, capacityJK: 4, lossWK: 4 / 7200, coolingWK: 0.06, heaterW: (100 * 4) / 7200 },
  // about two and a half hours from cold
  SOFC: { holdC: 750, readyC: 700, capacityJK: 4, lossWK: 4 / 7900, coolingWK: 0.02, heaterW: (1000 * 4) / 7900 },
} as const satisfies Record<FuelCellChemistry, StackHeat>;

/** Heat of a stack of this rated gross power, W. */
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
 * Stack temperature after `dtS`, C. Heated up to the temperature to hold, cooled only above it.
 * @param heatW heat of the reaction, W
 * @param energized an open input lets a stack cool down that was not ready yet; a ready one is kept warm
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
/** above this a PEM stack gives way, to nothing at the upper end */
const hotC = 80;
const hottestC = 90;

/** Part of rated power that a stack of this temperature may have. */
export function admittedShare(chemistry: FuelCellChemistry, heat: StackHeat, temperatureC: number): number {
  if (chemistry === 'SOFC') return temperatureC >= heat.readyC ? 1 : 0;
  if (temperatureC < heat.readyC) {
    return coldShare + (1 - coldShare) * Math.max(0, (temperatureC - coldC) / (heat.readyC - coldC));
  }
  return Math.max(0, Math.min(1, (hottestC - temperatureC) / (hottestC - hotC)));
}
