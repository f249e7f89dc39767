/** Configuration of Stryker for the module of `test/mutation.json` that `MUTATION_MODULE` names. */
import { fileURLToPath } from 'node:url';
import { everyNthBlock, filesOf, moduleNamed, resultFile } from './modules.mjs';

const { module, mutate, spec, static: judgesStatics } = moduleNamed(process.env.MUTATION_MODULE);
const sample = Number(process.env.MUTATION_SAMPLE ?? 1);
const pluginPath = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  testRunner: 'mocha',
  plugins: [pluginPath('node_modules/@stryker-mutator/mocha-runner/dist/src/index.js'), pluginPath('log-calls.mjs')],
  mochaOptions: {
    'no-config': true,
    'no-package': true,
    spec: filesOf(spec),
    require: ['./test/support/mocha-setup.ts'],
  },
  mutate: everyNthBlock(filesOf(mutate), sample),
  mutator: {
    // Text is not a rule. In place of an object with required members `{}` would not compile, which leaves option bags.
    excludedMutations: ['StringLiteral', 'ObjectLiteral'],
  },
  ignorers: ['log-calls'],
  coverageAnalysis: 'perTest',
  ignoreStatic: !judgesStatics,
  concurrency: Number(process.env.MUTATION_CONCURRENCY ?? 2),
  // a test of a busy machine may be slow; an endless loop is mostly ended by the count of its passes
  timeoutMS: 20_000,
  dryRunTimeoutMinutes: 15,
  // a run of all mutants later would take those of no block as gone
  incremental: sample === 1,
  incrementalFile: resultFile(`${module}.incremental`),
  force: process.env.MUTATION_FORCE === '1',
  reporters: ['json', 'progress-append-only'],
  jsonReporter: { fileName: resultFile(module) },
  disableTypeChecks: false,
  tsconfigFile: 'none',
  tempDirName: '.stryker-tmp',
  ignorePatterns: [
    '/bench',
    '/dist*',
    '/.venv',
    '/.cache',
    '/coverage',
    '/scripts/mutation',
    '/test/interop',
    '/test/browser',
  ],
  allowEmpty: false,
};
