import convict from 'convict';
import { settingKeys, settingOf } from '../settings/settings.ts';
import type { SettingKey, Values } from '../settings/settings.ts';

/** Values from one origin, checked and normalised. */
export type Layer = ReadonlyMap<SettingKey, unknown>;

function formatName(key: SettingKey): string {
  return `derbench:${key}`;
}

for (const key of settingKeys) {
  const { kind } = settingOf(key);
  convict.addFormat({
    name: formatName(key),
    validate(value: unknown) {
      if (kind.read(value, '/') === undefined) throw new Error(`allowed: ${String(kind.allowed)}`);
    },
  });
}

/** The convict schema, made from the table of settings. */
const convictSchema = Object.fromEntries(
  settingKeys.map((key) => {
    const { default: preset, doc, secret } = settingOf(key);
    return [
      key,
      { doc, default: preset, nullable: preset === null, format: formatName(key), sensitive: secret === true },
    ];
  }),
) as unknown as convict.Schema<Values>;

/**
 * Merges layers over the defaults; later layers win.
 * @throws Error when a value passes that its own check refuses, which is an error of the program
 */
export function mergeLayers(layers: readonly Layer[]): Values {
  // flags and variables come as layers too: convict's own reading of both turns 007 into 7
  const merged = convict(convictSchema, { args: [], env: {} });
  for (const layer of layers) merged.load(Object.fromEntries(layer));
  return merged.validate({ allowed: 'strict' }).getProperties();
}
