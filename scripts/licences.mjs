import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Folder of the package that a file belongs to; undefined for sources of the project. */
function packageFolder(file) {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}

/** Packages whose files name their licence, and their package.json does not. */
const inFiles = { precond: 'MIT, Copyright (c) 2012 Mathieu Turcotte' };

/** Folders of the packages that files below `root` belong to, each once. */
export function packageFolders(files) {
  return [...new Set(files.flatMap((file) => packageFolder(file) ?? []))].sort();
}

/** Name, version and licence of the package in a folder. @throws Error for one that names no licence and has no text of one */
export async function packageIn(folder) {
  const { name, version, license = inFiles[name] } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const texts = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file)).sort();
  if (texts.length === 0 && license === undefined) throw new Error(`${name} names no licence`);
  return { name, version, license, texts };
}

/**
 * Names, versions and licence texts of the packages that files belong to, as their licences want them to be handed on.
 * @param {string[]} files below `root`
 */
export async function licencesOf(files, root) {
  const parts = await Promise.all(
    packageFolders(files).map(async (path) => {
      const folder = join(root, path);
      const { name, version, license, texts } = await packageIn(folder);
      const words = await Promise.all(texts.map((file) => readFile(join(folder, file), 'utf8')));
      return [`${name} ${version} (${license ?? 'licence below'})`, ...words.map((text) => text.trim())].join('\n\n');
    }),
  );
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
