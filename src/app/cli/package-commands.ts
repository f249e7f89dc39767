/**
 * Commands that need no simulator: `list`, `init`, `doctor`, `completion` and `help`. They are loaded together: a module of its
 * own for each would divide those that they share with `light.ts` into more files, which a client reads at its start.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { addressOf, UsageError } from '../../client-commands/call.ts';
import type { Arguments } from '../../client-commands/call.ts';
import { SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { packageFile } from '../../core/package-files.ts';
import { systemClock } from '../../core/time/clock.ts';
import { parseArguments } from './arguments.ts';
import { completionScript } from './completion.ts';
import { allChecks, checkLines } from './doctor.ts';
import { init } from './init.ts';
import type { Ask } from './init.ts';
import { invocationOf } from './invocation.ts';
import { listed, listLines } from './lists.ts';
import { commandLines } from './short-help.ts';
import { commandOf } from './table/commands.ts';
import { topicText } from './topics.ts';

type Print = (line: string) => void;

/** Carries out a command with the words after it, and gives its exit code. @throws SimError CONFIG_INVALID */
type PackageCommand = (words: readonly string[], print: Print) => Promise<number>;

/** The lines above the flags in `--help`. */
export const helpIntro = (): string =>
  ['Usage: derbench [COMMAND] [ARGUMENTS] [FLAGS]', '', ...commandLines(), '', ''].join('\n');

/** Arguments of a command of the table. @throws SimError CONFIG_INVALID */
function argumentsOf(name: string, words: readonly string[]): Arguments {
  const command = commandOf(name);
  if (command === null) throw new Error(`${name} is not in the table of commands`);
  try {
    return parseArguments(command, words);
  } catch (error) {
    throw error instanceof UsageError ? new SimError('CONFIG_INVALID', `derbench ${name}: ${error.message}`) : error;
  }
}

const list: PackageCommand = (words, print) => {
  const given = argumentsOf('list', words);
  const entries = listed(given.words);
  for (const line of given.options.has('--json') ? [JSON.stringify(entries)] : listLines(entries)) print(line);
  return Promise.resolve(exitCodes.ok);
};

const doctor: PackageCommand = async (words, print) => {
  const { words: more, options } = argumentsOf('doctor', words);
  if (more.length > 0) throw new SimError('CONFIG_INVALID', `derbench doctor: ${more.join(' ')} has no meaning there`);
  const today = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const [url] = options.get('--url') ?? [];
  const checks = await allChecks(url === undefined ? null : addressOf(url), today);
  for (const line of options.has('--json') ? [JSON.stringify(checks)] : checkLines(checks)) print(line);
  return checks.some(({ grade }) => grade === 'bad') ? exitCodes.internal : exitCodes.ok;
};

/** Asks on a terminal. */
function terminalAsk(): { readonly ask: Ask; readonly close: () => void } {
  if (!process.stdin.isTTY) return { ask: null, close: () => undefined };
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return {
    ask: (text, preset) => terminal.question(`${text} [${preset}]: `),
    close: () => {
      terminal.close();
    },
  };
}

const thisInvocation = (): string =>
  invocationOf({ script: process.argv[1] ?? '', execPath: process.execPath, folder: process.cwd(), env: process.env });

const initialize: PackageCommand = async (words, print) => {
  const given = argumentsOf('init', words);
  const { ask, close } = terminalAsk();
  try {
    for (const line of await init(given, ask, thisInvocation())) print(line);
  } finally {
    close();
  }
  return exitCodes.ok;
};

/** A command that prints one text. */
const printing =
  (textOf: (words: readonly string[]) => string): PackageCommand =>
  (words, print) => {
    print(textOf(words));
    return Promise.resolve(exitCodes.ok);
  };

export const packageCommands = {
  list,
  doctor,
  init: initialize,
  help: printing(topicText),
  completion: printing(completionScript),
  skill: printing(() => readFileSync(packageFile('skills/derbench/SKILL.md'), 'utf8').trimEnd()),
} as const satisfies Readonly<Record<string, PackageCommand>>;
