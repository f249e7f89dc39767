/** Rules for tests that no single test shows. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';

interface Entry {
  readonly file: string;
  readonly title: string;
  readonly date: string;
  readonly issue: string;
  readonly owner: string;
}

const { quarantine, quarantineFaults } = createRequire(import.meta.url)('../scripts/test/quarantine.cjs') as {
  quarantine: () => readonly Entry[];
  quarantineFaults: (entries: readonly Partial<Entry>[], nowMs: number) => readonly string[];
};
const root = join(import.meta.dirname, '..');
const sources = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

/** Files with a match, but for those of the list. */
const filesWith = (pattern: RegExp, without: readonly string[]) =>
  sources.filter(({ file, text }) => pattern.test(text) && !without.includes(file)).map(({ file }) => file);

describe('conventions of tests', () => {
  it('no test is repeated until it passes, but for one that runs at night against a server in real seconds', () => {
    expect(filesWith(/\.retries\(/, ['test/interop/csip-gridappsd.test.ts', 'test/conventions.test.ts'])).to.deep.equal(
      [],
    );
  });

  it('no test is skipped without a reason', () => {
    const pending =
      /\b(this|context|test)\.skip\(|\b(describe|before|beforeEach)\.skip\b|\bit\.skip\b(?!\(\s*['"`][^'"`\n]*#\d)|\bx(it|describe)\(/;
    expect(filesWith(pending, ['test/support/skip.ts', 'test/lint/rules.test.ts'])).to.deep.equal([]);
    const bodiless = /\bit\(\s*('[^'\n]*'|`[^`\n]*`),?\s*\)/;
    expect(filesWith(bodiless, [])).to.deep.equal([]);
  });

  it('no test file has lost its text', () => {
    expect(sources.flatMap(({ file, text }) => (text.trim() === '' ? [file] : []))).to.deep.equal([]);
  });
});

describe('quarantine', () => {
  const nowMs = Date.UTC(2026, 5, 21, 8);
  const entry: Entry = { file: 'test/a.test.ts', title: 'a b', date: '2026-06-21', issue: '#1', owner: 'somebody' };
  const on = (date: string) => ({ ...entry, date });

  it('has few entries, none for long, of files that there are', () => {
    expect(quarantineFaults(quarantine(), Date.now())).to.deep.equal([]);
    expect(quarantine().filter(({ file }) => !existsSync(join(root, file)))).to.deep.equal([]);
  });

  it('holds 14 days and 10 entries', () => {
    expect(quarantineFaults([on('2026-06-21'), on('2026-06-07')], nowMs)).to.deep.equal([]);
    const late = 'test/a.test.ts: a b is there since';
    expect(quarantineFaults([on('2026-06-06'), on('2026-06-22'), on('soon')], nowMs)).to.deep.equal([
      `${late} 2026-06-06: repair or delete it`,
      `${late} 2026-06-22: repair or delete it`,
      `${late} soon: repair or delete it`,
    ]);
    expect(
      quarantineFaults(
        Array.from({ length: 10 }, () => entry),
        nowMs,
      ),
    ).to.deep.equal([]);
    expect(
      quarantineFaults(
        Array.from({ length: 11 }, () => entry),
        nowMs,
      ),
    ).to.deep.equal(['11 entries, more than 10']);
  });

  it('names what is missing in an entry', () => {
    const others: Partial<Entry> = { file: entry.file, title: entry.title, date: entry.date, issue: entry.issue };
    expect(quarantineFaults([others, { ...entry, issue: '' }], nowMs)).to.deep.equal([
      'test/a.test.ts: a b has no owner',
      'test/a.test.ts: a b has no issue',
    ]);
  });
});
