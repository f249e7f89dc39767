import { expect } from 'chai';
import type { SeenAnswer, SepRequest } from '../../../src/csip/transport/exchange.ts';
import type { OutgoingDocument } from '../../../src/csip/xml/schema.ts';
import { judges, JudgeRig, origin, time, xml } from './rig.ts';

const mrid = 'AB'.repeat(16);
const response = (status: number): OutgoingDocument => ({
  name: 'DERControlResponse',
  value: { createdDateTime: 1, endDeviceLFDI: 'AB'.repeat(20), status, subject: mrid.toLowerCase() },
});
/** The answer to a POST. */
const post = (rig: JudgeRig, body: OutgoingDocument, status: number, over: Partial<SeenAnswer> = {}, text = '') =>
  rig.answer({ method: 'POST', href: '/post', resource: body.name, body }, text, { status, headers: {}, ...over });
const mirror = { name: 'MirrorUsagePoint', value: {} } as unknown as OutgoingDocument;
const reading = { name: 'MirrorMeterReading', value: {} } as unknown as OutgoingDocument;
const subscription = { name: 'Subscription', value: {} } as unknown as OutgoingDocument;
const located = { headers: { location: '/mup/1' } };
const put = (rig: JudgeRig, status: number, over: Partial<SeenAnswer> = {}) =>
  rig.answer({ method: 'PUT', href: '/ders', resource: 'DERStatus' }, '', { status, headers: {}, ...over });
const fails = (rig: JudgeRig, status: number, over: Partial<SepRequest> = {}) =>
  rig.answer({ href: '/tm', ...over }, '', { status, headers: { 'retry-after': '5' } });
/** The server lists the event. */
const listed = (rig: JudgeRig) => {
  rig.listed.add(mrid);
  return rig;
};
const programs = (...mRIDs: readonly string[]) => mRIDs.map((mRID) => ({ mRID, href: `/derp/${mRID}` }));
/** A subscribed list with one item, read once. */
const followed = (rig: JudgeRig) => {
  rig.judge.subscribed(`${origin}/list`, true);
  return rig.list('DERProgramList', programs('A'));
};
/** The same, and a notification has come before. */
const reached = (rig: JudgeRig) => followed(rig).notify('/list').pass(1).list('DERProgramList', programs('A')).pass(61);

