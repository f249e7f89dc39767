import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settingGroups, settingOf } from '../../../src/config/settings/settings.ts';

const root = new URL('../../../', import.meta.url);
const textOf = (page: string) => readFileSync(new URL(page, root), 'utf8');

describe('documentation of the settings', () => {
  const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const text = ['README.md', ...pages.map((name) => `docs/${name}`)].map(textOf).join('\n');

  for (const { title, settings } of settingGroups)
    it(`names every one of ${title}, by its flag or its name in files`, () => {
      for (const key of settings) {
        const { flags } = settingOf(key);
        // a name of one letter could stand for anything
        const names = [...(flags ?? []), ...(key.length > 1 ? [key] : [])];
        const isNamed = names.some((name) => new RegExp(`(^|[^\\w-])(--)?${name}(?![\\w-])`, 'm').test(text));
        expect(isNamed, key).to.equal(true);
      }
    });
});
