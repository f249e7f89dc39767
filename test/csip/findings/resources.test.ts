import { expect } from 'chai';
import { lfdi, sfdi, target } from '../walk/scripted.ts';
import { judges, JudgeRig, origin, time, xml } from './rig.ts';

const links = '<TimeLink href="/tm"/><EndDeviceListLink href="/edev" all="1"/>';
const mirror = '<MirrorUsagePointListLink href="/mup" all="0"/>';
const own = { url: `${origin}/edev/1`, base: `${origin}/edev`, registration: null, ders: [], derListUrl: null };
/** The server shows the EndDevice of the client. */
const shown = (rig: JudgeRig, document: object = { lFDI: lfdi, sFDI: sfdi }) => {
  rig.judge.endDevice(target, { ...own, document });
  return rig;
};
const group = { href: '/fsa/1', DERProgramListLink: { href: '/derp' } };
/** A link of the EndDevice to its programs, which leads nowhere. */
const dead = {
  method: 'GET',
  resource: 'DERProgramList',
  href: '/derp?s=0&l=100',
  base: `${origin}/fsa?s=0&l=100`,
} as const;
const gone = (rig: JudgeRig) => rig.answer(dead, '', { status: 404 });
const parent = (rig: JudgeRig, href = '/derp') => {
  const inner = `<FunctionSetAssignments><DERProgramListLink href="${href}"/><mRID>01</mRID></FunctionSetAssignments>`;
  const body = xml('FunctionSetAssignmentsList', inner, 'all="1" results="1"');
  return rig.get(body, { href: '/fsa?s=0&l=100' });
};
const control = (start: number, creationTime: number) => ({ interval: { start, duration: 60 }, creationTime });
/** Two readings of the Time. */
const times = (rig: JudgeRig, movedS: number, passedS: number, over: { durationMs?: number } = {}) =>
  rig
    .get(time(1000))
    .pass(passedS)
    .get(time(1000 + movedS), {}, over);

