/** The chain of limits on the active power of a device, from what its source has to what the device delivers. */
import type { ActiveDecider, ReactiveDecider } from './grid-trace.ts';
import type { ReactivePowerFunction } from '../sunspec/map/grid-support/functions.ts';
import type { EvseLimitSource } from './kinds/evse.ts';

/** Limits of a device in the order in which they act. */
export const deviceLimits = [
  'w_max',
  'charge_limit',
  'discharge_limit',
  'max_power',
  'active_power',
  'freq_droop',
  'volt_watt',
  'second_limiter',
  'enter_service',
  'ramp',
  'site',
  'apparent_power',
  'cessation',
  'out_of_service',
] as const satisfies readonly ActiveDecider[];
export type DeviceLimit = (typeof deviceLimits)[number];

/** `delivers`: power flows into the grid, or would without a limit; `absorbs`: out of it. */
export const flowDirections = ['delivers', 'absorbs'] as const;
export type FlowDirection = (typeof flowDirections)[number];

/**
 * The limit that holds the power of a device. All powers are magnitudes in the direction of flow, W, at the end of the
 * last sub-step.
 */
export interface PowerLimit {
  readonly direction: FlowDirection;
  /** power without the limits: `available` is all that the source has, `chosen` what it runs at by itself */
  readonly basis: { readonly kind: 'available' | 'chosen'; readonly powerW: number };
  /** the limit that sets the power; null: none does */
  readonly winner: DeviceLimit | null;
  readonly deliveredW: number;
}

export interface LimitChain extends PowerLimit {
  /** null: the limit is off, or does not act in this direction */
  readonly limitsW: Readonly<Record<DeviceLimit, number | null>>;
}

/** Limits of a charging connector in the order in which they act. */
export const connectorLimits = [
  'hardware',
  'ev',
  'charging_profile',
  'local',
  'sharing',
  'der',
  'site',
  'ramp',
] as const satisfies readonly (EvseLimitSource | DeviceLimit)[];
export type ConnectorLimit = (typeof connectorLimits)[number];

export type LimitKey = DeviceLimit | ConnectorLimit;
export const limitKeys: readonly LimitKey[] = [...new Set<LimitKey>([...deviceLimits, ...connectorLimits])];

/** Functions and limits of reactive power in the order in which they act: of the functions one acts at a time. */
export const reactiveLimits = [
  'volt_var',
  'watt_var',
  'constant_var',
  'pf_inject',
  'pf_absorb',
  'capability',
  'low_power',
  'apparent_power',
  'cessation',
  'out_of_service',
] as const satisfies readonly ReactiveDecider[];
export type ReactiveLimit = (typeof reactiveLimits)[number];

/** Power that is kept on the circle of apparent power; `both`: they are reduced in proportion. */
export type CirclePriority = 'reactive' | 'active' | 'both';

/** The reactive power of a device, and the functions and limits that set it, at the end of the last sub-step, var; positive: injected. */
export interface ReactiveChain {
  /** reactive power before the limits: `loads`: of what is behind the terminals while no function acts */
  readonly asked: { readonly by: 'function' | 'loads' | 'none'; readonly powerVar: number };
  /** the function that asks for it; null: none acts */
  readonly function: ReactivePowerFunction | null;
  /** the function or limit that sets the reactive power; null: none does */
  readonly winner: ReactiveLimit | null;
  /** request of each function, and the limits in the direction of `asked`; null: off */
  readonly limitsVar: Readonly<Record<ReactiveLimit, number | null>>;
  readonly priority: CirclePriority;
  /** false: the source does not power the converter, or it shuts down, so that reactive power goes to zero */
  readonly converterRuns: boolean;
  /** end of the ramp or response under way */
  readonly targetVar: number;
  readonly deliveredVar: number;
}
