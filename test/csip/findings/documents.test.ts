import { expect } from 'chai';
import { judges, JudgeRig, time, xml } from './rig.ts';

const der = '<DERAvailabilityLink href="/a"/><DERCapabilityLink href="/c"/>';
const page = (all: number, results: number, items: number) =>
  xml('DERList', '<DER/>'.repeat(items), `all="${all}" results="${results}"`);
const paged = { href: '/der?s=0&l=2' };
const pin = (value: string) =>
  xml('Registration', `<dateTimeRegistered>1</dateTimeRegistered><pIN>${value}</pIN>`, 'pollRate="900"');

describe('CSIP findings: documents', () => {
  judges('schema', {
    wrong: (rig) => rig.get(time(1, { quality: 300 })),
    evidence: 'Time/quality 300 is outside 0..255',
    right: (rig) => rig.get(time(1)),
    trap: (rig) => rig.get(xml('DER', `<x:new xmlns:x="urn:x">!</x:new><unknown/>${der}`, 'unknown="!"')),
  });

  judges('element_order', {
    wrong: (rig) => rig.get(xml('DER', '<DERCapabilityLink href="/c"/><DERAvailabilityLink href="/a"/>')),
    evidence: 'DER/DERAvailabilityLink comes after DERCapabilityLink',
    right: (rig) => rig.get(xml('DER', der)),
    trap: (rig) =>
      rig.get(
        xml(
          'DefaultDERControl',
          '<mRID>01</mRID><DERControlBase><csipaus:opModExpLimW><multiplier>0</multiplier><value>5</value>' +
            '</csipaus:opModExpLimW><opModMaxLimW>5</opModMaxLimW></DERControlBase>',
        ),
      ),
  });

  judges('member_required', {
    wrong: (rig) => rig.get(xml('DERProgram', '<mRID>01</mRID>')),
    evidence: 'DERProgram/primacy is absent',
    right: (rig) => rig.get(xml('DERProgram', '<mRID>01</mRID><primacy>1</primacy>')),
    // schemaVer and updatedTime belong to 2023
    trap: (rig) => rig.get(xml('DefaultDERControl', '<mRID>01</mRID><DERControlBase/>')),
  });

  judges('attribute_as_element', {
    wrong: (rig) => rig.get(xml('DeviceCapability', '<pollRate>60</pollRate><TimeLink href="/tm"/>')),
    evidence: 'DeviceCapability/pollRate is an element',
    right: (rig) => rig.get(xml('DER', der)),
    trap: (rig) => rig.get(xml('DER', `<x:href xmlns:x="urn:x">/1</x:href>${der}`)),
  });

  judges('namespace', {
    wrong: (rig) => rig.get(xml('DER', der).replace('urn:ieee:std:2030.5:ns', 'http://ieee.org/2030.5')),
    evidence: 'is in the namespace http://ieee.org/2030.5 of a draft',
    right: (rig) => rig.get(xml('DER', der)),
    trap: (rig) => rig.get(xml('DER', `${der}<x:DERStatusLink xmlns:x="urn:x" href="/s"/>`)),
  });

  it('schema: empty addresses and hexadecimal values, which the schema allows, are right', () => {
    const rig = new JudgeRig();
    rig.get(xml('DER', '<DERCapabilityLink href=""/>'));
    rig.get(xml('DefaultDERControl', '<mRID></mRID><DERControlBase/>'));
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
  });

  it('namespace: a limit of CSIP-AUS in the namespace of IEEE 2030.5 is found', () => {
    const rig = new JudgeRig();
    rig.get(xml('DefaultDERControl', '<mRID>01</mRID><DERControlBase><opModExpLimW/></DERControlBase>'));
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.namespace']);
  });

  judges('media_type', {
    wrong: (rig) => rig.get(time(1), {}, { headers: { 'content-type': 'text/xml' } }),
    evidence: 'text/xml',
    right: (rig) => rig.get(time(1)),
    trap: (rig) => {
      rig.get(time(1), {}, { headers: { 'content-type': 'Application/SEP+XML; level=S1' } });
      rig.answer({}, '<html/>', { status: 404, headers: { 'content-type': 'text/html' } });
    },
  });

  judges('document_unreadable', {
    wrong: (rig) => rig.answer({}, '<Time><quality>'),
    evidence: 'is no such document',
    right: (rig) => rig.get(time(1)),
    trap: (rig) => rig.answer({}, ''),
  });

  it('document_unreadable: another document than the one that was asked for is found', () => {
    const rig = new JudgeRig();
    rig.answer({ resource: 'Time' }, xml('DER', der));
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.document_unreadable']);
  });

  judges('list_counts', {
    wrong: (rig) => rig.get(page(2, 2, 1)),
    evidence: '"results":2,"items":1',
    right: (rig) => rig.get(page(2, 1, 1)),
    // an item that is not read for its namespace, which has a rule of its own
    trap: (rig) => rig.get(xml('DERList', '<DER/><x:DER xmlns:x="urn:x"/>', 'all="1" results="1"')),
  });

  it('list_counts: fewer in all than in the page is found', () => {
    const rig = new JudgeRig();
    rig.get(page(0, 1, 1));
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.list_counts']);
  });

  judges('list_paging', {
    wrong: (rig) => rig.get(page(3, 3, 3), paged),
    evidence: '"l":2,"items":3',
    right: (rig) => rig.get(page(3, 2, 2), paged),
    trap: (rig) => rig.get(page(3, 1, 1), paged).get(page(3, 3, 3)),
  });

  it('list_paging: the first item on each page is found', () => {
    const rig = new JudgeRig();
    rig.judge.pageRepeated('DERList', 'https://head-end/der?s=2&l=2', 0);
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.list_paging']);
  });

  judges('poll_rate_zero', {
    wrong: (rig) => rig.get(time(1, {}, 'pollRate="0"')),
    evidence: 'the pollRate of Time is 0 s',
    right: (rig) => rig.get(time(1, {}, 'pollRate="60"')),
    trap: (rig) => rig.get(time(1)),
  });

  judges('poll_rate_extreme', {
    wrong: (rig) => rig.get(time(1, {}, 'pollRate="9"')),
    evidence: '"pollRate":9',
    right: (rig) => rig.get(time(1, {}, 'pollRate="10"')).get(time(1, {}, 'pollRate="86400"')),
    trap: (rig) => rig.get(time(1)),
  });

  judges('pin_checksum', {
    wrong: (rig) => rig.get(pin('111114')),
    evidence: 'no multiple of 10',
    right: (rig) => rig.get(pin('111115')),
    // 000019 without its zeros
    trap: (rig) => rig.get(pin('19')),
  });

  it('shows no PIN, whether it is a number or not', () => {
    const rig = new JudgeRig();
    rig.get(pin('111114')).get(pin('11111x'));
    const cases = ['csip.pin_checksum', 'csip.schema'].flatMap((id) => rig.findings.row(rig.peer, id).cases);
    expect(cases).to.have.length(2);
    expect(JSON.stringify(cases)).not.to.match(/11111/);
  });

  it('points at the message, and makes one case of one mistake in many items', () => {
    const rig = new JudgeRig();
    rig.get(xml('DERProgramList', '<DERProgram><mRID>01</mRID></DERProgram>'.repeat(3), 'all="3" results="3"'));
    const row = rig.findings.row(rig.peer, 'csip.member_required');
    expect(row).to.include({ broken: 1, repeats: 0 });
    expect(row.cases[0]).to.deep.include({ message: { channel: 'csip', id: 7 }, deviceIndex: 0 });
    expect(row.cases[0]?.text).to.equal('DERProgramList/DERProgram/primacy is absent, and required by the schema');
  });
});
