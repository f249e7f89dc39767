// Copies what the compiler does not: the static pages, and the redoc bundle with its licence.
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pages = join(root, 'dist', 'api', 'pages');
const bundle = createRequire(import.meta.url).resolve('redoc/bundles/redoc.standalone.js');
const { offlineRedoc } = await import('../dist/api/redoc.js');

await mkdir(pages, { recursive: true });
await cp(join(root, 'src', 'api', 'pages'), pages, { recursive: true });
await writeFile(join(pages, 'redoc.standalone.js'), offlineRedoc(await readFile(bundle, 'utf8')));
await copyFile(`${bundle}.LICENSE.txt`, join(pages, 'redoc.standalone.js.LICENSE.txt'));
await copyFile(join(dirname(bundle), '..', 'LICENSE'), join(pages, 'redoc.LICENSE'));
