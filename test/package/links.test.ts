/** Links of all Markdown files lead somewhere, and those of docs/ also where docs/ stands alone. */
import { posix } from 'node:path';
import { expect } from 'chai';
import { anchorsOf, linksOf } from '../../scripts/docs/markdown.ts';
import { pathsBelow, repositoryAddress, textOf } from '../support/repository.ts';

const paths = new Set(pathsBelow('.'));
const documents = [...paths].filter((path) => path.endsWith('.md'));

const isLoopback = (target: string) => target.startsWith('http://127.0.0.1');
const isAddress = (target: string) => /^[a-z][a-z+.-]*:/.test(target);

interface Place {
  readonly path: string;
  readonly anchor: string | null;
}

/** Place in the checkout that a link of a document leads to; null: it leads elsewhere. */
function placeOf(document: string, target: string): Place | null {
  const isHere = target.startsWith(repositoryAddress);
  if (isAddress(target) && !isHere) return null;
  const [path = '', anchor = null] = (isHere ? target.slice(repositoryAddress.length) : target).split('#');
  if (path === '') return { path: document, anchor };
  return { path: isHere ? path : posix.join(posix.dirname(document), path).replace(/\/$/, ''), anchor };
}

const anchorsByPath = new Map<string, ReadonlySet<string>>();

function hasAnchor(path: string, anchor: string): boolean {
  const anchors = anchorsByPath.get(path) ?? anchorsOf(textOf(path));
  anchorsByPath.set(path, anchors);
  return anchors.has(anchor);
}

/** Reason why a link is wrong; null: it is right. */
function fault(document: string, target: string): string | null {
  const place = placeOf(document, target);
  if (place === null) return null;
  const { path, anchor } = place;
  if (!paths.has(path)) return 'no such file';
  if (document.startsWith('docs/') && !path.startsWith('docs/') && !isAddress(target))
    return `outside docs/: write ${repositoryAddress}${path}`;
  return anchor === null || hasAnchor(path, anchor) ? null : 'no such heading';
}

/** Pictures that pages of the package show. */
const shownPictures = documents
  .filter(
    (document) => document === 'README.md' || (document.startsWith('docs/') && document !== 'docs/ARCHITECTURE.md'),
  )
  .flatMap((document) =>
    [...textOf(document).matchAll(/!\[[^\]]*\]\(([^)]+)\)/g)].map(([, target = '']) => placeOf(document, target)?.path),
  );

const addressesIn = (document: string) =>
  linksOf(textOf(document))
    .map(({ target }) => target)
    .filter((target) => isAddress(target) && !isLoopback(target) && placeOf(document, target) === null);

describe('links of documents', () => {
  it('pictures of pages are those in the package', () => {
    const { files } = JSON.parse(textOf('package.json')) as { readonly files: readonly string[] };
    const pictures = [...paths].filter((path) => path.startsWith('docs/images/'));
    expect(files).to.include('docs');
    expect([...new Set(shownPictures)].sort()).to.deep.equal(pictures.sort());
  });

  it('each leads to a file and a heading', () => {
    const wrong = documents.flatMap((document) =>
      linksOf(textOf(document)).flatMap(({ line, target }) => {
        const reason = fault(document, target);
        return reason === null ? [] : [`${document}:${line} ${target}: ${reason}`];
      }),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('addresses elsewhere are those of .ci/addresses.json', () => {
    // judges have theirs in test/interop/judges.ts
    const addresses = documents.filter((path) => !path.startsWith('docs/evidence/')).flatMap(addressesIn);
    expect([...new Set(addresses)].sort()).to.deep.equal(JSON.parse(textOf('.ci/addresses.json')));
  });

  it('wrong ones are reported', () => {
    const targets = [
      'index.md#no',
      'no.md',
      '../../NOTICE',
      `${repositoryAddress}NOTICE`,
      `${repositoryAddress}no`,
      '#kinds-of-devices',
    ];
    const page = 'docs/devices/index.md';
    expect(targets.map((target) => fault(page, target))).to.deep.equal([
      'no such heading',
      'no such file',
      `outside docs/: write ${repositoryAddress}NOTICE`,
      null,
      'no such file',
      null,
    ]);
  });

  it('anchors and links are read as GitHub does', () => {
    const text = [
      '# A `W_1`, [b](c.md) & **d**: 5 %',
      '## Ä (x)',
      '## Ä x',
      '```',
      '# no heading [no](link)',
      '```',
      '[e](<f.md>) `[no](link)` <https://g.org/> ![h](i.png "j")',
    ].join('\n');
    expect([...anchorsOf(text)]).to.deep.equal(['a-w_1-b--d-5-', 'ä-x', 'ä-x-1']);
    expect(linksOf(text).map(({ line, target }) => `${line} ${target}`)).to.deep.equal([
      '1 c.md',
      '7 f.md',
      '7 i.png',
      '7 https://g.org/',
    ]);
  });
});
