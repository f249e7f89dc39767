import { z } from 'zod';
import type { Issue } from '../../../core/errors.ts';
import {
  fuelCellChemistries,
  fuelCellCombinations,
  fuelCellFuels,
  fuelCellOperatingModes,
  fuelCellStackModels,
} from '../../../contract/kinds/fuelcell.ts';
import type {
  FuelCellChemistry,
  FuelCellCombination,
  FuelCellParameters,
  FuelCellStackModel,
} from '../../../contract/kinds/fuelcell.ts';

const positive = z.number().positive().max(1e9);
const percent = z.number().min(0).max(100);

export const fuelCellSchema = z
  .strictObject({
    chemistry: z.enum(fuelCellChemistries).optional().meta({ description: 'Chemistry of the cells; default PEMFC.' }),
    operating_mode: z
      .enum(fuelCellOperatingModes)
      .optional()
      .meta({ description: 'Fuel cell only, or fuel cell and electrolysis; default fc_only.' }),
    fuel: z.enum(fuelCellFuels).optional().meta({
      description: 'Hydrogen from a tank or from a continuous supply; default tank, for SOFC with fc_only continuous.',
    }),
    stack_model: z.enum(fuelCellStackModels).optional().meta({
      description:
        'Equation of the PEM fuel cell: Tafel, or Amphlett with the constants of the Ballard Mark V; default tafel. For PEMFC only.',
    }),
    rated_el_power_w: z
      .number()
      .min(1)
      .max(1e9)
      .optional()
      .meta({ description: 'Rated electrolysis power, W; default the rated power. For bidirectional only.' }),
    efficiency_nominal: z
      .number()
      .min(0.8)
      .max(1)
      .optional()
      .meta({ description: 'Nominal inverter efficiency; default 0.97.' }),
    cell_count: z.number().int().min(1).max(100_000).optional().meta({
      description: 'Cells in series; default 75 for a stack of 5 kW, growing with the square root of the power.',
    }),
    cell_area_cm2: positive.optional().meta({
      description:
        'Active area of a cell, cm2; default: 0.7 A/cm2 at rated power and 65 C (PEMFC) or 0.4 A/cm2 (SOFC).',
    }),
    parasitic_fixed_pct: z.number().min(0).max(20).optional().meta({
      description: 'Constant consumption of the plant in operation, percent of rated stack power; default 3.',
    }),
    parasitic_pct: z.number().min(0).max(20).optional().meta({
      description: 'Consumption of the plant that is proportional to its power, percent of stack power; default 4.',
    }),
    fuel_utilization_pct: z
      .number()
      .min(50)
      .max(100)
      .optional()
      .meta({ description: 'Share of the fuel that the cells use, %; default 97.' }),
    drying_loss_pct: z.number().min(0).max(50).optional().meta({
      description: 'Share of the produced hydrogen that the dryer loses, %; default 4. For bidirectional only.',
    }),
    ramp_pct_s: z.number().min(0.001).max(1000).optional().meta({
      description:
        'Maximum rise of power in either direction, percent of rated power per second; default 15, SOFC 0.333 (20 percent per minute).',
    }),
    ramp_down_pct_s: z
      .number()
      .min(0.001)
      .max(1000)
      .optional()
      .meta({
        description:
          'Rate at which the available power falls after the output, percent of rated power per second; ' +
          'default 50, SOFC 0.333. The output itself may fall at once.',
      }),
    dwell_s: z.number().min(0).max(86_400).optional().meta({
      description: 'Rest between fuel cell and electrolysis, s; default 30, SOFC 600. For bidirectional only.',
    }),
    start_temperature_c: z.number().min(-40).max(750).nullable().optional().meta({
      description:
        'Stack temperature at start, C, up to the working temperature (PEMFC 65, SOFC 750); default null, the working temperature.',
    }),
    tank_capacity_kg: positive
      .optional()
      .meta({ description: 'Hydrogen in a full tank, kg; default enough for 8 hours at rated power.' }),
    tank_level_pct: percent
      .optional()
      .meta({ description: 'Level of the tank at start, %; default 90, bidirectional 50.' }),
    tank_pressure_max_bar: z
      .number()
      .min(1)
      .max(1000)
      .optional()
      .meta({ description: 'Pressure of a full tank at 15 C, bar; default 200, bidirectional 30.' }),
    tank_reserve_min_pct: percent
      .optional()
      .meta({ description: 'Level of the tank at which the fuel cell stops, %; default 5.' }),
    tank_reserve_max_pct: percent
      .optional()
      .meta({ description: 'Level of the tank at which electrolysis stops, %; default 95.' }),
    tank_low_pct: percent
      .optional()
      .meta({ description: 'Level below which the tank counts as low, %; default 15, at least tank_reserve_min_pct.' }),
  })
  .meta({ description: 'Fuel cell, optionally with electrolysis, and its hydrogen supply.' });

export type FuelCellInput = z.infer<typeof fuelCellSchema>;

