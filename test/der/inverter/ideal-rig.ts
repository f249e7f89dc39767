/** A 10 kW device over a source without physics or losses, for what needs exact power or power in both directions. */
import type { InverterParameters } from '../../../src/contract/device.ts';
import type { GridPatch } from '../../../src/contract/environment.ts';
import type { SimDevice } from '../../../src/der/device/device.ts';
import { acFromDc, dcFromAc } from '../../../src/der/inverter/dc-link.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import type { ProfileSpec } from '../../../src/der/device/template.ts';
import type { MapView, WritableMapView } from '../../../src/sunspec/map/view.ts';
import { configuredDevices } from '../../support/configured.ts';
import { baseTickS, idealPlant, longestTickS } from '../../support/ideal-plant.ts';
import { IdealSource } from '../../support/ideal-source.ts';
import { byTest } from '../../support/rig.ts';

export const ratedW = 10_000;

export interface IdealRigOptions {
  /** AC power that the source can give, and take, W; above rated counts as rated */
  readonly givesW?: number;
  readonly takesW?: number;
  /** power that the device is rated to take, W; null: it only delivers */
  readonly chargeRatingW?: number | null;
  readonly ratings?: Readonly<Record<string, number | string>>;
  readonly inverter?: Partial<InverterParameters>;
}

function profileOf({ chargeRatingW = null, ratings = {}, inverter = {} }: IdealRigOptions): ProfileSpec {
  const base = configuredDevices('--device_type', 'PV-3Phase')[0]!.profile;
  const rated = { ...base.models['702'], ...ratings, ...(chargeRatingW !== null && { WChaRteMaxRtg: chargeRatingW }) };
  return { ...base, models: { ...base.models, 702: rated }, inverter: { ...base.inverter, ...inverter } };
}

export class IdealRig {
  readonly device: SimDevice;
  readonly map: MapView;
  readonly source: IdealSource;
  readonly #plant: SimPlant;

  constructor(options: IdealRigOptions = {}) {
    const { givesW = ratedW, takesW = options.chargeRatingW ?? 0 } = options;
    this.source = new IdealSource(dcFromAc(givesW, ratedW, 1), acFromDc(takesW, ratedW, 1));
    const { plant, device } = idealPlant({ profile: profileOf(options), source: this.source, name: 'ideal' });
    this.#plant = plant;
    this.device = device;
    this.map = device.bank.map;
  }

  /** A store that gives and takes its rating; nothing flows without a set-point. */
  static store(options: IdealRigOptions = {}): IdealRig {
    return new IdealRig({ chargeRatingW: ratedW, ...options });
  }

  /** Passes simulated seconds in as few ticks as can be. */
  async run(seconds: number): Promise<void> {
    for (let left = seconds; left > 1e-9; ) {
      const next = Math.min(left, longestTickS);
      this.#plant.setTime({ rate: next / baseTickS });
      await this.#plant.step(1);
      left -= next;
    }
  }

  set(change: (tx: WritableMapView) => void): void {
    this.device.bank.transact(byTest, change);
  }

  grid(patch: GridPatch): void {
    this.#plant.setGrid(patch);
  }

  /** Set-point in W; negative takes. */
  demand(watts: number): void {
    this.set((tx) => {
      Object.assign(tx.m704, { WSetMod: 'WATTS', WSet: watts, WSetEna: 'ENABLED' });
    });
  }

  get w(): number {
    return this.map.m701.W!;
  }

  get q(): number {
    return this.map.m701.Var!;
  }

  get state(): string {
    const { St, InvSt, ConnSt } = this.map.m701;
    return `${St!} ${InvSt!} ${ConnSt!}`.toLowerCase();
  }
}

/** Puts points into the second set of a curve model, has them adopted and switches the function on. */
export function useCurve(
  tx: WritableMapView,
  id: 705 | 706 | 712,
  pairs: readonly (readonly [number, number])[],
  others: Readonly<Record<string, number | string>> = {},
): void {
  const [model, x, y] =
    id === 705
      ? ([tx.m705, 'V', 'Var'] as const)
      : id === 706
        ? ([tx.m706, 'V', 'W'] as const)
        : ([tx.m712, 'W', 'Var'] as const);
  const staged = model.Crv[1]!;
  Object.assign(staged, { ActPt: pairs.length, ...others });
  pairs.forEach(([at, value], i) => Object.assign(staged.Pt[i]!, { [x]: at, [y]: value }));
  model.AdptCrvReq = 2;
  model.Ena = 'ENABLED';
}
