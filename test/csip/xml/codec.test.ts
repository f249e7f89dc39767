import { expect } from 'chai';
import { buildDocument, parseDocument } from '../../../src/csip/xml/codec.ts';
import type { BuildOptions } from '../../../src/csip/xml/codec.ts';
import type { DocumentName, OutgoingDocument, ReceivedDocument } from '../../../src/csip/xml/schema.ts';
import type { Documents } from '../../../src/csip/xml/documents.ts';
import { documentNames } from '../../../src/csip/xml/tables.ts';
import { xmlLimits } from '../../../src/csip/xml/tree.ts';
import { holds } from '../../support/property.ts';
import { documentArbitrary } from './arbitrary.ts';
import { refusal } from './refusal.ts';

const sep = 'urn:ieee:std:2030.5:ns';
const read = (text: string): ReceivedDocument => parseDocument(Buffer.from(text));
/** Reads a document of this name whose members are given as XML. */
function content<Name extends DocumentName>(name: Name, members: string, attributes = '') {
  const document = read(`<${name} xmlns="${sep}" ${attributes}>${members}</${name}>`);
  expect(document.name).to.equal(name);
  return document as Extract<ReceivedDocument, { name: Name }>;
}

const in2018: BuildOptions = { revision: '2018', aus: null };
const in2023: BuildOptions = { revision: '2023', aus: null };
const inAustralia: BuildOptions = { revision: '2018', aus: '1.2' };
const everyOption: readonly BuildOptions[] = [in2018, in2023, inAustralia, { revision: '2018', aus: '1.3' }];
const unbuilt = (document: unknown, options = in2018) =>
  refusal(() => buildDocument(document as OutgoingDocument, options), 'INTERNAL');

/** What reading gives back: without members that are marked as disabled. */
function enabled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(enabled);
  if (typeof value !== 'object' || value === null) return value;
  const isDisabled = (each: unknown) =>
    typeof each === 'object' && each !== null && 'disabled' in each && each.disabled;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (isDisabled(each) === true ? [] : [[name, enabled(each)]])),
  );
}

const status: Documents['DERStatus'] = { readingTime: 1_700_000_000, alarmStatus: '00000000' };
const control = {
  mRID: '0A0B0C0D0E0F00010203040506070809',
  creationTime: 1,
  EventStatus: { currentStatus: 0, dateTime: 1, potentiallySuperseded: false },
  interval: { duration: 600, start: 2 },
};

