/** argv -> configuration -> app; signals; exit codes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatIssues } from '../../config/issues/issues.ts';
import { loadConfig } from '../../config/layers/load.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { printableLines } from '../../core/log/log.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { callLater } from '../../core/time/timers.ts';
import { followGateway, workerVariable } from '../../fleet/workers/life.ts';
import { fatalEnding, startEnding } from './ending.ts';
import type { Ending } from './ending.ts';
import { Running } from './running.ts';

/**
 * Ends the process at once. Node waits for lookups of the system before it exits, and runs neither timers nor handlers
 * of signals meanwhile: during a lookup only a signal without a handler ends the process.
 */
function exitNow(code: number): never {
  if (process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) process.kill(process.pid, 'SIGKILL');
  process.exit(code);
}

/** Writes the counts of repeated lines, once there is a log. */
let flushLog: () => void = () => undefined;

function endWith({ code, text }: Ending): never {
  process.stderr.write(`${text}\n`);
  exitNow(code);
}

/** Ends the process after an error that nothing has handled: it leaves unknown state behind. */
function endFatally(error: unknown): never {
  try {
    flushLog();
  } finally {
    endWith(fatalEnding(error));
  }
}

/** The end of a process whose simulator has stopped for a restored state, and whose new one does not run. */
function failRestart(error: unknown): never {
  const isConfig = error instanceof SimError && error.code === 'CONFIG_INVALID';
  const reason = isConfig ? formatIssues(error) : errorText(error);
  endWith({
    code: exitCodes.addressInUse,
    text: `derbench: the simulator cannot be started with the restored state: ${reason}`,
  });
}

// a rejection that nothing handles ends as an uncaught exception
process.on('uncaughtException', endFatally);

/** True if a command line, or the environment, asks for a command or a scenario: their code is loaded only then. */
function asksForCommand(words: readonly string[]): boolean {
  const isScenario =
    process.env['DERBENCH_SCENARIO'] !== undefined || words.some((word) => word.startsWith('--scenario'));
  return isScenario || words[0]?.startsWith('-') === false;
}

async function main(args: readonly string[], onStarted: () => void): Promise<void> {
  if (asksForCommand(args)) {
    const { subcommand } = await import('./subcommands.ts');
    onStarted();
    const code = await subcommand(args);
    if (code !== null) {
      // Node lists a failed lookup as active until the next turn of the event loop
      await nextTurn();
      exitNow(code);
    }
  }
  const loaded = loadConfig(args, process.env);
  if (loaded.kind !== 'run') {
    const { helpIntro } = await import('./package-commands.ts');
    process.stdout.write(`${loaded.kind === 'help' ? helpIntro() : ''}${loaded.text}\n`);
    return;
  }
  let running: Running | null = null;
  const end = () => {
    if (running === null) exitNow(exitCodes.ok);
    running.end();
  };
  const tellReady = followAsWorker(end);
  const simulator = (running = await Running.open(loaded.config, {
    print: (lines) => {
      process.stdout.write(`derbench is ready\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
    },
    warn: (line) => {
      process.stderr.write(`derbench: ${printableLines(line)}\n`);
    },
    exit: exitNow,
    fail: endFatally,
    failRestart,
    onAdapters: followHangups,
  }));
  /**
   * A handler takes the place of the default effect, and of `nohup`: there is one only from the first adapter on that
   * reads files again.
   */
  function followHangups(): void {
    if (process.listenerCount('SIGHUP') > 0 || simulator.reloads.length === 0) return;
    process.on('SIGHUP', () => {
      const { reloads } = simulator;
      if (reloads.length === 0) simulator.end();
      for (const reload of reloads) reload();
    });
  }
  flushLog = () => {
    simulator.flushLog();
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  followHangups();
  await simulator.start();
  tellReady();
  onStarted();
}

/** A worker of a gateway ends with it. @returns tells the gateway that the simulator has started */
function followAsWorker(end: () => void): () => void {
  if (process.env[workerVariable] === undefined) return () => undefined;
  const exit = () => process.kill(process.pid, 'SIGKILL');
  return followGateway({ channel: process, end, exit, later: callLater });
}

/**
 * Runs the program.
 * @param words the command line
 * @param onStarted called when a simulator has started, or a subcommand begins
 */
export function run(words: readonly string[], onStarted: () => void): void {
  main(words, onStarted).catch((error: unknown) => endWith(startEnding(error)));
}
