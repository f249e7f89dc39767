import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import { reportOn } from '../../../src/core/findings/report.ts';
import type { RuleRow } from '../../../src/core/findings/rule.ts';
import { FindingsRig, plainRule as row } from '../../support/findings.ts';

describe('findings: report', () => {
  let rig: FindingsRig;
  let peer: Peer;

  beforeEach(() => {
    rig = new FindingsRig();
    peer = rig.peer('127.0.0.2');
  });

  const report = (...more: readonly Peer[]) =>
    reportOn(rig.registry, { id: 'x', name: 'x', isNamed: true, peers: [peer, ...more] });
  const wrong = () => ({ text: 'wrong' });

  it('has the worst severity broken as its verdict', () => {
    const rules = rig.registry.rules('modbus', {
      remark: { ...row, severity: 'remark' },
      risk: { ...row, severity: 'risk' },
      violation: row,
    });
    expect(report().verdict).to.equal('clean');
    for (const [name, verdict] of [
      ['remark', 'remarks'],
      ['risk', 'risks'],
      ['violation', 'violations'],
    ] as const) {
      rules[name].broken(peer, 0, wrong);
      expect(report().verdict).to.equal(verdict);
    }
    expect(report().summary.risk).to.deep.equal({ broken: 1, held: 0, not_exercised: 0, not_observable: 0 });
  });

  it('follows a lowered severity', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    a.broken(peer, 0, wrong);
    rig.registry.ruleOf('modbus.a')!.severity = 'remark';
    expect(report()).to.include({ verdict: 'remarks' });
    expect(report().summary.remark.broken).to.equal(1);
  });

  it('is inconclusive while a core rule was never exercised, and not by others', () => {
    const rules = rig.registry.rules('modbus', { core: { ...row, core: 'reading' }, other: row });
    rules.other.exercised(peer);
    expect(report().verdict).to.equal('inconclusive');
    expect(report().coverage.coreMissing).to.deep.equal(['modbus.core']);
    rules.core.undecided(peer);
    expect(report().verdict).to.equal('inconclusive');
    rules.core.exercised(peer);
    expect(report().verdict).to.equal('clean');
  });

  it('has a broken rule as its verdict although a core rule was never exercised', () => {
    const rules = rig.registry.rules('modbus', {
      core: { ...row, core: 'reading' },
      a: { ...row, severity: 'remark' },
    });
    rules.a.broken(peer, 0, wrong);
    expect(report().verdict).to.equal('remarks');
  });

  it('misses a core rule of writers only at a peer that has written by its protocol', () => {
    rig.registry.rules('modbus', { core: { ...row, core: 'writing' } });
    const other = rig.peer('1@127.0.0.2', 'dnp3');
    other.hasWritten = true;
    expect(report(other).verdict).to.equal('clean');
    peer.hasWritten = true;
    expect(report(other).verdict).to.equal('inconclusive');
  });

  it('misses no core rule that a fault has to provoke, and none that cannot be observed', () => {
    rig.registry.rules('modbus', {
      provoked: { ...row, core: 'reading', provokedBy: ['modbus.drop'] },
      tls: { ...row, core: 'reading', needs: ['tls'] },
    });
    peer.lacking.set('tls', 'no TLS');
    expect(report().verdict).to.equal('clean');
  });

  const stateOf = (more: Partial<RuleRow>, act: (of: Peer) => void = () => undefined) => {
    const { a } = rig.registry.rules('modbus', { a: { ...row, ...more } });
    act(peer);
    expect(a).to.be.an('object');
    const { state, reason } = rig.row(peer, 'modbus.a');
    return reason === null ? state : `${state}: ${reason}`;
  };

  it('does not observe a rule of another version of the protocol', () => {
    expect(stateOf({ versions: ['2.0.1', '2.1'] }, (of) => of.facet('version', '1.6'))).to.equal(
      'not_observable: the peer speaks 1.6',
    );
    peer.facet('version', '2.1');
    expect(rig.row(peer, 'modbus.a').state).to.equal('not_exercised');
  });

  it('observes a rule of some versions before the peer has named one', () => {
    expect(stateOf({ versions: ['2.1'] })).to.equal('not_exercised');
  });

  it('does not observe a rule whose needs the peer lacks, whatever other protocols of its name have', () => {
    rig.registry.rules('modbus', { a: { ...row, needs: ['tls'] } });
    const other = rig.peer('1@127.0.0.2', 'dnp3');
    expect(report(other).rows[0]?.state).to.equal('not_exercised');
    peer.lacking.set('tls', 'no TLS');
    expect(report(other).rows[0]).to.include({ state: 'not_observable', reason: 'no TLS' });
    const secure = rig.peer('127.0.0.3');
    expect(report(secure).rows[0]?.state).to.equal('not_exercised');
  });

  it('does not observe, and does not judge, a rule that mixes clocks at another rate', () => {
    rig.isRealTime = false;
    const { a, b } = rig.registry.rules('modbus', { a: { ...row, mixesClocks: true }, b: row });
    for (const rule of [a, b]) rule.broken(peer, 0, wrong);
    expect([a.on, b.on]).to.deep.equal([false, true]);
    expect(rig.row(peer, 'modbus.a')).to.include({
      state: 'not_observable',
      reason: 'simulated time does not run at the rate 1',
    });
    expect(rig.ids(peer)).to.deep.equal(['modbus.b']);
  });

  it('does not observe a rule that is switched off, whatever it has found before', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    a.broken(peer, 0, wrong);
    rig.registry.ruleOf('modbus.a')!.isEnabled = false;
    a.broken(peer, 1, wrong);
    expect(rig.row(peer, 'modbus.a')).to.include({ state: 'not_observable', reason: 'the rule is switched off' });
    rig.registry.ruleOf('modbus.a')!.isEnabled = true;
    expect(rig.row(peer, 'modbus.a')).to.include({ state: 'broken', broken: 1 });
  });

  it('switches all rules of a judge off that has failed, with one line in the log', () => {
    const rules = rig.registry.rules('modbus', { a: row, b: row });
    const others = rig.registry.rules('dnp3', { c: row });
    rules.a.broken(peer, 0, wrong);
    rig.lines.length = 0;
    rig.registry.failed(rules, new Error('bang'));
    rig.registry.failed(rules, new Error('again'));
    expect(rig.lines).to.deep.equal(['the judge of modbus.a and 1 other rules failed and is off: bang']);
    expect([rules.a.on, others.c.on]).to.deep.equal([false, true]);
    expect(rig.row(peer, 'modbus.a')).to.include({ state: 'not_observable', reason: 'the judge failed: bang' });
    expect(rig.ids(peer)).to.deep.equal([]);
  });

  it('holds a rule only after as many occasions as its row asks for, and with no wait pending', () => {
    const { a } = rig.registry.rules('modbus', { a: { ...row, minExercised: 3 } });
    a.exercised(peer);
    a.exercised(peer);
    expect(rig.row(peer, 'modbus.a').state).to.equal('not_exercised');
    const deadline = rig.registry.waitFor({
      rule: a,
      peer,
      deviceIndex: null,
      waitMs: 1000,
      presence: 'connected',
      expired: wrong,
    });
    a.exercised(peer);
    expect(rig.row(peer, 'modbus.a').state).to.equal('undecided');
    deadline.met();
    expect(rig.row(peer, 'modbus.a')).to.include({ state: 'held', exercised: 4 });
  });

  it('has the rules of the protocols of its peers, and those of several protocols', () => {
    for (const protocol of ['modbus', 'csip', 'common'] as const) rig.registry.rules(protocol, { a: row });
    expect(report().rows.map(({ rule }) => rule.id)).to.deep.equal(['modbus.a', 'common.a']);
  });

  it('judges nothing while findings are off', () => {
    rig.isOn = false;
    expect(stateOf({}, (of) => rig.registry.rules('modbus', { a: row }).a.broken(of, 0, wrong))).to.contain(
      'not_observable',
    );
    expect(rig.registry.lastId).to.equal(0);
  });

  it('forgets counts and evidence on request, of some rules or peers, and goes on waiting', () => {
    const { a, b } = rig.registry.rules('modbus', { a: row, b: row });
    const other = rig.peer('127.0.0.3');
    for (const rule of [a, b]) for (const who of [peer, other]) rule.broken(who, 0, wrong);
    rig.registry.clear((rule, of) => rule.id === 'modbus.a' && of === peer);
    expect(rig.ids(peer)).to.deep.equal(['modbus.b']);
    expect(rig.ids(other)).to.deep.equal(['modbus.a', 'modbus.b']);
    peer.connected(0);
    rig.registry.waitFor({ rule: a, peer, deviceIndex: null, waitMs: 1000, presence: 'connected', expired: wrong });
    rig.registry.clear();
    expect([rig.ids(peer), rig.ids(other)]).to.deep.equal([[], []]);
    expect(rig.row(peer, 'modbus.a').state).to.equal('undecided');
    rig.timers.pass(1000);
    expect(rig.row(peer, 'modbus.a').state).to.equal('broken');
    expect(rig.registry.peers.valid).to.have.length(2);
    expect(rig.registry.totals.findings.get('modbus')?.violation).to.equal(5);
  });

  it('numbers cases in one series, which listeners see, and logs the first of each rule', () => {
    const { a, b } = rig.registry.rules('modbus', { a: row, b: { ...row, severity: 'risk' } });
    const seen: string[] = [];
    const end = rig.registry.onCase(({ rule, cell, one }) => seen.push(`${cell.id} ${rule.id} ${one.text}`));
    a.broken(peer, 0, wrong);
    b.broken(peer, 0, wrong);
    a.broken(peer, 1, wrong);
    end();
    a.broken(peer, 2, wrong);
    expect(seen).to.deep.equal(['1 modbus.a wrong', '2 modbus.b wrong', '3 modbus.a wrong']);
    expect(rig.registry.lastId).to.equal(4);
    expect(rig.lines).to.deep.equal([
      'modbus.a (violation) by 127.0.0.2: wrong',
      'modbus.b (risk) by 127.0.0.2: wrong',
    ]);
  });

  it('dates an absence at its deadline, with its begin', () => {
    const { a } = rig.registry.rules('modbus', { a: row });
    peer.connected(0);
    rig.registry.waitFor({ rule: a, peer, deviceIndex: 0, waitMs: 5000, presence: 'connected', expired: wrong });
    const beganMs = rig.wall.nowMs();
    rig.timers.pass(5000);
    expect(rig.row(peer, 'modbus.a').cases[0]).to.include({ wallMs: beganMs + 5000, sinceMs: beganMs });
  });

  it('registers a rule once, also for a judge that starts again', () => {
    const first = rig.registry.rules('modbus', { a: row });
    expect(rig.registry.rules('modbus', { a: row }).a).to.equal(first.a);
    expect(rig.registry.list).to.have.length(1);
  });

  it('has the parameters of its rules, and refuses others', () => {
    const { a } = rig.registry.rules('modbus', {
      a: { ...row, params: { interval_s: { default: 5, min: 1, max: 60, unit: 's', title: 'Interval' } } },
    });
    rig.registry.ruleOf('modbus.a')!.params.set('interval_s', 7);
    expect(a.param('interval_s')).to.equal(7);
    expect(() => a.param('other')).to.throw('modbus.a has no parameter other');
  });
});
