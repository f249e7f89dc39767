#!/usr/bin/env node
/** Entry of the program: `--version` alone answers before the rest is loaded. */
import { keepCompiledCode } from './core/compile-cache.ts';
import { exitCodes } from './core/subcommand.ts';
import { packageVersion } from './core/package-files.ts';
import { shortageOf } from './core/errors.ts';
import { keepYoungHeapSmall } from './core/young-heap.ts';

/** The program; null after a shortage, which has been reported. */
async function loadProgram(): Promise<((onStarted: () => void) => void) | null> {
  try {
    const { run } = await import('./app/cli/program.ts');
    return run;
  } catch (error) {
    // Node reads the files of the program side by side: with few file descriptors that fails before any code of it runs
    const shortage = shortageOf(error);
    if (shortage === null) throw error;
    process.stderr.write(`derbench: ${shortage.message}\n`);
    process.exitCode = exitCodes.internal;
    return null;
  }
}

const words = process.argv.slice(2);
if (words.length === 1 && words[0] === '--version') process.stdout.write(`derbench ${packageVersion()}\n`);
else {
  keepCompiledCode();
  const allowGrowth = keepYoungHeapSmall();
  (await loadProgram())?.(allowGrowth);
}
