/**
 * Differences between devices of one profile: properties that scatter in a real fleet, random by seed and index.
 * Ratings stay those of the profile, on the nameplate and in the registers.
 */
import { createRandom } from '../../core/random.ts';
import type { RandomStream } from '../../core/random.ts';
import type { AssetType } from '../../contract/device.ts';
import type { BatteryParameters } from '../../contract/kinds/battery.ts';
import type { EvParameters } from '../../contract/kinds/evse.ts';
import type { PvParameters } from '../../contract/kinds/pv.ts';
import type { SourceParameters } from '../../contract/kinds/table.ts';

/** Number of air densities in a fleet: each makes a wind machine that is solved separately. */
const airDensityLevels = 8;

/** Draws of one device, all within its spread. */
class Draws {
  readonly #random: RandomStream;
  readonly #share: number;

  constructor(random: RandomStream, spreadPct: number) {
    this.#random = random;
    this.#share = spreadPct / 100;
  }

  /** A factor from 1 - spread to 1 + spread. */
  factor(): number {
    return 1 + this.#share * (2 * this.#random.next() - 1);
  }

  /** A factor like `factor`, in one of `levels` equal steps, so that devices can share costly results. */
  stepFactor(levels: number): number {
    return 1 + this.#share * ((2 * Math.floor(levels * this.#random.next()) + 1) / levels - 1);
  }

  /** An efficiency whose losses are multiplied by a factor: the mean of a fleet stays that of the profile. */
  efficiency(nominal: number): number {
    return 1 - (1 - nominal) * this.factor();
  }

  /** A level in percent that moves by up to the spread in percentage points, within its bounds. */
  levelPct(nominal: number, min: number, max: number): number {
    const randomPct = nominal + 100 * (this.factor() - 1);
    // a start value at or outside a bound stays
    if (nominal <= min || nominal >= max) return nominal;
    return Math.min(Math.max(randomPct, min), max);
  }

  /** A percentage reduced by a random share, at most the spread. */
  reducedPct(nominal: number): number {
    return nominal * (1 - this.#share * this.#random.next());
  }
}

/** Varies module power and efficiency; a fractional number of strings stands for the module power. */
function spreadPv(pv: PvParameters, draws: Draws): PvParameters {
  return {
    ...pv,
    parallel: pv.parallel * draws.factor(),
    efficiencyNominal: draws.efficiency(pv.efficiencyNominal),
    ...(pv.inputs && {
      inputs: pv.inputs.map((input) => ({ ...input, parallel: input.parallel * draws.factor() })),
    }),
  };
}

/** Varies state of health, start charge and efficiency; the capacity on the nameplate stays. */
function spreadBattery(battery: BatteryParameters, draws: Draws): BatteryParameters {
  const { socPct, socMinPct, socMaxPct } = battery;
  return {
    ...battery,
    sohPct: draws.reducedPct(battery.sohPct),
    socPct: draws.levelPct(socPct, socMinPct, socMaxPct),
    efficiencyNominal: draws.efficiency(battery.efficiencyNominal),
  };
}

function spreadVehicle(ev: EvParameters, draws: Draws): EvParameters {
  return {
    ...ev,
    batteryCapacityWh: ev.batteryCapacityWh * draws.factor(),
    socPct: draws.levelPct(ev.socPct, 0, ev.targetSocPct),
  };
}

const spreadOf: {
  readonly [K in AssetType]: (source: SourceParameters<K>, draws: Draws) => SourceParameters<K>;
} = {
  pv: (source, draws) => ({ ...source, pv: spreadPv(source.pv, draws) }),
  battery: (source, draws) => ({ ...source, battery: spreadBattery(source.battery, draws) }),
  // the site of a turbine varies: air and terrain; rotor, hub and losses belong to the type
  wind: ({ wind, ...source }, draws) => ({
    ...source,
    wind: {
      ...wind,
      airDensityKgM3: wind.airDensityKgM3 * draws.stepFactor(airDensityLevels),
      shearExponent: wind.shearExponent * draws.factor(),
    },
  }),
  fuelcell({ fuelCell, ...source }, draws) {
    const area = draws.factor();
    return {
      ...source,
      fuelCell: {
        ...fuelCell,
        cellAreaCm2: fuelCell.cellAreaCm2 * area,
        elCellAreaCm2: fuelCell.elCellAreaCm2 * area,
        tankLevelPct: draws.levelPct(fuelCell.tankLevelPct, fuelCell.tankReserveMinPct, fuelCell.tankReserveMaxPct),
        efficiencyNominal: draws.efficiency(fuelCell.efficiencyNominal),
      },
    };
  },
  'hybrid-dc': ({ hybrid, ...source }, draws) => ({
    ...source,
    hybrid,
    pv: spreadPv(source.pv, draws),
    battery: spreadBattery(source.battery, draws),
  }),
  // vehicles and the consumption of the station vary
  evse: ({ evse, ...source }, draws) => ({
    ...source,
    evse: {
      ...evse,
      standbyW: evse.standbyW * draws.factor(),
      ev: spreadVehicle(evse.ev, draws),
      vehicles: evse.vehicles.map((vehicle) => ({ ...vehicle, ev: spreadVehicle(vehicle.ev, draws) })),
    },
  }),
};

/**
 * The parameters of one device of a fleet: a function of seed, index and profile alone. The caller excludes the
 * device that has the values of the profile.
 * @param spreadPct maximum deviation, percent; levels in percent move by as many percentage points
 */
export function spreadSource(
  source: SourceParameters,
  spreadPct: number,
  seed: number,
  deviceIndex: number,
): SourceParameters {
  const draws = new Draws(createRandom(seed, deviceIndex, 'spread'), spreadPct);
  const spread: (source: never, draws: Draws) => SourceParameters = spreadOf[source.kind];
  return spread(source as never, draws);
}
