import type { Issue } from '../../core/errors.ts';
import { quoted, unknownName } from '../issues/issues.ts';
import { settingKeys, settingOf, variableOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';

/** A flag of the command line: the spelling that the user chose, and its text. Texts of a repeated flag are joined. */
export interface GivenFlag {
  readonly spelling: string;
  readonly text: string;
}

interface ParsedFlags {
  readonly help: boolean;
  readonly version: boolean;
  readonly values: ReadonlyMap<SettingKey, GivenFlag>;
  readonly issues: readonly Issue[];
}

export const helpSpellings = ['-h', '--help'] as const;
export const versionSpellings = ['--version'] as const;

const keyOfSpelling: ReadonlyMap<string, SettingKey> = new Map(
  settingKeys.flatMap((key) => (settingOf(key).flags ?? []).map((spelling) => [spelling, key] as const)),
);

/** Every spelling that the command line accepts. */
export const knownSpellings: readonly string[] = [...keyOfSpelling.keys(), ...helpSpellings, ...versionSpellings];

/** The flag and the setting of a word without dashes; null: no such flag. */
export function flagSpelled(word: string): { readonly spelling: string; readonly key: SettingKey } | null {
  for (const dashes of ['', '-', '--']) {
    const spelling = canonical(dashes + word);
    const key = keyOfSpelling.get(spelling);
    if (key !== undefined) return { spelling, key };
  }
  return null;
}

const scenarioFile = /\.(ya?ml|json)$/i;
const negativeNumber = /^-\.?\d/;

function looksLikeFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-' && !negativeNumber.test(word);
}

/** Underscores for dashes after the leading ones: `--website-ip` is `--website_ip`. */
function canonical(spelling: string): string {
  const dashes = /^-+/.exec(spelling)?.[0] ?? '';
  return dashes + spelling.slice(dashes.length).replaceAll('-', '_');
}

/**
 * Reads a command line by the table of settings. Two-letter flags with one dash (`-wp`) are single flags,
 * which common argument parsers do not support.
 * A value is the next word or follows `=`. Lists may be repeated.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const values = new Map<SettingKey, GivenFlag>();
  const issues: Issue[] = [];
  let help = false;
  let version = false;
  const words = argv.values();
  let pending = words.next();
  const take = (): string | undefined => {
    const { value, done } = pending;
    pending = words.next();
    return done ? undefined : value;
  };
  const takeValue = (): string | undefined => (!pending.done && !looksLikeFlag(pending.value) ? take() : undefined);

  for (let word = take(); word !== undefined; word = take()) {
    if (!looksLikeFlag(word)) {
      const hint = scenarioFile.test(word) ? `; a scenario runs with: derbench run ${word}` : '';
      issues.push({
        name: quoted(word),
        detail: `is neither a flag nor the value of a flag; allowed: flags, each with its value${hint}`,
      });
      continue;
    }
    const equals = word.indexOf('=');
    const flagWord = equals < 0 ? word : word.slice(0, equals);
    const inline = equals < 0 ? undefined : word.slice(equals + 1);
    const spelling = canonical(flagWord);
    if ((helpSpellings as readonly string[]).includes(spelling) && inline === undefined) help = true;
    else if ((versionSpellings as readonly string[]).includes(spelling) && inline === undefined) version = true;
    else {
      const key = keyOfSpelling.get(spelling);
      // the word after an unknown flag is most likely its value: one issue, not two
      const text = inline ?? takeValue();
      const issue = key === undefined ? unknownFlag(flagWord, spelling) : accept(values, key, flagWord, text);
      if (issue) issues.push(issue);
    }
  }
  return { help, version, values, issues };
}

function unknownFlag(word: string, spelling: string): Issue {
  const key = settingKeys.find((name) => name === spelling.replace(/^-+/, '') && settingOf(name).flags === undefined);
  if (key === undefined) return unknownName(word, 'flag', word, knownSpellings);
  return {
    name: word,
    detail: `unknown flag; ${key} is a key of configuration files, and ${variableOf(key)} a variable of the environment`,
  };
}

function accept(
  values: Map<SettingKey, GivenFlag>,
  key: SettingKey,
  spelling: string,
  text: string | undefined,
): Issue | null {
  const { kind } = settingOf(key);
  if (text === undefined || text === '') {
    const allowed = typeof kind.allowed === 'string' ? kind.allowed : kind.allowed.join(', ');
    return { name: spelling, detail: `has no value; allowed: ${allowed}` };
  }
  const earlier = values.get(key);
  if (earlier && !kind.list) {
    const asSpelled = earlier.spelling === spelling ? '' : ` (as ${earlier.spelling})`;
    return { name: spelling, detail: `given twice${asSpelled}; allowed: once` };
  }
  values.set(key, { spelling, text: earlier ? `${earlier.text}${kind.separator}${text}` : text });
  return null;
}
