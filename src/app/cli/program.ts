/** argv -> configuration -> app; signals; exit codes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createApp } from '../build.ts';
import type { App } from '../start-stop.ts';
import { formatIssues } from '../../config/issues/issues.ts';
import { loadConfig } from '../../config/layers/load.ts';
import { SimError } from '../../core/errors.ts';
import { exitCodes, asksForSubcommand } from '../../core/subcommand.ts';
import { callLater } from '../../core/time/timers.ts';

/**
 * Ends the process at once. Node waits for lookups of the system before it exits, and runs neither timers nor handlers
 * of signals meanwhile: during a lookup only a signal without a handler ends the process.
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

/** Stops cleanly; a second call ends the process at once, and so does a stop that takes 4 s. */
function stopHandler(app: App): () => void {
  let ending = false;
  return () => {
    if (ending) exitNow(exitCodes.internal);
    ending = true;
    callLater(4000, () => exitNow(exitCodes.internal));
    app.stop().then(() => exitNow(exitCodes.ok), fail);
  };
}

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (asksForSubcommand(args, process.env)) {
    const { subcommand } = await import('./subcommands.ts');
    const code = await subcommand(args);
    if (code !== null) {
      // Node lists a failed lookup as active until the next turn of the event loop
      await nextTurn();
      exitNow(code);
    }
  }
  const loaded = loadConfig(args, process.env);
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
  end = stopHandler(app);
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  // without files to reload SIGHUP keeps its default effect: it ends the process
  const reloads = app.adapters.flatMap(({ reload }) => reload ?? []);
  if (reloads.length > 0)
    process.on('SIGHUP', () => {
      for (const reload of reloads) reload();
    });
  const { lines } = await app.start();
  process.stdout.write(`derbench is ready\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
}

/** Runs the program with the command line of the process. */
export function run(): void {
  main().catch(fail);
}
