/** Command lines that do not need the program: clients of a running simulator, short help, unknown words. */
import { exitCodes } from '../../core/exit-codes.ts';
import { didYouMean } from '../../core/nearest.ts';
import { UsageError } from '../../client-commands/call.ts';
import { runClient } from '../../client-commands/run.ts';
import { parseArguments } from './arguments.ts';
import { commandHelp, shortHelp } from './short-help.ts';
import { asksForShortHelp } from './start-words.ts';
import { commandNames, commandOf } from './table/commands.ts';
import type { Command } from './table/command.ts';

/** Where a command line goes on: with the words for the program, or it has ended. */
export type Answered = { readonly program: readonly string[] } | { readonly code: number };

export interface LightIo {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Words of other programs, with what derbench has in their place. */
const otherWords: Readonly<Record<string, string>> = {
  version: 'derbench --version prints the version.',
  stop: 'Ctrl+C in its terminal ends a simulator, or POST stop over HTTP.',
  status: 'derbench devices shows what runs, derbench health whether it runs well.',
  ls: 'derbench devices shows what runs, derbench list what comes with derbench.',
  read: 'derbench get 701.W reads a point.',
  write: 'derbench set POINT=VALUE writes a point.',
  test: 'derbench run volt-watt runs a scenario.',
  scenarios: 'derbench list scenarios has their names.',
  config: 'derbench init writes a configuration, derbench help config explains it.',
};

const asksForHelp = (words: readonly string[]) => words.includes('-h') || words.includes('--help');

function unknownWord(word: string, { error }: LightIo): Answered {
  const scenario = /\.(ya?ml|json)$/i.test(word) ? ` A scenario runs with: derbench run ${word}.` : '';
  const other = Object.hasOwn(otherWords, word) ? ` ${otherWords[word] ?? ''}` : scenario;
  const near = other === '' ? didYouMean(word, commandNames) : '';
  error(`derbench: ${JSON.stringify(word)} is no command${near || '.'}${other} Commands: ${commandNames.join(', ')}.`);
  return { code: exitCodes.usage };
}

function helpOf(words: readonly string[], io: LightIo): Answered {
  const [subject, ...more] = words;
  if (subject === undefined) {
    io.out(shortHelp());
    return { code: exitCodes.ok };
  }
  const command = commandOf(subject);
  if (command === null || more.length > 0) return { program: ['help', ...words] };
  if (command.runs === 'itself') return { program: [subject, '--help'] };
  io.out(commandHelp(command));
  return { code: exitCodes.ok };
}

async function client(command: Command, words: readonly string[], io: LightIo): Promise<Answered> {
  try {
    return { code: await runClient(command.name, parseArguments(command, words), io) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.error(`derbench ${command.name}: ${error.message}`);
    return { code: exitCodes.usage };
  }
}

/** Answers a command line whose first word is no flag, or that has `-h`. */
export async function answerLight(words: readonly string[], io: LightIo): Promise<Answered> {
  const [name = '', ...rest] = words;
  if (name.startsWith('-')) return helpOf([], io);
  const command = commandOf(name);
  if (command === null) return unknownWord(name, io);
  if (name === 'help' && !asksForHelp(rest)) return helpOf(rest, io);
  if (command.runs === 'flags') return asksForShortHelp(rest) ? helpOf([name], io) : { program: rest };
  if (command.runs === 'itself') return { program: words };
  if (asksForHelp(rest)) return helpOf([name], io);
  return command.runs === 'client' ? client(command, rest, io) : { program: words };
}
