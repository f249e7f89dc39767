import { existsSync, readdirSync } from 'node:fs';
import tseslint from 'typescript-eslint';
import derbench from './scripts/lint/plugin.mjs';
import { offOutsideSources, options } from './scripts/lint/type-rules.mjs';

// Layer rules of docs/ARCHITECTURE.md: who may import whom. A folder lists what it must not reach.
// A later block replaces an earlier one for the same file and rule: every file is in one block of each helper.
const forbid = (files, groups, message, ignores = []) => ({
  files,
  ignores,
  rules: { 'no-restricted-imports': ['error', { patterns: [{ group: groups, message }] }] },
});
const typesOnly = (files, groups, message, ignores = []) => ({
  files,
  ignores,
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      { patterns: [{ group: groups, allowTypeImports: true, message }] },
    ],
  },
});

const upper = ['**/api/**', '**/evidence/**', '**/ws/**', '**/ui/**', '**/app/**', '**/main.ts', '**/config/**'];

/** `core/adapter.ts` is the contract of all of them. */
const isAdapter = (folder) => folder !== 'core' && existsSync(`${import.meta.dirname}/src/${folder}/adapter.ts`);
const adapters = ['sunspec/modbus', 'sunspec/client', ...readdirSync(`${import.meta.dirname}/src`).filter(isAdapter)];
/** Paths that lead into an adapter; `from` is the folder that imports, for those with a parent in common. */
function into(adapter, from = '') {
  const [parent, name] = adapter.split('/');
  return [`**/${adapter}/**`, ...(name !== undefined && from.startsWith(`${parent}/`) ? [`**/${name}/**`] : [])];
}
const anyAdapter = adapters.flatMap((adapter) => into(adapter));
const aboveApi = [...anyAdapter, '**/der/**', '**/ws/**', '**/ui/**', '**/app/**', '**/main.ts'];

/** One rule for every adapter: core, map and models; only bridges use the map. */
function adapterRules(folder) {
  const files = [`src/${folder}/**/*.ts`];
  const others = adapters.filter((other) => other !== folder).flatMap((other) => into(other, folder));
  const map = ['**/sunspec/map/**', ...(folder.startsWith('sunspec/') ? ['**/map/**'] : [])];
  return [
    forbid(
      files,
      [...upper, ...others, '**/der/**'],
      'an adapter knows core, map and models only, and no other adapter',
    ),
    typesOnly(files, map, 'only bridges work on the register map; other files of an adapter see its types', [
      `src/${folder}/**/*bridge.ts`,
    ]),
  ];
}

/**
 * What is hard to test is an error: branches, nesting and parameters. Length is advice, since a long flat function is
 * harmless and a file ends where its subject ends.
 */
const codeLines = { skipBlankLines: true, skipComments: true };
const generated = [
  'src/sunspec/models/**/*.ts',
  'src/csip/xml/{documents,tables}.ts',
  'src/contract/csip-der-tables.ts',
  'src/ocpp/{v16,v201}/messages.ts',
];
const words = [
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: generated,
    rules: { 'derbench/plain-comments': 'error', 'derbench/plain-names': 'error' },
  },
];
const sizes = [
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { derbench },
    rules: {
      'derbench/no-packed-spread': 'error',
      // the aim is 12; nine of ten functions above it keep to this limit
      complexity: ['error', { max: 23, variant: 'modified' }],
      'max-depth': ['error', 4],
      'max-nested-callbacks': ['error', 4],
      // the aim is 4
      'max-params': ['error', 6],
      'max-lines': ['warn', { max: 700, ...codeLines }],
      'max-lines-per-function': ['warn', { max: 120, ...codeLines }],
      // Biome breaks code at 120; strings and comments are broken by hand
      'max-len': ['error', { code: 140, ignoreUrls: true, ignoreRegExpLiterals: true }],
    },
  },
  // tables and routes are lists: they are as long as what they list
  { files: [...generated, 'src/api/**/*routes.ts'], rules: { 'max-lines': 'off', 'max-lines-per-function': 'off' } },
  { files: generated, rules: { 'max-len': 'off' } },
];

