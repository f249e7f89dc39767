/** Occasions that count, and facts of cases: a rule that never came up must not read as held. */
import { expect } from 'chai';
import { Remembered, pathOf, short } from '../../../src/csip/findings/model.ts';
import type { ListedControl } from '../../../src/csip/events/model.ts';
import type { OutgoingDocument } from '../../../src/csip/xml/schema.ts';
import { control, defaults, maxLim, pf, program } from '../events/scene.ts';
import { lfdi, sfdi, target } from '../walk/scripted.ts';
import { JudgeRig, origin, time, xml } from './rig.ts';

/** Rules that count as held, without those of the schema, which hold for each document. */
const ofSchema = new Set(['schema', 'element_order', 'member_required', 'attribute_as_element', 'namespace']);
const held = (rig: JudgeRig) =>
  rig.findings
    .ids(rig.peer, 'held')
    .map((id) => id.replace('csip.', ''))
    .filter((name) => !ofSchema.has(name));
const read = ['media_type', 'document_unreadable'];
const caseOf = (rig: JudgeRig, rule: string) => rig.findings.row(rig.peer, `csip.${rule}`).cases[0];
const undecided = (rig: JudgeRig, rule: string) => rig.findings.row(rig.peer, `csip.${rule}`).undecided;
const one = (...controls: readonly ListedControl[]) =>
  program('P', 1, controls, { defaultControl: defaults('P', maxLim) });

