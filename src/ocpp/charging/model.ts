/**
 * Charging profiles of every version in one form. Instants in whole ms since the epoch, on the clock of the central
 * system, so that sums of them are exact.
 */

/** 1.6 knows the first three, its ChargePointMaxProfile being `station_max`. */
export const profilePurposes = ['station_max', 'tx_default', 'tx', 'external', 'priority', 'local_generation'] as const;
export type ProfilePurpose = (typeof profilePurposes)[number];

export type ProfileKind = 'absolute' | 'recurring_daily' | 'recurring_weekly' | 'relative' | 'dynamic';
export type RateUnit = 'W' | 'A';

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
}

export interface ChargingSchedule {
  readonly unit: RateUnit;
  /** null: it never ends */
  readonly durationS: number | null;
  /** null: relative, or absolute from the moment it was received */
  readonly startMs: number | null;
  readonly minChargingRate: number | null;
  /** ascending; the first starts at 0 */
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
}
