/** Hydrogen of a plant: tank or continuous supply, its limits within a sub-step, and the counters. */
import type { FuelCellParameters, HydrogenTankState } from '../../../contract/kinds/fuelcell.ts';
import { keptRecord, keptThen } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { Stack } from './stack.ts';
import { zeroCelsiusK } from '../constants.ts';

/** temperature at which a full tank has its maximum pressure, C */
const fillingC = 15;
/** compressibility of hydrogen, per bar */
const perBar = 6e-4;

type TankParameters = Pick<
  FuelCellParameters,
  'tankCapacityKg' | 'tankLevelPct' | 'tankPressureMaxBar' | 'tankReserveMinPct' | 'tankReserveMaxPct' | 'tankLowPct'
>;

/** A hydrogen tank with a reserve at either end. */
export class HydrogenTank {
  readonly #parameters: TankParameters;
  /** pressure of an ideal gas per kg and kelvin, bar */
  readonly #idealBarPerKgK: number;
  massKg = 0;

  constructor(parameters: TankParameters) {
    this.#parameters = parameters;
    const fullBar = parameters.tankPressureMaxBar;
    this.#idealBarPerKgK = fullBar / (1 + perBar * fullBar) / (parameters.tankCapacityKg * (zeroCelsiusK + fillingC));
    this.setLevel(parameters.tankLevelPct);
  }

