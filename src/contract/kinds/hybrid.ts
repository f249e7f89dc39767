/** Types of a DC-coupled hybrid: PV array and battery on one DC bus behind one inverter. */
import type { BatteryDetail } from './battery.ts';
import type { PvShading } from './pv.ts';

/** Policies of sharing PV power; a set-point has another meaning in each. */
export const hybridPolicies = ['self_consumption', 'pv_priority', 'manual'] as const;
export type HybridPolicy = (typeof hybridPolicies)[number];

/** Physical parameters of a hybrid, as a profile gives them with every default filled in. */
export interface HybridParameters {
  readonly policy: HybridPolicy;
  /** PV module power on the bus, W */
  readonly pvW: number;
  /** DC rating of the battery, both ways, W */
  readonly batteryW: number;
  readonly batteryWh: number;
  /** true: the battery may take power through the inverter */
  readonly chargeFromGrid: boolean;
  readonly socMinPct: number;
  readonly socMaxPct: number;
  /** the DC/DC converters of both sources hold the bus at this voltage */
  readonly busVoltageV: number;
}

export interface HybridDetail {
  readonly kind: 'hybrid-dc';
  readonly policy: HybridPolicy;
  readonly busVoltageV: number;
  readonly pv: {
    readonly powerW: number;
    /** power that the array could deliver now */
    readonly availableW: number;
    readonly voltageV: number;
    readonly currentA: number;
    readonly irradianceWm2: number;
    readonly cellTemperatureC: number;
    readonly mpptState: 'off' | 'start' | 'track' | 'limit' | 'dc_low';
    readonly shading: PvShading | null;
  };
  readonly battery: BatteryDetail;
  /** battery power at the bus, W, positive = discharge */
  readonly batteryPowerW: number;
  /** available PV power that is not used, W; 0 while the inverter's input is open */
  readonly curtailedW: number;
  /** power from the bus into the inverter, W: PV and battery together */
  readonly dcPowerW: number;
  /** fixed battery power of policy `manual`, W, positive = discharge; null: the battery follows the target */
  readonly manualBatteryW: number | null;
}

export type HybridCommand =
  /** takes effect at the next sub-step; leaving `manual` releases the battery power */
  | { readonly kind: 'hybrid.policy'; readonly policy: HybridPolicy }
  /** fixes the battery power in policy `manual`, W, positive = discharge; null: the battery follows the target */
  | { readonly kind: 'hybrid.battery'; readonly powerW: number | null };

/** Names in `controls.overrides` of the values that each command sets. */
export const hybridOverrides = {
  'hybrid.policy': ['hybrid_policy'],
  'hybrid.battery': ['hybrid_battery'],
} as const satisfies Record<HybridCommand['kind'], readonly string[]>;
