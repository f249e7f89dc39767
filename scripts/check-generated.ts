/**
 * Compares every generated file that git keeps with what its generator makes now. Data of the standards come from the folder
 * REFERENCE_DATA, `../shared/data` by default; generators whose data is not there are left out with a notice.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const data = process.env['REFERENCE_DATA'] ?? join(root, '../shared/data');

/** Generators with the folder of data that they read; null: they read sources of the program alone. */
const generators: readonly (readonly [script: string, folder: string | null])[] = [
  ['generate-models.ts', 'sunspec/json'],
  ['generate-csip-tables.ts', 'ieee2030_5'],
  ['generate-dnp3-points.ts', null],
  ['generate-commands.ts', null],
  ['generate-reference.ts', null],
  ['generate-finding-rules.ts', null],
  ['generate-install.ts', null],
  ['generate-schemas.ts', null],
  ['make-grafana.ts', null],
];

const results = generators.map(([script, folder]) => {
  if (folder !== null && !existsSync(join(data, folder))) {
    console.log(`notice: the files of ${script} are not compared: ${join(data, folder)} is missing`);
    return true;
  }
  const args = [...process.execArgv, join(root, 'scripts', script), ...(folder === null ? [] : [join(data, folder)])];
  const { status } = spawnSync(process.execPath, [...args, '--check'], { cwd: root, stdio: 'inherit' });
  console.log(`${script}: ${status === 0 ? 'its files are up to date' : 'FAILED'}`);
  return status === 0;
});
process.exitCode = results.every(Boolean) ? 0 : 1;
