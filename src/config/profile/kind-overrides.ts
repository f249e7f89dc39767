/** Settings that replace members of the profiles of all devices of a kind. */
import type { AssetType } from '../../contract/device.ts';
import type { Issue } from '../../core/errors.ts';
import { isForKind, settingKeys, settingOf } from '../settings/settings.ts';
import type { SettingKey, Values } from '../settings/settings.ts';
import type { DeviceProfileInput } from './device-profile.ts';

const overrideKeys = settingKeys.filter((key) => settingOf(key).member !== undefined);

type Members = Readonly<Record<string, unknown>>;

/** A copy with another value at the end of a path; undefined leaves the member out. */
function withMember(from: Members, [name = '', ...rest]: readonly string[], value: unknown): Members {
  const inner = rest.length === 0 ? value : withMember((from[name] ?? {}) as Members, rest, value);
  return Object.fromEntries(Object.entries({ ...from, [name]: inner }).filter(([, member]) => member !== undefined));
}

/** A profile with the values of the settings of its kind. */
export function withOverrides(input: DeviceProfileInput, kind: AssetType, values: Values): DeviceProfileInput {
  let members: Members = input;
  for (const key of overrideKeys) {
    const { member } = settingOf(key);
    const value = values[key];
    if (member === undefined || value === null || !isForKind(key, kind)) continue;
    const { path, factor = 1, replaces = [] } = member;
    for (const other of replaces) members = withMember(members, other.split('.'), undefined);
    members = withMember(members, path.split('.'), typeof value === 'number' ? factor * value : value);
  }
  return members;
}

/**
 * An issue of a profile, named after the setting if that gave the value.
 * @param where prefix of the name of the issue
 */
export function issueOfSetting(
  issue: Issue,
  where: string,
  values: Values,
  originOf: (key: SettingKey) => string,
): Issue {
  const given = overrideKeys.filter((key) => values[key] !== null);
  const path = issue.name.slice(`${where}: `.length);
  // a combination that no fuel cell has is an issue of the whole block
  const key =
    given.find((one) => settingOf(one).member?.path === path) ??
    (path === 'fuel_cell' ? given.find((one) => settingOf(one).member?.path.startsWith('fuel_cell.')) : undefined);
  return key === undefined ? issue : { ...issue, name: originOf(key) };
}

const combinationProfiles: readonly (readonly [chemistry: string, mode: string, fuel: string, profile: string])[] = [
  ['PEMFC', 'fc_only', 'tank', 'Fuelcell-PEM-5kW-3Phase'],
  ['PEMFC', 'bidirectional', 'tank', 'Fuelcell-PEM-5kW-reversible-3Phase'],
  ['SOFC', 'fc_only', 'continuous', 'Fuelcell-SOFC-200kW-3Phase'],
  ['SOFC', 'bidirectional', 'tank', 'Fuelcell-SOFC-200kW-reversible-3Phase'],
];

/**
 * The bundled profile of the fuel cell that the settings describe; null: none fits, so the profile of the type applies,
 * whose check refuses the combination.
 */
export function fuelCellProfile(v: Values): string | null {
  const wanted = [v.fuelcell_chemistry ?? 'PEMFC', v.fuelcell_mode ?? 'fc_only', v.fuelcell_fuel ?? 'tank'];
  return combinationProfiles.find((row) => wanted.every((word, i) => row[i] === word))?.[3] ?? null;
}
