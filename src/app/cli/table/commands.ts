/** All commands. */
import { changeCommands } from './change.ts';
import type { Command, CommandOption } from './command.ts';
import { lookCommands } from './look.ts';
import { makeCommands } from './make.ts';
import { simulateCommands } from './simulate.ts';

export const commands: readonly Command[] = [...simulateCommands, ...lookCommands, ...changeCommands, ...makeCommands];
export const commandNames: readonly string[] = commands.map(({ name }) => name);

const helpOption: CommandOption = { flag: '-h', line: 'prints this text' };
const outputOptions: readonly CommandOption[] = [
  { flag: '--json', line: 'prints the answer as one JSON document' },
  { flag: '--quiet', line: 'prints failures only' },
];
/** Options of every command that asks a running simulator. */
export const clientOptions: readonly CommandOption[] = [
  {
    flag: '--url',
    value: 'URL',
    line: 'address (DERBENCH_URL; default http://127.0.0.1:8111)',
  },
  { flag: '--device', value: 'K', line: 'index of the device (default 0, or what all share)' },
  ...outputOptions,
  { flag: '--no-color', line: 'no colours; NO_COLOR does the same' },
];
export const changeOptions: readonly CommandOption[] = [
  { flag: '--expect-instance', value: 'ID', line: 'refuses a simulator with another instance_id' },
];

export function commandOf(name: string | undefined): Command | null {
  return commands.find((command) => command.name === name) ?? null;
}

/** All options of a command. */
export function optionsOf({ options = [], runs, changes }: Command): readonly CommandOption[] {
  if (runs === 'client') return [...options, ...clientOptions, ...(changes ? changeOptions : []), helpOption];
  return [...options, helpOption];
}
