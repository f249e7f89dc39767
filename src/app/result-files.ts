/** Files for results: whether they can be written, and in words why not. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Issue } from '../core/errors.ts';
import { fileReason } from '../core/text-file.ts';

/** The issue of a file for which `work` fails; null: it succeeds. */
export function refusalOf(flag: string, path: string, work: () => void): Issue | null {
  try {
    work();
    return null;
  } catch (error) {
    return { name: flag, detail: `${path} cannot be written: ${fileReason(error)}` };
  }
}

/** The issue of a file that could not be written later; null: it could. An existing file keeps its content. */
export function unwritable(flag: string, path: string): Issue | null {
  const target = existsSync(path) ? path : dirname(resolve(path));
  return refusalOf(flag, path, () => {
    accessSync(target, constants.W_OK);
    if (existsSync(path) && statSync(path).isDirectory()) throw new Error('it is a directory');
  });
}
