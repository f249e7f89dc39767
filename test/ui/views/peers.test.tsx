import { expect } from 'chai';
import { PeersView } from '../../../src/ui/views/compare/report-cards/peers';
import { pass } from '../support/clock.ts';
import { Daemon, refusal } from '../support/daemon.ts';
import type { Json } from '../support/description.ts';
import { address, all, button, leave, one, press, show, textOf, type } from '../support/page.tsx';
import { answerForSite } from '../support/site.ts';
import { accept, startPage } from '../support/stream.ts';

const id = '8e0d71c4a652';
const reportPath = `findings/peers/${id}`;

describe('peers', () => {
  let daemon: Daemon;
  let questions: string[] = [];
  let confirms = true;

  before(startPage);
  beforeEach(async () => {
    await accept();
    daemon = new Daemon();
    answerForSite(daemon);
    questions = [];
    confirms = true;
    globalThis.confirm = (question) => {
      questions.push(question ?? '');
      return confirms;
    };
    await address('#/compare/report-cards');
  });
  afterEach(async () => {
    await leave();
    await pass(3000);
  });

  const hrefs = (selector: string) => all(`${selector} a`).map((link) => link.getAttribute('href'));
  const headings = () => all('section.panel h2').map((each) => each.textContent);
  const bodies = (name: string) => daemon.to(name).map(({ body }) => body);

  describe('list', () => {
    const shown = (members: object) => {
      daemon.on('GET findings/peers', () => ({ ...daemon.exampleOf('GET', 'findings/peers'), ...members }));
      return show(<PeersView />);
    };

    it('shows name, verdict, counts, coverage and identity of each peer', async () => {
      await show(<PeersView />);
      expect(all('table[aria-label=Peers] tbody td').map((cell) => cell.textContent)).to.deep.equal([
        'Head-end A',
        'violations',
        '1',
        '0',
        '0',
        '4 of 5',
        'Modbus',
        '127.0.0.2',
        '1',
        'unit 1',
      ]);
      expect(hrefs('table[aria-label=Peers] tbody')).to.deep.equal([`#/compare/report-cards/${id}`]);
      expect(textOf()).to.include('Without a report: addresses that have sent no valid request: 2.');
    });

    it('says how to get a peer where there is none, and counts those that have no report', async () => {
      await shown({ peers: [], strangers: 0, forgotten: 3 });
      expect(hrefs('.empty')).to.deep.equal(['modbus', 'dnp3', 'csip', 'ocpp'].map((name) => `#/protocols/${name}`));
      expect(textOf()).to.include('Without a report: peers that gave their place to others: 3.');
      expect(all('button').map((each) => each.textContent)).not.to.include('Clear all');
    });

    it('says that nothing is judged, and shows no list', async () => {
      await shown({ enabled: false, peers: [] });
      expect(textOf()).to.include('--findings yes');
      expect(headings()).to.deep.equal(['Waivers']);
    });

    it('lists waivers with the name of their peer, and deletes one', async () => {
      const waiver = { id: 4, rule: 'modbus.poll_fast', peer: id, reason: 'a test bench', until: null };
      daemon.on('GET findings/waivers', () => ({ waivers: [waiver, { ...waiver, id: 5, peer: null }] }));
      await show(<PeersView />);
      expect(all('table[aria-label=Waivers] td:nth-child(2)').map((cell) => cell.textContent)).to.deep.equal([
        'Head-end A',
        'all peers',
      ]);
      await press('Delete waiver 5');
      expect(daemon.to('DELETE findings/waivers/5')).to.have.length(1);
    });

    it('clears the findings on all peers when the question is confirmed', async () => {
      await show(<PeersView />);
      confirms = false;
      await press('Clear all');
      expect(daemon.to('DELETE findings')).to.have.length(0);
      confirms = true;
      await press('Clear all');
      expect(daemon.to('DELETE findings').map(({ query }) => query)).to.deep.equal([{}]);
    });
  });

  describe('report', () => {
    let report: Json;

    beforeEach(async () => {
      report = structuredClone(daemon.exampleOf('GET', reportPath));
      daemon.on(`GET ${reportPath}`, () => report);
      await address(`#/compare/report-cards/${id}`);
    });

    it('has the rules of each state, with the broken ones first', async () => {
      await show(<PeersView />);
      expect(textOf('.title h2')).to.equal('Head-end A');
      expect(textOf()).to.include('4 of 5 checks came up.');
      expect(headings()).to.deep.equal([
        'Report',
        'Broken (1)',
        'Not exercised (1)',
        'Waived (1)',
        'Excused (1)',
        'Not observable (1)',
        'Held (1)',
        'Name',
      ]);
      const broken = textOf('[data-test="modbus.write_part_of_point"]');
      for (const part of [
        'violation',
        'Writes end inside a point',
        'SunSpec Device Information Model Specification 1.1, 6.3',
        '1 of 44, repetitions: 3',
        'First2026-03-01 09:31:12 UTC',
        'Last2026-03-01 09:31:12 UTC',
        'A device that takes it sets a time of 0 or of days',
        'wrote 1 of 2 registers',
        '40314..40314',
      ])
        expect(broken).to.include(part);
      expect(textOf('[data-test="modbus.quantity_illegal"]')).to.equal('violationQuantities of registers are legal');
      expect(textOf('[data-test="modbus.role_insufficient"]')).to.include('the connection has no TLS.');
      expect(textOf('[data-test="modbus.stale_map"]')).to.include('the fault modbus.base was active');
    });

    it('says how to bring about what never came up, and marks what a clean verdict lacks', async () => {
      const rule = '[data-test="modbus.retry_hasty"]';
      await show(<PeersView />);
      expect(textOf(rule)).to.include('An answer is withheld or late.');
      expect(hrefs(rule)).to.deep.equal(['#/inputs/faults?fault=modbus.delay', '#/inputs/faults?fault=modbus.drop']);
      expect(textOf(rule)).not.to.include('core check');
      report.coverage.core_missing = ['modbus.retry_hasty'];
      report.not_exercised[0].undecided = 2;
      await pass(2500);
      expect(textOf(rule)).to.include('core check').and.to.include('Could not be judged to the end: 2.');
    });

    for (const [channel, deviceIndex, href] of [
      ['modbus', 1, '#/protocols/modbus/messages?device=1&modbus-message=812'],
      ['csip', 2, '#/protocols/csip/messages?device=2&csip-message=812'],
      ['dnp3', null, '#/protocols/dnp3/messages?dnp3-message=812'],
      ['ocpp/CP/1', 0, '#/protocols/ocpp/messages?station=CP%2F1&ocpp-message=812'],
    ] as const)
      it(`leads from evidence to its message: ${channel}`, async () => {
        Object.assign(report.broken[0].evidence[0], { channel, device_index: deviceIndex });
        await show(<PeersView />);
        expect(hrefs('[data-test="modbus.write_part_of_point"] details')).to.deep.equal([href]);
      });

    it('leads nowhere from a message that is no longer kept', async () => {
      report.broken[0].evidence[0].message_kept = false;
      await show(<PeersView />);
      expect(textOf('[data-test="modbus.write_part_of_point"] details')).to.include('812, no longer kept');
      expect(hrefs('[data-test="modbus.write_part_of_point"] details')).to.deep.equal([]);
    });

    it('shows markup from a peer as text', async () => {
      const markup = '<img src=x onerror=alert(1)>';
      report.name = markup;
      report.identities[0].facets = [{ name: 'software', values: [markup] }];
      Object.assign(report.broken[0], { text: markup });
      Object.assign(report.broken[0].evidence[0], { text: markup, excerpt: markup, facts: { [markup]: markup } });
      await show(<PeersView />);
      expect(all('img')).to.deep.equal([]);
      expect(textOf().split(markup)).to.have.length.at.least(7);
    });

    it('waives a rule for this peer or for all, with a reason that outlasts new answers', async () => {
      await show(<PeersView />);
      expect(button('Waive').disabled).to.equal(true);
      await type('reason', 'known');
      await pass(5000);
      expect(one('[name=reason]').value).to.equal('known');
      await press('Waive');
      await type('whose', 'all');
      await press('Waive');
      const rule = 'modbus.write_part_of_point';
      report.named = false;
      await pass(2500);
      await type('whose', 'this');
      await press('Waive');
      expect(bodies('POST findings/waivers')).to.deep.equal([
        { rule, peer: 'Head-end A', reason: 'known' },
        { rule, reason: 'known' },
        { rule, peer: id, reason: 'known' },
      ]);
    });

    it('waives for a time: a date alone is its first moment in UTC', async () => {
      await show(<PeersView />);
      await type('reason', 'known');
      await type('until', '2027-01-01');
      await press('Waive');
      await type('until', '2027-01-01T08:30:00+01:00');
      await press('Waive');
      expect(bodies('POST findings/waivers').map(({ until }) => until)).to.deep.equal([
        '2027-01-01T00:00:00Z',
        '2027-01-01T08:30:00+01:00',
      ]);
    });

    it('shows the messages around a finding as a sequence, with the rule at its place', async () => {
      Object.assign(report.broken[0].evidence[0], { channel: 'ocpp/CP-1', message_id: 12, device_index: 0 });
      const call = { timestamp: '2026-06-21T12:00:00.000Z', type: 'call', payload: {}, truncated: false };
      const messages = [
        { ...call, id: 11, direction: 'out', action: 'Heartbeat', duration_ms: null, message_id: 'a' },
        { ...call, id: 12, direction: 'in', type: 'result', action: 'Heartbeat', duration_ms: 31200, message_id: 'a' },
        { ...call, id: 40, direction: 'out', action: 'StatusNotification', duration_ms: null, message_id: 'b' },
      ];
      daemon.on('GET ocpp/CP-1/messages', ({ query }) => ({
        messages: messages.filter(({ id }) => id <= Number(query['to_id'] ?? Infinity)),
      }));
      await show(<PeersView />);
      await press('Messages of Writes end inside a point');
      expect(daemon.to('GET ocpp/CP-1/messages')[0]?.query).to.include({ after_id: '5', to_id: '18' });
      expect(all('.sequence .arrow').map((each) => each.textContent)).to.deep.equal([
        '12:00:00CP-1 to Central system: Heartbeat',
        '12:00:00Central system to CP-1: Heartbeat answered, 31.2\u00a0s',
      ]);
      expect(textOf('.sequence .broken')).to.include('wrote 1 of 2 registers');
      expect(all('.arrow.bad')).to.have.length(1);
    });

    it('has the four figures of the report card', async () => {
      report.summary.risk.broken = 2;
      report.summary.remark.broken = 3;
      report.summary.risk.held = 4;
      await show(<PeersView />);
      expect(all('.figures li').map((each) => each.textContent)).to.deep.equal([
        '5 rules kept',
        '1 broken',
        '5 to look at',
        '1 not exercised',
      ]);
    });

    it('shows at its field that a reason is missing', async () => {
      const issue = { in: 'body', name: '/reason', detail: 'must not be empty' };
      daemon.on('POST findings/waivers', () => refusal(422, 'reason: must not be empty', [issue]));
      await show(<PeersView />);
      await type('whose', 'all');
      await press('Waive');
      expect(textOf('label:has([name=reason]) .issue')).to.equal('must not be empty');
    });

    it('deletes the waivers that act here, and offers no others', async () => {
      const waiver = { rule: 'modbus.write_read_only', reason: 'known', until: null };
      daemon.on('GET findings/waivers', () => ({
        waivers: [
          { ...waiver, id: 1, peer: null },
          { ...waiver, id: 2, peer: 'Head-end A' },
          { ...waiver, id: 3, peer: id },
          { ...waiver, id: 4, peer: 'Head-end B' },
          { ...waiver, id: 5, peer: null, rule: 'modbus.poll_fast' },
        ],
      }));
      await show(<PeersView />);
      expect(all('[data-test="modbus.write_read_only"] button').map((each) => each.textContent)).to.deep.equal(
        [1, 2, 3].map((number) => `Delete waiver ${number}`),
      );
      await press('Delete waiver 2');
      expect(daemon.to('DELETE findings/waivers/2')).to.have.length(1);
    });

    it('clears the findings on this peer when the question is confirmed, and only then', async () => {
      await show(<PeersView />);
      confirms = false;
      await press('Clear');
      expect(questions[0]).to.include('Head-end A');
      expect(daemon.to('DELETE findings')).to.deep.equal([]);
      confirms = true;
      await press('Clear');
      expect(daemon.to('DELETE findings').map(({ query }) => query)).to.deep.equal([{ peer: id }]);
    });

    it('names a peer, and joins it with another, of any certificate or of the one that it has', async () => {
      const other = {
        ...structuredClone(daemon.exampleOf('GET', 'findings/peers').peers[0]),
        id: 'ffffffffffff',
        name: '1@127.0.0.2',
        identities: [
          { ...report.identities[0], id: 'ffffffffffff', protocol: 'dnp3', address: '1@127.0.0.2', certificate: 'ab' },
        ],
      };
      daemon.on('GET findings/peers', () => ({ ...daemon.exampleOf('GET', 'findings/peers'), peers: [report, other] }));
      report.named = false;
      await show(<PeersView />);
      expect(all('[name=other] option').map((each) => each.textContent)).to.deep.equal(['', '1@127.0.0.2']);
      await type('name', 'Utility');
      await press('Name');
      report.named = true;
      await pass(2500);
      expect(all('[name=name]')).to.deep.equal([]);
      await type('other', 'ffffffffffff');
      await press('Join');
      await press('Remove the name');
      const match = [{ protocol: 'modbus', address: '127.0.0.2' }];
      expect(bodies('POST findings/peers')).to.deep.equal([
        { name: 'Utility', match },
        { name: 'Head-end A', match: [...match, { protocol: 'dnp3', address: '1@127.0.0.2', certificate: 'ab' }] },
        { name: 'Head-end A', match: [] },
      ]);
    });

    it('leads to the report as a document', async () => {
      await show(<PeersView />);
      expect(hrefs('[aria-label=Documents]')).to.deep.equal(
        ['html', 'junit', 'json', 'text'].map((format) => `/api/sim/${reportPath}/report?format=${format}`),
      );
    });

    it('says that there is no such peer', async () => {
      daemon.on(`GET ${reportPath}`, () => refusal(404, 'there is no peer "8e0d71c4a652"'));
      await show(<PeersView />);
      expect(textOf('[role=alert]')).to.equal('there is no peer "8e0d71c4a652"');
      expect(hrefs('.title')).to.deep.equal(['#/compare/report-cards']);
    });
  });
});
