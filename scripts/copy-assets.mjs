// Copies what the compiler does not: the static pages, and the redoc bundle with its licence; notes the commit.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pages = join(root, 'dist', 'api', 'description', 'pages');
const bundle = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');
const { offlineRedoc } = await import('../dist/api/description/redoc.js');

await mkdir(pages, { recursive: true });
await cp(join(root, 'src', 'api', 'description', 'pages'), pages, { recursive: true });
await writeFile(join(pages, 'redoc.standalone.js'), offlineRedoc(await readFile(bundle, 'utf8')));
await copyFile(`${bundle}.LICENSE.txt`, join(pages, 'redoc.standalone.js.LICENSE.txt'));
await copyFile(join(dirname(bundle), '..', 'LICENSE'), join(pages, 'redoc.LICENSE'));

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

const buildId = join(root, 'dist', 'build-id.txt');
const commit = await commitId();
// an earlier build may have left its own
if (commit === null) await rm(buildId, { force: true });
else await writeFile(buildId, `${commit}\n`);
