/** Unit, wire and component tests. */
const { jobs, suite, testFiles } = require('./scripts/test/mocha-options.cjs');

module.exports = suite(testFiles('test', ['test/interop', 'test/browser', 'test/ui']), {
  require: ['./test/support/mocha-setup.ts'],
  // by hand a slow test is a mistake; on the busy machine of CI it says nothing
  timeout: process.env.CI ? 60_000 : 10_000,
  parallel: true,
  jobs,
});
