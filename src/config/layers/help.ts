import { helpSpellings, versionSpellings } from './flags.ts';
import { settingKeys, settingOf, variableOf } from '../settings/settings.ts';
import type { SettingKey } from '../settings/settings.ts';

const width = 100;
const indent = 34;

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function row(head: string, text: readonly string[]): string {
  const body = text.flatMap((line) => wrap(line, width - indent));
  const first = `  ${head}`;
  const lines = first.length < indent ? [first.padEnd(indent) + (body.shift() ?? '')] : [first];
  return [...lines, ...body.map((line) => ' '.repeat(indent) + line)].join('\n').trimEnd();
}

function defaultText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function settingRow(key: SettingKey): string {
  const { flags, kind, default: preset, doc } = settingOf(key);
  const head = `${(flags ?? [key]).join(', ')} ${kind.placeholder}`;
  const words =
    typeof kind.allowed !== 'string' && kind.placeholder !== 'yes|no' ? ` One of ${kind.allowed.join(', ')}.` : '';
  const many = kind.list ? ' May be repeated.' : '';
  return row(head, [`${doc}${words}${many}`, `Default: ${defaultText(preset)}. Environment: ${variableOf(key)}`]);
}

/** Text of `--help`, at most 100 columns wide. */
export function helpText(): string {
  const withFlag = settingKeys.filter((key) => settingOf(key).flags);
  const without = settingKeys.filter((key) => !settingOf(key).flags);
  return [
    'Usage: derbench [flags]',
    '',
    'Simulates distributed energy resources with a SunSpec register map.',
    '',
    'A value follows its flag as the next word or after "=". Long names may be written with dashes.',
    'A flag overrides its environment variable, which overrides the configuration file.',
    '',
    'Flags:',
    ...withFlag.map(settingRow),
    row(helpSpellings.join(', '), ['Prints this text.']),
    row(versionSpellings.join(', '), ['Prints the version.']),
    '',
    'Settings of the configuration file and the environment only:',
    ...without.map(settingRow),
    '',
    'Keys of the configuration file are the long names without leading dashes, and the blocks "grid",',
    '"faults" and "devices"; see config/default.yaml and config/examples.',
    '',
  ].join('\n');
}
