import { z } from 'zod';
import type { Issue } from '../../../core/errors.ts';
import { batteryChemistries } from '../../../contract/kinds/battery.ts';
import type { BatteryParameters } from '../../../contract/kinds/battery.ts';

const size = z.number().min(1).max(1e9);
const percent = z.number().min(0).max(100);
const drift = z.number().min(-50).max(50).optional();
const count = z.number().int().min(1).max(500);

export const batterySchema = z
  .strictObject({
    chemistry: z.enum(batteryChemistries).optional().meta({ description: 'Cell chemistry; default nmc.' }),
    capacity_wh: size.optional().meta({
      description:
        'Nameplate energy from empty to full, Wh; default 1.5 hours of WMaxRtg, in a hybrid hybrid.battery_wh.',
    }),
    power_w: size.optional().meta({
      description: 'DC rating, charge and discharge, W; default 1.05 times WMaxRtg, in a hybrid hybrid.battery_w.',
    }),
    soc_pct: percent.optional().meta({
      description: 'State of charge at start, %, from soc_min_pct to soc_max_pct; default 50, or the nearer bound.',
    }),
    soc_min_pct: percent.optional().meta({
      description: 'Floor: discharging stops here, %; default 10, in a hybrid hybrid.soc_min_pct.',
    }),
    soc_max_pct: percent.optional().meta({
      description: 'Ceiling: charging stops here, %; default 90, in a hybrid hybrid.soc_max_pct.',
    }),
    soc_reserve_min_pct: percent.optional().meta({ description: 'Floor of normal dispatch, %; default soc_min_pct.' }),
    soc_reserve_max_pct: percent
      .optional()
      .meta({ description: 'Ceiling of normal dispatch, %; default soc_max_pct.' }),
    strings: count.optional().meta({ description: 'Strings in parallel; default 2.' }),
    modules: count.optional().meta({
      description:
        'Modules in series in a string; default 4, from 50 kW on, except in a hybrid, as many as an inverter without ' +
        'a booster needs for VNomRtg, or as many as 20000 cells allow.',
    }),
    cells: count.optional().meta({ description: 'Cells in series in a module; default 16.' }),
    soh_pct: z.number().min(50).max(100).optional().meta({ description: 'State of health at start, %; default 100.' }),
    cycle_life: z.number().min(1).max(1e6).nullable().optional().meta({
      description:
        'Equivalent full cycles after which the state of health is 20 percentage points lower; default null, no ageing.',
    }),
    soc_drift: z
      .strictObject({
        per_cycle_pct: drift.meta({ description: 'Percentage points per equivalent full cycle; default 0.' }),
        per_day_pct: drift.meta({ description: 'Percentage points per day of simulated time; default 0.' }),
      })
      .nullable()
      .optional()
      .meta({
        description:
          'Drift of the reported state of charge from the true one, until the battery is full; default null, no drift.',
      }),
    ambient_temperature_c: z
      .number()
      .min(-40)
      .max(80)
      .nullable()
      .optional()
      .meta({ description: 'Room temperature, C; default null, the temperature of the surroundings.' }),
    thermal_time_constant_s: z
      .number()
      .min(1)
      .max(1e6)
      .optional()
      .meta({ description: 'Thermal time constant between cells and room, s; default 7200.' }),
    efficiency_nominal: z
      .number()
      .min(0.8)
      .max(1)
      .optional()
      .meta({ description: 'Nominal inverter efficiency; default 0.97.' }),
  })
  .meta({ description: 'Battery bank: strings in parallel, of modules and cells in series.' });

export type BatteryInput = z.infer<typeof batterySchema>;

/** Maximum number of cells. Each cell is simulated, so it limits the time of a step. */
const maxCells = 20_000;

const smallBankModules = 4;
/** Rating from which a bank feeds the inverter bridge without a booster, W. */
const directW = 50_000;
/** Voltage of a cell under load near its floor, V. */
const lowCellV = { nmc: 3.3, lfp: 3 } as const;

/**
 * Modules in series whose DC voltage, near the floor, reaches the peak of 110 % of the AC voltage; fewer where many
 * strings leave no room for so many cells.
 */
function modulesFor(
  { chemistry, strings, cells }: Pick<BatteryParameters, 'chemistry' | 'strings' | 'cells'>,
  { ratedW, vNomV }: BatteryPlace,
): number {
  if (ratedW < directW) return smallBankModules;
  const neededCount = Math.ceil((1.1 * Math.SQRT2 * vNomV) / (cells * lowCellV[chemistry]));
  return Math.max(smallBankModules, Math.min(neededCount, Math.floor(maxCells / (strings * cells))));
}

