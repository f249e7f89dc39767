/** Options that all suites of mocha have in common. */
const { createHash } = require('node:crypto');
const { readdirSync, readFileSync } = require('node:fs');
const { availableParallelism, freemem } = require('node:os');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const bytesPerWorker = 2 * 1024 ** 3;

/** From Node.js 24 on the runtime strips types by itself; tsx does it below. */
const isNative = Number(process.versions.node.split('.')[0]) >= 24;

/**
 * Flags of Node.js for tsx. Without the second a lazy `import()` becomes another instance of its file. Native stripping
 * has one loader, and there the flag keeps mocha 12 from starting.
 */
const tsxOptions = ['import=tsx', 'no-experimental-require-module'];

/** Workers that the cores and the free memory carry; with one alone mocha would run the files in its own process. */
const jobs = Math.max(2, Math.min(availableParallelism(), Math.floor(freemem() / bytesPerWorker)));

/** CPU seconds of each test file in the last runs; empty in a fresh checkout. */
function measuredCosts() {
  try {
    return JSON.parse(readFileSync(join(root, '.cache/test-cost.json'), 'utf8'));
  } catch {
    return {};
  }
}

/** The order in which workers take files: new ones, then the dearest, so that a dear one is not the last to end. */
function ordered(files) {
  if (process.env.TEST_ORDER === 'random') {
    const keyOf = (file) => createHash('sha256').update(`${process.env.FC_SEED} ${file}`).digest('hex');
    return [...files].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }
  const costs = measuredCosts();
  const costOf = (file) => costs[file] ?? Infinity;
  return [...files].sort((a, b) => (costOf(a) === costOf(b) ? (a < b ? -1 : 1) : costOf(b) - costOf(a)));
}

/** Test files below a folder of the checkout. @param without folders that are left out */
function testFiles(folder, without = []) {
  const files = readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
  return files.filter((file) => /\.test\.tsx?$/.test(file) && !without.some((other) => file.startsWith(`${other}/`)));
}

/** The options of a suite. Files that the command line names replace those of the suite. */
function suite(files, options = {}) {
  const isNamed = process.argv.slice(2).some((argument) => /\.test\.tsx?$/.test(argument));
  const isFiltered = process.argv.some((argument) => /^(-[fg]|--f?grep)$/.test(argument));
  return {
    failZero: !isFiltered,
    reporter: join(__dirname, 'reporter.cjs'),
    ...(!isNative && { 'node-option': tsxOptions }),
    ...(!isNamed && { spec: ordered(files) }),
    ...options,
  };
}

module.exports = { isNative, jobs, suite, testFiles };
