/** The outcome of a run: for those who read the log, and for programs (`.cache/ci.json`). */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { nightlyNotice } from './nights.mjs';

/**
 * Over this share of its budget a stage fails even if all of its checks pass. CPU time counts: other work on the machine
 * costs none.
 */
const maxShareOfBudget = 1.25;
const linesOfFailure = 120;
const maxFailuresNamed = 30;
const maxErrorLength = 300;

const say = (text) => process.stdout.write(`${text}\n`);

function readJson(file, fallback) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return fallback;
  }
}

/** Tests that were skipped; a line that a process could not finish counts as one without a reason. */
function skippedTests(file) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      try {
        const { title, reason } = JSON.parse(line);
        return { title: String(title), reason: String(reason) };
      } catch {
        return { title: line, reason: 'its notice cannot be read' };
      }
    });
}

/** The tests of a report; null where it is missing, damaged or empty: a suite that ran no test has shown nothing. */
function testsOf(file) {
  const report = readJson(file, null);
  const isReport =
    Array.isArray(report) && report.length > 0 && report.every((test) => typeof test?.outcome === 'string');
  return isReport ? report : null;
}

/** The part of a log that shows a failure: mocha's list of failures, else its end. */
function endOf(log) {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  const begin = lines.findIndex((line) => /^ *\d+ failing$/.test(line));
  return begin < 0 ? lines.slice(-linesOfFailure) : lines.slice(begin, begin + 3 * linesOfFailure);
}

/** Counts and prints the stages of a run. */
export class Summary {
  #run;
  #stages = [];
  /** tests that failed */
  #failures = [];
  /** tests in quarantine that failed */
  #flaky = [];

  /** @param run `root`, `file` of the result, `commit`, `node`, `depth`, `seed`, `startedAt`, `budgetS`, `slowdown` */
  constructor(run) {
    this.#run = run;
  }

  add(stage, ended) {
    const counts = this.#countsOf(stage, ended);
    const isLate = ended.cpuS > stage.budgetS * (stage.cores ?? 1) * maxShareOfBudget && stage.cores !== 0;
    if (isLate && counts.failed === 0 && stage.advisory !== true) counts.failed = 1;
    const reason =
      ended.reason ?? (isLate ? `took ${ended.cpuS} CPU s, more than ${maxShareOfBudget} times its budget` : undefined);
    this.#stages.push({
      name: stage.name,
      s: ended.s,
      cpuS: ended.cpuS,
      budgetS: stage.budgetS,
      ...counts,
      ...(reason && { reason }),
    });
    const numbers = `${counts.passed} passed, ${counts.failed} failed${counts.pending ? `, ${counts.pending} skipped` : ''}`;
    say(
      `== ${stage.name}: ${numbers}; ${ended.s} s of ${stage.budgetS} s, ${ended.cpuS} CPU s${reason ? `; ${reason}` : ''}`,
    );
    if (ended.outcome === 'failed') for (const line of endOf(ended.log)) say(`   ${line}`);
  }

  /** A stage without tests is one check; one that ends with an error although no test fails has one failure more. */
  #countsOf(stage, ended) {
    const isBad = ended.outcome !== 'passed';
    if (stage.advisory) return { passed: 0, failed: 0, pending: 0 };
    if (!stage.reports) return { passed: isBad ? 0 : 1, failed: isBad ? 1 : 0, pending: 0 };
    const reports = stage.reports.map(testsOf);
    const tests = reports.flatMap((report) => report ?? []);
    this.#flaky.push(...tests.filter((test) => test.outcome === 'quarantined'));
    this.#failures.push(...tests.filter((test) => test.outcome === 'failed'));
    const count = (outcome) => tests.filter((test) => test.outcome === outcome).length;
    const failed = count('failed');
    const isIncomplete = isBad || reports.includes(null);
    return { passed: count('passed'), failed: failed === 0 && isIncomplete ? 1 : failed, pending: count('skipped') };
  }

  /** Prints what the run found and writes it to `.cache/ci.json`. @returns whether all of it is good */
  end() {
    const { root, file, budgetS, startedAt, ...run } = this.#run;
    const sum = (name) => this.#stages.reduce((total, stage) => total + stage[name], 0);
    const s = Math.round((Date.now() - startedAt.getTime()) / 1000);
    const skipped = skippedTests(`${root}/.cache/skipped.jsonl`);
    // a judge that could not take part has confirmed nothing
    const permitted = readJson(`${root}/.ci/permitted-skips.json`, []);
    const absent = skipped.filter(({ reason }) => !permitted.some((text) => reason.startsWith(text)));
    const [passed, failed] = [sum('passed'), sum('failed') + absent.length];
    const versions = readJson(`${root}/.cache/peers.json`, {}).versions ?? {};
    const missingPeers = Object.keys(versions).filter((name) => versions[name] === null);
    const result = {
      ...run,
      startedAt: startedAt.toISOString(),
      s,
      budgetS,
      stages: this.#stages,
      missingPeers,
      skipped,
      coverage: readJson(`${root}/.cache/coverage.json`, {}),
      mutation: readJson(`${root}/.cache/mutation/summary.json`, {}),
      flaky: this.#flaky,
    };
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
    const bad = this.#stages.filter((stage) => stage.failed > 0);
    say('');
    for (const stage of bad) say(`failed: ${stage.name}${stage.reason ? ` (${stage.reason})` : ''}`);
    // a log is often kept by its end alone
    for (const { title, error } of this.#failures.slice(0, maxFailuresNamed))
      say(`failed: ${title}: ${firstLine(error)}`);
    const unnamed = this.#failures.length - maxFailuresNamed;
    if (unnamed > 0) say(`failed: ${unnamed} more tests`);
    for (const [reason, count] of countsBy(skipped, ({ reason }) => reason)) say(`skipped: ${reason} (${count})`);
    for (const { title, reason } of absent) say(`failed: ${title} was skipped: ${reason}`);
    for (const { title, error } of result.flaky) say(`in quarantine, failed: ${title}: ${error}`);
    if (missingPeers.length > 0) say(`missing peers: ${missingPeers.join(', ')}`);
    say(`${s} s of ${budgetS} s, FC_SEED=${run.seed} (CI_SEED=${run.seed} repeats its random cases)`);
    say(`limits times ${run.slowdown}, for the speed of this machine`);
    const notice = nightlyNotice(Date.now());
    if (notice !== null) say(`notice: ${notice}`);
    if (s > budgetS) say(`the run took ${s - budgetS} s more than it may: the newest judge moves to the nightly run`);
    say(`${passed} passed, ${failed} failed`);
    return failed === 0;
  }
}

const firstLine = (text) =>
  String(text ?? '')
    .split('\n', 1)[0]
    .slice(0, maxErrorLength);

function countsBy(items, keyOf) {
  const counts = new Map();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
