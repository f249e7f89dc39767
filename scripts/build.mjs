/**
 * Makes `dist/` from the sources: the program in few files with the libraries it uses, so that a start reads little; the
 * pages and the description of the HTTP interface; licences; the commit. The compiler checks types elsewhere
 * (`npm run typecheck`).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundle, withoutDescription } from './bundle.mjs';
import { licencesOf } from './licences.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const pages = join(dist, 'pages');
const { resolve } = createRequire(import.meta.url);

/** Beside the start itself: parts of about equal size, since one large file leaves 10 MB of freed memory with the process. */
const parts = {
  main: 'src/cli.ts',
  'part-api': 'src/api/routes.ts',
  'part-config': 'src/config/layers/load.ts',
  'part-http': 'src/http-setup.ts',
  'part-modbus': 'src/sunspec/modbus/compose.ts',
  'part-plant': 'src/plant-setup.ts',
};

/** Commit that is built; null without git, or when the sources are unpacked somewhere inside another repository. */
async function commitId() {
  if (!existsSync(join(root, '.git'))) return null;
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root });
    return stdout.trim();
  } catch {
    return null;
  }
}

async function copyPages() {
  await mkdir(pages, { recursive: true });
  await cp(join(root, 'src', 'api', 'description', 'pages'), pages, { recursive: true });
  const scratch = join(dist, 'scratch');
  await bundle({ description: 'src/api/description/whole.ts' }, scratch);
  const { offlineRedoc, swaggerAssets, wholeDescription } = await import(join(scratch, 'description.js'));
  await rm(scratch, { recursive: true });
  const redoc = resolve('redoc/bundles/redoc.standalone.js');
  await writeFile(join(pages, 'redoc.standalone.js'), offlineRedoc(await readFile(redoc, 'utf8')));
  await copyFile(`${redoc}.LICENSE.txt`, join(pages, 'redoc.standalone.js.LICENSE.txt'));
  await copyFile(join(dirname(redoc), '..', 'LICENSE'), join(pages, 'redoc.LICENSE'));
  for (const name of Object.keys(swaggerAssets)) await copyFile(resolve(`swagger-ui-dist/${name}`), join(pages, name));
  await copyFile(resolve('swagger-ui-dist/LICENSE'), join(pages, 'swagger-ui.LICENSE'));
  await copyFile(resolve('swagger-ui-dist/NOTICE'), join(pages, 'swagger-ui.NOTICE'));
  await writeFile(join(dist, 'openapi.json'), JSON.stringify(wholeDescription()));
}

await rm(dist, { recursive: true, force: true });
const inputs = await bundle(parts, dist, withoutDescription);
await copyPages();
await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), await licencesOf(inputs));
const commit = await commitId();
if (commit !== null) await writeFile(join(dist, 'build-id.txt'), `${commit}\n`);
