/** A device as the table of modes sees it: points by name, settings of 702 and the present operating point. */
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { isSupported } from '../../sunspec/map/grid-support/state.ts';
import { functionTable } from '../../sunspec/map/grid-support/functions.ts';
import type { FunctionName, TripName } from '../../sunspec/map/grid-support/functions.ts';
import { hasCurve, inRegisters, isRefused, place } from '../../sunspec/map/grid-support/wish.ts';
import type { FunctionWish, RefusedWish, TripRegion } from '../../sunspec/map/grid-support/wish.ts';
import type { HoldValue } from '../../sunspec/map/holds.ts';
import { hasPoint, pointNumber } from '../../sunspec/map/bank.ts';

/** Reference of a percentage of reactive power: symbols of 704.VarSetMod. */
export type VarReference = 'W_MAX_PCT' | 'VAR_MAX_PCT' | 'VAR_AVAIL_PCT' | 'VA_MAX_PCT';

export class Asset {
  readonly device: Device;
  readonly #plant: Pick<Plant, 'grid'>;

  constructor(device: Device, plant: Pick<Plant, 'grid'>) {
    this.device = device;
    this.#plant = plant;
  }

  /** True if the device has the grid-support function. */
  has(name: FunctionName): boolean {
    return isSupported(this.device.bank, functionTable[name]);
  }

  hasPoint(model: number, path: string): boolean {
    return hasPoint(this.device.bank, model, path);
  }

  /** A numeric point; null when the device does not have it. */
  number(model: number, path: string): number | null {
    return pointNumber(this.device.bank, model, path);
  }

  /** True if the device has the curve of the trip function. */
  hasCurve(name: TripName, region: TripRegion): boolean {
    return hasCurve(this, name, region);
  }

  /** The points of this device that carry out wishes. */
  place(wishes: readonly FunctionWish[]): readonly HoldValue[] | RefusedWish {
    const values = place(this, wishes);
    return isRefused(values) ? values : inRegisters(this.device.bank, values);
  }

  /** 702.WMax, W; 0: the device does not have the setting. */
  get wMax(): number {
    return this.number(702, 'WMax') ?? 0;
  }

  /** 702.WChaRteMax, W; 0: the device does not have the setting. */
  get chargeMaxW(): number {
    return this.number(702, 'WChaRteMax') ?? 0;
  }

  /** The reactive power that is 100 % of a reference, var. @param sign of the reactive power */
  varBase(reference: VarReference, sign: number): number {
    switch (reference) {
      case 'W_MAX_PCT':
        return this.wMax;
      case 'VAR_MAX_PCT':
        return this.number(702, sign < 0 ? 'VarMaxAbs' : 'VarMaxInj') ?? 0;
      case 'VA_MAX_PCT':
        return this.number(702, 'VAMax') ?? 0;
      case 'VAR_AVAIL_PCT': {
        const { injectVar, absorbVar } = this.device.available;
        return sign < 0 ? absorbVar : injectVar;
      }
    }
  }

  /** 100 % of the gradient of reactive power, var. */
  get varMax(): number {
    return Math.max(this.varBase('VAR_MAX_PCT', 1), this.varBase('VAR_MAX_PCT', -1));
  }

  /** Active power at the terminals now, W, positive = injected. */
  get w(): number {
    return this.number(701, 'W') ?? 0;
  }

  /** Reactive power at the terminals now, var, positive = injected. */
  get var(): number {
    return this.number(701, 'Var') ?? 0;
  }

  /** Mean voltage now, percent of nominal. */
  get voltagePct(): number {
    const { voltageAPu, voltageBPu, voltageCPu } = this.#plant.grid(this.device.index);
    return (100 * (voltageAPu + voltageBPu + voltageCPu)) / 3;
  }
}
