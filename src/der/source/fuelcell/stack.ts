/** A stack with its own consumption: from net DC power to gross power, current, voltage, hydrogen and heat. */
import type { FuelCellChemistry, FuelCellParameters } from '../../../contract/kinds/fuelcell.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import { zeroCelsiusK } from '../constants.ts';
import { lastSample } from '../dc-curve.ts';
import {
  currentForHydrogen,
  electrolyserCell,
  electrolyserCurrent,
  faradayCMol,
  faradayEfficiency,
  hydrogenKgMol,
  oxideCellV,
  oxideCurrent,
  oxideResistance,
  pemCurrent,
  pemLaws,
  pemLimitACm2,
  pemV,
} from './cells.ts';
import type { PemLaw } from './cells.ts';
import type { IvPoint } from '../../../contract/device.ts';
import type { StackPort } from '../source.ts';

/** thermoneutral cell voltage: HHV for liquid water, LHV for steam */
const thermoneutralV = { PEMFC: 1.481, SOFC: 1.254 } as const;
/**
 * thermoneutral voltage of steam electrolysis with evaporation: at a lower cell voltage an electric heater supplies the
 * heat that the cells absorb
 */
const oxideHeatedV = 1.29;
const oxideFaraday = 0.99;

/** A stack in steady operation at the power of the last `solve`. */
export class Stack {
  readonly ratedDcW: number;
  readonly ratedElDcW: number;
  readonly ratedGrossW: number;
  /** static voltage */
  voltageV = 0;
  /** static current; - in electrolysis */
  currentA = 0;
  /** + fuel cell, - electrolysis */
  grossW = 0;
  /** + out of the supply, - into the tank, kg/s */
  fuelKgS = 0;
  /** fuel cell: part of `fuelKgS` that is purged; electrolysis: lost in the dryer, beside `fuelKgS`; kg/s */
  lostKgS = 0;
  heatW = 0;
  readonly #chemistry: FuelCellChemistry;
  readonly #pem: PemLaw;
  readonly #cells: number;
  readonly #areaCm2: number;
  readonly #elAreaCm2: number;
  /** own consumption that rises with the power, share of gross power */
  readonly #share: number;
  readonly #fixedW: number;
  readonly #elFixedW: number;
  /** hydrogen per ampere in all cells together, kg/s */
  readonly #kgSA: number;
  readonly #utilization: number;
  /** share of the production that passes the dryer */
  readonly #dried: number;
  /** current density of the last solution of the fuel cell: start value of the next one */
  #guess = 0;
  /** current density of the last solution of the electrolyser: start value of the next one */
  #elGuess = 0;

  constructor(parameters: FuelCellParameters) {
    const fixed = parameters.parasiticFixedPct / 100;
    this.#share = parameters.parasiticPct / 100;
    this.#chemistry = parameters.chemistry;
    this.#pem = pemLaws[parameters.stackModel];
    this.#cells = parameters.cellCount;
    this.#areaCm2 = parameters.cellAreaCm2;
    this.#elAreaCm2 = parameters.elCellAreaCm2;
    this.ratedDcW = parameters.ratedPowerW / parameters.efficiencyNominal;
    // slightly more than needed, because the inverter deducts its loss
    this.ratedElDcW = parameters.ratedElPowerW;
    this.ratedGrossW = this.ratedDcW / (1 - fixed - this.#share);
    this.#fixedW = fixed * this.ratedGrossW;
    this.#elFixedW = (fixed * this.ratedElDcW) / (1 + fixed + this.#share);
    this.#kgSA = (parameters.cellCount * hydrogenKgMol) / (2 * faradayCMol);
    this.#utilization = parameters.fuelUtilizationPct / 100;
    this.#dried = 1 - parameters.dryingLossPct / 100;
  }

  /** Solves for net DC power `dcW`, W: + fuel cell, - electrolysis. At 0 the plant consumes nothing. */
  solve(dcW: number, temperatureC: number): void {
    const tK = temperatureC + zeroCelsiusK;
    if (dcW > 0) this.#solveFuelCell((dcW + this.#fixedW) / (1 - this.#share), tK);
    else if (dcW < 0) this.#solveElectrolysis(Math.max(0, (-dcW - this.#elFixedW) / (1 + this.#share)), tK);
    else this.#rest(tK);
  }

  #rest(tK: number): void {
    this.grossW = this.currentA = this.fuelKgS = this.lostKgS = this.heatW = 0;
    this.voltageV = this.voltageAt(0, tK);
  }

