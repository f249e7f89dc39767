import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Files that differ from the last commit, new ones among them. */
function changedFiles() {
  const git = (...args) =>
    execFileSync('git', args, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  return new Set([
    ...git('diff', '--name-only', '--no-renames', 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]);
}

/** The file of a path: imports of the dashboard leave its ending out. */
function fileOf(path) {
  return (
    ['', '.ts', '.tsx'].map((ending) => path + ending).find((file) => /\.\w+$/.test(file) && existsSync(file)) ?? path
  );
}

/** What a file names in imports, lazy ones too, and in the URLs of files that it reads. */
function references(file) {
  if (!/\.(ts|tsx|mjs|cjs)$/.test(file) || !existsSync(file)) return [];
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    fileOf(normalize(join(dirname(file), path))),
  );
}

/** The tests among `files` whose imports lead to one of the targets. @param targets a set of files */
export function testsReaching(files, targets) {
  const direct = new Map();
  const reaches = (test) => {
    const visited = new Set([test]);
    for (const file of visited) {
      if (targets.has(file)) return true;
      if (!direct.has(file)) direct.set(file, references(file));
      for (const next of direct.get(file)) visited.add(next);
    }
    return false;
  };
  return files.filter(reaches);
}

/**
 * The tests among `files` whose imports lead to a file that differs from the last commit, and the changed files of the
 * tests and their runner to which no import leads.
 */
export function changedTests(files) {
  const changed = changedFiles();
  const isOfRunner = (file) => /^(test\/.*|\.mocharc.*|scripts\/test.*)$/.test(file);
  const unfollowed = [...changed].filter(
    (file) => isOfRunner(file) && !files.includes(file) && testsReaching(files, new Set([file])).length === 0,
  );
  return { files: testsReaching(files, changed), unfollowed };
}
