/** What commands set that no register holds, and who was the last to do so. */
import type { DeviceCommand } from './device.ts';
import type { Provenance } from '../core/origin.ts';

/** The names under which `controls.overrides` shows the last writers. */
export const overrideNames = [
  'switch',
  'local_control',
  'alarm_reset',
  'device_reset',
  'pv_shading',
  'battery_mode',
  'battery_soc',
  'battery_contactors',
  'battery_reserve',
  'wind_override',
  'fuelcell_tank',
  'hybrid_policy',
  'hybrid_battery',
  'evse_cable',
  'evse_authorization',
  'evse_session',
  'evse_suspension',
  'evse_limit',
  'evse_discharge',
  'evse_availability',
  'evse_fault',
  'evse_vehicle',
  'evse_meter',
  'evse_lock',
  'evse_reservation',
  'evse_profile_limit',
] as const;
export type OverrideName = (typeof overrideNames)[number];

/** Last writer of one of them. */
export interface Override extends Provenance {
  readonly name: OverrideName;
  /** of a charging station; 0: the whole station, null: not about a connector */
  readonly connectorId: number | null;
}

/** Commands that set one and the same thing have one name. */
const namesByKind: Readonly<Record<Exclude<DeviceCommand['kind'], 'battery.control' | 'reset'>, OverrideName | null>> =
  {
    // registers (703.ES, 715.OpCtl), which remember their own writers
    start: null,
    stop: null,
    switch: 'switch',
    local: 'local_control',
    'pv.shading': 'pv_shading',
    'battery.reserve': 'battery_reserve',
    'battery.connect': 'battery_contactors',
    'wind.override': 'wind_override',
    'fuelcell.tank': 'fuelcell_tank',
    'hybrid.policy': 'hybrid_policy',
    'hybrid.battery': 'hybrid_battery',
    'evse.plug': 'evse_cable',
    'evse.unplug': 'evse_cable',
    'evse.authorize': 'evse_authorization',
    'evse.start': 'evse_session',
    'evse.stop': 'evse_session',
    'evse.suspend': 'evse_suspension',
    'evse.resume': 'evse_suspension',
    'evse.limit': 'evse_limit',
    'evse.discharge': 'evse_discharge',
    'evse.availability': 'evse_availability',
    'evse.fault': 'evse_fault',
    'evse.clear_fault': 'evse_fault',
    'evse.ev': 'evse_vehicle',
    'evse.meter': 'evse_meter',
    'evse.lock': 'evse_lock',
    'evse.unlock': 'evse_lock',
    'evse.reserve': 'evse_reservation',
    'evse.profile_limit': 'evse_profile_limit',
  };

/** What a command sets, by name; one command for a battery may set several things. */
export function overridesOf(command: DeviceCommand): readonly OverrideName[] {
  if (command.kind === 'reset') return [command.scope === 'device' ? 'device_reset' : 'alarm_reset'];
  if (command.kind === 'battery.control') {
    const { mode, powerW, durationS, socPct, strings } = command;
    return [
      ...(mode !== undefined || powerW !== undefined || durationS !== undefined ? ['battery_mode' as const] : []),
      ...(socPct !== undefined ? ['battery_soc' as const] : []),
      ...(strings !== undefined ? ['battery_contactors' as const] : []),
    ];
  }
  const name = namesByKind[command.kind];
  return name === null ? [] : [name];
}
