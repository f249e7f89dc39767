/**
 * `npm run evidence`: runs the tests that independent programs, models and schemas take part in, and writes their verdicts to
 * docs/evidence (VERSION.json, VERSION.md, index.md). `npm run peers` comes before.
 *
 *   npm run evidence -- [--only TEXT ...]    judges whose id, name or protocol contains a text; others keep their verdict
 *   npm run evidence -- --reports FOLDER     no run: reports of a night or of CI, TEST_SKIPPED names the skipped tests
 *   npm run evidence -- --release VERSION    the version of the page; else that of package.json, or `unreleased` behind it
 *   npm run evidence -- --check              whether a release, with --release that of VERSION, may rest on the newest page
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { arch, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { apiVersion } from '../src/api/http/context.ts';
import { packageFile, packageVersion } from '../src/core/package-files.ts';
import { gaps, judges, procedures } from '../test/interop/judges.ts';
import { peers } from '../test/interop/support/peers.ts';
import { evidenceFormat, evidenceIn, evidenceSchema } from './evidence/document.ts';
import type { Evidence } from './evidence/document.ts';
import { chosenIds, evidenceOf, staleDisagreements } from './evidence/evidence.ts';
import { indexOf, pageOf } from './evidence/page.ts';
import { refusals } from './evidence/refusals.ts';
import { leftOutOf, plannedTests, reportsOf, runTests, skipsOf } from './evidence/runs.ts';
import { sourceOf } from './evidence/source.ts';

const root = packageFile('');
const pages = packageFile('docs/evidence');
const cache = packageFile('.cache/evidence');
const table = { judges, procedures, gaps, peers: new Set<string>(peers) };

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : null);

/** All documents, newest first. @throws Error for one of another form */
function documents(): readonly Evidence[] {
  if (!existsSync(pages)) return [];
  return readdirSync(pages)
    .filter((name) => name.endsWith('.json'))
    .map((name) => evidenceIn(readFileSync(join(pages, name), 'utf8'), name))
    .sort((a, b) => (a.date < b.date ? 1 : -1));
}

/** The version of package.json until the change log has a day for it. */
function pageVersion(): string {
  const version = packageVersion();
  const isReleased = readFileSync(packageFile('CHANGELOG.md'), 'utf8').includes(`\n## ${version} (2`);
  return isReleased ? 'unreleased' : version;
}

/** @param version of the release; null: that of the newest page */
function check(version: string | null): number {
  const all = documents();
  const page = textOf(join(pages, `${all[0]?.version ?? ''}.md`));
  const problems = refusals(all, { version, source: sourceOf(root) }, { page, index: textOf(join(pages, 'index.md')) });
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

function write(evidence: Evidence): void {
  mkdirSync(pages, { recursive: true });
  const name = join(pages, evidence.version);
  writeFileSync(`${name}.json`, `${JSON.stringify(evidenceSchema.parse(evidence), null, 1)}\n`);
  writeFileSync(`${name}.md`, pageOf(evidence));
  writeFileSync(join(pages, 'index.md'), indexOf(documents()));
}

/** A whole build: one that `npm start` makes has no types for the judges of the package. */
function build(): void {
  const program = packageFile('scripts/build.mjs');
  const { status } = spawnSync(process.execPath, [program], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed, see above');
}

interface Options {
  readonly only: readonly string[];
  readonly reports: string | undefined;
  readonly version: string;
}

function run({ only, reports, version }: Options, source: string): number {
  const chosen = chosenIds(table, only);
  const selectors = [...judges, ...procedures].filter(({ id }) => chosen.has(id)).flatMap(({ tests }) => tests);
  process.env['TEST_DEPTH'] ??= 'ci';
  process.env['FC_SEED'] ??= '20260621';
  const plan = plannedTests(root, cache, selectors);
  const stale = staleDisagreements(table, plan, chosen);
  for (const text of stale) console.error(text);
  if (stale.length > 0) return 1;
  const folder =
    reports === undefined
      ? { reports: cache, skips: join(cache, 'skipped.jsonl') }
      : { reports, skips: process.env['TEST_SKIPPED'] ?? packageFile('.cache/skipped.jsonl') };
  if (reports === undefined) {
    build();
    runTests(root, folder, [...new Set(plan.map(({ file }) => file))]);
  }
  const date = new Date().toISOString();
  const commit = git('rev-parse', 'HEAD');
  const testReports = reportsOf(root, folder);
  const leftOut = reports === undefined ? new Set<string>() : leftOutOf(root, testReports);
  const evidence = evidenceOf(table, {
    run: { plan, reports: testReports, skips: skipsOf(folder), leftOut, date: date.slice(0, 10), commit },
    chosen,
    heading: {
      format: evidenceFormat,
      version,
      commit,
      source,
      api_version: apiVersion,
      date,
      node: process.version,
      os: `${type()} ${arch()}`,
      depth: process.env['TEST_DEPTH'],
      seed: process.env['FC_SEED'],
    },
    before: documents().find((each) => each.version === version) ?? null,
    root,
  });
  write(evidence);
  for (const { name, verdict, tests } of evidence.judges.filter(({ id }) => chosen.has(id)))
    console.log(`${name}: ${verdict}, ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} not run`);
  console.log(`docs/evidence/${version}.md`);
  return 0;
}

function main(): number {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      reports: { type: 'string' },
      release: { type: 'string' },
      check: { type: 'boolean', default: false },
    },
  });
  if (values.check) return check(values.release ?? null);
  if (chosenIds(table, values.only).size === 0) {
    console.error(`no judge has ${values.only.join(' or ')} in its id, name or protocol`);
    return 2;
  }
  const source = sourceOf(root);
  if (source === null) {
    console.error('files beside documents differ from their commit, which a verdict has to name: commit first');
    return 2;
  }
  return run({ only: values.only, reports: values.reports, version: values.release ?? pageVersion() }, source);
}

process.exitCode = main();
