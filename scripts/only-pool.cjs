// In the place of undici in the build: the only class that the program uses, with the methods that undici adds to it.
const Dispatcher = require('undici/lib/dispatcher/dispatcher');

Object.assign(Dispatcher.prototype, require('undici/lib/api'));
exports.Pool = require('undici/lib/dispatcher/pool');