describe('CSIP findings: answers to a client, and notifications', () => {
  judges('created_location', {
    wrong: (rig) => post(rig, mirror, 201),
    evidence: 'answered 201 to the POST of MirrorUsagePoint',
    right: (rig) => post(rig, mirror, 201, located),
    trap: (rig) => {
      post(rig, mirror, 204);
      post(rig, response(1), 201);
    },
  });

  judges('put_unserved', {
    wrong: (rig) => put(rig, 405),
    evidence: '"method":"PUT","path":"/ders","status":405',
    right: (rig) => put(rig, 204),
    trap: (rig) => {
      put(rig, 400);
      put(rig, 405, { isDisturbed: true });
    },
  });

  judges('server_errors', {
    wrong: (rig) => [1, 2, 3].map(() => fails(rig, 500).pass(100)),
    evidence: 'answered 500 to the GET of Time',
    right: (rig) => rig.get(time(1)),
    // two of one address, one of another, and the first one more than ten minutes before the last
    trap: (rig) => {
      fails(rig, 500);
      rig.pass(301);
      for (const status of [500, 501, 501, 501]) fails(rig, status, { href: '/other' });
      fails(rig, 500).pass(300);
      fails(rig, 502);
      for (const status of [503, 503, 503]) fails(rig, status, { href: '/paused' });
    },
  });

  judges('retry_after_missing', {
    wrong: (rig) => rig.answer({}, '', { status: 429, headers: {} }),
    evidence: '"status":429',
    right: (rig) => fails(rig, 503),
    trap: (rig) => rig.answer({}, '', { status: 500, headers: {} }),
  });

  judges('response_refused', {
    wrong: (rig) => post(listed(rig), response(2), 400),
    evidence: 'answered 400 to the POST of DERControlResponse',
    right: (rig) => post(rig, response(2), 201, located),
    trap: (rig) => {
      post(rig, response(2), 404);
      post(listed(rig), response(251), 400);
      post(rig, response(1), 400, { isDisturbed: true });
      for (const status of [409, 429, 503]) post(rig, response(3), status, { headers: { 'retry-after': '1' } });
    },
  });

  judges('readings_refused', {
    wrong: (rig) => post(rig, reading, 400),
    evidence: 'the POST of MirrorMeterReading',
    right: (rig) => post(rig, mirror, 201, located),
    trap: (rig) => {
      post(rig, reading, 404);
      post(rig, { name: 'MirrorMeterReadingList', value: {} } as unknown as OutgoingDocument, 415);
    },
  });

  judges('subscription_refused', {
    wrong: (rig) => post(rig, subscription, 400),
    evidence: 'the POST of Subscription',
    right: (rig) => post(rig, subscription, 201, located),
    trap: (rig) => post(rig, subscription, 403, {}, xml('Error', '<reasonCode>1</reasonCode>')),
  });

  judges('notification_missing', {
    wrong: (rig) => reached(rig).list('DERProgramList', programs('A', 'B')).pass(60),
    evidence: '"item":"B"',
    right: (rig) => {
      reached(rig).list('DERProgramList', programs('A', 'B')).pass(59).notify('/list').pass(60);
    },
    trap: (rig) => {
      // notified before the poll
      followed(rig).notify('/list').pass(60).list('DERProgramList', programs('A', 'B'));
      // notified long before, and not read then
      rig
        .notify('/list')
        .pass(300)
        .list('DERProgramList', programs('A', 'B', 'C'));
      // an item that has gone, and a reading of a part
      rig
        .pass(120)
        .list('DERProgramList', programs('B'))
        .list('DERProgramList', programs('B', 'D'), { isWhole: false });
      // new before the subscription was there
      rig.judge.subscribed(`${origin}/list`, false);
      rig.judge.subscribed(`${origin}/list`, true);
      rig.list('DERProgramList', programs('B', 'D')).pass(120);
      // the connection breaks meanwhile, or the subscription ends
      rig.list('DERProgramList', programs('B', 'E'));
      rig.judge.reachable(false);
      rig.judge.reachable(true);
      rig.pass(60).list('DERProgramList', programs('B', 'F'));
      rig.judge.subscribed(`${origin}/list`, false);
      rig.pass(60);
    },
  });

  it('notification_missing: undecided before the first notification, since the listener may be out of reach', () => {
    const rig = followed(new JudgeRig()).list('DERProgramList', programs('A', 'B')).pass(60);
    expect(rig.findings.row(rig.peer, 'csip.notification_missing')).to.include({ state: 'undecided', undecided: 1 });
  });

  it('notification_missing: goes on after a wait that could not be decided', () => {
    const rig = reached(new JudgeRig()).list('DERProgramList', programs('A', 'B'));
    rig.judge.reachable(false);
    rig.judge.reachable(true);
    rig
      .pass(60)
      .list('DERProgramList', programs('A', 'B', 'C'))
      .pass(60);
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.notification_missing']);
  });

  judges('notification_other', {
    wrong: (rig) => rig.notify('/other'),
    evidence: '"subscribedResource":"/other"',
    right: (rig) => rig.notify('/list'),
    trap: (rig) => rig.notify('https://proxy:8443/list?s=0'),
  });

  it('misses no notification that came while findings were off', () => {
    const rig = followed(new JudgeRig()).list('DERProgramList', programs('A', 'B'));
    rig.findings.isOn = false;
    rig.notify('/list');
    rig.findings.isOn = true;
    rig.pass(60);
    expect(rig.findings.ids(rig.peer)).to.not.include('csip.notification_missing');
  });

  it('judges the documents of notifications too', () => {
    const rig = new JudgeRig().notify('/list');
    expect(rig.findings.row(rig.peer, 'csip.element_order').exercised).to.equal(1);
  });

  it('is not observable without TLS or subscriptions, and names the flag', () => {
    const rig = new JudgeRig({ isSecure: false, subscribes: false });
    expect(rig.findings.ids(rig.peer, 'not_observable')).to.deep.equal([
      'csip.enddevice_foreign',
      'csip.tls_server',
      'csip.subscription_refused',
      'csip.notification_missing',
      'csip.notification_other',
    ]);
    expect(rig.findings.row(rig.peer, 'csip.notification_missing').reason).to.contain('--csip_subscribe no');
  });

  it('shows software, handshake, certificate and LFDI of a peer', () => {
    const rig = new JudgeRig().get(
      time(1),
      {},
      { headers: { 'content-type': 'application/sep+xml', server: 'envoy' } },
    );
    expect([...rig.peer.facets].map(([name, values]) => [name, ...values])).to.deep.equal([
      ['server', 'envoy'],
      ['tls', 'TLSv1.2 ECDHE-ECDSA-AES128-CCM8'],
      ['certificate', 'ab'],
    ]);
  });

  it('an address that has never sent a document is a stranger', () => {
    const rig = new JudgeRig();
    rig.peer.isValid = false;
    rig.answer({}, '<html>', { headers: {} });
    expect(rig.findings.registry.peers.strangers).to.equal(1);
    rig.get(time(1));
    expect(rig.findings.registry.peers.strangers).to.equal(0);
  });
});
