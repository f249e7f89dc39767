/** The dashboard as Vite has built it: pages, and the scripts and the style sheet that they load. */
import { readdirSync, readFileSync } from 'node:fs';
import { isMissing } from './built-files.ts';

export interface Ui {
  readonly pages: ReadonlyMap<string, Buffer>;
  readonly assets: ReadonlyMap<string, Buffer>;
}

/** The files of a folder by name. */
function filesOf(folder: URL): ReadonlyMap<string, Buffer> {
  const names = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : []));
  return new Map(names.map((name) => [name, readFileSync(new URL(name, folder))]));
}

function uiIn(folder: URL): Ui | undefined {
  try {
    return { pages: filesOf(folder), assets: filesOf(new URL('assets/', folder)) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The build in the first of the folders that has one; without a build nothing. @param folders with a slash at their end */
export function readUi(folders: readonly URL[]): Ui {
  for (const folder of folders) {
    const built = uiIn(folder);
    if (built) return built;
  }
  return { pages: new Map(), assets: new Map() };
}
