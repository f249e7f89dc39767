/** Compiled code of the program, kept from one start to the next. */
import nodeModule from 'node:module';
import { packageFile, runsFromBuild } from './package-files.ts';

/**
 * Lets Node keep compiled code in a folder of the build, which nobody but the owner of the program can write, unlike
 * Node's default below the folder for temporary files. Without write permission, with a Node before 22.1, and with
 * `NODE_DISABLE_COMPILE_CACHE=1` nothing is kept.
 */
export function keepCompiledCode(): void {
  const { enableCompileCache } = nodeModule as { enableCompileCache?: (folder: string) => unknown };
  if (runsFromBuild) enableCompileCache?.(packageFile('dist/compile-cache'));
}
