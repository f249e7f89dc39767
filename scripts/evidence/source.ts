/** Identity of the files that decide verdicts: the product, its lock files, the tests and what they read. */
import { execFileSync } from 'node:child_process';

/** All files but documents, which may change without another run. */
const paths = ['.', ':!docs', ':(exclude,glob)*.md'] as const;

/** Command that prints the identity of a checkout. */
export const sourceCommand = `git ls-files --stage -- ${paths.map((path) => `'${path}'`).join(' ')} | git hash-object --stdin`;

/** @returns null while files differ from their commit, which a verdict has to name */
export function sourceOf(root: string): string | null {
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 });
  if (git(['status', '--porcelain', '--', ...paths]) !== '') return null;
  return git(['hash-object', '--stdin'], git(['ls-files', '--stage', '--', ...paths])).trim();
}
