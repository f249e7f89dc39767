/** argv -> configuration -> app; signals; exit codes. */
import { createApp } from './app.ts';
import type { App } from './app.ts';
import { formatIssues } from './config/issues/issues.ts';
import { loadConfig } from './config/layers/load.ts';
import { SimError } from './core/errors.ts';
import { exitCodes } from './core/exit-codes.ts';
import { callLater } from './core/time/timers.ts';
import type { CommandOutput } from './scenario-run.ts';

/**
 * Ends the process at once. Node waits for lookups of the system before it exits, during which neither timers nor
 * handlers of signals run: with one under way only a signal without a handler ends the process.
 */
function exitNow(code: number): never {
  if (process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}

function fail(error: unknown): never {
  if (error instanceof SimError && error.code === 'CONFIG_INVALID') {
    process.stderr.write(`${formatIssues(error)}\n`);
    exitNow(exitCodes.usage);
  }
  if (error instanceof SimError && error.code === 'LISTEN_FAILED') {
    process.stderr.write(`derbench: ${error.message}\n`);
    exitNow(exitCodes.addressInUse);
  }
  if (error instanceof SimError && error.code === 'SHORTAGE') {
    process.stderr.write(`derbench: ${error.message}\n`);
    exitNow(exitCodes.internal);
  }
  process.stderr.write(`FATAL ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  exitNow(exitCodes.internal);
}

// an uncaught error leaves unknown state behind: the process must not continue
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

// a full disk loses printed lines (GET logs still has them) but not the simulation; a closed pipe ends it
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.internal);
  });
}

/** Stops cleanly; a second signal, or 4 seconds, end the process at once. */
function endWith(app: App): () => void {
  let ending = false;
  return () => {
    if (ending) exitNow(exitCodes.internal);
    ending = true;
    callLater(4000, () => exitNow(exitCodes.internal));
    app.stop().then(() => exitNow(exitCodes.ok), fail);
  };
}

const scenarioOutput: CommandOutput = {
  print: (line) => process.stdout.write(`${line}\n`),
  show: process.stderr.isTTY ? (line) => process.stderr.write(`\r\u001b[K${line}`) : null,
  env: process.env,
  onInterrupt(listener) {
    process.once('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
};

/** Runs a scenario in place of the simulator alone. @returns false when the words ask for none */
async function scenario([name = '', ...rest]: readonly string[]): Promise<boolean> {
  const isCommand = name === 'run' || name === 'check';
  const words = isCommand ? rest : [name, ...rest];
  const { commandHelp, flaggedScenario, scenarioCommand } = await import('./scenario/command.ts');
  if (isCommand && rest.some((word) => word === '-h' || word === '--help')) {
    process.stdout.write(`${commandHelp}\n`);
    return true;
  }
  const command = isCommand ? scenarioCommand(words) : flaggedScenario(words, process.env['DERBENCH_SCENARIO']);
  if (command === null) return false;
  const { checkScenarios, runScenarios } = await import('./scenario-run.ts');
  if (name === 'check') checkScenarios(command, scenarioOutput);
  else exitNow((await runScenarios(command, scenarioOutput)) ? exitCodes.ok : exitCodes.failed);
  return true;
}

/** Whether the words, or the environment, ask for a scenario: its code is loaded only then. */
function asksForScenario(words: readonly string[]): boolean {
  const isNamed = process.env['DERBENCH_SCENARIO'] !== undefined || words.some((word) => word.startsWith('--scenario'));
  return words[0] === 'run' || words[0] === 'check' || isNamed;
}

async function main(): Promise<void> {
  const words = process.argv.slice(2);
  if (asksForScenario(words) && (await scenario(words))) return;
  const loaded = loadConfig(words, process.env);
  if (loaded.kind !== 'run') {
    process.stdout.write(`${loaded.text}\n`);
    return;
  }
  let end: () => void = () => undefined;
  const app = createApp(loaded.config, {
    onStopRequest: () => {
      end();
    },
  });
  end = endWith(app);
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  // without files to reload the signal ends the process, as it does by default
  const reloads = app.adapters.flatMap(({ reload }) => reload ?? []);
  if (reloads.length > 0)
    process.on('SIGHUP', () => {
      for (const reload of reloads) reload();
    });
  const { lines } = await app.start();
  process.stdout.write(`derbench is ready\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
}

/** Runs the program as the command line says. */
export function run(): void {
  main().catch(fail);
}
