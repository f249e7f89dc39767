import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import { reportOn } from '../../../src/core/findings/report.ts';
import { reportsDocument } from '../../../src/evidence/findings/document.ts';
import type { ReportContext } from '../../../src/evidence/findings/document.ts';
import { formattedReport } from '../../../src/evidence/findings/formats.ts';
import { FindingsRig, plainRule as row } from '../../support/findings.ts';

const hostile = `<script>alert('1 & "2"')</script>]]>\u0000\u001b[31m`;

describe('reports on peers', () => {
  let rig: FindingsRig;
  let peer: Peer;
  const context: ReportContext = {
    version: '1.0',
    buildId: 'b',
    startedAtMs: Date.UTC(2026, 0, 1),
    nowMs: Date.UTC(2026, 0, 1, 1),
    dateMs: (t) => t / 1000,
    isKept: ({ id }) => id === 8,
    faults: ['modbus.delay'],
  };
  const document = () =>
    reportsDocument(
      rig.registry.peers.groups().map((group) => reportOn(rig.registry, group)),
      context,
    );

  beforeEach(() => {
    rig = new FindingsRig();
    peer = rig.peer(hostile);
  });

  it('have one list for each state, the worst severity first', () => {
    const rules = rig.registry.rules('modbus', {
      mild: { ...row, severity: 'remark' },
      bad: row,
      held: row,
      never: { ...row, provokedBy: ['modbus.drop'] },
      waived: row,
      pending: row,
      off: { ...row, needs: ['tls'] },
    });
    peer.lacking.set('tls', 'the peer uses no TLS');
    rules.mild.broken(peer, 0, () => ({ text: 'mild' }));
    rules.bad.broken(peer, 3, () => ({ text: 'first', message: { channel: '', id: 7 } }));
    rules.bad.broken(
      peer,
      3,
      () => ({ text: 'second', message: { channel: '', id: 8 }, facts: { registers: '1..2' }, excerpt: 'ab' }),
      'other',
    );
    rules.held.exercised(peer);
    rules.waived.broken(peer, null, () => ({ text: 'waived' }));
    rules.pending.undecided(peer);
    rig.registry.waivers.add({ rule: 'modbus.waived', peer: null, reason: 'agreed', untilMs: null });
    const [report] = document().peers;
    expect(report?.broken.map(({ rule }) => rule)).to.deep.equal(['modbus.bad', 'modbus.mild']);
    expect(report?.broken[0]).to.deep.include({
      id: 3,
      severity: 'violation',
      protocol: 'modbus',
      peer: { id: peer.id, name: hostile },
      state: 'broken',
      clause: 'Standard 1.2',
      count: 2,
      repeats: 0,
      exercised: 2,
      devices: [3],
      text: 'second',
      consequence: 'A device fails.',
    });
    expect(report?.broken[0]?.evidence.map(({ message_id: id, message_kept: isKept }) => [id, isKept])).to.deep.equal([
      [7, false],
      [8, true],
    ]);
    expect(report?.broken[0]?.evidence[1]).to.deep.include({ excerpt: 'ab', facts: { registers: '1..2' }, device: 3 });
    expect(report?.held.map(({ rule }) => rule)).to.deep.equal(['modbus.held']);
    expect(report?.waived.map(({ rule, reason }) => [rule, reason])).to.deep.equal([['modbus.waived', 'agreed']]);
    expect(report?.undecided.map(({ rule }) => rule)).to.deep.equal(['modbus.pending']);
    expect(report?.not_exercised[0]).to.deep.include({
      rule: 'modbus.never',
      situation: 'The peer does it.',
      provoked_by: ['modbus.drop'],
    });
    expect(report?.not_observable.map(({ rule, reason }) => [rule, reason])).to.deep.equal([
      ['modbus.off', 'the peer uses no TLS'],
    ]);
    expect(report?.summary.verdict).to.equal('violations');
    expect(report?.coverage).to.deep.equal({ exercised: 4, observable: 6, core_missing: [] });
  });

  it('let nothing that a peer sends become markup or control characters', () => {
    const rules = rig.registry.rules('modbus', { bad: row });
    peer.facet(hostile, hostile);
    rules.bad.broken(peer, 0, () => ({
      text: hostile,
      excerpt: hostile,
      facts: { [hostile]: hostile },
      message: { channel: hostile, id: 1 },
    }));
    const reports = document();
    for (const format of ['html', 'junit'] as const) {
      const text = formattedReport(reports, format, 'violation');
      expect(text, format)
        .to.contain('&lt;script&gt;')
        .and.not.match(/<script|\]\]>[^&]|[\u0000\u001b]/);
    }
    expect(formattedReport(reports, 'html', 'violation')).to.contain(
      'default-src &#39;none&#39;'.replaceAll('&#39;', "'"),
    );
    expect(formattedReport(reports, 'text', 'violation')).not.to.match(/[\u0000\u001b]/);
  });

  it('pass in JUnit only what was exercised and held', () => {
    const rules = rig.registry.rules('modbus', {
      bad: row,
      risk: { ...row, severity: 'risk' },
      held: row,
      never: row,
      waived: row,
      undecided: row,
      off: { ...row, needs: ['tls'] },
    });
    peer.lacking.set('tls', 'the peer uses no TLS');
    for (const rule of [rules.bad, rules.risk, rules.waived]) rule.broken(peer, 0, () => ({ text: 'wrong' }));
    rules.held.exercised(peer);
    rules.undecided.undecided(peer);
    rig.registry.waivers.add({ rule: 'modbus.waived', peer: null, reason: 'agreed', untilMs: null });
    const cases = (failOn: 'violation' | 'risk') =>
      Object.fromEntries(
        formattedReport(document(), 'junit', failOn)
          .split('\n')
          .flatMap((line) => {
            const [, name, rest] = /<testcase .* name="modbus\.(\w+)" time="0"(.*)/.exec(line) ?? [];
            return name === undefined
              ? []
              : [[name, /<(failure|skipped|system-out)/.exec(rest ?? '')?.[1] ?? 'passed']];
          }),
      ) as Record<string, string>;
    const expected = {
      bad: 'failure',
      risk: 'system-out',
      held: 'passed',
      waived: 'skipped',
      undecided: 'skipped',
      never: 'skipped',
    };
    expect(cases('violation')).to.deep.equal(expected);
    expect(cases('risk')).to.deep.equal({ ...expected, risk: 'failure' });
    expect(formattedReport(document(), 'junit', 'violation')).to.contain(
      'tests="6" failures="1" errors="0" skipped="3"',
    );
  });

  it('name in the text how to bring about what never came up', () => {
    rig.registry.rules('modbus', { never: { ...row, core: 'reading', provokedBy: ['modbus.drop', 'modbus.delay'] } });
    expect(formattedReport(document(), 'text', 'violation'))
      .to.contain('0 of 1 rule came up: 0 broken, 0 held')
      .and.contain('comes up when: The peer does it. The fault modbus.drop or modbus.delay brings it about.')
      .and.contain(`violation modbus.never (core): ${row.title}`);
  });

  it('say that no peer came', () => {
    peer.isValid = false;
    expect(formattedReport(document(), 'text', 'violation')).to.contain('No peer has sent a valid request.');
    expect(formattedReport(document(), 'html', 'violation')).to.contain('No peer has sent a valid request.');
  });
});
