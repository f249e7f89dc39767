/** Short help, and that of a command: made from the table, in 80 columns. */
import { packageVersion } from '../../core/package-files.ts';
import { wrap } from '../../core/wrap.ts';
import { commandGroups } from './table/command.ts';
import type { Command, CommandGroup, CommandOption } from './table/command.ts';
import { commands, optionsOf } from './table/commands.ts';

const columns = 80;
const nameColumns = 12;

/** Topics of `help`, with what they explain. */
export const topics = {
  flags: 'flags of the simulator, by topic',
  config: 'configuration files',
  environment: 'environment variables',
  points: 'names of points',
  'exit-codes': 'exit codes of all commands',
  ports: 'ports that a simulator opens',
} as const;
export type Topic = keyof typeof topics;

const rowOf = (name: string, line: string, width = nameColumns) => `  ${name.padEnd(width)}${line}`;

function groupLines(group: CommandGroup): readonly string[] {
  const rows = commands.filter((command) => command.group === group);
  return [`${commandGroups[group]}:`, ...rows.map(({ name, line }) => rowOf(name, line))];
}

/** All commands by group. */
export const commandLines = (): readonly string[] =>
  Object.keys(commandGroups).flatMap((group) => groupLines(group as CommandGroup));

const examples = [
  ['derbench -d Batt -N 3', 'three batteries, from port 8502 on'],
  ['derbench devices', 'what runs, and where to connect'],
  ['derbench limit 50%', 'half of the power of device 0'],
  ['derbench why', 'why it has its power'],
  ['derbench run volt-watt', 'a scenario that comes with derbench'],
] as const;

/** Text of `-h`. */
export function shortHelp(): string {
  return [
    `derbench ${packageVersion()}: simulates distributed energy resources with SunSpec registers`,
    'Usage: derbench [COMMAND] [ARGUMENTS] [FLAGS]',
    ...examples.map(([command, effect]) => rowOf(command, effect, 26)),
    ...commandLines(),
    `Topics:    derbench help ${Object.keys(topics).join('|')}`,
    'A command: derbench COMMAND -h; all flags: derbench --help',
  ].join('\n');
}

function optionRow({ flag, value, line, repeats }: CommandOption): string {
  const head = value === undefined ? flag : `${flag} ${value}`;
  return rowOf(head, `${line}${repeats === true ? '; may be repeated' : ''}`, Math.max(20, head.length + 2));
}

/** Text of `COMMAND -h`. */
export function commandHelp(command: Command): string {
  const { name, line, usage, notes = [], examples: own } = command;
  return [
    `derbench ${name}: ${line}`,
    '',
    ...usage.map((form, at) => `${at === 0 ? 'Usage: ' : '       '}derbench ${form}`),
    '',
    ...optionsOf(command).map(optionRow),
    '',
    'Examples:',
    ...own.flatMap(([example, effect]) => [`  ${example}`, `      ${effect}`]),
    ...(notes.length > 0 ? ['', ...notes.flatMap((note) => wrap(note, columns))] : []),
  ].join('\n');
}
