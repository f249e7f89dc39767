import type { FuelCellParameters, HydrogenTankState } from '../../../contract/kinds/fuelcell.ts';
import { zeroCelsiusK } from '../shared.ts';

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
  readonly #idealBar: number;
  massKg = 0;

  constructor(parameters: TankParameters) {
    this.#parameters = parameters;
    const fullBar = parameters.tankPressureMaxBar;
    this.#idealBar = fullBar / (1 + perBar * fullBar) / (parameters.tankCapacityKg * (zeroCelsiusK + fillingC));
    this.setLevel(parameters.tankLevelPct);
  }

  get levelPct(): number {
    return (this.massKg / this.#parameters.tankCapacityKg) * 100;
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
    const taken = Math.max(0, Math.min(kg, this.massKg));
    this.massKg -= taken;
    return taken;
  }

  put(kg: number): void {
    this.massKg += kg;
  }

  /** Pressure at ambient temperature, with Z = 1 + 6e-4/bar p, bar. */
  pressureBar(ambientC: number): number {
    const idealBar = this.#idealBar * this.massKg * Math.max(0, ambientC + zeroCelsiusK);
    return idealBar / Math.max(0.1, 1 - perBar * idealBar);
  }

  /** @param emptyKg, @param fullKg amounts above or below a reserve that count as 0, kg */
  state(emptyKg: number, fullKg: number): HydrogenTankState {
    if (this.usableKg <= emptyKg) return 'empty';
    if (this.roomKg <= fullKg) return 'full';
    return this.levelPct < this.#parameters.tankLowPct ? 'low' : 'ok';
  }
}