describe('CSIP findings: occasions and facts', () => {
  describe('of documents and answers', () => {
    it('a Time says nothing of lists, links or answers', () => {
      expect(held(new JudgeRig().get(time(1)))).to.have.members([
        ...read,
        'time_quality',
        'time_zone',
        'tls_server',
        'server_errors',
      ]);
      const bare = xml('Time', '<currentTime>1</currentTime>');
      expect(held(new JudgeRig().get(bare))).to.have.members([...read, 'tls_server', 'server_errors']);
      expect(held(new JudgeRig({ tls: () => null }).get(xml('Time', '')))).to.have.members([...read, 'server_errors']);
    });

    it('a link that is followed counts for links, and a redirect for redirects', () => {
      const rig = new JudgeRig({ tls: () => null }).get(time(1), { base: `${origin}/dcap` }, { redirects: 1 });
      expect(held(rig)).to.include.members(['link_dead', 'link_elsewhere', 'redirect_endless']);
      const first = new JudgeRig({ tls: () => null }).get(time(1));
      expect(held(first)).to.not.include.members(['link_dead', 'link_elsewhere', 'redirect_endless']);
    });

    it('a Registration counts for the PIN, and one without a PIN or another document does not', () => {
      const registration = (inner: string) => xml('Registration', `<dateTimeRegistered>1</dateTimeRegistered>${inner}`);
      expect(held(new JudgeRig().get(registration('<pIN>111115</pIN>')))).to.include('pin_checksum');
      expect(held(new JudgeRig().get(registration('')))).to.not.include('pin_checksum');
    });

    it('an answer to a PUT or a POST counts for its own rules alone', () => {
      const sent = (method: 'PUT' | 'POST', status: number, body?: OutgoingDocument) =>
        held(
          new JudgeRig({ tls: () => null }).answer(
            { method, href: '/x', resource: 'DERStatus', ...(body && { body }) },
            '',
            {
              status,
              headers: {},
            },
          ),
        );
      expect(sent('PUT', 204)).to.have.members(['put_unserved', 'server_errors']);
      expect(sent('POST', 204)).to.deep.equal(['server_errors']);
      const reading = { name: 'MirrorMeterReading', value: {} } as unknown as OutgoingDocument;
      expect(sent('POST', 201, reading)).to.have.members(['server_errors', 'readings_refused']);
      const endDevice = { name: 'EndDevice', value: {} } as unknown as OutgoingDocument;
      expect(sent('POST', 201, endDevice)).to.deep.equal(['server_errors']);
    });

    it('a PUT that is answered 501 is one that the server does not serve', () => {
      const rig = new JudgeRig().answer({ method: 'PUT', resource: 'DERStatus' }, '', { status: 501, headers: {} });
      expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.put_unserved']);
    });

    it('responses and subscriptions whose refusal may be right are undecided', () => {
      const rig = new JudgeRig();
      const value = { createdDateTime: 1, endDeviceLFDI: lfdi, status: 2, subject: 'ab' };
      const body = { name: 'DERControlResponse', value } as const;
      rig.answer({ method: 'POST', resource: 'DERControlResponse', body }, '', { status: 404, headers: {} });
      const subscription = { name: 'Subscription', value: {} } as unknown as OutgoingDocument;
      const error = xml('Error', '<reasonCode>1</reasonCode>');
      rig.answer({ method: 'POST', resource: 'Subscription', body: subscription }, error, { status: 403, headers: {} });
      expect([undecided(rig, 'response_refused'), undecided(rig, 'subscription_refused')]).to.deep.equal([1, 1]);
    });

    it('a stranger has no occasion, also while it answers with errors', () => {
      const rig = new JudgeRig();
      rig.peer.isValid = false;
      rig.answer({}, time(1), { status: 404 });
      expect([rig.peer.isValid, rig.peer.requests, ...held(rig)]).to.deep.equal([false, 1]);
    });

    it('a page with an item that is not read is not counted, and another one is', () => {
      const der = '<DER/><x:DER xmlns:x="urn:ieee:std:2030.5:ns2"/>';
      const list = (inner: string) => xml('DERList', inner, 'all="1" results="1"');
      expect(held(new JudgeRig().get(list('<DER/>')))).to.include('list_counts');
      expect(held(new JudgeRig().get(xml('DERList', '<DER/>', 'all="1"')))).to.not.include('list_counts');
      expect(held(new JudgeRig().get(xml('DERList', '<DER/>', 'results="1"')))).to.not.include('list_counts');
      expect(held(new JudgeRig().get(list(der)))).to.include('list_counts');
    });

    it('a document of another resource has no page, and a list without items has none', () => {
      const rig = new JudgeRig().answer(
        { resource: 'EndDeviceList', href: '/edev' },
        xml('DERList', '', 'all="3" results="1"'),
      );
      expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.document_unreadable']);
      const empty = new JudgeRig().get(xml('DERList', '', 'all="0" results="0"'), { href: '/der?s=0&l=1' });
      expect(held(empty)).to.include.members(['list_counts', 'list_paging']);
    });

    it('counts the departures of one kind, and shows a path without the places of items', () => {
      const control =
        '<DERControl><mRID>x</mRID><interval><duration>y</duration><start>z</start></interval></DERControl>';
      const rig = new JudgeRig().get(
        xml('DERControlList', `<DERControl><mRID>01</mRID></DERControl>${control}`, 'all="2" results="2"'),
      );
      const { facts, text } = caseOf(rig, 'schema') ?? {};
      const missing = caseOf(rig, 'member_required')?.facts['departures'];
      expect(Number(facts?.['departures'])).to.be.greaterThan(0);
      expect(missing).to.not.equal(facts?.['departures']);
      expect(text).to.match(/^DERControlList\/DERControl\/[a-zA-Z]/);
    });

    it('names no media type, and a wrong one without its parameters', () => {
      const typed = (headers: Readonly<Record<string, string>>) =>
        caseOf(new JudgeRig().get(time(1), {}, { headers }), 'media_type')?.text;
      expect(typed({})).to.equal('Time has no media type');
      expect(typed({ 'content-type': ' Text/XML ; charset=utf-8' })).to.equal('Time has the media type text/xml');
    });
  });

  describe('of resources', () => {
    const shown = (rig: JudgeRig, document: object) => {
      const own = { url: `${origin}/edev/1`, base: `${origin}/edev`, registration: null, ders: [], derListUrl: null };
      rig.judge.endDevice(target, { ...own, document });
      return rig;
    };

    it('an EndDevice is known by its LFDI, and judged where it has an SFDI', () => {
      const rig = shown(new JudgeRig(), { lFDI: lfdi });
      expect([...(rig.peer.facets.get('lfdi') ?? [])]).to.deep.equal([lfdi]);
      expect(held(rig)).to.deep.equal([]);
      const wrong = shown(new JudgeRig(), { lFDI: lfdi, sFDI: sfdi + 1, href: '/edev/1' });
      expect(caseOf(wrong, 'lfdi_sfdi')?.facts).to.include({ path: '/edev/1', lFDI: lfdi, sFDI: sfdi + 1 });
      // of a device behind an aggregator the check digit alone
      expect(held(shown(new JudgeRig({ ownLfdi: 'AB'.repeat(20) }), { sFDI: 19 }))).to.include('lfdi_sfdi');
      const odd = shown(new JudgeRig({ ownLfdi: 'AB'.repeat(20) }), { sFDI: 20 });
      expect(odd.findings.ids(odd.peer)).to.deep.equal(['csip.lfdi_sfdi']);
    });

    it('a DeviceCapability is undecided before the client is known, and names what it lacks', () => {
      const rig = new JudgeRig().get(xml('DeviceCapability', ''));
      expect([undecided(rig, 'dcap_links'), undecided(rig, 'dcap_mirror_missing')]).to.deep.equal([1, 0]);
      shown(rig, { lFDI: lfdi }).get(xml('DeviceCapability', ''));
      expect(caseOf(rig, 'dcap_links')?.text).to.equal('the DeviceCapability has no TimeLink and no EndDeviceListLink');
    });

    it('a jump has the times of both readings', () => {
      const rig = new JudgeRig().get(time(1000)).pass(10).get(time(1100));
      expect(caseOf(rig, 'time_jump')?.facts).to.deep.equal({
        path: '/Time',
        before: 1000,
        currentTime: 1100,
        passedS: 10,
      });
      const back = new JudgeRig().get(time(1000)).pass(100).get(time(900));
      expect(back.findings.ids(back.peer)).to.deep.equal(['csip.time_jump']);
      expect(held(new JudgeRig().get(time(1000)))).to.not.include('time_jump');
    });

    it('local time follows dstOffset in summer, not in winter, and both near the change', () => {
      const summer = { dstStartTime: 10_000, dstEndTime: 50_000, dstOffset: 3600, tzOffset: 7200 };
      const isRight = (currentTime: number, aheadS: number) =>
        held(new JudgeRig().get(time(currentTime, { ...summer, localTime: currentTime + aheadS }))).includes(
          'time_zone',
        );
      const both = [7200, 10_800].map((aheadS) =>
        [20_000, 60_000, 6400, 6399, 13_600, 13_601].map((at) => isRight(at, aheadS)),
      );
      expect(both).to.deep.equal([
        [false, true, true, true, true, false],
        [true, false, true, false, true, true],
      ]);
      expect(isRight(20_000, 3600)).to.equal(false);
    });

    it('groups that lead nowhere are undecided at first, and counted from the last time that they led somewhere', () => {
      const rig = new JudgeRig();
      const bare = [{ href: '/fsa/1' }];
      const leads = [...bare, { href: '/fsa/2', DERProgramListLink: { href: '/derp' } }];
      rig.list('FunctionSetAssignmentsList', bare).pass(200).list('FunctionSetAssignmentsList', leads);
      rig.pass(200).list('FunctionSetAssignmentsList', bare).pass(200).list('FunctionSetAssignmentsList', bare);
      expect(undecided(rig, 'fsa_links')).to.equal(3);
      const sinceMs = rig.findings.wall.nowMs() - 200_000;
      rig.pass(100).list('FunctionSetAssignmentsList', bare);
      expect(caseOf(rig, 'fsa_links')).to.deep.include({ sinceMs, facts: { path: '/list', forS: 300 } });
    });

    it('an EndDeviceList without foreign ones counts, an empty one and one without a certificate do not', () => {
      const own = { lFDI: lfdi.toLowerCase() };
      const counts = (items: readonly object[], over = {}) =>
        held(new JudgeRig(over).list('EndDeviceList', items)).includes('enddevice_foreign');
      expect([counts([own]), counts([]), counts([own], { ownLfdi: undefined })]).to.deep.equal([true, false, false]);
      expect(counts([own], { lfdis: new Set() })).to.equal(true);
      expect(counts([{ sFDI: 1 }])).to.equal(true);
    });

    it('an order has two items, all of them with their keys, and names both', () => {
      const order = (...starts: readonly (number | undefined)[]) =>
        new JudgeRig().list(
          'DERControlList',
          starts.map((start) => ({ interval: { start, duration: 1 }, creationTime: 1 })),
        );
      expect(held(order(1))).to.deep.equal([]);
      expect(held(order(1, undefined))).to.deep.equal([]);
      expect(held(order(1, 1, 2))).to.deep.equal(['list_order']);
      expect(caseOf(order(5, 4), 'list_order')?.facts).to.include({ item: '4 -1', ahead: '5 -1' });
      const uncreated = [{ interval: { start: 1, duration: 1 } }, { interval: { start: 0, duration: 1 } }, {}];
      expect(held(new JudgeRig().list('DERControlList', uncreated))).to.deep.equal([]);
      const unchanged = [{ lFDI: 'AA' }, { lFDI: 'BB', changedTime: 1 }];
      expect(held(new JudgeRig({ isSecure: false }).list('EndDeviceList', unchanged))).to.deep.equal([]);
      expect(held(new JudgeRig().list('DERList', [{}, {}]))).to.deep.equal([]);
    });
  });

  describe('of events', () => {
    const counts = (rig: JudgeRig, rule: string) => rig.findings.row(rig.peer, `csip.${rule}`).exercised;

    it('an event that is over is not compared any more', () => {
      const rig = new JudgeRig()
        .read(10, one(control('A', { status: 'cancelled' })))
        .read(20, one(control('A', { durationS: 9 })));
      expect(counts(rig, 'event_rewritten')).to.equal(0);
    });

    it('an event kept by an earlier version has no times to compare', () => {
      const old = { ...control('A'), written: undefined } as unknown as ListedControl;
      const rig = new JudgeRig().read(10, one(old)).read(20, one(control('A', { durationS: 9 })));
      expect(counts(rig, 'event_rewritten')).to.equal(0);
      const back = new JudgeRig().read(10, one(control('A'))).read(20, one({ ...old, durationS: 9 }));
      expect(counts(back, 'event_rewritten')).to.equal(0);
    });

    it('a start or creationTime that moves with the clock of its FSA is the same', () => {
      const moved = control('A', { startS: 100, creationS: 5, aheadS: 10 });
      const rig = new JudgeRig().read(10, one(control('A', { creationS: 5 }))).read(20, one(moved));
      expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
      expect(counts(rig, 'creation_time_moved')).to.equal(1);
      const shifted = new JudgeRig().read(10, one(control('A'))).read(20, one(control('A', { startS: 110 })));
      expect(caseOf(shifted, 'event_rewritten')?.text).to.contain('another interval');
    });

    it('a power factor is compared with its multiplier', () => {
      const valued = (value: unknown) =>
        control('A', { control: { base: { opModFixedPFInjectW: value } as object, curves: new Map() }, modes: [pf] });
      const read2 = (first: unknown, second: unknown) =>
        new JudgeRig().read(10, one(valued(first))).read(20, one(valued(second)));
      const pf95 = { displacement: 95, excitation: true, multiplier: -2 };
      const same = read2(pf95, { displacement: 950, excitation: true, multiplier: -3 });
      expect(same.findings.ids(same.peer)).to.deep.equal([]);
      for (const other of [{ ...pf95, excitation: false }, { ...pf95, displacement: 94 }, 5]) {
        const changed = read2(pf95, other);
        expect(changed.findings.ids(changed.peer)).to.deep.equal(['csip.event_rewritten']);
      }
    });

    it('nothing vanishes while the time of the server is not known, or a program of several was not read', () => {
      const rig = new JudgeRig().read(10, one(control('A')), program('Q', 2, [control('A')]));
      const { events } = rig.scene.state;
      rig.judge.programs(target, { programs: [one(), program('Q', 2, [])], events, deviceIndex: 0, nowS: null });
      rig.judge.programs(target, { programs: [one(), program('Q', 2, undefined)], events, deviceIndex: 0, nowS: 20 });
      expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
    });

    it('copies of one event differ by start, duration or modes', () => {
      const differ = (over: Partial<ListedControl>) => {
        const rig = new JudgeRig().read(10, one(control('A')), program('Q', 2, [control('A', over)]));
        return rig.findings.ids(rig.peer).includes('csip.mrid_reused');
      };
      expect([differ({}), differ({ durationS: 50 }), differ({ startS: 101 }), differ({ modes: [pf] })]).to.deep.equal([
        false,
        true,
        true,
        true,
      ]);
      expect(counts(new JudgeRig().read(10, one(control('A'))), 'mrid_reused')).to.equal(0);
    });

    it('a default control counts where a program has one', () => {
      const bare = program('P', 1, []);
      expect(counts(new JudgeRig().read(10, bare), 'default_missing')).to.equal(0);
      expect(counts(new JudgeRig().read(10, bare, one()), 'default_missing')).to.equal(1);
      const rig = new JudgeRig().read(10, program('P', 1, [control('A')]), program('Q', 1, undefined)).pass(600);
      rig.read(20, program('P', 1, [control('A')]), program('Q', 1, undefined));
      expect(rig.findings.ids(rig.peer)).to.deep.equal(['csip.default_missing']);
    });

    it('pairs: events of any category overlap those of each, and modes in part are enough', () => {
      const pair = (first: Partial<ListedControl>, second: Partial<ListedControl>) => {
        const rig = new JudgeRig().read(10, one(control('B', second), control('A', first)));
        return rig.findings.ids(rig.peer).includes('csip.overlap_undecidable');
      };
      expect(pair({ deviceCategory: 1 }, {})).to.equal(true);
      expect(pair({}, { deviceCategory: 1 })).to.equal(true);
      expect(pair({ deviceCategory: 3 }, { deviceCategory: 6 })).to.equal(true);
      expect(pair({ modes: [...maxLim, pf] }, { modes: [...maxLim, 'opModFixedW'] })).to.equal(true);
      expect(pair({ startS: 500 }, { startS: 450 })).to.equal(true);
      expect(counts(new JudgeRig().read(10, one(control('A'))), 'superseded_unmarked')).to.equal(0);
    });

    it('pairs: up to 200 live events are compared', () => {
      const many = (count: number) => {
        const events = Array.from({ length: count }, (_, at) => control(`E${at}`, { creationS: 1 }));
        const rig = new JudgeRig().read(10, one(...events));
        return counts(rig, 'overlap_undecidable') > 0;
      };
      expect([many(200), many(201)]).to.deep.equal([true, false]);
    });

    it('a gap that is none counts, with the event before it in the same program', () => {
      const next = control('B', { startS: 200 });
      expect(counts(new JudgeRig().read(10, one(control('A'), next)), 'gap_between_events')).to.equal(1);
    });
  });

  describe('of notifications', () => {
    const programs = (...mRIDs: readonly (string | undefined)[]) => mRIDs.map((mRID) => ({ mRID }));
    const followed = () => {
      const rig = new JudgeRig();
      rig.judge.subscribed(`${origin}/list`, true);
      return rig
        .list('DERProgramList', programs('A'))
        .notify('/list')
        .pass(1)
        .list('DERProgramList', programs('A'))
        .pass(61);
    };

    it('a change that was notified in time counts, once for each new item', () => {
      const rig = followed().notify('/list').pass(59).list('DERProgramList', programs('A', 'B'));
      expect(rig.findings.row(rig.peer, 'csip.notification_missing').exercised).to.equal(1);
      const same = followed().list('DERProgramList', programs('A'));
      expect(same.findings.row(same.peer, 'csip.notification_missing')).to.include({ exercised: 0, undecided: 0 });
    });

    it('lists without keys, long ones and that of EndDevices are not compared', () => {
      const many = Array.from({ length: 101 }, (_, at) => `M${at}`);
      for (const items of [programs('A', undefined), programs(...many)]) {
        const rig = followed().list('DERProgramList', items).pass(61);
        expect(rig.findings.ids(rig.peer)).to.deep.equal([]);
      }
      const whole = followed()
        .list('DERProgramList', programs(...many.slice(1)))
        .pass(61);
      expect(whole.findings.ids(whole.peer)).to.deep.equal(['csip.notification_missing']);
      const endDevices = followed().list('EndDeviceList', programs('A', 'B')).pass(61);
      expect(endDevices.findings.ids(endDevices.peer)).to.deep.equal([]);
      const unknown = followed();
      unknown.list('DERProgramList', programs('A', 'B'), { url: `${origin}/other` }).pass(61);
      expect(unknown.findings.ids(unknown.peer)).to.deep.equal([]);
    });

    it('a list that is subscribed again keeps its reading, and the end of the judge ends a wait', () => {
      const rig = followed();
      rig.judge.subscribed(`${origin}/list`, true);
      rig.judge.subscribed(`${origin}/none`, false);
      rig.list('DERProgramList', programs('A', 'B')).list('DERProgramList', programs('A', 'B', 'C'));
      expect(rig.findings.registry.pending).to.equal(1);
      rig.judge.close();
      rig.pass(61);
      expect([rig.peer.openConnections, ...rig.findings.ids(rig.peer)]).to.deep.equal([0]);
    });
  });

  describe('of links', () => {
    const counted = (rig: JudgeRig, rule: string) => rig.findings.row(rig.peer, `csip.${rule}`);
    const follow = (rig: JudgeRig, over: object, status = 404) => {
      const request = {
        method: 'GET',
        resource: 'DERProgramList',
        href: '/derp',
        base: `${origin}/fsa`,
        ...over,
      } as const;
      const inner =
        '<FunctionSetAssignments><mRID>01</mRID><DERProgramListLink href="/derp"/></FunctionSetAssignments>';
      for (let times = 0; times < 2; times += 1)
        rig
          .get(xml('FunctionSetAssignmentsList', inner, 'all="1" results="1"'), { href: '/fsa' })
          .answer(request, '', { status });
      return rig.findings.ids(rig.peer).includes('csip.link_dead');
    };

    it('410 is as 404, other statuses and methods are not, and an address of the user is no link', () => {
      expect(follow(new JudgeRig(), {}, 410)).to.equal(true);
      expect(follow(new JudgeRig(), {}, 403)).to.equal(false);
      expect(follow(new JudgeRig(), { method: 'PUT' })).to.equal(false);
      expect(follow(new JudgeRig(), { base: undefined })).to.equal(false);
      expect(follow(new JudgeRig(), { href: '/derp?s=100&l=50' })).to.equal(true);
    });

    it('a link that is refused counts, and the address of the user does not', () => {
      const refused = (request: object) => {
        const rig = new JudgeRig();
        const asked = { method: 'GET', href: 'https://other/x', deviceIndex: 0, ...request } as const;
        rig.judge.refused({ resource: 'Time', ...asked }, 'elsewhere', 'text');
        return counted(rig, 'link_elsewhere').broken;
      };
      expect([refused({}), refused({ resource: 'DeviceCapability' })]).to.deep.equal([1, 0]);
      expect(refused({ resource: 'DeviceCapability', base: `${origin}/x` })).to.equal(1);
    });

    it('links without a count, and lists without one, are not compared', () => {
      const rig = new JudgeRig();
      const link = (attributes: string) => xml('DeviceCapability', `<EndDeviceListLink ${attributes}/>`);
      const list = xml('EndDeviceList', '', 'all="2" results="0"');
      for (const attributes of ['href="/edev"', 'all="1"', 'href="http://:x" all="1"'])
        for (let times = 0; times < 2; times += 1) rig.get(link(attributes)).get(list, { href: '/edev' });
      rig.get(link('href="/edev" all="1"')).get(xml('EndDeviceList', '', 'results="0"'), { href: '/edev' });
      rig.answer({ href: '/edev' }, '', {});
      expect(counted(rig, 'list_link_all')).to.include({ exercised: 0 });
      rig.get(link('href="/edev" all="2"')).get(list, { href: '/edev?a=1&s=10&l=1' });
      expect(counted(rig, 'list_link_all')).to.include({ exercised: 0 });
      rig.get(list, { href: '/edev' }).get(list, { href: '/edev' });
      expect(counted(rig, 'list_link_all')).to.include({ exercised: 1 });
    });
  });

  describe('of capabilities', () => {
    const capability = (watts: number, modesSupported = '00000000') =>
      ({
        name: 'DERCapability',
        value: { modesSupported, rtgMaxW: { multiplier: 0, value: watts }, type: 4 },
      }) as const;
    const put = (rig: JudgeRig, body: OutgoingDocument, deviceIndex: number | null = 0, status = 204) =>
      rig.answer({ method: 'PUT', resource: body.name, body, deviceIndex }, '', { status, headers: {} });
    /** Reads an event that is new and for the device. */
    const fresh = (rig: JudgeRig, over: Partial<ListedControl>) => {
      const nowS = rig.scene.nowS + 1;
      rig.read(nowS, { ...one(), isPartial: true }).pass(60);
      const event = control(`A${nowS}`, { startS: nowS + 1000, creationS: nowS + 50, ...over });
      return rig.read(nowS + 60, { ...one(event), isPartial: true });
    };
    const exercised = (rig: JudgeRig) =>
      ['value_scale', 'mode_unsupported'].map((rule) => rig.findings.row(rig.peer, `csip.${rule}`).exercised);
    const powered = (mode: 'opModTargetW' | 'opModGenLimW', value: object): Partial<ListedControl> => ({
      control: { base: { [mode]: value }, curves: new Map() },
      modes: [mode],
    });
    const all = 'FFFFFFFF';

    it('events without powers or modes say nothing', () => {
      const rig = put(new JudgeRig(), capability(5000, all));
      fresh(rig, { control: { base: {}, curves: new Map() }, modes: [] });
      expect(exercised(rig)).to.deep.equal([0, 0]);
      fresh(rig, { modes: [pf] });
      expect(exercised(rig)).to.deep.equal([0, 1]);
      fresh(rig, powered('opModTargetW', { value: 5 }));
      fresh(rig, powered('opModTargetW', { value: 5, disabled: false }));
      fresh(rig, powered('opModTargetW', { value: 0.5 }));
      expect(exercised(rig)).to.deep.equal([2, 4]);
      fresh(put(rig, capability(0, all)), powered('opModGenLimW', { value: 5 }));
      expect(exercised(rig)).to.deep.equal([2, 4]);
    });

    it('one mode that is supported is enough', () => {
      const rig = put(new JudgeRig(), capability(5000, '00000020'));
      fresh(rig, { modes: [pf, ...maxLim] });
      expect(exercised(rig)).to.deep.equal([0, 1]);
    });

    it('other documents and refusals tell the server nothing', () => {
      const rig = put(new JudgeRig(), { ...capability(5000), name: 'DERSettings' } as unknown as OutgoingDocument);
      put(rig, capability(5000), 0, 300);
      put(rig, capability(5000), 1);
      rig.answer({ method: 'POST', resource: 'DERCapability', body: capability(5000) }, '', {
        status: 204,
        headers: {},
      });
      for (let times = 0; times < 3; times += 1) fresh(rig, { modes: [pf] });
      expect(exercised(rig)).to.deep.equal([0, 0]);
    });

    it('a document for all devices of a site is that of the site', () => {
      const rig = put(new JudgeRig(), capability(5000, all), null);
      const site = { ...target, deviceIndex: null, derCount: () => 3 };
      const seen = { events: new Map(), deviceIndex: null };
      rig.judge.programs(site, { ...seen, programs: [one()], nowS: 1000 });
      rig.pass(60);
      const event = control('A', { startS: 2000, creationS: 1050, ...powered('opModTargetW', { value: 5 }) });
      rig.judge.programs(site, { ...seen, programs: [one(event)], nowS: 1060 });
      expect(exercised(rig)).to.deep.equal([1, 1]);
    });

    it('devices of a site support what one of them does, and only what comes after the last document counts', () => {
      const rig = put(put(new JudgeRig(), capability(5000), 0), capability(5000, all), 1);
      const site = { ...target, deviceIndex: null, derCount: () => 2 };
      const seen = { events: new Map(), deviceIndex: null };
      const read2 = (nowS: number, creationS: number) => {
        rig.judge.programs(site, { ...seen, programs: [one()], nowS });
        rig.pass(60);
        if (creationS < nowS + 50) put(rig, capability(5000, all), 1);
        rig.judge.programs(site, {
          ...seen,
          programs: [one(control(`A${nowS}`, { startS: 9000, creationS }))],
          nowS: nowS + 60,
        });
      };
      read2(1000, 1050);
      expect(exercised(rig)).to.deep.equal([0, 1]);
      read2(2000, 2010);
      expect(exercised(rig)).to.deep.equal([0, 1]);
    });
  });

  it('what judges remember has room for so many entries, and the oldest gives way', () => {
    const remembered = new Remembered<number>(2);
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      remembered.set(key, value);
    expect(remembered.entries()).to.deep.equal([
      ['a', 3],
      ['c', 4],
    ]);
    expect([short('x'.repeat(120)), short('x'.repeat(121))].map(({ length }) => length)).to.deep.equal([120, 123]);
    expect([pathOf('https://host/a?b'), pathOf('/a?b')]).to.deep.equal(['/a', '/a']);
  });
});
