/** What commands set that no register holds, and its last writer. */
import type { Provenance } from '../core/origin.ts';
import type { DeviceCommand } from './commands.ts';
import { kindTable } from './kinds/table.ts';
import type { AssetType, SourceCommand, SourceOverrideName } from './kinds/table.ts';

/** What commands of every kind set. `start` and `stop` write registers (703.ES, 715.OpCtl), which remember their writers. */
const commonOverrides = {
  start: [],
  stop: [],
  switch: ['switch'],
  local: ['local_control'],
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

/** Last writer of one of them. */
export interface Override extends Provenance {
  readonly name: OverrideName;
  /** of a charging station; 0: the whole station, null: not about a connector */
  readonly connectorId: number | null;
}

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
  return namesByKind[command.kind];
}
