import { versionSpellings } from './flags.ts';
import { settingGroups, settingOf, variableOf } from '../settings/settings.ts';
import type { SettingGroup, SettingKey } from '../settings/settings.ts';
import { deviceTypeAliases } from '../profile/device-types.ts';
import { exitCodes, exitTexts } from '../../core/exit-codes.ts';
import { wrap } from '../../core/wrap.ts';

const width = 100;
const indent = 34;

function row(head: string, text: readonly string[]): string {
  const body = text.flatMap((line) => wrap(line, width - indent));
  const headText = `  ${head}`;
  const lines = headText.length < indent ? [headText.padEnd(indent) + (body.shift() ?? '')] : [headText];
  return [...lines, ...body.map((line) => ' '.repeat(indent) + line)].join('\n').trimEnd();
}

function defaultText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  if (Array.isArray(value)) return value.join(',');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Allowed values of a setting, if its placeholder does not name them: a range or a list of words. */
function allowedText(key: SettingKey): string {
  const { allowed, placeholder } = settingOf(key).kind;
  if (key === 'device_type' && typeof allowed !== 'string') {
    const aliases = Object.entries(deviceTypeAliases).map(([alias, name]) => `${alias} is ${name}`);
    const names = allowed.filter((name) => !(name in deviceTypeAliases));
    return ` One of ${names.join(', ')}; ${aliases.join(', ')}.`;
  }
  if (typeof allowed !== 'string') return placeholder === 'yes|no' ? '' : ` One of ${allowed.join(', ')}.`;
  const range = /^a (?:whole number|number|calendar date \S+) (from .*)$/.exec(allowed)?.[1];
  return range === undefined ? '' : ` Range: ${range.replace('from ', '')}.`;
}

function settingRow(key: SettingKey): string {
  const { flags, kind, default: preset, doc } = settingOf(key);
  const head = flags ? `${flags.join(', ')} ${kind.placeholder}` : `(${key}: ${kind.placeholder})`;
  const repeatText = kind.list ? ' May be repeated.' : '';
  return row(head, [
    `${doc}${allowedText(key)}${repeatText}`,
    `Default: ${defaultText(preset)}. Environment: ${variableOf(key)}`,
  ]);
}

/** The flags of a group, below its title. */
export const groupText = ({ title, page, settings }: SettingGroup) => [
  '',
  `${title} (${page}):`,
  ...settings.map(settingRow),
];

const examples: readonly (readonly [command: string, effect: string])[] = [
  ['derbench', 'One PV inverter: Modbus TCP on port 8502, HTTP on 8111.'],
  ['derbench -d Batt -N 3 -p 15020', 'Three batteries on the ports 15020 to 15022.'],
  ['derbench --config mixed-site', 'A bundled site with devices of every kind.'],
  ['derbench -p 0 -wp 0 --start_paused yes', 'For tests: free ports, and a clock that REST steps.'],
  ['derbench --time_rate 60', 'One simulated minute per second.'],
];

/** A row for each exit code. */
export const exitRows = (): readonly string[] =>
  Object.entries(exitTexts).map(([name, text]) => row(String(exitCodes[name as keyof typeof exitCodes]), [text]));

/** Text of `--help`, at most 100 columns wide. */
export function helpText(): string {
  return [
    'Usage: derbench [flags]',
    '',
    'Simulates distributed energy resources with a SunSpec register map.',
    '',
    'A value follows its flag as the next word or after "=". Long names may be written with dashes.',
    'A flag overrides its environment variable, which overrides the configuration file. A name in',
    'brackets has no flag: set it in the file or by its environment variable. In place of the file of a',
    'certificate or key, certificate:NAME chooses one that GET certificates lists.',
    '',
    'Examples:',
    ...examples.map(([command, effect]) => `  ${command.padEnd(40)}${effect}`),
    ...settingGroups.flatMap(groupText),
    '',
    'Help:',
    row('-h', ['Prints a short text; help lists commands and topics.']),
    row('--help', ['Prints this text.']),
    row(versionSpellings.join(', '), ['Prints the version.']),
    '',
    'Keys of the configuration file are the long names without leading dashes, and the blocks "grid",',
    '"faults", "findings" and "devices"; see config/default.yaml and config/examples.',
    '',
    'Exit codes:',
    ...exitRows(),
    '',
    'More: README.md and docs/ of the package; while it runs, GET /docs of the HTTP interface.',
    '',
  ].join('\n');
}
