/** Types of a battery bank: strings in parallel, of modules and cells in series. */

export const batteryChemistries = ['nmc', 'lfp'] as const;
export type BatteryChemistry = (typeof batteryChemistries)[number];

/** Modes that a command forces; `auto` returns control to set-points and functions. */
export const batteryControlModes = ['charge', 'discharge', 'idle', 'auto'] as const;
export type BatteryControlMode = (typeof batteryControlModes)[number];
export type BatteryMode = 'charge' | 'discharge' | 'idle';

/** State of model 802. */
export type BatteryState =
  | 'disconnected'
  | 'initializing'
  | 'connected'
  | 'standby'
  | 'soc_protection'
  | 'suspending'
  | 'fault';

/** Why the battery cannot charge or discharge. */
export type BatteryInhibit = 'none' | 'soc_floor' | 'soc_ceiling' | 'temperature';

/** Names of 802.Evt1 that the model can raise. */
export type BatteryEvent =
  | 'OVER_TEMP_ALARM'
  | 'OVER_TEMP_WARNING'
  | 'UNDER_TEMP_ALARM'
  | 'UNDER_TEMP_WARNING'
  | 'OVER_VOLT_ALARM'
  | 'OVER_VOLT_WARNING'
  | 'UNDER_VOLT_ALARM'
  | 'UNDER_VOLT_WARNING'
  | 'UNDER_SOC_MIN_ALARM'
  | 'UNDER_SOC_MIN_WARNING'
  | 'OVER_SOC_MAX_ALARM'
  | 'OVER_SOC_MAX_WARNING'
  | 'VOLTAGE_IMBALANCE_WARNING'
  | 'CURRENT_IMBALANCE_WARNING'
  | 'CONTACTOR_ERROR';

/** Drift of the reported state of charge away from the true one, percentage points. */
export interface SocDrift {
  /** per equivalent full cycle */
  readonly perCyclePct: number;
  /** per day of simulated time */
  readonly perDayPct: number;
}

/** Physical parameters of a battery, as a profile gives them with every default filled in. */
export interface BatteryParameters {
  readonly chemistry: BatteryChemistry;
  /** nameplate energy from empty to full, DC */
  readonly capacityWh: number;
  /** DC rating, both ways */
  readonly powerW: number;
  /** state of charge at start */
  readonly socPct: number;
  /** lower hard bound, at most the lower reserve */
  readonly socMinPct: number;
  /** upper hard bound, at least the upper reserve */
  readonly socMaxPct: number;
  /** lower bound of normal dispatch */
  readonly socReserveMinPct: number;
  /** upper bound of normal dispatch */
  readonly socReserveMaxPct: number;
  /** strings in parallel */
  readonly strings: number;
  /** modules of one string, in series */
  readonly modules: number;
  /** cells of one module, in series */
  readonly cells: number;
  /** state of health at start: remaining share of the nameplate capacity; resistance rises as it falls */
  readonly sohPct: number;
  /** equivalent full cycles in which the state of health falls by 20 points; null: no ageing */
  readonly cycleLife: number | null;
  /** null: the management system knows the state of charge */
  readonly socDrift: SocDrift | null;
  /** temperature of the room; null: that of the surroundings */
  readonly ambientTemperatureC: number | null;
  /** time constant of the cells towards the room */
  readonly thermalTimeConstantS: number;
  /** efficiency of the inverter, 0.8..1 */
  readonly efficiencyNominal: number;
}

/** The module that holds a cell; both indexes count from 0. */
export interface BatteryModulePosition {
  readonly string: number;
  readonly module: number;
}

