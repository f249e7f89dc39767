/**
 * `npm run nightly`: what is too dear for each change: all tests in full depth, other versions of Node.js, the suite in
 * random order and under load, all judges, fuzz, soaks, mutations, benchmarks. Writes `.cache/nightly.json`, `.cache/nightly.md`
 * and the verdicts of the judges in `docs/evidence`.
 *
 *   npm run nightly -- [--list] [--only TEXT ...]    stages whose name contains a text, with those that they need
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { nightlyFolder } from './nights.mjs';
import { benchFile, nightlyStages } from './stages.mjs';
import { root, wholeRun } from './whole-run.mjs';

process.chdir(root);
const budgetS = 5 * 3600;

/** The stages whose name contains one of the texts, and all that they need. */
function chosen(stages, texts) {
  if (texts.length === 0) return stages;
  const names = new Set(stages.map(({ name }) => name).filter((name) => texts.some((text) => name.includes(text))));
  for (const name of names) {
    const stage = stages.find((each) => each.name === name);
    for (const need of stage?.needs ?? []) if (!need.endsWith('?')) names.add(need);
  }
  return stages
    .filter(({ name }) => names.has(name))
    .map((stage) => ({ ...stage, needs: stage.needs?.filter((need) => names.has(need.replace(/\?$/, ''))) }));
}

/** The nights before this one, oldest first. */
function earlierNights() {
  mkdirSync(nightlyFolder, { recursive: true });
  return readdirSync(nightlyFolder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .slice(-7)
    .map((name) => JSON.parse(readFileSync(`${nightlyFolder}/${name}`, 'utf8')));
}

const readJson = (name) => (existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')) : {});
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** A figure beside the median of the nights before, marked where it is a fifth away from it. */
function compared(value, before) {
  const usual = before.length > 0 ? median(before) : null;
  const change = usual !== null && usual !== 0 ? value / usual - 1 : 0;
  const mark = Math.abs(change) > 0.2 ? ` **${change > 0 ? '+' : ''}${Math.round(change * 100)} %**` : '';
  return `${value}${mark} | ${usual ?? '-'}`;
}

/** The stages and the figures of the benchmarks as tables, each beside the median of the nights before. */
function markdown({ commit, startedAt, seed, stages, bench }, nights) {
  const rows = stages.map(({ name, passed, failed, pending, s, cpuS, reason }) => {
    const before = nights.flatMap((night) => night.stages.filter((stage) => stage.name === name));
    const cpu = compared(
      cpuS,
      before.map((stage) => stage.cpuS),
    );
    return `| ${name} | ${passed} | ${failed} | ${pending} | ${s} | ${cpu} | ${reason ?? ''} |`;
  });
  const figures = Object.entries(bench).map(([name, value]) => {
    const before = nights.map((night) => night.bench?.[name]).filter((each) => each !== undefined);
    return `| ${name} | ${compared(value, before)} |`;
  });
  return [
    `# Night of ${startedAt.slice(0, 10)}`,
    '',
    `Commit ${commit}, FC_SEED=${seed}.`,
    '',
    '| stage | passed | failed | skipped | s | CPU s | CPU s, median of seven nights | |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    '| aim of the benchmarks | measured | median of seven nights |',
    '|---|---|---|',
    ...figures,
    '',
  ].join('\n');
}

const startedAt = new Date();
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
const day = Math.floor(startedAt.getTime() / 86_400_000);
const seed = process.env.CI_SEED ?? String(createHash('sha256').update(`${commit} ${day}`).digest().readInt32BE());
const texts = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const allStages = nightlyStages({ seed: Number(seed), day });
const unknown = texts.filter((text) => !allStages.some(({ name }) => name.includes(text)));
if (unknown.length > 0) {
  console.error(`no stage has ${unknown.map((text) => JSON.stringify(text)).join(' or ')} in its name; see --list`);
  process.exit(2);
}
const stages = chosen(allStages, texts);
if (process.argv.includes('--list')) {
  for (const { name, budgetS: each } of stages) console.log(`${name} (${each} s)`);
  process.exit(0);
}
const nights = earlierNights();
const file = '.cache/nightly.json';
const isGood = await wholeRun({
  stages,
  folder: '.cache/nightly',
  file,
  commit,
  depth: 'full',
  seed,
  startedAt,
  budgetS,
});
process.exitCode = isGood ? 0 : 1;
const night = { ...JSON.parse(readFileSync(file, 'utf8')), bench: readJson(benchFile) };
writeFileSync(file, JSON.stringify(night, null, 1));
writeFileSync('.cache/nightly.md', markdown(night, nights));
// a run of some stages is no night
if (texts.length === 0) copyFileSync(file, `${nightlyFolder}/${startedAt.toISOString().slice(0, 10)}.json`);
