/**
 * The reporter `spec`, which also writes each test with its outcome to the file that `TEST_REPORT` names. Failures of
 * tests in quarantine, and of tries before the last one, are shown and do not count.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname, relative } = require('node:path');
const { reporters } = require('mocha');
const { quarantine } = require('./quarantine.cjs');

const outcomes = { pass: 'passed', fail: 'failed', pending: 'skipped', retry: 'retried' };

const fileOf = (test) => (test.file ? relative(process.cwd(), test.file) : null);
const textOf = (error) => String(error?.message ?? error);

class RecordingSpec extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const entries = quarantine();
    this.isInQuarantine = (test) =>
      entries.some(({ file, title }) => file === fileOf(test) && title === test.fullTitle());
    this.stale = this.staleEntries(runner, entries);
    this.uncounted = [];
    this.retried = [];
    runner.on('retry', (test, error) => this.retried.push(`${test.fullTitle()}: ${textOf(error)}`));
    if (process.env.TEST_REPORT) this.record(runner, process.env.TEST_REPORT);
  }

  record(runner, file) {
    const tests = [];
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '[]');
    for (const [event, outcome] of Object.entries(outcomes)) {
      runner.on(event, (test, error) => {
        tests.push({
          file: fileOf(test),
          title: test.fullTitle(),
          path: test.titlePath(),
          outcome: outcome === 'failed' && this.isInQuarantine(test) ? 'quarantined' : outcome,
          ms: test.duration ?? 0,
          ...(error && { error: textOf(error) }),
        });
      });
    }
    runner.once('end', () => {
      writeFileSync(file, JSON.stringify(tests));
    });
  }

  /** Entries of the quarantine whose file ran without a test of their title. */
  staleEntries(runner, entries) {
    const titles = new Map();
    runner.on('test end', (test) => {
      const file = fileOf(test);
      titles.set(file, (titles.get(file) ?? new Set()).add(test.fullTitle()));
    });
    const isFiltered = process.argv.some((argument) => /^(-[fg]|--f?grep)$/.test(argument));
    return () =>
      isFiltered ? [] : entries.filter(({ file, title }) => titles.has(file) && !titles.get(file).has(title));
  }

  /** At the end of the run, before mocha's summary. */
  epilogue() {
    this.uncounted = this.failures.filter((test) => this.isInQuarantine(test));
    this.failures = this.failures.filter((test) => !this.isInQuarantine(test));
    this.stats.failures -= this.uncounted.length;
    super.epilogue();
    for (const test of this.uncounted) console.log(`  in quarantine, failed: ${test.fullTitle()}: ${textOf(test.err)}`);
    for (const text of this.retried) console.log(`  retried, failed at first: ${text}`);
  }

  /** @param failures of all tests; the rest of them becomes the exit code */
  done(failures, end) {
    const stale = this.stale();
    for (const { file, title } of stale) console.log(`  test/quarantine.json: ${file} has no test "${title}"`);
    end(failures - this.uncounted.length + stale.length);
  }
}

module.exports = RecordingSpec;