  get levelPct(): number {
    return (this.massKg / this.#parameters.tankCapacityKg) * 100;
  }

  /** Lets go what the tank cannot hold. */
  limit(): void {
    this.massKg = Math.min(this.massKg, this.#parameters.tankCapacityKg);
  }

  setLevel(levelPct: number): void {
    this.massKg = (levelPct / 100) * this.#parameters.tankCapacityKg;
  }

  /** Hydrogen above the lower reserve, kg. */
  get usableKg(): number {
    const { tankReserveMinPct, tankCapacityKg } = this.#parameters;
    return Math.max(0, this.massKg - (tankReserveMinPct / 100) * tankCapacityKg);
  }

  /** Room below the upper reserve, kg. */
  get roomKg(): number {
    const { tankReserveMaxPct, tankCapacityKg } = this.#parameters;
    return Math.max(0, (tankReserveMaxPct / 100) * tankCapacityKg - this.massKg);
  }

  /** Takes `kg`, or the rest if less is left. @returns the amount taken, kg */
  take(kg: number): number {
    const amountKg = Math.max(0, Math.min(kg, this.massKg));
    this.massKg -= amountKg;
    return amountKg;
  }

  put(kg: number): void {
    this.massKg += kg;
  }

  /** Pressure at ambient temperature, with Z = 1 + 6e-4/bar p, bar. */
  pressureBar(ambientC: number): number {
    const idealBar = this.#idealBarPerKgK * this.massKg * Math.max(0, ambientC + zeroCelsiusK);
    return idealBar / Math.max(0.1, 1 - perBar * idealBar);
  }

  /**
   * State of the tank at its present level.
   * @param emptyMarginKg usable hydrogen up to this counts as none, kg
   * @param fullMarginKg room up to this counts as none, kg
   */
  state(emptyMarginKg: number, fullMarginKg: number): HydrogenTankState {
    if (this.usableKg <= emptyMarginKg) return 'empty';
    if (this.roomKg <= fullMarginKg) return 'full';
    return this.levelPct < this.#parameters.tankLowPct ? 'low' : 'ok';
  }
}

/** A running plant is at a reserve when the tank suffices for no more than this time at full power. */
const runningReserveS = 1e-5;
/**
 * An idle plant is at a reserve when the tank suffices for no more than this time at full power, so that it does not
 * start for less.
 */
const idleReserveS = 0.05;

/** Tank or continuous supply of one plant, with its counters. */
export class HydrogenSupply {
  /** null: continuous supply */
  readonly tank: HydrogenTank | null;
  /** hydrogen taken from the supply, kg */
  consumedKg = 0;
  /** hydrogen produced (after losses), kg */
  producedKg = 0;
  /** hydrogen lost in either direction, kg */
  lostKg = 0;
  readonly #stack: Stack;
  readonly #startLevelPct: number;
  readonly #maxFuelKgS: number;
  readonly #maxProductionKgS: number;

  constructor(parameters: FuelCellParameters, stack: Stack) {
    this.tank = parameters.fuel === 'tank' ? new HydrogenTank(parameters) : null;
    this.#stack = stack;
    this.#startLevelPct = parameters.tankLevelPct;
    this.#maxFuelKgS = stack.maxFuelKgS;
    this.#maxProductionKgS = stack.maxProductionKgS;
  }

  get tankState(): HydrogenTankState | null {
    return this.tank === null ? null : this.tank.state(this.#emptyMarginKg, this.#fullMarginKg);
  }

  /** Time until the tank reaches a reserve at the present flow, s. */
  get untilBoundS(): number {
    const { tank } = this;
    const flowKgS = this.#stack.fuelKgS;
    if (tank === null || flowKgS === 0) return Infinity;
    const [leftKg, marginKg] = flowKgS > 0 ? [tank.usableKg, this.#emptyMarginKg] : [tank.roomKg, this.#fullMarginKg];
    return leftKg > marginKg ? leftKg / Math.abs(flowKgS) : Infinity;
  }

  /** Time for which the tank suffices at any power, s. @param isFed true: hydrogen is consumed */
  sufficesS(isFed: boolean): number {
    const { tank } = this;
    if (tank === null) return Infinity;
    return isFed ? tank.usableKg / this.#maxFuelKgS : tank.roomKg / this.#maxProductionKgS;
  }

  /** Part of `dcW` that the supply can feed over all of `dtS`, W. */
  withinSupply(dcW: number, dtS: number, temperatureC: number): number {
    const { tank } = this;
    if (tank === null || dcW <= 0) return dcW;
    const usableKg = tank.usableKg;
    if (usableKg <= this.#emptyMarginKg) return 0;
    if (!Number.isFinite(dtS) || dtS === 0 || usableKg >= this.#maxFuelKgS * dtS) return dcW;
    return Math.max(0, Math.min(dcW, this.#stack.dcForFuel(usableKg / dtS, temperatureC)));
  }

  /** Part of the absorbed power `dcW` that the tank has room for over all of `dtS`, W. */
  withinRoom(dcW: number, dtS: number, temperatureC: number): number {
    const { tank } = this;
    if (tank === null || dcW <= 0) return dcW;
    const roomKg = tank.roomKg;
    if (roomKg <= this.#fullMarginKg) return 0;
    if (!Number.isFinite(dtS) || dtS === 0 || roomKg >= this.#maxProductionKgS * dtS) return dcW;
    return Math.min(dcW, this.#stack.dcForProduction(roomKg / dtS, temperatureC));
  }

  /** Moves the hydrogen of `dtS` at the present flow: tank and counters. */
  advance(dtS: number): void {
    const { fuelKgS, lostKgS } = this.#stack;
    if (fuelKgS === 0 || dtS === 0) return;
    this.lostKg += lostKgS * dtS;
    if (fuelKgS > 0) {
      this.consumedKg += this.tank === null ? fuelKgS * dtS : this.tank.take(fuelKgS * dtS);
    } else {
      this.tank?.put(-fuelKgS * dtS);
      this.producedKg -= fuelKgS * dtS;
    }
  }

  /** Restores the start values. */
  restart(): void {
    this.consumedKg = this.producedKg = this.lostKg = 0;
    this.tank?.setLevel(this.#startLevelPct);
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        tankKg: this.tank?.massKg ?? null,
        consumedKg: this.consumedKg,
        producedKg: this.producedKg,
        lostKg: this.lostKg,
      }),
      ({ tankKg, consumedKg, producedKg, lostKg }) => {
        if (this.tank !== null && tankKg !== null) this.tank.massKg = tankKg;
        this.consumedKg = consumedKg;
        this.producedKg = producedKg;
        this.lostKg = lostKg;
      },
    );
  }

  /** The same for a tank of another size, which holds no more than it can. */
  lasting(): Kept {
    return keptThen(this.kept(), () => {
      this.tank?.limit();
    });
  }

  get #emptyMarginKg(): number {
    return this.#maxFuelKgS * (this.#stack.fuelKgS > 0 ? runningReserveS : idleReserveS);
  }

  get #fullMarginKg(): number {
    return this.#maxProductionKgS * (this.#stack.fuelKgS < 0 ? runningReserveS : idleReserveS);
  }
}
