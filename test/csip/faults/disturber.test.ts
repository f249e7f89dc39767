import { expect } from 'chai';
import { createCsipDisturber } from '../../../src/csip/faults/disturber.ts';
import type { Disturbable, ExchangeDisturber } from '../../../src/csip/transport/exchange.ts';
import { buildDocument } from '../../../src/csip/xml/codec.ts';
import type { OutgoingDocument } from '../../../src/csip/xml/schema.ts';
import {
  clockSkewFault,
  csipFaults,
  delayFault,
  dropFault,
  duplicateFault,
  malformedXmlFault,
  missingElementFault,
  staleFault,
  suppressFault,
  tlsFailureFault,
  wrongContentTypeFault,
  wrongLfdiFault,
  wrongMultiplierFault,
  wrongStatusFault,
  wrongSubjectFault,
} from '../../../src/fault-kinds/csip.ts';
import { FaultBench } from '../../support/faults.ts';

const lfdi = '3E4F45AB31EDFE5B67E343E5E4562E31984E23E5';
const mrid = 'A10000000000000000000000000000FF';

const responseBody: OutgoingDocument = {
  name: 'DERControlResponse',
  value: { createdDateTime: 1_800_000_000, endDeviceLFDI: lfdi, status: 2, subject: mrid },
};
const response: Disturbable = {
  deviceIndex: 0,
  method: 'POST',
  resource: 'DERControlResponse',
  path: '/rsps/0/rsp',
  body: responseBody,
};
const statusOf = (readingTime: number): Disturbable => ({
  deviceIndex: 0,
  method: 'PUT',
  resource: 'DERStatus',
  path: '/edev/0/der/0/ders',
  body: { name: 'DERStatus', value: { readingTime, genConnectStatus: { dateTime: readingTime - 5, value: '07' } } },
});
const capability: Disturbable = {
  deviceIndex: 0,
  method: 'PUT',
  resource: 'DERCapability',
  path: '/edev/0/der/0/dercap',
  body: {
    name: 'DERCapability',
    value: { modesSupported: '00100000', rtgMaxW: { multiplier: 1, value: 1000 }, type: 4 },
  },
};
const reading: Disturbable = {
  deviceIndex: 0,
  method: 'GET',
  resource: 'DERControlList',
  path: '/derp/0/derc',
  body: null,
};

