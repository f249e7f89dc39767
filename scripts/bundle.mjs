import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What libraries of the older kind expect around them; the names must not meet those of the sources. */
const banner = `import { createRequire as createRequireHere } from 'node:module';
import { dirname as dirnameHere } from 'node:path';
import { fileURLToPath as pathHere } from 'node:url';
const require = createRequireHere(import.meta.url), __filename = pathHere(import.meta.url), __dirname = dirnameHere(__filename);`;

/** A single character beyond ASCII doubles what a file takes in memory. Code has none, but comments of libraries have. */
async function toAscii(file) {
  const text = await readFile(file, 'utf8');
  const plain = text.replace(/^ *\/\/.*$/gm, (comment) => comment.replace(/[^\x20-\x7e]/g, '?'));
  if (/[^\x00-\x7f]/.test(plain)) throw new Error(`${file} has characters beyond ASCII outside of line comments`);
  if (plain !== text) await writeFile(file, plain);
}

/** @param {Record<string, string>} instead endings of imported paths, and the file of the project in their place */
function replaced(instead) {
  return {
    name: 'replaced',
    setup({ onResolve }) {
      for (const [ending, file] of Object.entries(instead)) {
        const filter = new RegExp(`${ending.replaceAll('.', '\\.')}$`);
        onResolve({ filter }, ({ kind }) => (kind === 'entry-point' ? undefined : { path: join(root, file) }));
      }
    },
  };
}

/**
 * Libraries that sources load late by a `require` of their own go into the bundle too: an installed package has no others
 * beside it, and loading needs no file then.
 */
const requiredToo = {
  name: 'required-too',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const own = /^const require = createRequire\(import\.meta\.url\);$/m;
      return own.test(text) ? { contents: text.replace(own, ''), loader: 'ts' } : undefined;
    });
  },
};

/**
 * The program serves the finished description. Of the languages of zod it uses English; bodies of requests it reads
 * itself, so that the parsers of Express with their tables of character sets are never called.
 */
export const withoutDescription = {
  'body-parser': 'scripts/unused.cjs',
  '/locales/index.js': 'node_modules/zod/v4/locales/en.js',
  '/zod.ts': 'src/api/description/zod-plain.ts',
  '/description/openapi.ts': 'src/api/description/openapi-built.ts',
};

/**
 * Bundles modules with the libraries they import; what several of them need, or load late, goes to files beside them.
 * Names are kept as they are, so that stack traces can be read.
 * @param {Record<string, string>} entryPoints file in `outdir` by source
 * @param {Record<string, string>} instead see `replaced`
 * @returns {Promise<string[]>} every file that went in
 */
export async function bundle(entryPoints, outdir, instead = {}) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: banner },
    // serialport finds its native part beside itself; the other two are extras that ws tries to load
    external: ['serialport', 'bufferutil', 'utf-8-validate'],
    plugins: [replaced(instead), requiredToo],
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  await Promise.all(Object.keys(metafile.outputs).map((file) => toAscii(join(root, file))));
  return Object.keys(metafile.inputs);
}
