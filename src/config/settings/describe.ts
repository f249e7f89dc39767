/** The declaration of each setting as REST shows it. */
import type { SettingReport } from '../../contract/settings.ts';
import { memo } from '../../core/lazy.ts';
import type { JsonValue } from '../../core/store.ts';
import { settingGroups, settingOf } from './settings.ts';
import type { SettingKey } from './settings.ts';
import type { Kind } from './value-kinds.ts';

/** Units by the last word of a key. */
const units: Readonly<Record<string, string>> = {
  s: 's',
  hours: 'h',
  pct: '%',
  m: 'm',
  kw: 'kW',
  kwh: 'kWh',
  kva: 'kVA',
};

function typeOf({ range, list, placeholder, allowed }: Kind<unknown>): SettingReport['type'] {
  if (range !== undefined) return range.isWhole ? 'integer' : 'number';
  if (placeholder === 'yes|no') return 'switch';
  if (list) return 'list';
  return typeof allowed === 'string' ? 'text' : 'choice';
}

export type Declaration = Omit<SettingReport, 'value' | 'isSet' | 'origin'> & { readonly key: SettingKey };

function declarationOf(key: SettingKey, group: string): Declaration {
  const { kind, changes, default: preset, unit, secret, needs, flags, doc } = settingOf(key);
  const { range, allowed } = kind;
  const type = typeOf(kind);
  const lastWord = key.split('_').at(-1) ?? '';
  return {
    key,
    group,
    changes,
    type,
    range: range === undefined ? null : { min: range.low, max: range.high },
    choices: type === 'choice' && typeof allowed !== 'string' ? allowed : null,
    separator: type === 'list' ? kind.separator : null,
    allowed: typeof allowed === 'string' ? allowed : allowed.join(', '),
    unit: range === undefined ? null : (unit ?? units[lastWord] ?? null),
    default: preset as JsonValue,
    isSecret: secret === true,
    needs: needs ?? null,
    flags: flags ?? [],
    doc,
  };
}

/** Every setting, in the order of the help text. */
export const declarations: () => readonly Declaration[] = memo(() =>
  settingGroups.flatMap(({ title, settings }) => settings.map((key) => declarationOf(key, title))),
);
