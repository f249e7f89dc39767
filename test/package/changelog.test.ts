/** What CHANGELOG.md owes its readers, and what the release script does with it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { packageFile } from '../../src/core/package-files.ts';

interface Changelog {
  readonly openSection: (text: string) => string | null;
  readonly closed: (text: string, version: string, date: string) => string;
  readonly isNewer: (version: string, other: string) => boolean;
}

/** What users see changing: the HTTP interface, and the list of all flags and configuration keys. */
const visible = ['fixtures/openapi', 'docs/reference/settings-list.md'];

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: packageFile(''), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** Visible files that differ from the last release; all of them before the first one. */
function changedFiles(): readonly string[] {
  const [tag = ''] = git('tag', '--list', 'v*', '--sort=-version:refname').split('\n');
  return tag === ''
    ? visible
    : git('diff', '--name-only', tag, '--', ...visible)
        .split('\n')
        .filter(Boolean);
}

const kinds = ['Breaking', 'Added', 'Changed', 'Fixed', 'Security'];
const maxSentences = 3;
const maxWords = 60;

/** What is wrong in the items of a heading: text behind `- `, to the next item. */
function longItems(part: string): readonly string[] {
  const items = part.split(/^- /m).slice(1);
  const isLong = (item: string) => {
    const plain = item.replaceAll(/`[^`]*`|\]\([^)]*\)/g, 'x');
    return plain.split(/[.!?]\s/).length - 1 > maxSentences || plain.trim().split(/\s+/).length > maxWords;
  };
  return items.length === 0 ? ['a heading without an item'] : items.filter(isLong);
}

/** Headings that are not those of the page, and long items, of all releases. */
function faultsOf(log: string): readonly string[] {
  const releases = log.split(/^## /m).slice(1);
  return releases.flatMap((release) => {
    const [intro = '', ...parts] = release.split(/^### /m);
    const titles = parts.map((part) => part.split('\n')[0] ?? '');
    const inOrder = kinds.filter((kind) => titles.includes(kind));
    return [
      ...(/^- /m.test(intro) ? [`${intro}: an item without a heading`] : []),
      ...(titles.join() === inOrder.join() ? [] : [titles.join()]),
      ...parts.flatMap(longItems),
    ];
  });
}

describe('The change log', () => {
  let changelog: Changelog;
  before(async () => {
    changelog = (await import(packageFile('scripts/release/changelog.mjs'))) as Changelog;
  });

  it('says something of the coming release if flags or the interface differ from the last one', () => {
    const section = changelog.openSection(readFileSync(packageFile('CHANGELOG.md'), 'utf8'));
    const changed = existsSync(packageFile('.git')) ? changedFiles() : [];
    expect(changed.length > 0 && !section, `${changed.join(', ')} without a line in CHANGELOG.md`).to.equal(false);
  });

  it('has its changes under five headings in their order, in short items', () => {
    expect(faultsOf(readFileSync(packageFile('CHANGELOG.md'), 'utf8'))).to.deep.equal([]);
  });

  it('is refused with other headings, another order or long items', () => {
    const release = (...lines: readonly string[]) => `# Changes\n\n## 0.4.0\n\n${lines.join('\n')}\n`;
    expect(faultsOf(release('### Added', '- One.', '### Changed', '- Two.'))).to.deep.equal([]);
    const wrong = [
      release('- One.'),
      release('### Removed', '- One.'),
      release('### Fixed', '- One.', '### Added', '- Two.'),
      release('### Added', '### Fixed', '- Two.'),
      release('### Added', '- One. Two. Three.', '  Four.'),
      release('### Added', `- ${'word '.repeat(maxWords + 1)}`),
    ];
    for (const each of wrong) expect(faultsOf(each), each).to.have.length(1);
  });

  const text = '# Changes\n\n## Unreleased\n\n- One.\n\n## 0.3.0 (2026-01-02)\n\n- Zero.\n';

  it('has an open section until a release closes it', () => {
    expect(changelog.openSection(text)).to.equal('- One.');
    expect(changelog.openSection(text.replace('Unreleased', '0.4.0 (unreleased)'))).to.equal('- One.');
    expect(changelog.openSection(text.replace('- One.\n', ''))).to.equal('');
    const released = changelog.closed(text, '0.4.0', '2026-03-04');
    expect(released).to.equal(text.replace('Unreleased', '0.4.0 (2026-03-04)'));
    expect(changelog.openSection(released)).to.equal(null);
  });

  it('takes versions by their numbers, not by their letters', () => {
    const newer = ['0.10.0 v0.9.9', '1.0.0 v0.99.0', '0.4.1 0.4.0'].map((pair) => pair.split(' ') as [string, string]);
    for (const [a, b] of newer) expect([changelog.isNewer(a, b), changelog.isNewer(b, a)]).to.deep.equal([true, false]);
    expect(changelog.isNewer('0.4.0', 'v0.4.0')).to.equal(false);
  });
});