describe('CSIP findings: resources', () => {
  judges('dcap_links', {
    wrong: (rig) => shown(rig).get(xml('DeviceCapability', `<TimeLink href="/tm"/>${mirror}`)),
    evidence: 'has no EndDeviceListLink',
    right: (rig) => shown(rig).get(xml('DeviceCapability', links + mirror)),
    trap: (rig) => rig.get(xml('DeviceCapability', mirror)),
  });

  judges('dcap_mirror_missing', {
    wrong: (rig) => shown(rig).get(xml('DeviceCapability', links)),
    evidence: 'no MirrorUsagePointListLink',
    right: (rig) => rig.get(xml('DeviceCapability', links + mirror)),
    trap: (rig) => rig.get(xml('DeviceCapability', links)),
  });

  judges('fsa_links', {
    wrong: (rig) => {
      rig.list('FunctionSetAssignmentsList', [{ href: '/fsa/1' }]).pass(300);
      rig.list('FunctionSetAssignmentsList', [{ href: '/fsa/1' }]);
    },
    evidence: 'none of 1 FunctionSetAssignments',
    right: (rig) => rig.list('FunctionSetAssignmentsList', [group]),
    trap: (rig) => {
      const bare = { href: '/fsa/1' };
      rig.list('FunctionSetAssignmentsList', [bare]).pass(299).list('FunctionSetAssignmentsList', [bare]);
      rig.pass(1).list('FunctionSetAssignmentsList', []);
      rig.list('FunctionSetAssignmentsList', [group]).pass(60).list('FunctionSetAssignmentsList', []);
    },
  });

  judges('link_dead', {
    wrong: (rig) => gone(parent(gone(rig))),
    evidence: '"path":"/derp"',
    right: (rig) => rig.get(xml('DERProgramList', '', 'all="0" results="0"'), dead),
    // the link has gone with its resource, or nobody has read it again, or the resource came back
    trap: (rig) => {
      gone(parent(gone(rig), '/other'));
      gone(rig);
      parent(rig).get(xml('DERProgramList', '', 'all="0" results="0"'), dead);
      gone(rig);
      for (const resource of ['DefaultDERControl', 'EndDeviceList'] as const) {
        rig.answer({ ...dead, resource }, '', { status: 404 });
        parent(rig).answer({ ...dead, resource }, '', { status: 404 });
      }
    },
  });

  judges('link_elsewhere', {
    wrong: (rig) => rig.judge.refused({ ...dead, deviceIndex: 0 }, 'elsewhere', 'the server links to http://b/'),
    evidence: 'links to http://b/',
    right: (rig) => rig.get(xml('DERProgramList', '', 'all="0" results="0"'), dead),
    trap: (rig) =>
      rig.judge.refused(
        { method: 'GET', href: 'http://b/', resource: 'DeviceCapability', deviceIndex: 0 },
        'elsewhere',
        'b',
      ),
  });

  judges('redirect_endless', {
    wrong: (rig) => rig.judge.refused({ ...dead, deviceIndex: 0 }, 'endless', 'more than 5 redirects'),
    evidence: 'more than 5 redirects',
    right: (rig) => rig.get(time(1), {}, { redirects: 1 }),
    trap: (rig) => rig.get(time(1), {}, { redirects: 5 }),
  });

  judges('lfdi_sfdi', {
    wrong: (rig) => shown(rig, { lFDI: lfdi, sFDI: sfdi + 1 }),
    evidence: `"sFDI":${sfdi + 1}`,
    right: (rig) => shown(rig),
    // 19 has a right check digit
    trap: (rig) => rig.judge.endDevice({ ...target, lfdi: 'AB'.repeat(20) }, { ...own, document: { sFDI: 19 } }),
  });

  it('lfdi_sfdi: a right check digit of another certificate is found', () => {
    const rig = shown(new JudgeRig(), { lFDI: lfdi, sFDI: 19 });
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.lfdi_sfdi']);
  });

  judges('enddevice_foreign', {
    wrong: (rig) => rig.list('EndDeviceList', [{ lFDI: lfdi }, { lFDI: '00'.repeat(20) }]),
    evidence: '"foreign":1',
    right: (rig) => rig.list('EndDeviceList', [{ lFDI: lfdi.toLowerCase() }]),
    // a server that shows no LFDI, and one that shows nothing
    trap: (rig) => rig.list('EndDeviceList', [{ sFDI: 9 }, { lFDI: lfdi }]).list('EndDeviceList', []),
  });

  it('enddevice_foreign: a server without TLS cannot tell clients apart', () => {
    const rig = new JudgeRig({ isSecure: false }).list('EndDeviceList', [{ lFDI: '00'.repeat(20) }]);
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
  });

  it('enddevice_foreign: an aggregator sees those that it manages', () => {
    const rig = new JudgeRig({ isAggregator: true }).list('EndDeviceList', [{ lFDI: '00'.repeat(20) }]);
    expect(rig.findings.row(rig.peer, 'csip.enddevice_foreign').state).to.equal('not_exercised');
  });

  /** A link to the list, and the list right after it, again and again. */
  const counted = (rig: JudgeRig, ...readings: readonly (readonly [link: number, list: number, afterS?: number])[]) => {
    for (const [link, all, afterS = 5] of readings) {
      rig.get(xml('DeviceCapability', `${links.replace('all="1"', `all="${link}"`)}${mirror}`), { href: '/dcap' });
      rig.pass(afterS).get(xml('EndDeviceList', '', `all="${all}" results="0"`), { href: '/edev?s=0&l=100' });
    }
  };
  judges('list_link_all', {
    wrong: (rig) => counted(rig, [0, 2], [0, 2]),
    evidence: '"path":"/edev","link":0,"all":2',
    right: (rig) => counted(rig, [2, 2, 0]),
    trap: (rig) => {
      // another number the second time, of the link or of the list, and a right one between
      counted(rig, [0, 2], [0, 3], [1, 3], [1, 1], [1, 3]);
      // read later than the link, or twice after one reading of it, or from another page on
      counted(rig, [1, 3, 6]);
      counted(rig, [4, 5]);
      const page = xml('EndDeviceList', '', 'all="5" results="0"');
      rig.get(page, { href: '/edev?s=0&l=100' }).get(page, { href: '/edev?s=100&l=100' });
      rig
        .get(xml('DeviceCapability', `${links.replace('all="1"', '')}${mirror}`))
        .get(page, { href: '/edev?s=0&l=100' });
    },
  });

  it('list_link_all: links in the items of a list are compared too', () => {
    const rig = new JudgeRig();
    const item =
      '<DERProgram><mRID>01</mRID><DERControlListLink all="1" href="derp/1/derc"/><primacy>1</primacy></DERProgram>';
    for (let count = 0; count < 2; count += 1)
      rig
        .get(xml('DERProgramList', item, 'all="1" results="1"'), { href: '/derp' })
        .get(xml('DERControlList', '', 'all="0" results="0"'), { href: '/derp/1/derc' });
    expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.list_link_all']);
  });

  /** The POST of an EndDevice. */
  const post = (rig: JudgeRig, status = 201, isDisturbed = false) => {
    const body = { name: 'EndDevice', value: { lFDI: lfdi.toLowerCase(), sFDI: sfdi, changedTime: 1 } } as const;
    const request = { method: 'POST', href: '/edev', resource: 'EndDevice', body } as const;
    return rig.answer(request, '', { status, headers: { location: '/edev/1' }, isDisturbed });
  };
  const other = { lFDI: 'CD'.repeat(20), sFDI: 5 };
  const elsewhere = { isSecure: false };
  judges('registration_lost', {
    options: elsewhere,
    wrong: (rig) => post(rig).list('EndDeviceList', []).pass(300).list('EndDeviceList', [other]),
    evidence: `the EndDevice ${lfdi} was accepted, and is not in the list 300 s later`,
    right: (rig) =>
      post(rig)
        .list('EndDeviceList', [])
        .list('EndDeviceList', [{ sFDI: sfdi }]),
    trap: (rig) => {
      // too early, the first list, a part of it, once it was there, or not accepted
      post(rig).list('EndDeviceList', []).pass(299).list('EndDeviceList', []);
      post(rig).pass(600).list('EndDeviceList', []);
      post(rig).list('EndDeviceList', []).pass(300).list('EndDeviceList', [], { isWhole: false });
      rig.list('EndDeviceList', [other, { lFDI: lfdi }]).pass(600);
      rig.list('EndDeviceList', []).list('EndDeviceList', []).list('DERProgramList', []);
      for (const status of [202, 300, 403])
        post(rig, status).list('EndDeviceList', []).pass(600).list('EndDeviceList', []);
      post(rig, 201, true).list('EndDeviceList', []).pass(600).list('EndDeviceList', []);
    },
  });

  const atMs = (rig: JudgeRig) => rig.findings.wall.nowMs() / 1000;
  judges('tls_server', {
    wrong: (rig) => rig.get(time(Math.round(atMs(rig)) + 86_300)).judge.certificateExpired(),
    evidence: 'a certificate of the server has expired',
    right: (rig) => rig.get(time(1)),
    trap: (rig) => {
      rig.judge.certificateExpired();
      rig.get(time(Math.round(atMs(rig)) + 86_500)).judge.certificateExpired();
    },
  });

  it('tls_server: undecided after a change of the clock of this machine', () => {
    const rig = new JudgeRig();
    const { wall } = rig.findings;
    rig.get(time(Math.round(atMs(rig))));
    wall.jump(400 * 86_400_000);
    rig.judge.certificateExpired();
    expect(rig.findings.row(rig.peer, 'csip.tls_server')).to.include({ broken: 0, undecided: 1 });
  });

  it('tls_server: undecided without the time of the server', () => {
    const rig = new JudgeRig();
    rig.judge.certificateExpired();
    expect(rig.findings.row(rig.peer, 'csip.tls_server')).to.include({ undecided: 1 });
  });

  judges('time_jump', {
    wrong: (rig) => times(rig, 66, 60),
    evidence: 'moved by 66 s within 60.0 s',
    right: (rig) => times(rig, 65, 60),
    // a slow exchange, and a day with slow clocks
    trap: (rig) =>
      times(rig, 66, 60, { durationMs: 4000 })
        .pass(86_400)
        .get(time(1066 + 86_412)),
  });

  it('time_jump: backwards is found too, and Times of FSAs are told apart', () => {
    const rig = times(new JudgeRig(), 54, 60);
    rig.get(time(9000), { href: '/tm2' });
    expect(rig.findings.row(rig.peer, 'csip.time_jump')).to.include({ broken: 1, exercised: 1 });
  });

  it('time_jump: one that the date of this machine makes too is left alone', () => {
    const rig = new JudgeRig().get(time(1000));
    rig.findings.wall.jump(3_600_000);
    rig.pass(60).get(time(4660));
    expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
  });

  judges('time_quality', {
    wrong: (rig) => rig.get(time(1, { quality: 8 })),
    evidence: '"quality":8',
    right: (rig) => rig.get(time(1, { quality: 7 })),
    trap: (rig) => rig.get(time(1, { quality: 0 })),
  });

  judges('time_zone', {
    wrong: (rig) =>
      rig.get(
        time(1000, { localTime: 4600, tzOffset: 3600, dstOffset: 3600, dstStartTime: 0, dstEndTime: 9e8 }, '').replace(
          '<currentTime>1000<',
          '<currentTime>100000<',
        ),
      ),
    evidence: '107200 follows from the offsets',
    right: (rig) => rig.get(time(1000, { localTime: 4600, tzOffset: 3600 })),
    // within an hour of the end of summer time
    trap: (rig) =>
      rig
        .get(time(100_000, { localTime: 107_200, tzOffset: 3600, dstOffset: 3600, dstEndTime: 99_000 }))
        .pass(1)
        .get(time(100_001, { localTime: 103_601, tzOffset: 3600, dstOffset: 3600, dstEndTime: 99_000 })),
  });

  judges('list_order', {
    wrong: (rig) => rig.list('DERControlList', [control(200, 1), control(100, 2)]),
    evidence: 'the item 2 of the DERControlList',
    right: (rig) => rig.list('DERControlList', [control(100, 2), control(100, 1), control(200, 3)]),
    trap: (rig) => {
      const unordered = [control(200, 1), control(100, 2)];
      rig.list('DERControlList', unordered, { isWhole: false }).list('DERControlList', unordered, { isOnePage: false });
      rig.list('DERControlList', [control(100, 1), control(100, 1), { creationTime: 1 }]);
      rig.list('EndDeviceList', [{ lFDI: lfdi, changedTime: 1 }, { changedTime: 9 }, { changedTime: 8 }]);
      rig.list('DERProgramList', [
        { primacy: 1, mRID: 'B' },
        { primacy: 1, mRID: 'A' },
      ]);
      rig.list('FunctionSetAssignmentsList', [group, { ...group, href: '/fsa/0' }]);
    },
  });

  for (const [name, items] of [
    ['DERControlList', [control(100, 1), control(100, 2)]],
    ['DERProgramList', [{ primacy: 2 }, { primacy: 1 }]],
    ['EndDeviceList', [{ changedTime: 8 }, { changedTime: 9 }]],
  ] as const)
    it(`list_order: the keys of a ${name}`, () => {
      const rig = new JudgeRig().list(name, items);
      expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.list_order']);
    });
});
