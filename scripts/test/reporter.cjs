/** The reporter `spec`, which also writes each test with its outcome to the file that `TEST_REPORT` names. */
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname, relative } = require('node:path');
const { reporters } = require('mocha');

const outcomes = { pass: 'passed', fail: 'failed', pending: 'skipped' };

class RecordingSpec extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.TEST_REPORT;
    if (!file) return;
    const tests = [];
    for (const [event, outcome] of Object.entries(outcomes)) {
      runner.on(event, (test, error) => {
        tests.push({
          file: test.file ? relative(process.cwd(), test.file) : null,
          title: test.fullTitle(),
          outcome,
          ms: test.duration ?? 0,
          ...(error && { error: String(error.message ?? error) }),
        });
      });
    }
    runner.once('end', () => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(tests));
    });
  }
}

module.exports = RecordingSpec;
