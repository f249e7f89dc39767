#!/usr/bin/env node
/** Entry of the program: `--version` alone answers before the rest is loaded, and commands that are clients without it. */
import { isStart } from './app/cli/start-words.ts';
import { keepCompiledCode } from './core/compile-cache.ts';
import { exitCodes } from './core/exit-codes.ts';
import { packageVersion } from './core/package-files.ts';
import { shortageOf } from './core/errors.ts';
import { keepYoungHeapSmall } from './core/young-heap.ts';

/** Calls `load`; null after a shortage, which has been reported. */
async function loaded<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    return await load();
  } catch (error) {
    // Node reads the files of the program side by side: with few file descriptors that fails before any code of it runs
    const shortage = shortageOf(error);
    if (shortage === null) throw error;
    process.stderr.write(`derbench: ${shortage.message}\n`);
    process.exitCode = exitCodes.internal;
    return null;
  }
}

/**
 * Ends the process when a pipe is closed. A full disk loses printed lines (GET logs still has them) but not the
 * simulation.
 */
function endWithPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.internal);
  });
}

async function runProgram(words: readonly string[]): Promise<void> {
  endWithPipe(process.stdout);
  endWithPipe(process.stderr);
  const allowGrowth = keepYoungHeapSmall();
  const program = await loaded(() => import('./app/cli/program.ts'));
  program?.run(words, allowGrowth);
}

async function runCommand(words: readonly string[]): Promise<void> {
  const light = await loaded(() => import('./app/cli/light.ts'));
  if (light === null) return;
  // not standard error: a stream takes time to make, and most commands do not write to it
  endWithPipe(process.stdout);
  const answered = await light.answerLight(words, {
    out: (text) => process.stdout.write(`${text}\n`),
    error: (text) => process.stderr.write(`${text}\n`),
  });
  if ('program' in answered) await runProgram(answered.program);
  else process.exitCode = answered.code;
}

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '--version') process.stdout.write(`derbench ${packageVersion()}\n`);
else {
  keepCompiledCode();
  if (isStart(words)) await runProgram(words);
  else await runCommand(words);
}
