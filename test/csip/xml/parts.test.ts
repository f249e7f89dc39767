/** Long documents are read in parts, and mean the same. */
import { expect } from 'chai';
import { XMLParser } from 'fast-xml-parser';
import fc from 'fast-check';
import { documentInParts, parseDocument } from '../../../src/csip/xml/codec.ts';
import { parseTree, treeInParts, xmlLimits } from '../../../src/csip/xml/tree.ts';
import { holds } from '../../support/property.ts';
import { refusal } from './refusal.ts';

const sep = 'urn:ieee:std:2030.5:ns';
const control = (index: number) =>
  `<DERControl><mRID>${index.toString(16).padStart(32, '0')}</mRID><interval><start>${index}</start>` +
  '<duration>60</duration></interval><DERControlBase><opModMaxLimW>5000</opModMaxLimW></DERControlBase></DERControl>\n';
const controls = (count: number) => Array.from({ length: count }, (_, index) => control(index)).join('');
const list = (inside: string) => `<DERControlList xmlns="${sep}" all="9" results="9">${inside}</DERControlList>`;

/** The result of work, and its number of pauses. */
function paused<T>(work: Generator<undefined, T>): { readonly value: T; readonly pauses: number } {
  for (let pauses = 0; ; pauses += 1) {
    const part = work.next();
    if (part.done === true) return { value: part.value, pauses };
  }
}

/** The parser that reads the pieces, for a text as a whole. */
const whole = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@_',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  cdataPropName: '#cdata',
});

/** Parts of the content of an element, and elements with such content. */
const content: fc.Arbitrary<string> = fc.letrec<{ content: string; node: string }>((tie) => ({
  content: fc.array(tie('node'), { maxLength: 6 }).map((parts) => parts.join('')),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('text ', '\n  ', '&amp;', '<!-- <a> -->', '<![CDATA[ </a> ]]>', '<?a b?>', '<b/>', '<c x="1>2"/>'),
    fc
      .tuple(
        fc.constantFrom('a', 'b', 'x:c'),
        fc.constantFrom('', ' y="<"'.replace('<', '&lt;'), ' z = "/"'),
        tie('content'),
      )
      .map(([name, attribute, inside]) => `<${name}${attribute}>${inside}</${name}>`),
  ),
})).content;

describe('XML of a peer that is long', () => {
  it('is the same tree, wherever it is cut', () => {
    holds(
      'a text in pieces is that of the parser as a whole',
      fc.array(content, { minLength: 5, maxLength: 30 }),
      (parts) => {
        const once = parts.join('');
        fc.pre(once.length > 200);
        // until it has several pieces
        const text = `<?xml version="1.0"?>\n<r>${once.repeat(Math.ceil(70_000 / once.length))}</r>\n<!-- end -->\n`;
        const limits = { ...xmlLimits, instructions: Infinity };
        const { value, pauses } = paused(treeInParts(Buffer.from(text), limits));
        expect(pauses).to.be.at.least(2);
        const nodes = whole.parse(text) as readonly Record<string, unknown>[];
        expect(value.children).to.deep.equal(nodes.find((node) => 'r' in node)?.['r']);
      },
      { runs: 12 },
    );
  }).timeout(60_000);

  it('has pauses in proportion to its length, and a short one has none before its end', () => {
    const pausesOf = (count: number) => paused(documentInParts(Buffer.from(list(controls(count))))).pauses;
    const [hundred, thousand, more] = [pausesOf(100), pausesOf(1000), pausesOf(4000)];
    // of the parser one for each 32 KiB, of the reader one for each 500 nodes
    expect(hundred).to.be.at.most(4);
    expect(thousand).to.be.within(20, 40);
    expect(more / thousand).to.be.within(3.5, 4.5);
  });

  it('is cut into pieces of about 32 KiB, also where it has few elements', () => {
    const element = `<DERControl><description>${'x'.repeat(33_000)}</description></DERControl>`;
    const { pauses } = paused(treeInParts(Buffer.from(list(element.repeat(20))), xmlLimits));
    expect(pauses).to.be.within(20, 25);
  });

  it('is the same document with pauses as without', () => {
    const octets = Buffer.from(list(controls(1500)));
    const { value } = paused(documentInParts(octets));
    expect(value).to.deep.equal(parseDocument(octets));
    expect((value.value as { readonly DERControl: readonly unknown[] }).DERControl).to.have.lengthOf(1500);
  });

  it('is refused with the place in the whole text', () => {
    const read = (text: string) => () => parseTree(Buffer.from(text), xmlLimits);
    const long = controls(1000);
    expect(refusal(read(list(`${long}  <a></b>`)), 'PEER_ERROR')).to.match(/line 1001, column 6: /);
    expect(refusal(read(list(long.replaceAll('\n', '').concat('<a></b>'))), 'PEER_ERROR')).to.match(
      new RegExp(`line 1, column ${list(long.replaceAll('\n', '')).indexOf('</DERControlList>') + 4}: `),
    );
    expect(refusal(read(list(long).slice(0, -1)), 'PEER_ERROR')).to.match(/cannot be read/);
    expect(refusal(read(`${list(long)}<a/>`), 'PEER_ERROR')).to.match(/cannot be read|one root element alone/);
    expect(refusal(read(list(`${long}<constructor/>`)), 'PEER_ERROR')).to.include('constructor');
    const deep = `${'<a>'.repeat(40)}${long}${'<a>'.repeat(30)}${'</a>'.repeat(70)}`;
    expect(refusal(read(list(deep)), 'PEER_ERROR')).to.match(/nested/);
  });
});