const testRules = [
  {
    files: ['test/**/*.{ts,tsx}'],
    rules: {
      // two suites and the test are three callbacks before the first one of the code
      'max-nested-callbacks': ['error', 5],
      // the callback of a suite is a list of tests
      'max-lines-per-function': 'off',
      'derbench/no-timed-wait': 'error',
      // refused() of test/support/rest.ts expects a status and a code
      'derbench/test-asserts': ['error', { also: ['refused'] }],
      'derbench/unique-titles': 'error',
    },
  },
  {
    files: ['test/**/*.{ts,tsx}'],
    ignores: ['test/support/property.ts', 'test/property/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.object.name="fc"][callee.property.name=/^(assert|check)$/]',
          message: 'holds() of test/support/property.ts runs properties: with the seed and the number of runs of all.',
        },
        {
          selector:
            'CallExpression:matches([callee.object.name="fc"], [callee.name=/^holds(Async)?$/]) > ObjectExpression Property[key.name="seed"]',
          message: 'The seed is that of the run (FC_SEED): a fixed one tries the same cases for ever.',
        },
        {
          selector:
            'ImportDeclaration[importKind!="type"][source.value="fast-check"] > ImportSpecifier[importKind!="type"]',
          message: 'By the name fc alone, so that the rules for properties see it.',
        },
        {
          selector: 'CallExpression[callee.object.name="Math"][callee.property.name="random"]',
          message: 'Random cases derive from FC_SEED: casesOf() of test/support/random.ts.',
        },
        {
          selector: 'CallExpression[callee.name="promisify"] > Identifier[name="setTimeout"]',
          message: 'A wait for a fixed time: await an event, or move a clock by hand.',
        },
        {
          selector: 'CallExpression[callee.object.type="ThisExpression"][callee.property.name="retries"]',
          message: 'A test that needs a second try is wrong, or its subject is.',
        },
        {
          selector: 'MemberExpression[object.name=/^(describe|context|it|specify)$/][property.name="only"]',
          message: 'The other tests of the file would not run.',
        },
      ],
    },
  },
];

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'dist.*/**',
      'bench/built/**',
      'coverage/**',
      '.stryker-tmp/**',
      'node_modules/**',
      '.venv/**',
      'src/api/description/pages/**',
      'fixtures/**',
      'src/ui/api/openapi.d.ts',
    ],
  },
  {
    files: ['src/ui/**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { project: './src/ui/tsconfig.json', tsconfigRootDir: import.meta.dirname } },
  },
  {
    files: ['**/*.ts'],
    ignores: ['src/ui/**'],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked],
    rules: {
      ...options,
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  ...sizes,
  ...words,
  ...testRules,
  forbid(['src/core/*.ts'], ['../**'], 'core imports nothing from outside core'),
  forbid(['src/core/*/**/*.ts'], ['../../**'], 'core imports nothing from outside core'),
  forbid(
    ['src/contract/**/*.ts'],
    [...upper, ...anyAdapter, '**/der/**', '**/fault-kinds/**', '**/finding-rules/**', '**/sunspec/faults/**'],
    'the contract of plant and devices imports core and the types of the map only',
  ),
  typesOnly(['src/contract/**/*.ts'], ['**/sunspec/**'], 'the contract uses the map and its models as types only'),
  forbid(
    ['src/finding-rules/**/*.ts'],
    ['../*/**', '!../core/**', '!../../core', '!../../core/**'],
    'the catalogue of findings is tables: core only',
  ),
  forbid(['src/fault-kinds/**/*.ts'], ['../*/**', '!../core/**'], 'the catalogue of faults is tables: core only'),
  forbid(
    ['src/sunspec/faults/**/*.ts'],
    [...upper, ...anyAdapter, '**/modbus/**', '**/client/**', '**/der/**'],
    'faults of the map know core, map, models and their catalogue only',
  ),
  forbid(
    ['src/sunspec/models/**/*.ts'],
    ['../../**', '../modbus/**', '../client/**'],
    'models are tables: types of sunspec/map only',
  ),
  typesOnly(['src/sunspec/models/**/*.ts'], ['../map/**'], 'models are tables: types of sunspec/map only'),
  forbid(
    ['src/sunspec/map/**/*.ts'],
    [...upper, ...adapters.flatMap((adapter) => into(adapter, 'sunspec/map')), '**/der/**', '**/contract/**'],
    'the map imports core and models only',
  ),
  forbid(['src/der/**/*.ts'], [...upper, ...anyAdapter], 'physics imports no adapter and no facade'),
  ...adapters.flatMap(adapterRules),
  // a block of its own: it replaces that of the adapter for these files
  forbid(
    ['src/dnp3/stack/**/*.ts'],
    ['**/core/**', '**/contract/**', '**/sunspec/**', '**/der/**', '**/profile/**', '**/server/**', ...upper],
    'the stack of DNP3 is a library of its own: it imports nothing from outside of it',
  ),
  forbid(
    ['src/api/**/*.ts'],
    [...aboveApi, '**/config/**'],
    'the REST interface imports core, contract, map and fault-kinds only',
  ),
  // a device is described once, for files and for POST devices
  forbid(
    ['src/api/devices.ts', 'src/api/http/context.ts'],
    [...aboveApi, '**/config/*', '!**/config/profile', '**/config/profile/*', '!**/config/profile/device-entry.ts'],
    'of the configuration these files know the entry of a device only',
  ),
  forbid(
    ['src/evidence/**/*.ts'],
    [...aboveApi, '**/api/**', '**/config/**'],
    'verifiers import core, contract, map and fault-kinds only: adapters and REST tell them what they claim',
  ),
  forbid(
    ['src/ws/**/*.ts'],
    [...anyAdapter, '**/der/**', '**/api/**', '**/ui/**', '**/app/**', '**/main.ts', '**/config/**'],
    'the stream imports core, contract and map only',
  ),
  forbid(
    ['src/recorder/**/*.ts'],
    [...upper, '**/der/**', '**/sunspec/!(models)/**', '**/csip/**', '**/ocpp/**', '**/dnp3/!(stack)/**'],
    'the recorder imports core, contract, tables of models and the stack of DNP3 only: protocols tell it of themselves',
  ),
  forbid(
    ['src/capture/**/*.ts'],
    [...upper, ...anyAdapter, '**/der/**', '**/scenario/**', '**/recorder/**', '**/state/**', '**/fault-kinds/**'],
    'captures know core, contract and the map only: the plant tells them of disturbances',
  ),
  forbid(
    ['src/pki/**/*.ts'],
    [...upper, ...anyAdapter, '**/der/**', '**/sunspec/**', '**/scenario/**', '**/recorder/**', '**/state/**'],
    'certificates import core and contract only',
  ),
  forbid(
    ['src/state/**/*.ts'],
    [...upper, ...anyAdapter, '**/der/**', '**/sunspec/**', '**/scenario/**', '**/recorder/**'],
    'the state folder imports core and contract only: parts of the simulator bring their state',
  ),
  forbid(
    ['src/config/**/*.ts'],
    [...anyAdapter, '**/der/**', '**/api/**', '**/ws/**', '**/ui/**', '**/app/**', '**/main.ts'],
    'configuration imports core, contract, map and fault-kinds only',
  ),
  forbid(
    ['src/fleet/*.ts', 'src/fleet/{registry,shard,clock,site}/**/*.ts'],
    [...aboveApi, '**/api/**', '**/evidence/**', '**/config/**', '**/gateway/**', '@nats-io/*'],
    'a fleet imports core and contract only; NATS stands in src/fleet/nats',
  ),
  forbid(
    ['src/fleet/nats/**/*.ts'],
    [...aboveApi, '**/api/**', '**/evidence/**', '**/config/**', '**/{registry,shard,gateway}/**', '**/contract/**'],
    'the connection of a fleet imports core, the interface of the link and NATS only',
  ),
  forbid(
    ['src/fleet/gateway/**/*.ts'],
    [...anyAdapter, '**/der/**', '**/ui/**', '**/app/**', '**/main.ts', '**/config/**', '**/shard/**', '@nats-io/*'],
    'a gateway imports core, contract, REST, the stream and scenarios only; NATS stands in src/fleet/nats',
  ),
  forbid(
    ['src/library/*.ts'],
    ['../**'],
    'the client is one of the REST interface, and knows nothing else of the program',
  ),
  forbid(
    ['src/client-commands/*.ts'],
    ['../*/**', '!../core/exit-codes.ts', '!../library/**'],
    'a command of a running simulator is a client: it knows the client and the exit codes, and loads nothing else',
  ),
  forbid(
    ['src/mcp/*.ts'],
    ['../*/**', '!../core/**', '!../library/**', '!../client-commands/**'],
    'the MCP server is a client: it knows core, the client and its commands, and runs scenarios through its host',
  ),
  forbid(
    ['src/scenario/**/*.ts'],
    [...anyAdapter, '**/der/**', '**/api/**', '**/ws/**', '**/ui/**', '**/app/**', '**/main.ts', '**/config/**'],
    'a scenario knows core, contract and types of the map; the simulator comes to it as its host',
  ),
  typesOnly(
    ['src/scenario/**/*.ts'],
    ['**/sunspec/map/{bank,register-bank}.ts', '**/sunspec/models/**'],
    'a scenario sees the types of the registers only',
  ),
  ...[
    ['src/ui/*.{ts,tsx}', '../**'],
    ['src/ui/!(views)/*.{ts,tsx}', '../../**'],
    ['src/ui/views/*/*.{ts,tsx}', '../../../**'],
    ['src/ui/views/*/*/*.{ts,tsx}', '../../../../**'],
  ].map(([files, outside]) =>
    forbid([files], [outside], 'the dashboard is a client of the REST interface: it knows nothing else of the program'),
  ),
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'soak/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      ...offOutsideSources,
    },
  },
);
