/** Paths of files in README, CONTRIBUTING and docs: each is a file or folder of the repository, or is generated. */
import { expect } from 'chai';
import { ignored, isIgnored, pathsBelow, textOf } from './support/repository.ts';

const paths = [...pathsBelow('.'), ...ignored.map((entry) => entry.replace(/\/$/, ''))];
/** Paths with a line break at both ends. */
const listing = `\n${paths.join('\n')}\n`;
const documents = paths.filter((path) => /^(README|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(path));

/** Pattern of a path, in which `*`, `<kind>` and `NAME` stand for any name. */
const patternOf = (path: string) =>
  path
    .replace(/\/$/, '')
    .replaceAll(/[.+?^$()[\]{}|\\]/g, '\\$&')
    .replaceAll(/\*|<[\w-]+>|\bNAME\b/g, '[^/\n]+');

/** True if the path exists from the root, or is the end of a path. */
const exists = (path: string) => isIgnored(path) || new RegExp(`[\n/]${patternOf(path)}\n`).test(listing);

const isPath = (word: string) =>
  /^[\w.<*][\w./<>*-]*$/.test(word) && /\.(tsx?|mjs|json)$|^(src|test|scripts|fixtures|config)\//.test(word);

/** Text in backticks of a line or cell. */
const quoted = (line: string) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** Paths in backticks that do not exist. */
const wrongPaths = (line: string) =>
  quoted(line)
    .flatMap((code) => code.split(/\s+/))
    .filter((word) => isPath(word) && !exists(word));

/** Names in first columns that are neither file nor folder, of tables with a head like `Part of src/app`. */
function wrongNames(lines: readonly string[]): readonly string[] {
  let folder: string | null = null;
  return lines.flatMap((line) => {
    const cell = /^\| (.*?) \|/.exec(line)?.[1];
    if (cell === undefined) {
      if (!line.startsWith('|')) folder = null;
      return [];
    }
    const head = /^(?:File|Folder|Module|Part|Place|Room)\b(?: (?:of|in) `(?:src\/)?([^`]+)`)?/.exec(cell);
    if (head) {
      const [, name] = head;
      folder = name === undefined ? null : `src/${name}`.replace(/^src\/src$/, 'src');
      return name === undefined ? [`${cell}: of which folder?`] : [];
    }
    if (folder === null) return [];
    const start = folder;
    return quoted(cell)
      .map((name) => `${start}/${name}`)
      .filter((path) => !new RegExp(`\n${patternOf(path)}(\\.tsx?)?\n`).test(listing));
  });
}

describe('paths in documents', () => {
  it('a path in backticks exists', () => {
    const wrong = documents.flatMap((document) =>
      textOf(document)
        .split('\n')
        .flatMap((line, at) => wrongPaths(line).map((path) => `${document}:${at + 1} ${path}`)),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('a table of the parts of a folder names files and folders of it', () => {
    expect(wrongNames(textOf('docs/ARCHITECTURE.md').split('\n'))).to.deep.equal([]);
  });

  it('wrong paths are found', () => {
    const line =
      '`src/no.ts`, `no.mjs`, `node scripts/no`, `reply.ts`, `src/api/<resource>.ts`, `dist/main.js`, `/a.json`';
    expect(wrongPaths(line)).to.deep.equal(['src/no.ts', 'no.mjs', 'scripts/no']);
    const table = ['| Part of `app` | Holds |', '|---|---|', '| `build`, `no` | `nothing` |', '', '| Folder | |'];
    expect(wrongNames(table)).to.deep.equal(['src/app/no', 'Folder: of which folder?']);
  });
});
