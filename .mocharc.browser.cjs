/** Tests in a real browser; `npm run build` comes before. */
const { jobs, suite, testFiles } = require('./scripts/test/mocha-options.cjs');

module.exports = suite(testFiles('test/browser'), {
  require: ['./test/support/rejections.ts'],
  timeout: 120_000,
  parallel: true,
  jobs,
});
