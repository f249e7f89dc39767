/**
 * Lists the longest sentences of README, CONTRIBUTING and docs, tables, code and pages of evidence aside. It fails nothing:
 *
 *   npm run docs:sentences [-- COUNT]
 */
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sentencesOf } from './docs/sentences.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const defaultCount = 20;

const count = Number(process.argv[2] ?? defaultCount);
const { stdout } = spawnSync('git', ['ls-files', 'README.md', 'CONTRIBUTING.md', 'docs/*.md'], {
  cwd: root,
  encoding: 'utf8',
});
const sentences = stdout
  .trim()
  .split('\n')
  .filter((path) => !path.startsWith('docs/evidence/'))
  .flatMap((path) => sentencesOf(readFileSync(`${root}/${path}`, 'utf8')).map((each) => ({ path, ...each })))
  .sort((a, b) => b.words - a.words);
for (const { path, line, words, text } of sentences.slice(0, count)) console.log(`${words} ${path}:${line} ${text}`);
