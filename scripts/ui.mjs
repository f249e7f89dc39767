/** Builds the dashboard into a folder: its pages, and their scripts and style sheet in `assets/`. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { build } from 'vite';
import config from '../src/ui/vite.config.mjs';

/**
 * @param {string} outDir becomes exactly that
 * @param {string} root of the project
 * @returns {Promise<string[]>} every file that went in, below `root`
 */
export async function buildUi(outDir, root) {
  const { output } = await build({ ...config, build: { ...config.build, outDir } });
  // the page of the CSIP client is the same program, which shows one view only
  const page = await readFile(join(outDir, 'index.html'), 'utf8');
  const csip = page
    .replace('<html lang="en">', '<html lang="en" data-page="csip">')
    .replace('<title>derbench</title>', '<title>derbench: IEEE 2030.5 client</title>')
    .replace('/docs/favicon-32x32.png', '/favicon.png');
  await writeFile(join(outDir, 'csip.html'), csip);
  return output.flatMap(({ moduleIds = [] }) => moduleIds.map((id) => relative(root, id.split('?')[0])));
}
