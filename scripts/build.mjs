/**
 * Makes `dist/` from the sources: the program in few files with the libraries it uses, so that a start reads little; the
 * pages and the description of the HTTP interface; licences; the commit. The compiler checks types elsewhere
 * (`npm run typecheck`).
 *
 * The new build replaces the old one when it is whole. `--if-older` leaves the old one if another process has renewed it
 * meanwhile: that process may be loading it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { isBuilt, stamp } from './built.mjs';
import { bundle, withoutDescription } from './bundle.mjs';
import { licencesOf } from './licences.mjs';
import { sbomOf } from './sbom.mjs';
import { writeDeclarations } from './types.mjs';
import { buildUi } from './ui.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
/** Beside `dist/`, since only a folder of the same file system can be renamed. */
const workshop = await mkdtemp(join(root, 'dist.'));
const [fresh, old] = [join(workshop, 'new'), join(workshop, 'old')];
const pages = join(fresh, 'pages');
const { resolve } = createRequire(import.meta.url);
/** A start needs no types of the package. */
const isStart = process.argv.includes('--if-older');

/**
 * Parts of the start of about equal size, since one large file leaves 10 MB of freed memory with the process. Each entry
 * point imports the earlier parts as well: esbuild makes a file for each set of entry points that share modules, and
 * independent ones would make many small files.
 */
const startParts = [
  'src/api/description/zod-plain.ts',
  'src/config/layers/load.ts',
  'src/der/device/template.ts',
  'src/app/devices/plant.ts',
  'src/app/adapters/modbus.ts',
  'src/app/http.ts',
];
const parts = {
  main: 'src/main.ts',
  index: 'src/index.ts',
  ...Object.fromEntries(startParts.map((_, at) => [`part-${at + 1}`, `several:${startParts.slice(0, at + 1)}`])),
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

/** A file of a package for the pages, without the name of a source map, which is not there. */
async function copyText(from, name, changed = (text) => text) {
  const text = changed(await readFile(from, 'utf8'));
  await writeFile(join(pages, name), text.replace(/\n(?:\/\/|\/\*)# sourceMappingURL=[^\n]*\n?$/, '\n'));
}

async function copyAsset(name) {
  const from = resolve(`swagger-ui-dist/${name}`);
  if (/\.(css|js)$/.test(name)) await copyText(from, name);
  else await copyFile(from, join(pages, name));
  const licence = `${from}.LICENSE.txt`;
  if (existsSync(licence)) await copyFile(licence, join(pages, `${name}.LICENSE.txt`));
}

/** Modules of the sources that the build itself uses, in a folder of their own while `use` works with them. */
async function withSources(use) {
  const scratch = join(fresh, 'scratch');
  await bundle({ description: 'src/api/description/whole.ts', yaml: 'src/core/yaml.ts' }, scratch);
  const load = (name) => import(pathToFileURL(join(scratch, `${name}.js`)).href);
  await use({ ...(await load('description')), ...(await load('yaml')) });
  await rm(scratch, { recursive: true });
}

/** Writes texts and values of the YAML files of the package (`src/core/yaml.ts`). */
async function writeYamlValues({ parseYaml }) {
  const files = await Promise.all(
    ['profiles', 'faults', 'examples'].map(async (name) => {
      const folder = join(root, 'config', name);
      return (await readdir(folder)).filter((file) => file.endsWith('.yaml')).map((file) => join(folder, file));
    }),
  );
  const texts = await Promise.all(files.flat().map((file) => readFile(file, 'utf8')));
  const values = texts.map((text) => [text, parseYaml(text)]);
  const json = JSON.stringify(values);
  if (!isDeepStrictEqual(JSON.parse(json), values)) throw new Error('a YAML file has a value that JSON cannot hold');
  await writeFile(join(fresh, 'yaml.json'), json);
}

async function copyPages({ offlineRedoc, swaggerAssets, wholeDescription }) {
  await cp(join(root, 'src', 'api', 'description', 'pages'), pages, { recursive: true });
  const redoc = resolve('redoc/bundles/redoc.standalone.js');
  await copyText(redoc, 'redoc.standalone.js', offlineRedoc);
  await copyFile(`${redoc}.LICENSE.txt`, join(pages, 'redoc.standalone.js.LICENSE.txt'));
  await copyFile(join(dirname(redoc), '..', 'LICENSE'), join(pages, 'redoc.LICENSE'));
  for (const name of Object.keys(swaggerAssets)) await copyAsset(name);
  await copyFile(resolve('swagger-ui-dist/LICENSE'), join(pages, 'swagger-ui.LICENSE'));
  await copyFile(resolve('swagger-ui-dist/NOTICE'), join(pages, 'swagger-ui.NOTICE'));
  await writeFile(join(fresh, 'openapi.json'), `${JSON.stringify(wholeDescription())}\n`);
}

/** Files of the packages that are copied as they are; the bundler does not list them. */
const copied = ['redoc', 'swagger-ui-dist', 'ocpp-rpc'].map((name) => `node_modules/${name}/package.json`);

/** Copies the JSON files of a folder without indentation, which is a sixth of the packed schemas. */
async function copyCompact(from, to) {
  await mkdir(to);
  for (const name of await readdir(from))
    await writeFile(join(to, name), JSON.stringify(JSON.parse(await readFile(join(from, name), 'utf8'))));
}

async function make() {
  await mkdir(fresh);
  // by the clock of the file system, which also dates the sources
  const { atime, mtime } = await stat(fresh);
  const inputs = await bundle(parts, fresh, withoutDescription);
  const clientInputs = await bundle({ light: 'src/app/cli/light.ts' }, fresh);
  const uiInputs = await buildUi(join(fresh, 'ui'), root);
  await withSources(async (modules) => {
    await writeYamlValues(modules);
    await copyPages(modules);
  });
  if (!isStart) {
    await writeDeclarations(root, join(fresh, 'types'));
    const generator = ['--import=tsx', join(root, 'scripts/generate-schemas.ts')];
    await promisify(execFile)(process.execPath, generator, { cwd: root });
  }
  await copyCompact(join(root, 'node_modules/ocpp-rpc/lib/schemas'), join(fresh, 'ocpp-schemas'));
  const commit = await commitId();
  if (commit !== null) await writeFile(join(fresh, 'build-id.txt'), `${commit}\n`);
  const shipped = [...inputs, ...clientInputs, ...uiInputs, ...copied];
  await writeFile(join(fresh, 'sbom.cdx.json'), await sbomOf(shipped, root));
  await writeFile(join(fresh, stamp), await licencesOf(shipped, root));
  await utimes(join(fresh, stamp), atime, mtime);
}

/** Puts the new build in the place of the old one, unless another process did the same between the two renames. */
async function replaceOld() {
  try {
    await rename(dist, old);
  } catch {
    // there is none, or it lies in a lower layer of a container, where folders cannot be renamed
    await rm(dist, { recursive: true, force: true });
  }
  try {
    await rename(fresh, dist);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  }
}

try {
  await make();
  if (!isStart || !isBuilt(root)) await replaceOld();
} finally {
  await rm(workshop, { recursive: true });
}