/** Data of the built-in cells: power densities that size a stack, and default rates, times and temperatures. */
const cellLaws = {
  PEMFC: {
    // 75 cells give 5.15 kW at 0.7 A/cm2
    referenceCells: 75,
    referenceW: 5152,
    ratedWCm2: 0.42936516,
    maxWCm2: 0.527,
    // 1 A/cm2 at 65 C
    elWCm2: 2.0363,
    rampPctS: 15,
    rampDownPctS: 50,
    dwellS: 30,
    workingC: 65,
  },
  SOFC: {
    referenceCells: 75,
    referenceW: 5152,
    ratedWCm2: 0.316,
    // 0.5 A/cm2 at 700 C, the lowest temperature at which a stack delivers power
    maxWCm2: 0.325,
    // 0.8 A/cm2 at the thermoneutral voltage; the cells are those of the fuel cell
    elWCm2: 1.032,
    rampPctS: 1 / 3,
    rampDownPctS: 1 / 3,
    dwellS: 600,
    workingC: 750,
  },
} as const satisfies Record<FuelCellChemistry, Record<string, number>>;

/** Power densities of the Amphlett law: 0.7 A/cm2 at 65 C; 0.5 V at 50 C, the lowest temperature for full power. */
const amphlettLaw = { ...cellLaws.PEMFC, ratedWCm2: 0.3914124, maxWCm2: 0.423 } as const;

/** Hydrogen for one kilowatt hour at the terminals, kg; sizes the default tank. */
const kgPerKWh = 0.07;
const defaultTankHours = 8;

const inputNames = { chemistry: 'chemistry', operatingMode: 'operating_mode', fuel: 'fuel' } as const;

/** The issue of an unsupported combination of chemistry, operating mode and fuel; null: one of the four supported. */
export function fuelCellCombinationIssue(given: FuelCellCombination, name: string): Issue | null {
  const keys = Object.keys(inputNames) as (keyof typeof inputNames)[];
  if (fuelCellCombinations.some((combination) => keys.every((key) => combination[key] === given[key]))) return null;
  const text = (row: FuelCellCombination) => `${row.chemistry} ${row.operatingMode} ${row.fuel}`;
  return {
    name,
    detail: `given ${text(given)}; allowed: ${fuelCellCombinations.map(text).join(', ')}`,
    allowed: fuelCellCombinations.map(text),
  };
}

const bidirectionalOnly = ['rated_el_power_w', 'drying_loss_pct', 'dwell_s'] as const;
const tankOnly = [
  'tank_capacity_kg',
  'tank_level_pct',
  'tank_pressure_max_bar',
  'tank_reserve_min_pct',
  'tank_reserve_max_pct',
  'tank_low_pct',
] as const;

type Push = (member: keyof FuelCellInput, detail: string) => void;

/** Reports members for a chemistry, an operating mode or a fuel that the plant does not have. */
function strayMembers(input: FuelCellInput, { chemistry, operatingMode, fuel }: FuelCellCombination, push: Push): void {
  const stray = [
    ...(chemistry === 'SOFC' ? [['stack_model', 'chemistry PEMFC'] as const] : []),
    ...(operatingMode === 'fc_only'
      ? bidirectionalOnly.map((member) => [member, 'operating_mode bidirectional'] as const)
      : []),
    ...(fuel === 'continuous' ? tankOnly.map((member) => [member, 'fuel tank'] as const) : []),
  ];
  for (const [member, condition] of stray) {
    const value = input[member];
    if (value !== undefined) push(member, `given ${value}; allowed: only with ${condition}`);
  }
}

function checkStart({ start_temperature_c: startC }: FuelCellInput, chemistry: FuelCellChemistry, push: Push): void {
  const { workingC } = cellLaws[chemistry];
  if (typeof startC === 'number' && startC > workingC) {
    push(
      'start_temperature_c',
      `given ${startC}; allowed: up to the working temperature of ${chemistry}, ${workingC} C, or null`,
    );
  }
}

function resolveTank(input: FuelCellInput, { operatingMode }: FuelCellCombination, ratedW: number, push: Push) {
  const bidirectional = operatingMode === 'bidirectional';
  const tankReserveMinPct = input.tank_reserve_min_pct ?? 5;
  const tankReserveMaxPct = input.tank_reserve_max_pct ?? 95;
  if (tankReserveMinPct >= tankReserveMaxPct) {
    // named after the member that was given: the other one may be a default
    if (input.tank_reserve_min_pct === undefined) {
      push(
        'tank_reserve_max_pct',
        `given ${tankReserveMaxPct}; allowed: above tank_reserve_min_pct, which is ${tankReserveMinPct}`,
      );
    } else {
      push(
        'tank_reserve_min_pct',
        `given ${tankReserveMinPct}; allowed: below tank_reserve_max_pct, which is ${tankReserveMaxPct}`,
      );
    }
  }
  const tankLowPct = input.tank_low_pct ?? Math.max(15, tankReserveMinPct);
  if (tankLowPct < tankReserveMinPct) {
    push('tank_low_pct', `given ${tankLowPct}; allowed: at least tank_reserve_min_pct, which is ${tankReserveMinPct}`);
  }
  return {
    tankCapacityKg: input.tank_capacity_kg ?? (ratedW / 1000) * kgPerKWh * defaultTankHours,
    tankLevelPct: input.tank_level_pct ?? (bidirectional ? 50 : 90),
    tankPressureMaxBar: input.tank_pressure_max_bar ?? (bidirectional ? 30 : 200),
    tankReserveMinPct,
    tankReserveMaxPct,
    tankLowPct,
  };
}

