/** The stages of a run, with the seconds that each may take on two slow cores. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { interopFiles } from './judges.mjs';
import { floorVersion, mainVersion, nodeVersions } from './runtime.mjs';

const { testFiles } = createRequire(import.meta.url)('../test/mocha-options.cjs');
/** Versions on which the whole suite runs at night, beside the main one of the other stages. */
const nightlyVersions = nodeVersions.filter((version) => version !== mainVersion);
/** Figures of the benchmarks of a night. */
export const benchFile = '.cache/nightly/bench.json';
/** Decoders that must stand any octets, each fuzzed for so long at night. */
const fuzzS = 600;
const fuzzFiles = {
  DNP3: ['test/dnp3/outstation/fuzz.test.ts', 'test/dnp3/link/parser.test.ts', 'test/dnp3/transport/transport.test.ts'],
  'IEEE 2030.5': ['test/csip/xml/hostile.test.ts', 'test/csip/xml/codec.test.ts'],
  OCPP: ['test/ocpp/rpc/frames-fuzz.test.ts'],
  Modbus: ['test/sunspec/modbus/server/pdu.test.ts'],
  REST: ['test/api/hostile/fuzz.test.ts', 'test/core/json-place.test.ts'],
};
/** Long runs of the build under load, with their seconds and arguments. */
const soaks = {
  'soak of a minute, few devices': [60, '--minutes', '1', '--devices', '8', '--masters', '4', '--streams', '10'],
  soak: [600, '--minutes', '10'],
  'soak with chaos': [600, '--minutes', '10', '--devices', '24', '--masters', '8', '--streams', '20', '--chaos'],
  // a start and a life of 1.1 s on average
  'soak of 200 kills': [600, '--kills', '200'],
};
/** A change tries one of so many parts of the mutations by hand, a night all. */
const handParts = 5;
/** The modules of rules are mutated in turn, so many parts of them a night. */
const mutationParts = 5;