describe('XML of IEEE 2030.5', () => {
  describe('both ways', () => {
    for (const options of everyOption)
      it(`gives back every document of ${options.revision}, CSIP-AUS ${options.aus ?? 'none'}`, () => {
        holds(
          `documents of ${options.revision}, CSIP-AUS ${options.aus ?? 'none'}`,
          documentArbitrary(options),
          (document) => {
            const { name, value, notes } = read(buildDocument(document, options));
            expect(name).to.equal(document.name);
            expect(notes).to.equal(undefined);
            expect(JSON.stringify(value)).to.equal(JSON.stringify(enabled(value)));
            expect(JSON.parse(JSON.stringify(value))).to.deep.equal(
              JSON.parse(JSON.stringify(enabled(document.value))),
            );
          },
          { runs: 150 },
        );
      }).timeout(60_000);

    it('knows each document by its name', () => {
      expect(documentNames).to.include.members([
        'DeviceCapability',
        'DERControlList',
        'MirrorUsagePoint',
        'ConnectionPoint',
      ]);
      for (const name of documentNames) {
        const namespace = name === 'ConnectionPoint' ? 'https://csipaus.org/ns/v1.3' : sep;
        expect(read(`<${name} xmlns="${namespace}"/>`)).to.deep.equal({ name, value: {} });
      }
    });
  });

  describe('reading', () => {
    it('tells what departs from the schema only where it is asked to, and at most 20 times', () => {
      const text =
        '<DERControlList xmlns="urn:ieee:std:2030.5:ns"><all>1</all>' +
        '<DERControl><interval><start>5</start><duration>x</duration></interval></DERControl></DERControlList>';
      expect(parseDocument(Buffer.from(text))).not.to.have.property('departures');
      const { departures = [] } = parseDocument(Buffer.from(text), xmlLimits, true);
      expect(departures.map(({ kind, path, detail }) => `${kind} ${path} ${detail.split(',')[0]}`)).to.deep.equal([
        'attribute /all is an element',
        'value /DERControl/0/interval/duration "x" is no integer',
        'order /DERControl/0/interval/duration comes after start',
        'missing /DERControl/0/mRID is absent',
        'missing /DERControl/0/creationTime is absent',
        'missing /DERControl/0/EventStatus is absent',
        'missing /DERControl/0/DERControlBase is absent',
        'missing /results is absent',
      ]);
      const many = text.replace(/<DERControl>.*<\/DERControl>/, (each) => each.repeat(9));
      expect(parseDocument(Buffer.from(many), xmlLimits, true).departures).to.have.length(20);
    });

    it('takes members in any order, under any prefix, and any of them may be missing', () => {
      const expected = {
        name: 'DERControl',
        value: { mRID: 'aF00', interval: { start: 5 }, DERControlBase: { opModMaxLimW: 5000 } },
      };
      const members =
        '<p:DERControlBase><p:opModMaxLimW>5000</p:opModMaxLimW></p:DERControlBase>' +
        '<p:interval><p:start> 5 </p:start></p:interval><p:mRID>aF00</p:mRID>';
      expect(read(`<p:DERControl xmlns:p="${sep}">${members}</p:DERControl>`)).to.deep.equal(expected);
      expect(read(`<DERControl xmlns="${sep}">${members.replaceAll('p:', '')}</DERControl>`)).to.deep.equal(expected);
      expect(
        read(`<DERControl xmlns="http://ieee.org/2030.5">${members.replaceAll('p:', '')}</DERControl>`),
      ).to.deep.equal(expected);
    });

    it('skips what it does not know: elements, attributes, namespaces, hooks of later revisions', () => {
      const { value, notes } = content(
        'DeviceCapability',
        '<Future><TimeLink href="/wrong"/></Future><x:TimeLink xmlns:x="urn:other" href="/other"/>' +
          '<TimeLink href="/tm" x:href="/x" xmlns:x="urn:x"/><y:TimeLink href="/undeclared"/><DeviceCapability_r2_3/>',
        'schemaVer="2.2" colour="red" pollRate="60"',
      );
      expect(value).to.deep.equal({ pollRate: 60, TimeLink: { href: '/tm' } });
      expect(notes).to.equal(undefined);
    });

    it('takes members of CSIP-AUS from its namespaces only', () => {
      const limit =
        '<opModExpLimW xmlns=""/><Q:opModExpLimW><multiplier>0</multiplier><value>5000</value></Q:opModExpLimW>';
      for (const namespace of ['https://csipaus.org/ns', 'https://csipaus.org/ns/v1.3']) {
        const members = `<DERControlBase xmlns:Q="${namespace}">${limit}</DERControlBase>`;
        expect(content('DefaultDERControl', members).value).to.deep.equal({
          DERControlBase: { opModExpLimW: { multiplier: 0, value: 5000 } },
        });
        expect(content('DefaultDERControl', members.replaceAll('Q:', '')).value.DERControlBase).to.deep.equal({
          unread: { opModExpLimW: { reason: 'namespace', detail: 'opModExpLimW is in no namespace that has it' } },
        });
      }
    });

    it('reads booleans in every form, and 64-bit numbers beyond 2^53 as the nearest one', () => {
      const enabledIs = (text: string) => content('EndDevice', `<enabled>${text}</enabled>`).value.enabled;
      expect(['true', '1', ' True ', 'false', '0', 'FALSE'].map(enabledIs)).to.deep.equal([
        true,
        true,
        true,
        false,
        false,
        false,
      ]);
      expect(content('Time', '<currentTime>9223372036854775807</currentTime>').value.currentTime).to.equal(2 ** 63);
      expect(content('Time', '<currentTime>+0012</currentTime><quality>-0</quality>').value).to.deep.equal({
        currentTime: 12,
        quality: 0,
      });
    });

    it('leaves out a member that does not fit its type, with a note, and reads the others', () => {
      const { value, notes } = content(
        'DERControlList',
        '<DERControl responseRequired="3"><mRID>xyz</mRID><version>70000</version><creationTime>soon</creationTime>' +
          `<description>${'d'.repeat(33)}</description><interval><duration>1.5</duration><start>7</start></interval>` +
          '<randomizeStart>30</randomizeStart><randomizeStart>40</randomizeStart>' +
          '<DERControlBase><opModConnect>maybe</opModConnect><opModFixedW>-32769</opModFixedW><rampTms></rampTms>' +
          '<opModVoltVar href=" "/></DERControlBase></DERControl>',
        'all="x" results="1"',
      );
      expect(value).to.deep.equal({
        results: 1,
        DERControl: [
          {
            responseRequired: '03',
            description: 'd'.repeat(32),
            interval: { start: 7 },
            randomizeStart: 30,
            DERControlBase: {
              opModVoltVar: {},
              // a control must not start without the modes that it has asked for
              unread: {
                opModConnect: { reason: 'value', detail: 'opModConnect: "maybe" is no boolean' },
                opModFixedW: { reason: 'value', detail: 'opModFixedW: -32769 is outside -32768..32767' },
                rampTms: { reason: 'value', detail: 'rampTms: "" is no integer' },
              },
            },
          },
        ],
      });
      expect(notes?.map(({ name }) => name)).to.deep.equal([
        '/all',
        '/DERControl/0/responseRequired',
        '/DERControl/0/mRID',
        '/DERControl/0/version',
        '/DERControl/0/creationTime',
        '/DERControl/0/description',
        '/DERControl/0/interval/duration',
        '/DERControl/0/randomizeStart',
        '/DERControl/0/DERControlBase/opModConnect',
        '/DERControl/0/DERControlBase/opModFixedW',
        '/DERControl/0/DERControlBase/rampTms',
        '/DERControl/0/DERControlBase/opModVoltVar/href',
      ]);
      expect(notes?.[3]?.detail).to.equal('70000 is outside 0..65535');
      const many = content('DERControlList', '<DERControl><mRID>x</mRID></DERControl>'.repeat(300));
      expect(many.notes).to.have.length(100);
      expect(many.value.DERControl).to.have.length(300);
    });

    it('leaves out modes with disabled="true" (IEEE 2030.5-2023)', () => {
      const members =
        '<opModFixedW disabled="true">5</opModFixedW><opModMaxLimW disabled="false">6</opModMaxLimW>' +
        '<opModVoltVar disabled="1" href="/c/1"/><opModVoltWatt href="/c/2"/>';
      expect(content('DERControl', `<DERControlBase>${members}</DERControlBase>`).value.DERControlBase).to.deep.equal({
        opModMaxLimW: 6,
        opModVoltWatt: { href: '/c/2' },
      });
    });

    it('reads the resource of a notification as the type that xsi:type names', () => {
      const notification = (type: string) =>
        content(
          'Notification',
          `<subscribedResource>/dc</subscribedResource><Resource ${type} all="1"><DERControl/></Resource>`,
        );
      const instance = 'http://www.w3.org/2001/XMLSchema-instance';
      const expected = { name: 'DERControlList', value: { all: 1, DERControl: [{}] } };
      for (const type of [
        `xmlns:xsi="${instance}" xsi:type="DERControlList"`,
        `xmlns:i="${instance}" i:type="s:DERControlList" xmlns:s="${sep}"`,
      ]) {
        const { value } = notification(type);
        expect(value).to.deep.equal({ subscribedResource: '/dc', Resource: expected });
        if (value.Resource?.name === 'DERControlList') expect(value.Resource.value?.all).to.equal(1);
      }
      for (const [type, detail] of [
        ['', 'has no xsi:type'],
        ['type="DERControlList"', 'has no xsi:type'],
        [`xmlns:xsi="${instance}" xsi:type="Notification"`, 'has the type Notification, which a client does not use'],
        [`xmlns:xsi="${instance}" xsi:type="toString"`, 'has the type toString, which a client does not use'],
      ] as const) {
        const { value, notes } = notification(type);
        expect(value).to.deep.equal({ subscribedResource: '/dc' });
        expect(notes).to.deep.equal([{ name: '/Resource', detail }]);
      }
    });

    it('decodes the entities of XML and characters by number, once, and sections of CDATA', () => {
      const text = (content_: string) =>
        content('DERControl', `<description>${content_}</description>`).value.description;
      expect(text('&lt;a&gt; &amp;amp; &quot;&apos; &#65;&#x42;&#x1F600;')).to.equal('<a> &amp; "\' AB😀');
      expect(text('a<![CDATA[&amp;<b>]]>c<!-- & -->d')).to.equal('a&amp;<b>cd');
      expect(content('DeviceCapability', '<TimeLink href="/tm?a=1&amp;b=2"/>').value.TimeLink?.href).to.equal(
        '/tm?a=1&b=2',
      );
      expect(text('\u00e9\ufeff')).to.equal('é\ufeff');
      expect(read(`\ufeff<?xml version="1.0"?>\r\n<!-- c --><Time xmlns="${sep}"/>\n<!-- d -->\n`).name).to.equal(
        'Time',
      );
    });

    it('makes objects without prototype', () => {
      const { value } = content('DERControl', '<interval><start>1</start></interval>');
      expect(Object.getPrototypeOf(value)).to.equal(null);
      expect(Object.getPrototypeOf(value.interval)).to.equal(null);
    });
  });

  describe('writing', () => {
    it('puts members into the order of the schema, those of bases first', () => {
      const value = {
        DERControlBase: { opModTargetW: { value: 5, multiplier: 0 }, opModConnect: true },
        description: 'a < b & "c"',
        ...control,
      };
      expect(buildDocument({ name: 'DERControl', value }, in2018)).to.equal(
        `<?xml version="1.0" encoding="UTF-8"?>\n<DERControl xmlns="${sep}"><mRID>${control.mRID}</mRID>` +
          '<description>a &#60; b &#38; &#34;c&#34;</description><creationTime>1</creationTime><EventStatus>' +
          '<currentStatus>0</currentStatus><dateTime>1</dateTime><potentiallySuperseded>false</potentiallySuperseded>' +
          '</EventStatus><interval><duration>600</duration><start>2</start></interval><DERControlBase>' +
          '<opModConnect>true</opModConnect><opModTargetW><multiplier>0</multiplier><value>5</value></opModTargetW>' +
          '</DERControlBase></DERControl>',
      );
    });

    it('says the version of the schema in documents of 2023 only', () => {
      const document = { name: 'DERStatus', value: status } as const;
      expect(buildDocument(document, in2023)).to.include(`<DERStatus xmlns="${sep}" schemaVer="2.2">`);
      expect(buildDocument(document, in2018)).not.to.include('schemaVer');
    });

    it('names members of CSIP-AUS in the namespace of its version', () => {
      const value = { DERControlBase: { opModExpLimW: { multiplier: 0, value: 5000 } }, mRID: control.mRID };
      const document = { name: 'DefaultDERControl', value } as const;
      expect(buildDocument(document, inAustralia)).to.include(
        '<csipaus:opModExpLimW><multiplier>0</multiplier><value>5000</value></csipaus:opModExpLimW>',
      );
      expect(buildDocument(document, inAustralia)).to.include('xmlns:csipaus="https://csipaus.org/ns"');
      expect(buildDocument(document, { revision: '2018', aus: '1.3' })).to.include('"https://csipaus.org/ns/v1.3"');
      expect(unbuilt(document)).to.match(/opModExpLimW of the document: belongs to aus 1.2/);
      const point = { name: 'ConnectionPoint', value: { connectionPointId: 'NMI1' } } as const;
      expect(buildDocument(point, inAustralia)).to.include(
        `<csipaus:ConnectionPoint xmlns="${sep}" xmlns:csipaus="https://csipaus.org/ns">` +
          '<csipaus:connectionPointId>NMI1</csipaus:connectionPointId></csipaus:ConnectionPoint>',
      );
      expect(unbuilt(point)).to.match(/ConnectionPoint of the document: belongs to CSIP-AUS/);
    });

    it('fails with the path of what the schema does not accept', () => {
      const writes = (value: unknown, name = 'DERStatus', options = in2018) => unbuilt({ name, value }, options);
      const sized = (value: number) => ({ modesSupported: '00', rtgMaxW: { multiplier: 0, value }, type: 4 });
      expect(writes({})).to.equal('DERStatus.readingTime of the document: is required');
      expect(writes({ ...status, readingTime: NaN })).to.match(/readingTime of the document: NaN is no integer/);
      expect(writes({ ...status, readingTime: 1.5 })).to.match(/1.5 is no integer/);
      expect(writes({ ...status, readingTime: '5' })).to.match(/5 is no integer/);
      expect(writes({ ...status, readingTime: 2 ** 53 })).to.match(/is no integer/);
      expect(writes(sized(40_000), 'DERCapability')).to.match(
        /rtgMaxW.value of the document: 40000 is outside -32768..32767/,
      );
      for (const alarmStatus of ['', '1', '0x01', '0011223344', 'gg', ' 01'])
        expect(writes({ ...status, alarmStatus }), alarmStatus).to.match(
          /alarmStatus of the document: .* is not 1..4 octets/,
        );
      expect(writes({ ...status, manufacturerStatus: { dateTime: 1, value: '1234567' } })).to.match(
        /more than 6 characters/,
      );
      expect(writes({ ...status, more: 1 })).to.equal('DERStatus.more of the document: the schema does not have it');
      expect(writes({ ...status, connectStatus: { dateTime: 1, value: '01' } })).to.match(/belongs to 2023/);
      expect(writes({ ...status, toString: 1 })).to.match(/toString/);
      expect(writes(null)).to.match(/is not an object/);
      expect(writes({ ...status, alarmStatus: null })).to.match(/is no text/);
      expect(writes({ all: 1, results: 1, DERControl: {} }, 'DERControlList')).to.match(/is not a list/);
      expect(writes({ all: 1, results: 1, DERControl: [{}] }, 'DERControlList')).to.match(
        /DERControl\[0\]\.mRID .* is required/,
      );
      expect(writes({ href: '', ...status })).to.match(/is not a URI/);
      expect(writes(status, 'Nonsense')).to.match(/no such document/);
      const curve = { mRID: '00', creationTime: 1, curveType: 11, xMultiplier: 0, yMultiplier: 0, yRefType: 3 };
      for (const count of [0, 11])
        expect(
          writes({ ...curve, CurveData: Array.from({ length: count }, () => ({ xvalue: 1, yvalue: 1 })) }, 'DERCurve'),
        ).to.match(new RegExp(`CurveData of the document: has ${count} items`, 'u'));
      const notification = { subscribedResource: '/a', status: 0, subscriptionURI: '/s' };
      expect(writes({ ...notification, Resource: { name: 'Notification', value: {} } }, 'Notification')).to.match(
        /is not the resource/,
      );
    });

    it('leaves out characters that XML does not have, and keeps the others', () => {
      const description = 'a\u0000\u001b\uffff\ud800b\r\n\té😀';
      const text = buildDocument(
        { name: 'DERControl', value: { ...control, DERControlBase: {}, description } },
        in2018,
      );
      const document = read(text);
      expect(document.name === 'DERControl' && document.value.description).to.equal('ab\r\n\té😀');
    });
  });
});