interface StackSize {
  readonly chemistry: FuelCellChemistry;
  readonly stackModel: FuelCellStackModel;
  /** stack power at rated output, W */
  readonly grossW: number;
  /** stack power at rated electrolysis, W; 0 without electrolysis */
  readonly elGrossW: number;
}

/** Number and area of the cells; reports cells that are too small for the rating. */
function resolveCells(input: FuelCellInput, { chemistry, stackModel, grossW, elGrossW }: StackSize, push: Push) {
  const law = stackModel === 'amphlett' && chemistry === 'PEMFC' ? amphlettLaw : cellLaws[chemistry];
  const cellCount =
    input.cell_count ?? Math.max(1, Math.round(law.referenceCells * Math.sqrt(grossW / law.referenceW)));
  const cellAreaCm2 = input.cell_area_cm2 ?? grossW / (cellCount * law.ratedWCm2);
  const elCellAreaCm2 = chemistry === 'PEMFC' ? elGrossW / (cellCount * law.elWCm2) : cellAreaCm2;
  const minCm2 = grossW / (cellCount * law.maxWCm2);
  if (cellAreaCm2 < minCm2) {
    push(
      'cell_area_cm2',
      `given ${cellAreaCm2}; allowed: at least ${minCm2.toFixed(1)} for rated power with ${cellCount} cells`,
    );
  }
  if (chemistry === 'SOFC' && elGrossW > cellCount * cellAreaCm2 * law.elWCm2) {
    const maxW = Math.floor((cellCount * cellAreaCm2 * law.elWCm2) / (elGrossW / (input.rated_el_power_w ?? elGrossW)));
    push(
      'rated_el_power_w',
      `given ${input.rated_el_power_w ?? 'nothing'}; allowed: up to ${maxW} with ${cellCount} cells of ${cellAreaCm2.toFixed(1)} cm2`,
    );
  }
  return { cellCount, cellAreaCm2, elCellAreaCm2 };
}

/**
 * Fills in the defaults of the block.
 * @param ratedW rated output at the AC terminals, W
 * @param where prefix of the key in an issue
 * @param issues receives errors across members
 */
export function resolveFuelCell(
  input: FuelCellInput,
  ratedW: number,
  where: string,
  issues: Issue[],
): FuelCellParameters {
  const push: Push = (member, detail) => issues.push({ name: `${where}: fuel_cell.${member}`, detail });
  const chemistry = input.chemistry ?? 'PEMFC';
  const operatingMode = input.operating_mode ?? 'fc_only';
  const fuel = input.fuel ?? (chemistry === 'SOFC' && operatingMode === 'fc_only' ? 'continuous' : 'tank');
  const combination: FuelCellCombination = { chemistry, operatingMode, fuel };
  const issue = fuelCellCombinationIssue(combination, `${where}: fuel_cell`);
  if (issue) issues.push(issue);
  strayMembers(input, combination, push);
  checkStart(input, chemistry, push);
  const efficiencyNominal = input.efficiency_nominal ?? 0.97;
  const parasiticFixedPct = input.parasitic_fixed_pct ?? 3;
  const parasiticPct = input.parasitic_pct ?? 4;
  const parasitic = (parasiticFixedPct + parasiticPct) / 100;
  const ratedElPowerW = operatingMode === 'bidirectional' ? (input.rated_el_power_w ?? ratedW) : 0;
  const law = cellLaws[chemistry];
  const stackModel = input.stack_model ?? 'tafel';
  const size = {
    chemistry,
    stackModel,
    grossW: ratedW / efficiencyNominal / (1 - parasitic),
    elGrossW: ratedElPowerW / (1 + parasitic),
  };
  return {
    ...combination,
    stackModel,
    ratedPowerW: ratedW,
    ratedElPowerW,
    efficiencyNominal,
    ...resolveCells(input, size, push),
    parasiticFixedPct,
    parasiticPct,
    fuelUtilizationPct: input.fuel_utilization_pct ?? 97,
    dryingLossPct: input.drying_loss_pct ?? 4,
    rampUpPctS: input.ramp_pct_s ?? law.rampPctS,
    rampDownPctS: input.ramp_down_pct_s ?? law.rampDownPctS,
    dwellS: input.dwell_s ?? law.dwellS,
    startTemperatureC: input.start_temperature_c ?? null,
    ...resolveTank(input, combination, ratedW, push),
  };
}