/** The bank without its strings. Powers and currents: positive = discharge. */
export interface BatteryDetail
  extends Pick<
    BatteryParameters,
    'chemistry' | 'capacityWh' | 'socMinPct' | 'socMaxPct' | 'socReserveMinPct' | 'socReserveMaxPct'
  > {
  readonly kind: 'battery';
  /** reported state of charge of the closed strings, or of all if none is closed; in steps of 0.1 % */
  readonly socPct: number;
  /** state of charge of the same strings without the drift of `SocDrift`, not rounded */
  readonly trueSocPct: number;
  readonly sohPct: number;
  readonly mode: BatteryMode;
  readonly control: 'auto' | 'forced';
  readonly powerW: number;
  /** 0 while no string is closed */
  readonly dcVoltageV: number;
  readonly dcCurrentA: number;
  /** energy in the same strings as `socPct` */
  readonly energyAvailableWh: number;
  /** present limit of the charging power at the DC terminals */
  readonly maxChargeW: number;
  /** present limit of the discharging power at the DC terminals, a magnitude */
  readonly maxDischargeW: number;
  /** present limit of the charging current at the DC terminals */
  readonly maxChargeA: number;
  /** present limit of the discharging current at the DC terminals, a magnitude */
  readonly maxDischargeA: number;
  readonly ratedPowerW: number;
  readonly ampHourRating: number;
  readonly temperatureC: number;
  readonly cellVoltageMinV: number;
  readonly cellVoltageMaxV: number;
  readonly cellVoltageAvgV: number;
  readonly cellVoltageMinAt: BatteryModulePosition;
  readonly cellVoltageMaxAt: BatteryModulePosition;
  /** equivalent full cycles */
  readonly cycleCount: number;
  readonly energyChargedWh: number;
  readonly energyDischargedWh: number;
  readonly state: BatteryState;
  readonly inhibit: BatteryInhibit;
  /** mode that was commanded; `auto`: not forced */
  readonly requestedMode: BatteryControlMode;
  /** power commanded with the forced mode, a magnitude; null: not forced */
  readonly requestedPowerW: number | null;
  /** `requestedPowerW` reduced to the present limits; null: not forced */
  readonly clampedPowerW: number | null;
  /** simulated time until control returns to auto; null: forced without end, or not forced */
  readonly remainingS: number | null;
  readonly events: readonly BatteryEvent[];
  readonly contactorsClosed: number;
  readonly stringCount: number;
}

export type BatteryContactor = 'open' | 'closing' | 'closed';

export interface BatteryCell {
  readonly index: number;
  readonly voltageV: number;
  readonly temperatureC: number;
  readonly balancing: boolean;
}

export interface BatteryModule {
  readonly index: number;
  readonly socPct: number;
  readonly sohPct: number;
  readonly voltageV: number;
  readonly cellVoltageMinV: number;
  readonly cellVoltageMaxV: number;
  readonly temperatureMinC: number;
  readonly temperatureMaxC: number;
  readonly cells: readonly BatteryCell[];
}

export interface BatteryString extends Omit<BatteryModule, 'temperatureMinC' | 'temperatureMaxC' | 'cells'> {
  readonly contactor: BatteryContactor;
  /** positive = discharge */
  readonly currentA: number;
  readonly cellVoltageAvgV: number;
  readonly temperatureC: number;
  readonly modules: readonly BatteryModule[];
}

/** Every string, module and cell at one moment; indexes count from 0. */
export interface BatteryTree {
  readonly strings: readonly BatteryString[];
}

export interface BatteryContactorCommand {
  readonly index: number;
  readonly contactor: 'open' | 'closed';
}

export type BatteryCommand =
  /**
   * Has at least one member. Absent members keep their values, except with a new `mode`: then an absent `durationS`
   * means without end, and an absent `powerW` the rating.
   */
  | {
      readonly kind: 'battery.control';
      readonly mode?: BatteryControlMode;
      /** magnitude, DC; null: the rating */
      readonly powerW?: number | null;
      /** sets the state of charge at once, cells included */
      readonly socPct?: number;
      /** simulated time, then `auto`; null: without end */
      readonly durationS?: number | null;
      readonly strings?: readonly BatteryContactorCommand[];
    }
  /** bounds of normal dispatch (802.SoCRsvMin, 802.SocRsvMax) */
  | { readonly kind: 'battery.reserve'; readonly minPct: number; readonly maxPct: number }
  /** opens or closes every string (802.SetOp) */
  | { readonly kind: 'battery.connect'; readonly connect: boolean };

/**
 * Names in `controls.overrides` of the values that each command sets. A `battery.control` sets only those of
 * the members that it has.
 */
export const batteryOverrides = {
  'battery.control': ['battery_mode', 'battery_soc', 'battery_contactors'],
  'battery.connect': ['battery_contactors'],
  'battery.reserve': ['battery_reserve'],
} as const satisfies Record<BatteryCommand['kind'], readonly string[]>;
