/** Files of the pages: made by the build, or beside the sources. */
import { readFileSync } from 'node:fs';

/** True for the error of a file or folder that is not there. */
export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** A file of the build; when running from sources, the result of `fromSources`. */
export async function readBuilt(path: string, fromSources: () => Buffer | Promise<Buffer>): Promise<Buffer> {
  try {
    return readFileSync(new URL(path, import.meta.url));
  } catch (error) {
    if (isMissing(error)) return fromSources();
    throw error;
  }
}

/** A page that the build copies unchanged. */
export function sourcePage(name: string): Buffer {
  return readFileSync(new URL(`./pages/${name}`, import.meta.url));
}
