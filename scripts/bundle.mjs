import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** serialport finds its native part beside itself; the other two are extras that ws tries to load. */
const external = ['serialport', 'bufferutil', 'utf-8-validate'];

/** Names that libraries of the older kind expect around them; they must not meet those of the sources. */
const surroundings = `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;`;

/**
 * A single character beyond ASCII doubles what a file takes in memory. esbuild leaves those of comments and of regular
 * expressions; the escape means the same in code.
 */
function toAscii(text) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text
    .replace(/^ *\/\/.*$/gm, (comment) => comment.replace(/[^\x20-\x7e]/g, '?'))
    .replace(/[^\x00-\x7f]/g, escaped);
}

/** Adds `surroundings` to a module that names one of them: each module that has them takes a while to load. */
function withSurroundings(text) {
  return /\b(require|__filename|__dirname)\b/.test(text) ? text.replace(/^(#!.*\n)?/, `$1${surroundings}\n`) : text;
}

async function rewrite(file, changed) {
  const text = await readFile(file, 'utf8');
  const rewritten = changed(text);
  if (rewritten !== text) await writeFile(file, rewritten);
}

/** @param {Record<string, string>} instead endings of imported paths (from `^` on whole paths), and the file of the project in their place */
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

/** What Express looks up when it sends the pages; answers of the program name their types themselves. */
const mediaTypes = ['text/html', 'text/css', 'text/javascript', 'application/javascript', 'application/json'];

/** Of the 2,500 media types that Express brings the few that are sent: all of them take 1.5 MB of memory. */
const fewMediaTypes = {
  name: 'few-media-types',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]mime-db[\\/]db\.json$/ }, async ({ path }) => {
      const all = JSON.parse(await readFile(path, 'utf8'));
      const few = Object.fromEntries(mediaTypes.map((type) => [type, all[type]]));
      return { contents: JSON.stringify(few), loader: 'json' };
    });
  },
};

/**
 * Libraries that sources load late by a `require` of their own: each becomes one file beside the bundle, since an
 * installed package has no others to look for. `require` stays, because it forgets a file that it could not read.
 * @param {Set<string>} late gets their names
 */
function requiredLate(late) {
  return {
    name: 'required-late',
    setup({ onLoad, onResolve }) {
      onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        const own = /^const require = createRequire\(import\.meta\.url\);$/m;
        return own.test(text) ? { contents: text.replace(own, ''), loader: 'ts' } : undefined;
      });
      onResolve({ filter: /^[@a-z]/ }, ({ path, kind, importer }) => {
        const isOurs = kind === 'require-call' && importer.startsWith(join(root, 'src'));
        if (!isOurs || external.includes(path)) return undefined;
        late.add(path);
        return { path: `./${path.replace(/\.js$/, '')}.cjs`, external: true };
      });
    },
  };
}

/** What every simulator loads at its start. */
const startedModule = 'src/app/build.ts';
/** Modules that may load the start itself. */
const entryModules = ['src/main.ts', 'src/index.ts'];

/**
 * Modules that a running simulator loads late. Each also imports what has been loaded by then: esbuild puts modules with
 * the same importers into one file, so that those of the start are in few files instead of a hundred. Paths are relative, since
 * they go into the names of the files: a build is the same in every folder.
 */
const loadedLate = {
  name: 'loaded-late',
  setup({ onLoad, onResolve }) {
    const entries = new Set(entryModules.map((file) => join(root, file)));
    onResolve({ filter: /^\./ }, ({ path, kind, importer, resolveDir }) =>
      kind === 'dynamic-import' && !entries.has(importer)
        ? { path: relative(root, join(resolveDir, path)), namespace: 'loaded-late' }
        : undefined,
    );
    onLoad({ filter: /^/, namespace: 'loaded-late' }, ({ path }) => ({
      contents: `import './${startedModule}'; export * from ${JSON.stringify(`./${path}`)};`,
      resolveDir: root,
    }));
  },
};

/**
 * Commands that ask a running simulator are one file of a bundle of their own: with those of the program they share modules that
 * would be ten files, and reading these would take half of their time.
 */
