/**
 * Tests of the dashboard without a browser, in a process of their own: they have a window, which servers must not see.
 * tsx loads them on each version of Node.js, since no version strips the types of `.tsx` by itself.
 */
const { suite, testFiles } = require('./scripts/test/mocha-options.cjs');

process.env.TSX_TSCONFIG_PATH ??= 'test/ui/tsconfig.json';

module.exports = suite(testFiles('test/ui'), {
  'node-option': ['import=tsx', 'no-experimental-require-module', 'import=./test/ui/support/register-hook.mjs'],
  require: ['./test/support/mocha-setup.ts', './test/ui/support/setup.ts'],
  timeout: process.env.CI ? 60_000 : 10_000,
});
