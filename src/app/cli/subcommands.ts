/** Commands that are part of the program, and the flag `--scenario`. */
import { exitCodes } from '../../core/exit-codes.ts';
import { printableLines } from '../../core/log/log.ts';
import { packageVersion } from '../../core/package-files.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { CommandOutput } from '../scenarios/command-run.ts';
import type { packageCommands } from './package-commands.ts';
import { writeWhole } from './standard-output.ts';

type PackageCommands = typeof packageCommands;

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

async function gateway(words: readonly string[]): Promise<number> {
  const { gatewayCommand } = await import('./gateway.ts');
  return gatewayCommand(words, {
    out: line(process.stdout),
    env: process.env,
    onInterrupt(listener) {
      for (const signal of signals) process.on(signal, listener);
    },
  });
}

async function mcpServer(words: readonly string[]): Promise<number> {
  const { mcp } = await import('./mcp.ts');
  return mcp(words, line(process.stderr));
}

/** A command that needs no simulator. */
async function packageCommand(name: keyof PackageCommands, words: readonly string[]): Promise<number> {
  const { packageCommands } = await import('./package-commands.ts');
  return packageCommands[name](words, output.print);
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
    case 'gateway':
      return gateway(rest);
    case 'mcp':
      return mcpServer(rest);
    case 'list':
    case 'init':
    case 'doctor':
    case 'help':
    case 'completion':
    case 'skill':
      return packageCommand(name, rest);
    default:
      return scenario(null, words);
  }
}
