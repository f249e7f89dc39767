/** Unit, wire and component tests. */
const { jobs, suite, testFiles } = require('./scripts/test/mocha-options.cjs');

module.exports = suite(testFiles('test', ['test/interop', 'test/browser', 'test/ui']), {
  require: ['./test/support/mocha-setup.ts'],
  // by hand a slow test is a mistake; with more cases, or on the busy machine of CI, it says nothing
  timeout: process.env.CI || (process.env.TEST_DEPTH ?? 'quick') !== 'quick' ? 60_000 : 10_000,
  parallel: true,
  jobs,
});