/** The inverter of a bank. */
export interface BatteryPlace {
  /** W */
  readonly ratedW: number;
  /** line to line, V */
  readonly vNomV: number;
}

/** The bounds of the state of charge, in rising order. */
const bounds = ['soc_min_pct', 'soc_reserve_min_pct', 'soc_reserve_max_pct', 'soc_max_pct'] as const;

/**
 * Fills in the defaults of the block.
 * @param where prefix of the key in an issue
 * @param issues receives errors across members
 */
export function resolveBattery(
  input: BatteryInput,
  place: BatteryPlace,
  where: string,
  issues: Issue[],
): BatteryParameters {
  const { ratedW } = place;
  const chemistry = input.chemistry ?? 'nmc';
  const soc_min_pct = input.soc_min_pct ?? 10;
  const soc_max_pct = input.soc_max_pct ?? 90;
  const levels = {
    soc_min_pct,
    soc_max_pct,
    soc_reserve_min_pct: input.soc_reserve_min_pct ?? soc_min_pct,
    soc_reserve_max_pct: input.soc_reserve_max_pct ?? soc_max_pct,
  };
  checkLevels(input, levels, where, issues);
  const [strings, cells] = [input.strings ?? 2, input.cells ?? 16];
  const modules = input.modules ?? modulesFor({ chemistry, strings, cells }, place);
  if (strings * modules * cells > maxCells) {
    issues.push({
      name: `${where}: battery.${input.modules !== undefined && input.strings === undefined ? 'modules' : 'strings'}`,
      detail: `given or derived ${strings} strings of ${modules} modules of ${cells} cells; allowed: up to ${maxCells} cells`,
    });
  }
  return {
    chemistry,
    capacityWh: input.capacity_wh ?? 1.5 * ratedW,
    powerW: input.power_w ?? 1.05 * ratedW,
    socPct: input.soc_pct ?? Math.min(Math.max(50, soc_min_pct), soc_max_pct),
    socMinPct: soc_min_pct,
    socMaxPct: soc_max_pct,
    socReserveMinPct: levels.soc_reserve_min_pct,
    socReserveMaxPct: levels.soc_reserve_max_pct,
    strings,
    modules,
    cells,
    sohPct: input.soh_pct ?? 100,
    cycleLife: input.cycle_life ?? null,
    socDrift: input.soc_drift
      ? { perCyclePct: input.soc_drift.per_cycle_pct ?? 0, perDayPct: input.soc_drift.per_day_pct ?? 0 }
      : null,
    ambientTemperatureC: input.ambient_temperature_c ?? null,
    thermalTimeConstantS: input.thermal_time_constant_s ?? 7200,
    efficiencyNominal: input.efficiency_nominal ?? 0.97,
  };
}

type Bound = (typeof bounds)[number];

/** Checks the order of the bounds. An issue names a bound that was given: the other bound may be a default. */
function checkLevels(
  input: BatteryInput,
  levels: Readonly<Record<Bound, number>>,
  where: string,
  issues: Issue[],
): void {
  if (levels.soc_min_pct >= levels.soc_max_pct) {
    const [member, rule, other] =
      input.soc_min_pct === undefined
        ? (['soc_max_pct', 'above', 'soc_min_pct'] as const)
        : (['soc_min_pct', 'below', 'soc_max_pct'] as const);
    issues.push({
      name: `${where}: battery.${member}`,
      detail: `given ${levels[member]}; allowed: ${rule} ${other}, which is ${levels[other]}`,
    });
    return;
  }
  const { soc_pct } = input;
  if (soc_pct !== undefined && (soc_pct < levels.soc_min_pct || soc_pct > levels.soc_max_pct)) {
    issues.push({
      name: `${where}: battery.soc_pct`,
      detail: `given ${soc_pct}; allowed: from soc_min_pct to soc_max_pct, which are ${levels.soc_min_pct} and ${levels.soc_max_pct}`,
    });
  }
  for (let at = 1; at < bounds.length; at += 1) {
    const [lower, upper] = [bounds[at - 1], bounds[at]];
    if (lower === undefined || upper === undefined || levels[lower] <= levels[upper]) continue;
    const member =
      upper === 'soc_max_pct'
        ? lower
        : upper === 'soc_reserve_min_pct'
          ? upper
          : input[lower] === undefined
            ? upper
            : lower;
    const [rule, other] = member === lower ? (['up to', upper] as const) : (['from', lower] as const);
    issues.push({
      name: `${where}: battery.${member}`,
      detail: `given ${levels[member]}; allowed: ${rule} ${other}, which is ${levels[other]}`,
    });
  }
}
