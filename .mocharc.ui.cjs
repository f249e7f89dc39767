/** Tests of the dashboard without a browser, in processes of their own: they have a window, which servers must not see. */
const { suite, testFiles } = require('./scripts/test/mocha-options.cjs');

module.exports = suite(testFiles('test/ui'), { require: ['./test/support/mocha-setup.ts'], timeout: process.env.CI ? 60_000 : 10_000 });