const npm = (script, ...args) => ['npm', 'run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])];

/** A registry that does not answer is asked again within the budget; npm alone waits for five minutes. */
const npmCi = (...more) => ['npm', 'ci', '--no-audit', '--no-fund', '--fetch-timeout=20000', ...more];

/** A stage of tests, each command of which writes a report. */
function tests(name, folder, stage, more = []) {
  const file = (part) => `${folder}/${part.replaceAll(/[^a-z0-9.]+/gi, '-')}.json`;
  return {
    name,
    ...stage,
    environment: { ...stage.environment, TEST_REPORT: file(name) },
    reports: [name, ...more.map((part) => `${name}-${part}`)].map(file),
  };
}

/** What comes before all tests. */
function setUp() {
  return [
    { name: 'npm ci', command: npmCi(), budgetS: 90 },
    { name: 'build', command: npm('build'), needs: ['npm ci'], budgetS: 30 },
    {
      name: `start on Node.js ${floorVersion}`,
      command: ['node', 'scripts/ci/on-node.mjs', floorVersion, 'node', 'scripts/floor-smoke.mjs'],
      needs: ['build'],
      budgetS: 30,
    },
    {
      name: 'package',
      command: ['node', '--import=tsx', 'scripts/pack-smoke.ts', '--all-nodes'],
      needs: ['build'],
      budgetS: 90,
    },
    {
      name: 'packages of the site',
      command: npmCi('--prefix', 'site'),
      budgetS: 60,
    },
    { name: 'site', command: npm('docs:build'), needs: ['packages of the site'], budgetS: 120 },
  ];
}

/** @param {string} lint the script of package.json */
function checks(lint, lintBudgetS) {
  return [
    { name: 'generated types', command: npm('generate:types'), needs: ['npm ci'], budgetS: 30 },
    { name: 'lint', command: npm(lint), needs: ['generated types'], budgetS: lintBudgetS },
    { name: 'typecheck', command: npm('typecheck'), needs: ['generated types'], budgetS: 120 },
    { name: 'format', command: npm('format:check'), needs: ['npm ci'], budgetS: 20 },
    { name: 'floors', command: ['node', 'scripts/ci/floors.mjs'], cores: 0, budgetS: 10 },
    { name: 'generated files', command: npm('check:generated'), needs: ['npm ci'], budgetS: 60 },
    { name: 'version of the HTTP interface', command: npm('check:openapi'), needs: ['npm ci'], budgetS: 20 },
  ];
}

/** The tests that need Node.js alone, once, with coverage. */
function unitTests(folder, budgetS) {
  const environment = { NODE_V8_COVERAGE: '.cache/v8' };
  const stage = { command: ['npm', 'test', '--silent'], needs: ['npm ci'], cores: 2, budgetS, environment };
  return [
    tests('npm test', folder, stage, ['ui']),
    { name: 'coverage', command: npm('coverage:report'), needs: ['npm test?'], budgetS: 60 },
    {
      name: 'cost of test files',
      command: ['node', 'scripts/test/cost.mjs'],
      needs: ['npm test?'],
      cores: 0,
      budgetS: 10,
    },
  ];
}

/** The tests with peers, and those in a browser. Each keeps all cores busy: beside each other they would only wait. */
function peerTests(folder, judges, budgets) {
  const environment = { TEST_PROGRAM: 'dist/main.js' };
  return [
    tests('interop tests', folder, {
      command: npm('test:interop', ...judges.together),
      needs: ['build', 'site?', 'peers?', 'npm test?'],
      environment,
      cores: 2,
      budgetS: budgets.together,
    }),
    tests('browser tests', folder, {
      command: npm('test:browser'),
      needs: ['build', 'site?', 'package?', 'peers?', 'npm test?'],
      environment,
      cores: 2,
      budgetS: 400,
    }),
    tests('interop tests, one at a time', folder, {
      command: npm('test:interop', '--no-parallel', ...judges.alone),
      needs: ['build', 'interop tests?', 'browser tests?'],
      environment,
      cores: 2,
      budgetS: budgets.alone,
    }),
  ];
}

const handMutations = (args, ...needs) => ({
  name: 'mutations by hand',
  command: npm('mutation:hand', ...args),
  needs: ['npm ci', ...needs],
  // the seed of runs by hand: a mutation that random cases kill must not survive by chance
  environment: { FC_SEED: '20260621' },
  cores: 2,
  budgetS: 360,
});

/**
 * @param changed files of the change, which call judges of the night
 * @param seed of the run, which chooses the mutations by hand that no change concerns
 */
export function changeStages(changed, seed) {
  const peers = { name: 'peers', command: ['node', 'scripts/peers.mjs', '--required'], cores: 0, budgetS: 600 };
  return [
    peers,
    ...setUp(),
    ...checks('lint', 260),
    ...unitTests('.cache/ci', 400),
    ...peerTests('.cache/ci', interopFiles(changed), { together: 480, alone: 400 }),
    handMutations(
      [`--part=${(Math.abs(seed) % handParts) + 1}/${handParts}`, '--after=.cache/ci/npm-test.json'],
      'npm test?',
      'browser tests?',
    ),
  ];
}

/** Test files with properties. */
function propertyFiles() {
  return testFiles('test', ['test/interop', 'test/browser', 'test/ui']).filter((file) =>
    readFileSync(file, 'utf8').includes('holds('),
  );
}

/** @param night `seed` of its random cases, and the number of its `day` */
export function nightlyStages({ seed, day }) {
  const folder = '.cache/nightly';
  const suite = (name, stage) =>
    tests(name, folder, { command: ['npm', 'test', '--silent'], needs: ['npm ci'], cores: 2, budgetS: 900, ...stage }, [
      'ui',
    ]);
  const otherSeeds = [seed + 1, seed + 2].map((each) =>
    tests(`properties, FC_SEED=${each}`, folder, {
      command: ['npm', 'test', '--silent', '--', '--seed', String(each), ...propertyFiles()],
      needs: ['npm ci'],
      cores: 2,
      budgetS: 2400,
    }),
  );
  const otherVersions = nightlyVersions.map((version) =>
    suite(`npm test on Node.js ${version}`, {
      command: ['node', 'scripts/ci/on-node.mjs', version, 'npm', 'test', '--silent'],
      environment: { TEST_DEPTH: 'quick' },
    }),
  );
  const fuzz = Object.entries(fuzzFiles).map(([name, files]) =>
    tests(`fuzz of ${name}`, folder, {
      command: ['node', 'scripts/ci/repeated.mjs', String(fuzzS), 'npm', 'test', '--silent', '--', ...files],
      needs: ['npm ci'],
      budgetS: fuzzS + 120,
    }),
  );
  const soakStages = Object.entries(soaks).map(([name, [seconds, ...args]]) => ({
    name,
    command: npm(
      'soak',
      '--no-build',
      '--seed',
      String(seed),
      '--json',
      `${folder}/${name.replaceAll(/\W+/g, '-')}.json`,
      ...args,
    ),
    needs: ['build'],
    // both cores: its figures are times
    cores: 2,
    budgetS: seconds + 120,
  }));
  const part = `${(day % mutationParts) + 1}/${mutationParts}`;
  return [
    { name: 'peers', command: ['node', 'scripts/peers.mjs', '--required'], cores: 0, budgetS: 1200 },
    ...setUp(),
    ...checks('lint:full', 600),
    ...unitTests(folder, 2400),
    ...peerTests(folder, interopFiles(null), { together: 2400, alone: 1200 }),
    {
      name: 'evidence',
      command: npm('evidence', '--reports', folder),
      needs: ['npm test?', 'interop tests, one at a time?'],
      budgetS: 60,
    },
    {
      name: 'rehearsal of a release',
      command: ['node', 'scripts/ci/rehearsal.mjs'],
      needs: ['build', 'package?'],
      cores: 2,
      budgetS: 900,
    },
    ...otherVersions,
    suite('npm test in random order', { environment: { TEST_ORDER: 'random', TEST_DEPTH: 'quick' } }),
    suite('npm test under load', {
      command: ['node', 'scripts/ci/under-load.mjs', 'npm', 'test', '--silent'],
      environment: { TEST_DEPTH: 'quick' },
    }),
    ...otherSeeds,
    ...fuzz,
    {
      name: 'fuzz of all parsers',
      command: npm('fuzz', '--seconds', String(fuzzS)),
      needs: ['npm ci'],
      budgetS: fuzzS + 120,
    },
    ...soakStages,
    handMutations([]),
    {
      name: `mutations of rule modules, part ${part}`,
      command: npm('mutation', '--part', part),
      needs: ['npm ci'],
      cores: 2,
      budgetS: 7200,
    },
    {
      name: 'benchmarks',
      command: npm('bench', '--quick', '--json', benchFile),
      needs: ['npm ci'],
      cores: 2,
      budgetS: 1800,
    },
    {
      name: 'npm audit',
      command: ['npm', 'audit', '--audit-level=high'],
      needs: ['npm ci'],
      budgetS: 60,
      advisory: true,
    },
  ];
}
