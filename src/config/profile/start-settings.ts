/**
 * The numbers in force that replace members of profiles, for `nameplate/configured-settings`. Words are left out: the
 * released description says that a value there is a number, and a client may rely on it.
 */
import type { StartSetting } from '../../contract/start-settings.ts';
import { isGiven } from '../layers/gather.ts';
import type { Gathered } from '../layers/gather.ts';
import { settingKeys, settingOf } from '../settings/settings.ts';

/** Units by the last word of a member. */
const units: Readonly<Record<string, string>> = { w: 'W', wh: 'Wh', pct: '%', m: 'm', VAMaxRtg: 'VA' };

export function startSettings(gathered: Pick<Gathered, 'values' | 'layers'>): readonly StartSetting[] {
  return settingKeys.flatMap((key): StartSetting[] => {
    const { member, kinds = [], flags } = settingOf(key);
    const value = gathered.values[key];
    if (member === undefined || typeof value !== 'number' || !isGiven(gathered, key)) return [];
    const { path, factor = 1 } = member;
    return [
      {
        kinds,
        member: path.replace(/^models\./, ''),
        name: key,
        value: factor * value,
        unit: units[path.split(/[._]/).at(-1) ?? ''] ?? null,
        origin: gathered.layers.flags.has(key) ? 'flag' : 'config',
        flag: flags?.[0] ?? `--${key}`,
      },
    ];
  });
}
