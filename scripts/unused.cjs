// In the place of a module that the program loads and never uses: see bundle.mjs.
module.exports = {};
