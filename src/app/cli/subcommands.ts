/** Commands that are part of the program, and the flag `--scenario`. */
import { createInterface } from 'node:readline/promises';
import type { Arguments } from '../../client-commands/call.ts';
import { SimError } from '../../core/errors.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { printableLines } from '../../core/log/log.ts';
import { packageVersion } from '../../core/package-files.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Ask } from './init.ts';
import type { CommandOutput } from '../scenarios/command-run.ts';
import { writeWhole } from './standard-output.ts';

const line = (stream: NodeJS.WriteStream) => (text: string) => {
  // names in scenarios are untrusted: they could contain control characters
  stream.write(`${printableLines(text)}\n`);
};

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const maxInterrupts = 2;

const output: CommandOutput = {
  print: line(process.stdout),
  show: process.stderr.isTTY
    ? (text) => {
        process.stderr.write(`\r\u001b[K${printableLines(text)}`);
      }
    : null,
  env: process.env,
  onInterrupt(listener) {
    let count = 0;
    const end = () => {
      count += 1;
      // the first signal ends the run, the second one the steps of finally, the third one the process
      if (count > maxInterrupts) process.exit(exitCodes.failed);
      listener();
    };
    for (const signal of signals) process.on(signal, end);
    return () => {
      for (const signal of signals) process.off(signal, end);
    };
  },
};

async function replay(words: readonly string[]): Promise<number> {
  const { replayCommand } = await import('../../recorder/replay/command.ts');
  return replayCommand(words, { out: line(process.stdout), error: line(process.stderr) });
}

async function state(words: readonly string[]): Promise<number> {
  const { stateCommand } = await import('../../state/command.ts');
  return stateCommand(words, {
    out: (text) => writeWhole(text, process.stdout, process.stdout.fd),
    error: line(process.stderr),
    nowMs: () => systemClock.nowMs(),
    version: packageVersion(),
  });
}

async function pki(words: readonly string[]): Promise<number> {
  const { pkiCommand } = await import('../../pki/command.ts');
  return pkiCommand(words, {
    out: line(process.stdout),
    error: line(process.stderr),
    nowMs: () => systemClock.nowMs(),
  });
}

/** Runs or checks scenarios. @param name the subcommand; null: the flag `--scenario` */
async function scenario(name: 'run' | 'check' | null, words: readonly string[]): Promise<number | null> {
  const { commandHelp, flaggedScenario, scenarioCommand } = await import('../../scenario/command.ts');
  if (name !== null && words.some((word) => word === '-h' || word === '--help')) {
    output.print(commandHelp);
    return exitCodes.ok;
  }
  const command = name === null ? flaggedScenario(words, process.env['DERBENCH_SCENARIO']) : scenarioCommand(words);
  if (command === null) return null;
  const { checkScenarios, runScenarios } = await import('../scenarios/command-run.ts');
  if (name !== 'check') return (await runScenarios(command, output)) ? exitCodes.ok : exitCodes.failed;
  checkScenarios(command, output);
  return exitCodes.ok;
}

async function help(words: readonly string[]): Promise<number> {
  const { topicText } = await import('./topics.ts');
  const text = topicText(words);
  output.print(text);
  return exitCodes.ok;
}

/** Arguments of a command of the table. @throws SimError CONFIG_INVALID */
async function argumentsOf(name: string, words: readonly string[]): Promise<Arguments> {
  const [{ parseArguments }, { commandOf }, { UsageError }] = await Promise.all([
    import('./arguments.ts'),
    import('./table/commands.ts'),
    import('../../client-commands/call.ts'),
  ]);
  const command = commandOf(name);
  if (command === null) throw new Error(`${name} is not in the table of commands`);
  try {
    return parseArguments(command, words);
  } catch (error) {
    throw error instanceof UsageError ? new SimError('CONFIG_INVALID', `derbench ${name}: ${error.message}`) : error;
  }
}

async function list(words: readonly string[]): Promise<number> {
  const { listed, listLines } = await import('./lists.ts');
  const given = await argumentsOf('list', words);
  const entries = listed(given.words);
  const lines = given.options.has('--json') ? [JSON.stringify(entries)] : listLines(entries);
  for (const text of lines) output.print(text);
  return exitCodes.ok;
}

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

async function initialize(words: readonly string[]): Promise<number> {
  const { init } = await import('./init.ts');
  const given = await argumentsOf('init', words);
  const { ask, close } = terminalAsk();
  try {
    for (const text of await init(given, ask)) output.print(text);
  } finally {
    close();
  }
  return exitCodes.ok;
}

async function doctor(words: readonly string[]): Promise<number> {
  const { allChecks, checkLines } = await import('./doctor.ts');
  const { words: more, options } = await argumentsOf('doctor', words);
  if (more.length > 0) throw new SimError('CONFIG_INVALID', `derbench doctor: ${more.join(' ')} is too much`);
  const today = new Date(systemClock.nowMs()).toISOString().slice(0, 10);
  const checks = await allChecks(options.get('--url')?.[0]?.replace(/\/+$/, '') ?? null, today);
  for (const text of options.has('--json') ? [JSON.stringify(checks)] : checkLines(checks)) output.print(text);
  return checks.some(({ grade }) => grade === 'bad') ? exitCodes.internal : exitCodes.ok;
}

async function completion(words: readonly string[]): Promise<number> {
  const { completionScript } = await import('./completion.ts');
  output.print(completionScript(words));
  return exitCodes.ok;
}

/**
 * Carries out a command that is part of the program.
 * @returns the exit code; null: the command line starts a simulator without a scenario
 * @throws SimError CONFIG_INVALID, LISTEN_FAILED
 */
export function subcommand(words: readonly string[]): Promise<number | null> {
  const [name, ...rest] = words;
  switch (name) {
    case 'run':
    case 'check':
      return scenario(name, rest);
    case 'replay':
      return replay(rest);
    case 'state':
      return state(rest);
    case 'pki':
      return pki(rest);
    case 'list':
      return list(rest);
    case 'init':
      return initialize(rest);
    case 'doctor':
      return doctor(rest);
    case 'help':
      return help(rest);
    case 'completion':
      return completion(rest);
    default:
      return scenario(null, words);
  }
}
