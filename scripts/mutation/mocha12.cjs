/**
 * Preload for Stryker: its mocha runner 10.0.0 requires files of mocha without an extension, and mocha 12 names them
 * `.cjs`. Unnecessary with the release of stryker-js that has pull request 6205.
 */
const Module = require('node:module');

const extensionless = /[\\/]mocha[\\/]lib[\\/]cli[\\/](run-helpers|options|collect-files)$/;
const resolveFilename = Module._resolveFilename;

Module._resolveFilename = function (request, ...rest) {
  return resolveFilename.call(this, extensionless.test(request) ? `${request}.cjs` : request, ...rest);
};
