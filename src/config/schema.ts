import convict from 'convict';
import { settingKeys, settingOf, variableOf } from './settings.ts';
import type { SettingKey, Values } from './settings.ts';

/** Values that one origin gives, already checked and in the form in force. */
export type Layer = ReadonlyMap<SettingKey, unknown>;

// convict reads arguments with yargs-parser, which turns 007 into 7 and strips quotes;
// a leading NUL, which neither an argument nor a variable can contain, keeps a word a word
const wordMark = '\u0000';

function textOf(value: unknown): string {
  return wordMark + (Array.isArray(value) ? value.join(',') : String(value));
}

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
    coerce(value: string) {
      // only arguments and variables carry the mark; texts of files and defaults are values already
      return value.startsWith(wordMark) ? kind.read(kind.fromText(value.slice(1)), '/') : value;
    },
  });
}

/** The convict schema, made from the table of settings. */
export const convictSchema = Object.fromEntries(settingKeys.map((key) => {
  const { default: preset, doc, secret, flags } = settingOf(key);
  return [key, {
    doc, default: preset, nullable: preset === null, format: formatName(key), env: variableOf(key),
    sensitive: secret === true, ...(flags ? { arg: key } : {}),
  }];
})) as unknown as convict.Schema<Values>;

/** What convict reads as command line: `--key=value` for each flag that was given. */
export function convictArgs(flags: Layer): string[] {
  return [...flags].map(([key, value]) => `--${key}=${textOf(value)}`);
}

/**
 * Puts the layers over the defaults: flag over environment over file.
 * @throws Error when a value passes that its own check refuses, which is a fault of the program
 */
export function mergeLayers(layers: { readonly flags: Layer; readonly env: Layer; readonly file: Layer }): convict.Config<Values> {
  const env = Object.fromEntries([...layers.env].map(([key, value]) => [variableOf(key), textOf(value)]));
  const merged = convict(convictSchema, { args: convictArgs(layers.flags), env });
  merged.load(Object.fromEntries(layers.file));
  return merged.validate({ allowed: 'strict' });
}
