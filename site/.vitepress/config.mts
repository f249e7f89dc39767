/** The site: pages of docs/, sidebar and llms.txt after pages.ts. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitepress';
import { slugOf } from '../../scripts/docs/markdown.ts';
import { llmsText } from '../llms.ts';
import { kinds, pages } from '../pages.ts';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const site = fileURLToPath(new URL('..', import.meta.url));

const sidebar = Object.entries(kinds)
  .map(([kind, text]) => ({
    text,
    collapsed: kind === 'reference',
    items: pages
      .filter((page) => page.kind === kind)
      .map(({ title, file }) => ({ text: title, link: `/${file.replace(/\.md$/, '').replace(/(^|\/)index$/, '$1')}` })),
  }))
  .filter(({ items }) => items.length > 0);

/** Pages stand outside of this package: what they import while they are rendered is resolved from the result, inside it. */
const vueOfThisPackage: Plugin = {
  name: 'vue-of-this-package',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) =>
    ssr === true && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null,
};

export default defineConfig({
  title: 'derbench',
  description: 'Simulator of distributed energy resources',
  srcDir: docs,
  outDir: join(site, 'dist'),
  cacheDir: join(site, '.cache'),
  cleanUrls: true,
  // without it browsers ask for /favicon.ico
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify: slugOf } },
  themeConfig: { sidebar, search: { provider: 'local' }, outline: [2, 3] },
  vite: { plugins: [vueOfThisPackage] },
  // Markdown beside the pages, for programs that read llms.txt
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, 'llms.txt'), llmsText());
    for (const { file } of pages) {
      mkdirSync(join(outDir, dirname(file)), { recursive: true });
      copyFileSync(join(docs, file), join(outDir, file));
    }
  },
});