  #solveFuelCell(grossW: number, tK: number): void {
    const density = grossW / (this.#cells * this.#areaCm2);
    const j = this.#chemistry === 'SOFC' ? oxideCurrent(density, tK) : pemCurrent(density, tK, this.#guess, this.#pem);
    this.#guess = j;
    this.grossW = grossW;
    this.currentA = j * this.#areaCm2;
    this.voltageV = this.currentA > 0 ? grossW / this.currentA : this.voltageAt(0, tK);
    const usedKgS = this.currentA * this.#kgSA;
    this.fuelKgS = usedKgS / this.#utilization;
    this.lostKgS = this.fuelKgS - usedKgS;
    this.heatW = this.#cells * this.currentA * thermoneutralV[this.#chemistry] - grossW;
  }

  /** @param inputW power for stack and heater, W */
  #solveElectrolysis(inputW: number, tK: number): void {
    const oxide = this.#chemistry === 'SOFC';
    const density = inputW / (this.#cells * this.#elAreaCm2);
    const j = oxide ? oxideElectrolysis(density, tK) : electrolyserCurrent(density, tK, this.#elGuess);
    const cellV = oxide ? oxideCellV(-j, tK) : electrolyserCell(j, tK).cellV;
    this.#elGuess = j;
    const current = j * this.#elAreaCm2;
    const producedKgS = current * this.#kgSA * (oxide ? oxideFaraday : faradayEfficiency(j));
    this.voltageV = this.#cells * cellV;
    this.currentA = -current;
    this.grossW = -current * this.voltageV;
    this.fuelKgS = -producedKgS * this.#dried;
    this.lostKgS = producedKgS + this.fuelKgS;
    this.heatW = current * this.#cells * Math.max(0, cellV - (oxide ? oxideHeatedV : thermoneutralV.PEMFC));
  }

  /** Static voltage as a fuel cell at `currentA`, V. @param tK kelvin */
  voltageAt(currentA: number, tK: number): number {
    const j = currentA / this.#areaCm2;
    return this.#cells * (this.#chemistry === 'SOFC' ? oxideCellV(j, tK) : pemV(j, tK, this.#pem));
  }

  /** A current at which the voltage of the fuel cell has fallen below 0, A. */
  beyondA(tK: number): number {
    return (
      this.#areaCm2 * (this.#chemistry === 'SOFC' ? (1.1 * oxideCellV(0, tK)) / oxideResistance(tK) : pemLimitACm2)
    );
  }

  /** Net DC power of the fuel cell at a flow from the supply, W; negative below its own consumption. */
  dcForFuel(kgS: number, temperatureC: number): number {
    const current = (kgS * this.#utilization) / this.#kgSA;
    return current * this.voltageAt(current, temperatureC + zeroCelsiusK) * (1 - this.#share) - this.#fixedW;
  }

  /** Net DC power that electrolysis absorbs for a production, W, positive. */
  dcForProduction(kgS: number, temperatureC: number): number {
    const tK = temperatureC + zeroCelsiusK;
    const useful = kgS / (this.#dried * this.#kgSA * this.#elAreaCm2);
    const oxide = this.#chemistry === 'SOFC';
    const j = oxide ? useful / oxideFaraday : currentForHydrogen(useful);
    const cellV = oxide ? Math.max(oxideHeatedV, oxideCellV(-j, tK)) : electrolyserCell(j, tK).cellV;
    return j * cellV * this.#cells * this.#elAreaCm2 * (1 + this.#share) + this.#elFixedW;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptParts({
      solution: keptRecord(
        () => ({
          voltageV: this.voltageV,
          currentA: this.currentA,
          grossW: this.grossW,
          fuelKgS: this.fuelKgS,
          lostKgS: this.lostKgS,
          heatW: this.heatW,
        }),
        (values) => {
          Object.assign(this, values);
        },
      ),
      guesses: this.keptGuesses(),
    });
  }

  /** Start values of the next solution: its last digits depend on them. */
  keptGuesses(): Kept {
    return keptRecord(
      () => ({ guess: this.#guess, elGuess: this.#elGuess }),
      ({ guess, elGuess }) => {
        [this.#guess, this.#elGuess] = [guess, elGuess];
      },
    );
  }

  /** Upper bound of the flow from the supply at rated power, kg/s. */
  get maxFuelKgS(): number {
    const volts = this.#chemistry === 'SOFC' ? 0.6 : 0.5;
    return ((this.ratedGrossW / volts / this.#cells) * this.#kgSA) / this.#utilization;
  }

  /** Upper bound of the production at rated power, kg/s. */
  get maxProductionKgS(): number {
    const volts = this.#chemistry === 'SOFC' ? oxideHeatedV : 1.2;
    return (this.ratedElDcW / volts / this.#cells) * this.#kgSA;
  }
}

/** Current density of steam electrolysis at a power density of cells and heater. */
function oxideElectrolysis(wCm2: number, tK: number): number {
  const heated = wCm2 / oxideHeatedV;
  return oxideCellV(-heated, tK) <= oxideHeatedV ? heated : -oxideCurrent(-wCm2, tK);
}

const curveHalvings = 60;
const golden = (Math.sqrt(5) - 1) / 2;

interface PolarizationCurve {
  readonly curve: readonly IvPoint[];
  readonly mpp: IvPoint;
  readonly vOcV: number;
  readonly iScA: number;
}

/** Current at which the static voltage falls to `voltageV`, A, at most `endA`. */
function currentAtVoltage(stack: Stack, voltageV: number, tK: number, endA: number): number {
  let [low, high] = [0, endA];
  for (let round = 0; round < curveHalvings; round += 1) {
    const middle = (low + high) / 2;
    if (stack.voltageAt(middle, tK) > voltageV) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Current of maximum power below `endA`, A: power has one maximum between open and short circuit. */
function currentAtMaxPower(stack: Stack, tK: number, endA: number): number {
  const power = (a: number) => a * stack.voltageAt(a, tK);
  let [low, high] = [0, endA];
  for (let round = 0; round < curveHalvings; round += 1) {
    const left = high - golden * (high - low);
    const right = low + golden * (high - low);
    if (power(left) < power(right)) low = left;
    else high = right;
  }
  return (low + high) / 2;
}

/**
 * Static curve of a stack as a fuel cell: voltage rises in even steps from 0 to open circuit, and one of the samples is
 * the maximum power point.
 * @param points number of samples; fewer than 3 count as 3, more than 1000 as 1000
 */
export function polarizationCurve(stack: Stack, tK: number, points: number): PolarizationCurve {
  const vOcV = stack.voltageAt(0, tK);
  // the short-circuit current lies below this for all built-in laws
  const noVoltageA = stack.beyondA(tK);
  const iScA = currentAtVoltage(stack, 0, tK, noVoltageA);
  const maxPowerA = currentAtMaxPower(stack, tK, iScA);
  const maxPowerV = stack.voltageAt(maxPowerA, tK);
  const mpp: IvPoint = { v: maxPowerV, i: maxPowerA, p: maxPowerV * maxPowerA };
  const last = lastSample(points);
  const maxPowerIndex = Math.min(Math.max(Math.round((maxPowerV / vOcV) * last), 1), last - 1);
  const curve: IvPoint[] = [];
  for (let at = 0; at <= last; at += 1) {
    const v = (vOcV * at) / last;
    const i = at === last ? 0 : currentAtVoltage(stack, v, tK, iScA);
    curve.push(at === maxPowerIndex ? mpp : { v, i, p: v * i });
  }
  return { curve, mpp, vOcV, iScA };
}

const halvings = 50;

/** Converts between the power of a plant and that of its stack without a change of the running stack. */
export class StackConversion implements StackPort {
  readonly #stack: Stack;
  readonly #temperatureC: () => number;

  /** @param temperatureC temperature of the running stack */
  constructor(parameters: FuelCellParameters, temperatureC: () => number) {
    this.#stack = new Stack(parameters);
    this.#temperatureC = temperatureC;
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return this.#stack.keptGuesses();
  }

  stackW(dcW: number): number {
    const stack = this.#stack;
    stack.solve(Math.max(-stack.ratedElDcW, Math.min(stack.ratedDcW, dcW)), this.#temperatureC());
    return stack.grossW;
  }

  /** Bisection, since the power of the stack rises with that of the plant. */
  dcW(stackW: number): number {
    if (stackW === 0) return 0;
    const { ratedDcW, ratedElDcW } = this.#stack;
    // the lower end has less power than the target, the upper one more
    let [low, high] = [0, stackW > 0 ? ratedDcW : -ratedElDcW];
    if (Math.abs(this.stackW(high)) <= Math.abs(stackW)) return high;
    for (let i = 0; i < halvings; i += 1) {
      const middle = (low + high) / 2;
      if (Math.abs(this.stackW(middle)) <= Math.abs(stackW)) low = middle;
      else high = middle;
    }
    return low;
  }
}
