/**
 * `npm run typecheck`: sources and tests, the dashboard, its tests. The compiler is TypeScript 7, by its path, since
 * version 6 for eslint and the generators installs a command of the same name.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const projects = ['.', 'src/ui', 'test/ui'];
const failed = projects.filter((project) => {
  const { status } = spawnSync(process.execPath, ['node_modules/typescript-7/bin/tsc', '--noEmit', '-p', project], {
    stdio: 'inherit',
  });
  return status !== 0;
});
if (failed.length > 0) process.exitCode = 1;
