/** Names of the quantities that `consistency` compares. */
import { functionNames } from '../../sunspec/map/grid-support/functions.ts';
import type { FunctionName } from '../../sunspec/map/grid-support/functions.ts';

const measuredNames = [
  'active_power',
  'reactive_power',
  'apparent_power',
  'power_factor',
  'voltage_l1',
  'voltage_l2',
  'voltage_l3',
  'voltage_l1_l2',
  'voltage_l2_l3',
  'voltage_l3_l1',
  'voltage_ln',
  'voltage_ll',
  'current',
  'current_l1',
  'current_l2',
  'current_l3',
  'frequency',
  'energy_injected',
  'energy_absorbed',
  'reactive_energy_injected',
  'reactive_energy_absorbed',
  'dc_power',
  'dc_voltage',
  'dc_current',
  'state_of_charge',
  'vehicle_state_of_charge',
  'available_power',
  'available_charge_power',
] as const;
const stateNames = ['service_state', 'connection_state', 'inverter_state', 'switch_closed', 'local_control'] as const;
const limitNames = [
  'power_limit',
  'power_set_point_pct',
  'power_set_point',
  'reactive_set_point_pct',
  'reactive_set_point',
  'power_factor_set_point',
  'max_active_power',
  'max_charge_power',
  'max_apparent_power',
  'nominal_voltage',
  'rated_active_power',
] as const;

/** Functions that are on or off. */
type Switched = Exclude<FunctionName, 'ramp'>;
export const switchedFunctions = functionNames.filter((name): name is Switched => name !== 'ramp');

export type EnableName = `${Switched}_enabled`;
export type NamedQuantity = (typeof measuredNames)[number] | (typeof stateNames)[number] | (typeof limitNames)[number];
export type QuantityName = NamedQuantity | EnableName;

/** In the order of replies. */
export const quantityNames: readonly QuantityName[] = [
  ...measuredNames,
  ...stateNames,
  ...limitNames,
  ...switchedFunctions.map((name): EnableName => `${name}_enabled`),
];
