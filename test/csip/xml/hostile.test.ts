import { expect } from 'chai';
import fc from 'fast-check';
import { SimError } from '../../../src/core/errors.ts';
import { parseDocument } from '../../../src/csip/xml/codec.ts';
import { xmlLimits } from '../../../src/csip/xml/tree.ts';
import { holds } from '../../support/property.ts';
import { refusal } from './refusal.ts';
import { pick } from '../../support/depth.ts';
import { cpuMs } from '../../support/spent.ts';

const sep = 'urn:ieee:std:2030.5:ns';
const read = (text: string) => parseDocument(Buffer.from(text));
const refused = (text: string | Buffer) => refusal(() => parseDocument(Buffer.from(text)), 'PEER_ERROR');

describe('XML of a peer is refused:', () => {
  it('document types and entities of their own (X2)', () => {
    const bomb = '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY c "&b;&b;">]>';
    expect(refused(`${bomb}<Time xmlns="${sep}"/>`)).to.match(
      /has a document type or another declaration at character 1/,
    );
    expect(refused(`<!doctype Time><Time xmlns="${sep}"/>`)).to.match(/document type/);
    expect(refused(`<Time xmlns="${sep}"><!ENTITY b "c"></Time>`)).to.match(/declaration/);
    for (const entity of [
      '&b;',
      '&toString;',
      '&nbsp;',
      '&;',
      '&#0;',
      '&#xD800;',
      '&#x110000;',
      '&#99999999999;',
      '&lt',
    ])
      expect(refused(`<DERControl xmlns="${sep}"><description>${entity}</description></DERControl>`), entity).to.match(
        /entity|cannot be read/,
      );
  });

  it('anything but one well-formed root (X3)', () => {
    const time = `<Time xmlns="${sep}"/>`;
    const wrong = [
      '',
      ' ',
      'nonsense',
      '{"json": true}',
      `${time}${time}`,
      `<Time xmlns="${sep}"></Time>${time}`,
      `${time}text`,
      `${time}text<!-- c -->`,
      `text${time}`,
      `<![CDATA[x]]>${time}`,
      `<Time xmlns="${sep}">`,
      `<Time xmlns="${sep}"><a></Time></a>`,
      `<Time xmlns="${sep}" xmlns="${sep}"/>`,
      `<Time xmlns="${sep}" bare/>`,
      `<Time xmlns=${sep}/>`,
      `<Time xmlns="${sep}/>`,
      `<Time xmlns="${sep}"></Time><!-- never closed`,
      '<!-- only a comment -->',
      '<?xml version="1.0"?>',
      `${time}</Time>`,
    ];
    for (const text of wrong) expect(refused(text), text).to.match(/^the XML document /);
    expect(refused(`<Time xmlns="${sep}">\n  <a></b>\n</Time>`)).to.match(/line 2, column 6/);
  });

  it('octets that are no UTF-8, and characters that XML does not have', () => {
    expect(refused(Buffer.from([0x3c, 0x61, 0xff, 0x2f, 0x3e]))).to.equal('the XML document is not in UTF-8');
    expect(refused(Buffer.from(`\ufeff<Time xmlns="${sep}"/>`, 'utf16le'))).to.match(/UTF-8/);
    for (const character of ['\u0000', '\u0008', '\u001b', '\uffff'])
      expect(refused(`<Time xmlns="${sep}">${character}</Time>`)).to.match(/that XML does not permit/);
  });

  it('more than its limits, and takes as much as them (X1, X3)', () => {
    const nested = (depth: number) =>
      `<Time xmlns="${sep}">${'<a>'.repeat(depth - 1)}${'</a>'.repeat(depth - 1)}</Time>`;
    expect(read(nested(64)).name).to.equal('Time');
    expect(refused(nested(65))).to.match(/nested/);
    const flat = (elements: number) => `<Time xmlns="${sep}">${'<a/>'.repeat(elements - 1)}</Time>`;
    expect(read(flat(50_000)).name).to.equal('Time');
    expect(refused(flat(50_001))).to.match(/more than 50000 elements/);
    const attributes = (count: number) =>
      `<Time xmlns="${sep}" ${Array.from({ length: count - 1 }, (_, index) => `a${index}=""`).join(' ')}/>`;
    expect(read(attributes(32)).name).to.equal('Time');
    expect(refused(attributes(33))).to.match(/more than 32 attributes/);
    expect(refused(`<Time xmlns="${sep}"><b><c ${attributes(33).slice(6, -2)}/></b></Time>`)).to.match(/32 attributes/);
    const sized = (octets: number) => `<Time xmlns="${sep}"/>`.padEnd(octets, ' ');
    expect(read(sized(xmlLimits.octets)).name).to.equal('Time');
    expect(refused(sized(xmlLimits.octets + 1))).to.match(/has 1048577 octets/);
  }).timeout(20_000);

  it('more attributes, instructions or comments than its limits, before anything is built from them', () => {
    const many = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, at) => part(at));
    const start = `<Time xmlns="${sep}"`;
    const wrong: readonly (readonly [string, RegExp])[] = [
      [`${start} ${many(100_000, (at) => `a${at}=""`).join(' ')}/>`, /more than 32 attributes/],
      [`${start} ${many(100_000, (at) => `a${at}`).join(' ')}/>`, /more than 32 attributes/],
      [`${start}${many(100_000, (at) => ` a${at} = '"'`).join('')}/>`, /more than 32 attributes/],
      [`${start}${many(100_000, (at) => `a${at}=''`).join('')}/>`, /more than 32 attributes/],
      [`${start}>${'<?p?>'.repeat(90_000)}</Time>`, /more than 1000 instructions/],
      [`${start}>${'<!---->'.repeat(90_000)}</Time>`, /more than 1000 instructions/],
      [`${start}>${'<![CDATA[]]>'.repeat(80_000)}</Time>`, /more than 1000 instructions/],
    ];
    // the parser would refuse the end that is missing, if it came that far
    for (const [text, reason] of wrong)
      expect(refused(text.slice(0, Math.min(text.length - 2, xmlLimits.octets))), text.slice(0, 80)).to.match(reason);
    const right = `${start}><!-- <a "> --><?p <b ?><![CDATA[<c "]]></Time>`;
    expect(read(right).name).to.equal('Time');
    expect(read(`${start}>${'<?p?>'.repeat(900)}</Time>`).name).to.equal('Time');
  });

  it('names of JavaScript itself, wherever they are (X5)', () => {
    for (const name of [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'valueOf',
      'hasOwnProperty',
      'isPrototypeOf',
    ]) {
      if (name === 'prototype') continue;
      expect(refused(`<Time xmlns="${sep}"><${name}>1</${name}></Time>`), name).to.include(name);
      expect(refused(`<Time xmlns="${sep}"><a><q:${name} xmlns:q="urn:x"/></a></Time>`), name).to.include(name);
      expect(refused(`<Time xmlns="${sep}" ${name}="1"/>`), name).to.include(name);
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).not.to.include('Time');
  });

  it('documents that are none of IEEE 2030.5', () => {
    expect(refused('<Time/>')).to.equal(
      'the XML document has the root Time in no namespace of IEEE 2030.5 or CSIP-AUS',
    );
    expect(refused('<html><body/></html>')).to.equal('the XML document has the root html, which a client does not use');
    expect(refused(`<ConnectionPoint xmlns="${sep}"/>`)).to.match(/in no namespace/);
    expect(refused(`<ActivePower xmlns="${sep}"/>`)).to.match(/which a client does not use/);
  });

  it('with its reason alone: nothing else is thrown for any octets', () => {
    const fragments = [
      '<',
      '>',
      '</',
      '/>',
      '<Time',
      `xmlns="${sep}"`,
      '</Time>',
      '<a b="c">',
      '</a>',
      '&amp;',
      '&#x',
      ';',
      '"',
      "'",
      '=',
      ' ',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?xml',
      '?>',
      '\ufeff',
      '__proto__',
      'x:',
      '5',
    ];
    holds(
      'any octets are refused with a reason',
      fc.oneof(
        fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((parts) => Buffer.from(parts.join(''))),
        fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      ),
      (octets) => {
        try {
          expect(parseDocument(octets).name).to.equal('Time');
        } catch (error) {
          if (!(error instanceof SimError)) throw error;
          expect(error.code).to.equal('PEER_ERROR');
          expect(error.message.length).to.be.below(400);
        }
      },
      { runs: 2000 },
    );
  }).timeout(60_000);

  it('in a time that grows with the octets only', () => {
    // a time that grows with the square is far above the limit at a quarter, too
    const size = pick({ quick: xmlLimits.octets / 4, ci: xmlLimits.octets }) - 200;
    const fill = (part: string) => part.repeat(Math.floor(size / part.length));
    const wrap = (inside: string) => `<Time xmlns="${sep}">${inside}</Time>`;
    const hostile = [
      fill('<a'),
      fill('<a>'),
      fill('<a b="'),
      fill('&amp;'),
      fill('<!--'),
      `<Time ${fill('a="b" ')}/>`,
      `<Time xmlns="${sep}" ${fill(' ')}x/>`,
      `<Time xmlns="${sep}" a="${fill('x')}"/>`,
      `<Time xmlns="${sep}" ${fill('a" ')}/>`,
      `<Time xmlns="${sep}" ${fill("=' ")}/>`,
      `<?xml ${fill('a =')}?><Time xmlns="${sep}"/>`,
      `<${fill('T')}/>`,
      wrap(fill('&')),
      wrap(fill('&#')),
      wrap(fill('<![CDATA[]]>')),
      wrap(fill('<?a?>')),
      wrap(fill('x<!---->')),
      wrap(`<currentTime>${fill('9')}</currentTime>`),
      wrap(`<currentTime>${fill(' ')}x</currentTime>`),
      wrap(`<currentTime>${fill('&#32;')}x</currentTime>`),
      wrap(fill('\r')),
      wrap(`${'<a xmlns:b="c">'.repeat(60)}${'<a xmlns:d="e"/>'.repeat(40_000)}${'</a>'.repeat(60)}`),
    ];
    for (const text of hostile) {
      const before = cpuMs();
      try {
        read(text);
      } catch (error) {
        expect(error).to.be.instanceOf(SimError);
      }
      expect(cpuMs() - before, `${text.slice(0, 60)}… in ms`).to.be.below(5000);
    }
  }).timeout(120_000);
});
