/**
 * Charging profiles of every version in one form. Instants in whole ms since the epoch, on the clock of the central
 * system, so that sums of them are exact.
 */

/** 1.6 knows the first three, its ChargePointMaxProfile being `station_max`. */
export type ProfilePurpose = 'station_max' | 'tx_default' | 'tx' | 'external' | 'priority' | 'local_generation';

export type ProfileKind = 'absolute' | 'recurring_daily' | 'recurring_weekly' | 'relative' | 'dynamic';
export type RateUnit = 'W' | 'A';

/** 2.1: how the power of a period comes about, in the words of the standard. Absent: ChargingOnly. */
export type OperationMode = 'Idle' | 'ChargingOnly' | 'CentralSetpoint' | 'CentralFrequency' | 'LocalFrequency';

/** Power (W, + into the vehicle) over a frequency (Hz) or a signal. */
export type WattCurve = readonly (readonly [at: number, powerW: number])[];

/** 2.1: a set-point that follows the grid frequency and a signal of the grid operator. */
export interface FrequencyWatt {
  readonly baselineW: number;
  /** at least 2 points, ascending frequencies in Hz */
  readonly curve: WattCurve;
  /** null: signals are not followed */
  readonly signalCurve: WattCurve | null;
}

export interface SchedulePeriod {
  /** seconds from the start of the schedule */
  readonly startS: number;
  /** maximum in the unit of the schedule: W in total, A per phase; null: this period limits nothing */
  readonly limit: number | null;
  /** null: as many as the connector has; 2 counts as 1, see `limitAt` */
  readonly numberPhases: 1 | 2 | 3 | null;
  /** 2.1: signed, + into the vehicle */
  readonly setpoint?: number;
  /** 2.1: never positive */
  readonly dischargeLimit?: number;
  /** 2.1 */
  readonly mode?: OperationMode;
  /** 2.1: decides the set-point, in W */
  readonly frequencyWatt?: FrequencyWatt;
}

export interface ChargingSchedule {
  readonly unit: RateUnit;
  /** null: it never ends */
  readonly durationS: number | null;
  /** null: relative, or absolute from the moment it was received */
  readonly startMs: number | null;
  readonly minChargingRate: number | null;
  /** 2.1: maximum, in the unit of the schedule, once the vehicle has this state of charge */
  readonly limitAtSoc?: { readonly socPct: number; readonly limit: number };
  /** ascending; the first starts at 0, or later where random delays have moved it */
  readonly periods: readonly SchedulePeriod[];
}

export interface ChargingProfile {
  readonly profileId: number;
  /** 0: the whole station, or every connector */
  readonly connectorId: number;
  readonly stackLevel: number;
  readonly purpose: ProfilePurpose;
  readonly kind: ProfileKind;
  /** inclusive; null: open */
  readonly validFromMs: number | null;
  /** exclusive; null: open */
  readonly validToMs: number | null;
  /** of the central system; null: of whichever transaction runs */
  readonly transactionId: string | null;
  readonly schedule: ChargingSchedule;
  /** when it was installed: the start of an absolute schedule without a start */
  readonly receivedMs: number;
  /** 2.1: in force for this long without the central system, s; absent: always */
  readonly maxOfflineS?: number;
}

/** Conditions beside the time that a schedule may follow at a connector. Null: not known, so nothing follows it. */
export interface Conditions {
  readonly frequencyHz: number | null;
  /** last signal of the grid operator */
  readonly signal: number | null;
  /** of the vehicle */
  readonly socPct: number | null;
  /** false: set-points and limits never discharge the vehicle */
  readonly mayDischarge: boolean;
}

/** A transaction that runs at a connector, as far as profiles need it. */
export interface RunningTransaction {
  readonly connectorId: number;
  /** null: the central system has not told it yet */
  readonly transactionId: string | null;
  readonly startedMs: number;
  /** 2.1: it charges with priority, so that a `priority` profile replaces the others; default false */
  readonly priority?: boolean;
}

/**
 * How default profiles of a connector and of connector 0 meet. `connector_first`: while one of the connector is in
 * force, those of 0 do not apply to it (1.6, 3.13.1). `stack_level`: both are one stack (2.x, K01.FR.17).
 */
export type DefaultPrecedence = 'connector_first' | 'stack_level';

/** Nominal values of a connector, or of the grid connection of the station. `ConnectorRating` is one. */
export interface Nominal {
  readonly type: 'ac' | 'dc';
  readonly phases: 1 | 3;
  /** line to neutral, or DC */
  readonly nominalVoltageV: number;
}

/** All that limits follow from. */
export interface ChargingState {
  readonly profiles: readonly ChargingProfile[];
  readonly transactions: readonly RunningTransaction[];
  readonly precedence: DefaultPrecedence;
  /** of the grid connection: adds local generation to a limit in the other unit */
  readonly station: Nominal;
  /** by connector; absent: nothing is known, and vehicles may discharge */
  readonly conditions?: ReadonlyMap<number, Conditions>;
}

/** The limit at one instant; every member null: no profile limits. */
export interface Limit {
  readonly limitW: number | null;
  readonly limitA: number | null;
  /** of two phases a device uses one */
  readonly numberPhases: 1 | 3 | null;
  readonly setpointW?: number | null;
  readonly setpointA?: number | null;
  readonly dischargeLimitW?: number | null;
  readonly dischargeLimitA?: number | null;
  /** of the transaction; absent: ChargingOnly */
  readonly mode?: OperationMode | null;
}