describe('faults of the client of IEEE 2030.5', () => {
  let bench: FaultBench;
  let disturber: ExchangeDisturber;
  /** devices at which conditions hold */
  let holding: readonly number[];
  beforeEach(() => {
    bench = new FaultBench([0, 1]);
    holding = [0, 1];
    disturber = createCsipDisturber({
      registry: bench.registry,
      holds: ({ facts: { when } }, index) => when === null || holding.includes(index),
    });
  });

  /** the octets that leave */
  const sent = (request: Disturbable): string => {
    const { body = request.body, rewrite = (xml: Buffer) => xml } = disturber.disturb(request) ?? {};
    return rewrite(Buffer.from(buildDocument(body!, { revision: '2018', aus: null }))).toString();
  };
  const valueOf = (request: Disturbable) => disturber.disturb(request)?.body?.value;

  it('disturbs nothing while none is in force, and nothing again after its end', () => {
    expect([disturber.active, disturber.disturb(response)]).to.deep.equal([false, null]);
    bench.inject(wrongStatusFault, { status: 3 }, { durationS: 10 });
    expect(disturber.active).to.equal(true);
    expect(valueOf(response)).to.include({ status: 3 });
    bench.wall.advance(10_000);
    expect(disturber.disturb(response), 'over, before the next tick ends it').to.equal(null);
    bench.pass(0);
    expect(disturber.active).to.equal(false);
  });

  it('delay: a constant and a random part; several add up', () => {
    bench.inject(delayFault, { delay_ms: 1000 });
    expect(disturber.disturb(reading)).to.deep.equal({ delayMs: 1000 });
    bench.inject(delayFault, { delay_ms: 500, jitter_ms: 100 });
    expect(disturber.disturb(reading)?.delayMs).to.be.within(1500, 1600);
  });

  it('drop: of the resources that it names, as often as it is to', () => {
    bench.inject(dropFault, {}, { target: { resources: ['DERControlResponse'] }, count: 1 });
    expect(disturber.disturb(reading)).to.equal(null);
    expect(disturber.disturb(response)).to.deep.equal({ drop: true });
    expect(disturber.disturb(response)).to.equal(null);
    bench.inject(dropFault, {}, { target: { resources: ['/derp/0/derc'] } });
    expect(disturber.disturb(reading)).to.deep.equal({ drop: true });
  });

  it('of a group of devices: not the requests of others, nor those of no device', () => {
    bench.inject(dropFault, {}, { group: [1] });
    const outcomes = [0, 1, null].map((deviceIndex) => disturber.disturb({ ...reading, deviceIndex }));
    expect(outcomes).to.deep.equal([null, { drop: true }, null]);
  });

  it('suppress: of what changes something on the server', () => {
    bench.inject(suppressFault, {}, { count: 1 });
    expect(disturber.disturb(reading)).to.equal(null);
    expect(disturber.disturb(response)).to.deep.equal({ suppress: true });
    expect(disturber.disturb(response)).to.equal(null);
  });

  it('tls_failure: of every mode, and after drop', () => {
    const fault = bench.inject(tlsFailureFault);
    expect(disturber.disturb(reading)).to.deep.equal({ tls: 'no_certificate' });
    bench.registry.clear();
    bench.inject(tlsFailureFault, { mode: 'server_not_trusted' });
    expect(disturber.disturb(reading)).to.deep.equal({ tls: 'server_not_trusted' });
    expect(fault.strikeCount).to.equal(1);
  });

  it('clock_skew: every time of a document, at any depth, and nothing else', () => {
    bench.inject(clockSkewFault, { skew_s: -3600 });
    expect(valueOf(statusOf(10_000))).to.deep.equal({
      readingTime: 6400,
      genConnectStatus: { dateTime: 6395, value: '07' },
    });
    expect(valueOf(response)).to.deep.equal({ ...responseBody.value, createdDateTime: 1_800_000_000 - 3600 });
    expect(valueOf(statusOf(100)), 'no time is negative').to.deep.include({ readingTime: 0 });
    expect(disturber.disturb(capability), 'a document without a time').to.equal(null);
  });

  it('wrong_lfdi: another last digit, or the one given', () => {
    const fault = bench.inject(wrongLfdiFault);
    expect(valueOf(response)).to.deep.equal({ ...responseBody.value, endDeviceLFDI: `${lfdi.slice(0, -1)}6` });
    expect(disturber.disturb(statusOf(1)), 'no LFDI in it').to.equal(null);
    expect(fault.occasions).to.equal(1);
    bench.registry.clear();
    bench.inject(wrongLfdiFault, { lfdi: 'ab'.repeat(20) });
    expect(valueOf(response)).to.include({ endDeviceLFDI: 'AB'.repeat(20) });
  });

  it('wrong_status and wrong_subject: of responses', () => {
    bench.inject(wrongStatusFault, { status: 253 });
    bench.inject(wrongSubjectFault);
    expect(valueOf(response)).to.deep.equal({ ...responseBody.value, status: 253, subject: `B${mrid.slice(1)}` });
    expect(disturber.disturb(statusOf(1))).to.equal(null);
    bench.registry.clear();
    bench.inject(wrongSubjectFault, { mrid: 'cd'.repeat(16) });
    expect(valueOf(response)).to.include({ subject: 'CD'.repeat(16) });
  });

  it('stale: the first document of an address comes again, until the end of the fault', () => {
    bench.inject(staleFault);
    expect(disturber.disturb(statusOf(100))).to.equal(null);
    expect(valueOf(statusOf(200))).to.deep.equal(statusOf(100).body?.value);
    expect(valueOf(statusOf(300))).to.deep.equal(statusOf(100).body?.value);
    expect(disturber.disturb(capability), 'the first at another address').to.equal(null);
    expect(disturber.disturb(response), 'a POST').to.equal(null);
    bench.registry.clear();
    expect(disturber.disturb(statusOf(400))).to.equal(null);
    bench.inject(staleFault);
    expect(disturber.disturb(statusOf(500)), 'a further fault begins anew').to.equal(null);
    expect(valueOf(statusOf(600))).to.deep.include({ readingTime: 500 });
  });

  it('missing_element, at any depth', () => {
    bench.inject(missingElementFault, { elements: ['readingTime', 'dateTime'] });
    expect(sent(statusOf(100))).to.match(
      /<DERStatus[^>]*><genConnectStatus><value>07<\/value><\/genConnectStatus><\/DERStatus>/,
    );
    expect(disturber.disturb(capability)).to.equal(null);
  });

  it('wrong_multiplier', () => {
    bench.inject(wrongMultiplierFault);
    expect(sent(capability)).to.contain('<rtgMaxW><multiplier>4</multiplier><value>1000</value></rtgMaxW>');
    expect(disturber.disturb(statusOf(1))).to.equal(null);
    bench.inject(wrongMultiplierFault, { shift: 9 });
    expect(sent(capability), 'out of range, and several add up').to.contain('<multiplier>13</multiplier>');
  });

  it('malformed_xml: in each of its ways', () => {
    const xml = Buffer.from('<A xmlns="urn:ieee:std:2030.5:ns"><b>1</b></A>');
    const broken = {
      truncated: '<A xmlns="urn:ieee:std:',
      not_closed: '<A xmlns="urn:ieee:std:2030.5:ns"><b>1</b>',
      wrong_namespace: '<A xmlns="http://ieee.org/2030.5"><b>1</b></A>',
      empty: '',
    };
    for (const [mode, text] of Object.entries(broken)) {
      bench.inject(malformedXmlFault, { mode });
      expect(disturber.disturb(response)?.rewrite?.(xml).toString(), mode).to.equal(text);
      expect(disturber.disturb(reading), 'no document').to.equal(null);
      bench.registry.clear();
    }
  });

  it('wrong_content_type and duplicate', () => {
    bench.inject(wrongContentTypeFault);
    bench.inject(duplicateFault);
    expect(disturber.disturb(response)).to.deep.equal({ contentType: 'text/xml', twice: true });
    expect(disturber.disturb(reading)).to.equal(null);
  });

  it('changes of several faults are made one after the other', () => {
    bench.inject(clockSkewFault, { skew_s: 60 });
    bench.inject(missingElementFault, { elements: ['genConnectStatus'] });
    expect(sent(statusOf(100))).to.match(/<DERStatus[^>]*><readingTime>160<\/readingTime><\/DERStatus>/);
  });

  it('strikes its device alone, and only while its condition holds', () => {
    bench.inject(wrongStatusFault, { status: 3 }, { deviceIndex: 1, when: { point: '701.W', above: 0 } });
    expect(disturber.disturb(response)).to.equal(null);
    expect(valueOf({ ...response, deviceIndex: 1 })).to.include({ status: 3 });
    holding = [];
    expect(disturber.disturb({ ...response, deviceIndex: 1 })).to.equal(null);
    expect(disturber.disturb({ ...response, deviceIndex: null }), 'about no single device').to.equal(null);
    bench.inject(dropFault);
    expect(disturber.disturb({ ...response, deviceIndex: null })).to.deep.equal({ drop: true });
  });

  it('has a test of every kind here', () => {
    const tried = [
      clockSkewFault,
      delayFault,
      dropFault,
      duplicateFault,
      malformedXmlFault,
      missingElementFault,
      staleFault,
      suppressFault,
      tlsFailureFault,
      wrongContentTypeFault,
      wrongLfdiFault,
      wrongMultiplierFault,
      wrongStatusFault,
      wrongSubjectFault,
    ];
    expect(csipFaults.map(({ kind }) => kind)).to.have.members(tried.map(({ kind }) => kind));
  });
});
