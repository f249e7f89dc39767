/** State that commands set and no register holds, and the last writer of each part of it. */
import type { Provenance } from '../core/origin.ts';
import type { DeviceCommand } from './commands.ts';
import { kindTable } from './kinds/table.ts';
import type { AssetType, SourceCommand, SourceOverrideName } from './kinds/table.ts';

/**
 * Names of the things that commands common to all kinds set. `start` and `stop` have none: they write registers
 * (703.ES, 715.OpCtl), whose last writers the register map records.
 */
const commonOverrides = {
  start: [],
  stop: [],
  switch: ['switch'],
  local: ['local_control'],
  gradient: ['gradient'],
  reset: ['alarm_reset', 'device_reset'],
} as const satisfies Record<Exclude<DeviceCommand, SourceCommand>['kind'], readonly string[]>;

export type OverrideName = (typeof commonOverrides)[keyof typeof commonOverrides][number] | SourceOverrideName;

const namesByKind = Object.assign(
  {},
  commonOverrides,
  ...(Object.keys(kindTable) as AssetType[]).map((kind) => kindTable[kind].overrides),
) as Readonly<Record<DeviceCommand['kind'], readonly OverrideName[]>>;

/** The names under which `controls.overrides` shows the last writers. */
export const overrideNames: readonly OverrideName[] = [...new Set(Object.values(namesByKind).flat())];

/** Last writer of one override. */
export interface Override extends Provenance {
  readonly name: OverrideName;
  /** of a charging station; 0: the whole station, null: not about a connector */
  readonly connectorId: number | null;
}

/** Names of the things that a command sets; one command for a battery may set several. */
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
  return namesByKind[command.kind];
}
