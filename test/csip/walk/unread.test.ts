/** Elements of groups, programs and controls that mean nothing: nothing is half used, and the cause is told. */
import { expect } from 'chai';
import { parseDocument } from '../../../src/csip/xml/codec.ts';
import { WalkRig } from './scripted.ts';

const root = (name: string, items: string) =>
  `<${name} xmlns="urn:ieee:std:2030.5:ns" all="1" results="1" pollRate="60">${items}</${name}>`;

const documents = {
  '/edev/1/fsa': root(
    'FunctionSetAssignmentsList',
    '<FunctionSetAssignments href="/edev/1/fsa/1"><DERProgramListLink href="/derps"/><TimeLink href="/tm"/>' +
      '<mRID>F1</mRID><description>group</description><version>1</version></FunctionSetAssignments>',
  ),
  '/derps': root(
    'DERProgramList',
    '<DERProgram href="/derp/1"><mRID>0A01</mRID><description>program</description><version>1</version>' +
      '<DefaultDERControlLink href="/dderc"/><DERControlListLink href="/derc"/><primacy>7</primacy></DERProgram>',
  ),
  '/derc': root(
    'DERControlList',
    '<DERControl href="/derc/1" replyTo="/rsp" responseRequired="03"><mRID>0B01</mRID><description>control</description>' +
      '<version>1</version><creationTime>1000</creationTime><EventStatus><currentStatus>1</currentStatus>' +
      '<dateTime>1000</dateTime><potentiallySuperseded>false</potentiallySuperseded></EventStatus>' +
      '<interval><duration>600</duration><start>2000</start></interval><randomizeDuration>5</randomizeDuration>' +
      '<randomizeStart>5</randomizeStart><DERControlBase><opModMaxLimW>5000</opModMaxLimW></DERControlBase>' +
      '<deviceCategory>01</deviceCategory></DERControl>',
  ),
} as const;
type Path = keyof typeof documents;

/** Elements without which there are no programs, no controls of the program, or not this control. */
const needed: Readonly<Record<Path, Readonly<Record<string, 'no programs' | 'no controls'>>>> = {
  '/edev/1/fsa': { FunctionSetAssignments: 'no programs', DERProgramListLink: 'no programs' },
  '/derps': { DERProgram: 'no programs', primacy: 'no programs', DERControlListLink: 'no controls' },
  '/derc': {
    DERControl: 'no controls',
    mRID: 'no controls',
    interval: 'no controls',
    start: 'no controls',
    duration: 'no controls',
  },
};
const texts: readonly string[] = ['description'];
const items: readonly string[] = ['FunctionSetAssignments', 'DERProgram', 'DERControl'];
const elementIn = (name: string) => new RegExp(`<${name}\\b[^>]*?(?:/>|>.*?</${name}>)`);
const forms: Readonly<Record<string, (xml: string, name: string) => string>> = {
  absent: (xml, name) => xml.replace(elementIn(name), ''),
  empty: (xml, name) => xml.replace(elementIn(name), `<${name}/>`),
  'no value': (xml, name) => xml.replace(elementIn(name), `<${name}>maybe</${name}>`),
  'out of range': (xml, name) => xml.replace(elementIn(name), `<${name}>${'9'.repeat(40)}</${name}>`),
  foreign: (xml, name) =>
    xml.replace(elementIn(name), (all) =>
      all.replace(`<${name}`, `<v:${name} xmlns:v="urn:v"`).replace(`</${name}>`, `</v:${name}>`),
    ),
};

const rigWith = async (over: Partial<Record<Path, string>> = {}) => {
  const rig = new WalkRig();
  for (const [path, xml] of Object.entries({ ...documents, ...over }))
    rig.server.resources.set(path, parseDocument(Buffer.from(xml)));
  return rig.start();
};
const resultOf = ({ last }: WalkRig) => {
  const [program] = last;
  if (program === undefined) return 'no programs';
  return program.listed.controls?.length === 1 ? 'all' : 'no controls';
};

describe('csip/walk: elements that mean nothing', () => {
  it('none in documents as they should be', async () => {
    const rig = await rigWith();
    expect(resultOf(rig)).to.equal('all');
    expect(rig.walk.remarks).to.deep.equal([]);
  });

  for (const [path, xml] of Object.entries(documents) as [Path, string][]) {
    const names = [...xml.matchAll(/<(\w+)/g)].map(([, name = '']) => name).slice(1);
    for (const name of names)
      for (const [form, spoil] of Object.entries(forms))
        it(`${path}: ${name} ${form}`, async () => {
          const rig = await rigWith({ [path]: spoil(xml, name) });
          const result = needed[path][name] ?? 'all';
          expect(resultOf(rig)).to.equal(result);
          const isScalar = new RegExp(`<${name}>[^<]`).test(xml);
          const isSpoilt = form !== 'absent' && form !== 'empty' && !texts.includes(name);
          const isLink = name.endsWith('Link');
          // the item itself, and a link that a program need not have, may be absent without a word
          const isMissed =
            result !== 'all' && !items.includes(name) && !(isLink && form === 'absent' && path === '/derps');
          if ((isSpoilt && (isScalar || form === 'foreign')) || isMissed)
            expect(rig.walk.remarks).not.to.deep.equal([]);
          // no number is taken from what is none
          expect(JSON.stringify(rig.last)).not.to.match(
            /NaN|Infinity|"(?:startS|durationS|creationS|primacy)":(?:null|")/,
          );
        });
  }
});
