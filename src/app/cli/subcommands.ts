/** `derbench run`, `check` and `replay`, and the flag `--scenario`. */
import { exitCodes, isSubcommand } from '../../core/subcommand.ts';
import { printableLines } from '../../core/log/log.ts';
import type { CommandOutput } from '../scenarios/command-run.ts';

const line = (stream: NodeJS.WriteStream) => (text: string) => {
  // names in scenarios come from outside
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
      // the run ends, then the steps of finally, then the process
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

/** @param name the subcommand; null: the flag `--scenario` */
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

/**
 * Carries out the subcommand of a command line.
 * @returns the exit code; null: the words ask for the simulator after all
 * @throws SimError CONFIG_INVALID, LISTEN_FAILED
 */
export function subcommand(words: readonly string[]): Promise<number | null> {
  const [name, ...rest] = words;
  if (!isSubcommand(name)) return scenario(null, words);
  return name === 'replay' ? replay(rest) : scenario(name, rest);
}
