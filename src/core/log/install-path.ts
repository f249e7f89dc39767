import { join, sep } from 'node:path';
import { packageFile } from '../package-files.ts';

/** The package, or the directory above the `node_modules` that it is installed in together with its libraries. */
function installRoot(): string {
  const packageRoot = join(packageFile('.'), sep);
  const modules = /^(.*?[\\/])node_modules[\\/]/.exec(packageRoot);
  return modules?.[1] ?? packageRoot;
}

/**
 * A function that shortens paths below a directory to their part below it: messages of Node and of libraries quote
 * paths, and clients must not learn where the program is installed.
 * @param root ends with a separator; default where this program and its libraries are
 */
export function createPathShortener(root: string = installRoot()): (text: string) => string {
  // of a program in the root directory every path would be shortened
  if (root.length < 2) return (text) => text;
  const below = new RegExp(`(?<![\\w./\\\\-])(?:file://)?${root.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'g');
  return (text) => (text.includes(root) ? text.replaceAll(below, '') : text);
}