const clientApart = {
  name: 'client-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/cli\/light\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './light.js', external: true } : undefined,
    );
  },
};

/** An entry point that imports several modules: `several:` and their paths with commas between them. */
const severalModules = {
  name: 'several-modules',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^several:/ }, ({ path }) => ({ path, namespace: 'several-modules' }));
    onLoad({ filter: /^/, namespace: 'several-modules' }, ({ path }) => ({
      contents: path
        .slice('several:'.length)
        .split(',')
        .map((file) => `import ${JSON.stringify(resolve(root, file))};`)
        .join(''),
      resolveDir: root,
    }));
  },
};

/**
 * `import` of a module of Node loads it and reads all its exports: `WebSocket` of `node:http` loads the whole of undici,
 * a tenth of the processor time of a start, and `rootCertificates` of `node:tls` makes a list of all of them. Instead a
 * module is loaded when a member is first used, and the member is kept where it is looked up.
 */
const requiredBuiltins = {
  name: 'required-builtins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'required-builtins' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'required-builtins' }, ({ path }) => ({
      contents: `module.exports = Object.create(
        new Proxy({}, {
          get(_, name, used) {
            const value = process.getBuiltinModule('${path}')[name];
            Object.defineProperty(used, name, { value });
            return value;
          },
        }),
      );`,
    }));
  },
};

/**
 * The program serves the finished description. Of the languages of zod it uses English; bodies of requests it reads
 * itself and parses queries itself, so that the parsers of Express with their tables of character sets are never called;
 * pino writes its lines in this thread.
 */
export const withoutDescription = {
  'body-parser': 'scripts/unused.cjs',
  '^qs': 'scripts/unused.cjs',
  'thread-stream': 'scripts/unused.cjs',
  '/locales/index.js': 'node_modules/zod/v4/locales/en.js',
  '/zod.ts': 'src/api/description/zod-plain.ts',
  '/description/openapi.ts': 'src/api/description/openapi-built.ts',
  './standard-validators': 'scripts/no-validators.cjs',
  '@modelcontextprotocol/server/_shims': 'scripts/no-validator.mjs',
};

/** Libraries that are loaded late, and the part of them in their place. */
const partsOfLibraries = { undici: 'scripts/only-pool.cjs' };

/**
 * Bundles modules with the libraries they import; what several of them need, or load late, goes to files beside them.
 * Names are kept as they are, so that stack traces can be read. White space goes: without it the program starts with 5 %
 * less processor time and 2 MB less memory.
 * @param {Record<string, string>} entryPoints file in `outdir` by source
 * @param {Record<string, string>} instead see `replaced`
 * @returns {Promise<string[]>} every file that went in
 */
export async function bundle(entryPoints, outdir, instead = {}) {
  const late = new Set();
  const common = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    external,
    legalComments: 'none',
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
    logLevel: 'warning',
  };
  const program = await build({
    ...common,
    entryPoints,
    splitting: true,
    format: 'esm',
    plugins: [
      clientApart,
      loadedLate,
      severalModules,
      replaced(instead),
      fewMediaTypes,
      requiredLate(late),
      requiredBuiltins,
    ],
  });
  const libraries = await build({
    ...common,
    entryPoints: [...late].sort().map((name) => ({
      in: partsOfLibraries[name] ?? name,
      out: name.replace(/\.js$/, ''),
    })),
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // libraries of others, whose names no stack trace of ours needs: 1 % of the package
    minifyIdentifiers: true,
    plugins: [replaced({ ...instead, '^express': 'scripts/no-express.cjs' }), fewMediaTypes],
  });
  const outputs = ({ metafile }) => Object.keys(metafile.outputs).map((file) => join(root, file));
  await Promise.all([
    ...outputs(program).map((file) => rewrite(file, (text) => withSurroundings(toAscii(text)))),
    ...outputs(libraries).map((file) => rewrite(file, toAscii)),
  ]);
  return [program, libraries].flatMap(({ metafile }) => Object.keys(metafile.inputs));
}
