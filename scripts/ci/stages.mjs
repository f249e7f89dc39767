/** The stages of a run for each change, with the seconds that they may take on two slow cores. */
import { readFileSync } from 'node:fs';
import { floorVersion, nodeOf } from './runtime.mjs';
import { interopFiles } from './judges.mjs';

const npm = (script, ...args) => ['npm', 'run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])];
const report = (name) => `.cache/ci/${name}.json`;

/** The tests that need Node.js alone, once, with coverage. */
const unit = {
  name: 'npm test',
  command: ['npm', 'test', '--silent'],
  needs: ['npm ci'],
  cores: 2,
  budgetS: 330,
  environment: { NODE_V8_COVERAGE: '.cache/v8', TEST_REPORT: report('unit') },
  reports: [report('unit'), report('unit-ui')],
};

/** @param changed files of the change, by which further judges are called */
export function changeStages(changed) {
  const judges = interopFiles(changed);
  return [
    { name: 'npm ci', command: ['npm', 'ci', '--no-audit', '--no-fund'], budgetS: 90 },
    { name: 'peers', command: ['node', 'scripts/peers.mjs', '--required'], cores: 0, budgetS: 600 },
    { name: 'types of the interface', command: npm('generate:ui'), needs: ['npm ci'], budgetS: 30 },
    { name: 'lint', command: npm('lint'), needs: ['types of the interface'], budgetS: 260 },
    { name: 'typecheck', command: npm('typecheck'), needs: ['types of the interface'], budgetS: 120 },
    { name: 'format', command: npm('format:check'), needs: ['npm ci'], budgetS: 20 },
    { name: 'generated files', command: npm('check:generated'), needs: ['npm ci'], budgetS: 60 },
    { name: 'version of the HTTP interface', command: npm('check:openapi'), needs: ['npm ci'], budgetS: 20 },
    { name: 'build', command: npm('build'), needs: ['npm ci'], budgetS: 30 },
    {
      name: `start on Node.js ${floorVersion}`,
      command: [nodeOf(floorVersion, { exact: true }), 'scripts/floor-smoke.mjs'],
      needs: ['build'],
      budgetS: 30,
    },
    { name: 'package', command: ['node', '--import=tsx', 'scripts/pack-smoke.ts'], needs: ['build'], budgetS: 60 },
    unit,
    {
      name: 'coverage',
      command: npm('coverage:report'),
      needs: ['npm test?'],
      budgetS: 60,
    },
    {
      name: 'interop tests',
      command: npm('test:interop', ...judges.together),
      needs: ['npm ci', 'peers?', 'npm test?'],
      budgetS: 480,
      environment: { TEST_REPORT: report('interop') },
      reports: [report('interop')],
    },
    {
      name: 'browser tests',
      command: npm('test:browser'),
      needs: ['package?', 'build', 'peers?', 'npm test?'],
      budgetS: 400,
      environment: { TEST_REPORT: report('browser') },
      reports: [report('browser')],
    },
    {
      name: 'interop tests, one at a time',
      command: npm('test:interop', '--no-parallel', ...judges.alone),
      needs: ['interop tests?', 'browser tests?'],
      cores: 2,
      budgetS: 300,
      environment: { TEST_REPORT: report('interop-alone') },
      reports: [report('interop-alone')],
    },
  ];
}
