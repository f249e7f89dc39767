/** Words and types of fuel cells and electrolysers. */

export const fuelCellChemistries = ['PEMFC', 'SOFC'] as const;
export type FuelCellChemistry = (typeof fuelCellChemistries)[number];
export const fuelCellOperatingModes = ['fc_only', 'bidirectional'] as const;
export type FuelCellOperatingMode = (typeof fuelCellOperatingModes)[number];
export const fuelCellFuels = ['tank', 'continuous'] as const;
export type FuelCellFuel = (typeof fuelCellFuels)[number];

/** Equations of the PEM fuel cell: Tafel with ohmic and concentration losses, or the semi-empirical one of Amphlett. */
export const fuelCellStackModels = ['tafel', 'amphlett'] as const;
export type FuelCellStackModel = (typeof fuelCellStackModels)[number];

export interface FuelCellCombination {
  readonly chemistry: FuelCellChemistry;
  readonly operatingMode: FuelCellOperatingMode;
  readonly fuel: FuelCellFuel;
}

/** The valid combinations. */
export const fuelCellCombinations: readonly FuelCellCombination[] = [
  { chemistry: 'PEMFC', operatingMode: 'fc_only', fuel: 'tank' },
  { chemistry: 'PEMFC', operatingMode: 'bidirectional', fuel: 'tank' },
  { chemistry: 'SOFC', operatingMode: 'bidirectional', fuel: 'tank' },
  { chemistry: 'SOFC', operatingMode: 'fc_only', fuel: 'continuous' },
];

/** FC: delivers power; EL: absorbs power and produces hydrogen. */
export type FuelCellMode = 'FC' | 'EL' | 'idle';

/**
 * off: cold behind an open input; heatup: on the way to working temperature; standby: warm behind an open input;
 * transition: at rest until the dwell between fuel cell and electrolysis is over.
 */
export const fuelCellStates = [
  'off',
  'heatup',
  'standby',
  'fc',
  'el',
  'transition',
  'idle',
  'tank_empty',
  'tank_full',
] as const;
export type FuelCellState = (typeof fuelCellStates)[number];

export const hydrogenTankStates = ['ok', 'low', 'empty', 'full'] as const;
export type HydrogenTankState = (typeof hydrogenTankStates)[number];

/** Physical parameters of a fuel cell plant, as a profile gives them with every default filled in. */
export interface FuelCellParameters extends FuelCellCombination {
  /** output at the AC terminals */
  readonly ratedPowerW: number;
  /** input of the electrolyser at the AC terminals; 0 for fc_only */
  readonly ratedElPowerW: number;
  /** model of a PEMFC stack */
  readonly stackModel: FuelCellStackModel;
  /** efficiency of the inverter, 0.8..1 */
  readonly efficiencyNominal: number;
  /** cells in series, the same for both directions */
  readonly cellCount: number;
  readonly cellAreaCm2: number;
  /** cell area of the electrolyser; for SOFC the same cells */
  readonly elCellAreaCm2: number;
  /** own consumption in operation: fixed part, % of rated stack power */
  readonly parasiticFixedPct: number;
  /** own consumption: variable part, % of stack power */
  readonly parasiticPct: number;
  /** share of the fuel that the cells use; the rest is purged */
  readonly fuelUtilizationPct: number;
  /** share of the produced hydrogen that the dryer loses */
  readonly dryingLossPct: number;
  /** ramp of the output, % of rated power per second */
  readonly rampUpPctS: number;
  readonly rampDownPctS: number;
  /** rest between fuel cell and electrolysis */
  readonly dwellS: number;
  /** null: starts warm */
  readonly startTemperatureC: number | null;
  readonly tankCapacityKg: number;
  readonly tankLevelPct: number;
  /** pressure of a full tank at 15 C */
  readonly tankPressureMaxBar: number;
  /** level at which the fuel cell stops */
  readonly tankReserveMinPct: number;
  /** level at which electrolysis stops */
  readonly tankReserveMaxPct: number;
  /** below this level the tank counts as low */
  readonly tankLowPct: number;
}

/**
 * Power of the stack and power at the AC terminals, W, + fuel cell, - electrolysis. Between them lie the consumption of
 * the plant and the inverter, at the present temperature. Both are capped at the rating of the stack.
 */
export interface StackPower {
  /** AC power while the stack has `stackW` */
  acW(stackW: number): number;
  /** power of the stack while `acW` flows at the terminals */
  stackW(acW: number): number;
}

/** State of a fuel cell plant for REST and history. */
export interface FuelCellDetail extends FuelCellCombination {
  readonly kind: 'fuelcell';
  readonly mode: FuelCellMode;
  readonly state: FuelCellState;
  readonly stackVoltageV: number;
  /** + fuel cell, - electrolysis */
  readonly stackCurrentA: number;
  /** gross power of the stack, before the consumption of the plant; + fuel cell, - electrolysis */
  readonly stackPowerW: number;
  /** + consumed, - produced */
  readonly h2FlowKgH: number;
  /** null: no tank */
  readonly tankLevelPct: number | null;
  readonly tankMassKg: number | null;
  readonly tankPressureBar: number | null;
  readonly tankState: HydrogenTankState | null;
  readonly stackTemperatureC: number;
  readonly rampLimited: boolean;
  /** rest until the other direction may start; 0 while none is under way */
  readonly dwellRemainingS: number;
  /** net DC power divided by hydrogen flow times lower heating value, in electrolysis the inverse; 0 at rest */
  readonly efficiencyPct: number;
  readonly cellCount: number;
  readonly ratedPowerW: number;
  readonly ratedElPowerW: number;
  /** hydrogen taken from the supply since the start, kg */
  readonly h2ConsumedKg: number;
  /** hydrogen produced (after losses) since the start, kg */
  readonly h2ProducedKg: number;
  /** hydrogen lost in either direction since the start, kg */
  readonly h2LostKg: number;
}

/** Sets the level of the tank at once. */
export interface FuelCellCommand {
  readonly kind: 'fuelcell.tank';
  /** 0..100 */
  readonly levelPct: number;
}

/** Names in `controls.overrides` of the values that each command sets. */
export const fuelCellOverrides = {
  'fuelcell.tank': ['fuelcell_tank'],
} as const satisfies Record<FuelCellCommand['kind'], readonly string[]>;
