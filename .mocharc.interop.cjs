/** Tests with independent implementations. */
const { jobs, suite, testFiles } = require('./scripts/test/mocha-options.cjs');

module.exports = suite(testFiles('test/interop'), {
  require: ['./test/support/rejections.ts'],
  timeout: 120_000,
  parallel: true,
  // peers wait for each other most of the time
  jobs: jobs + 2,
});
