import { expect } from 'chai';
import type { Peer } from '../../../src/core/findings/peer.ts';
import type { RuleHandle, RuleRow } from '../../../src/core/findings/rule.ts';
import { FindingsRig } from '../../support/findings.ts';
import type { Json } from '../../support/http.ts';
import { testPlant } from '../../support/plant.ts';
import { Rest } from '../../support/rest.ts';

const row = (more: Partial<RuleRow> = {}): RuleRow => ({
  severity: 'risk',
  basis: 'practice',
  clause: 'practice',
  title: 'title',
  situation: 'situation',
  proof: 'proof',
  consequence: 'consequence',
  trap: 'trap',
  ...more,
});

const table = {
  t_bad: row({ severity: 'violation', basis: 'clause', clause: 'Standard 1.2', core: 'reading' }),
  t_slow: row({ params: { interval_s: { default: 2, min: 1, max: 60, unit: 's', title: 'shortest interval' } } }),
  t_never: row({ severity: 'remark', core: 'reading' }),
};

describe('findings over REST', () => {
  let rest: Rest;
  let rig: FindingsRig;
  let rules: { readonly [K in keyof typeof table]: RuleHandle };
  let peer: Peer;

  beforeEach(async () => {
    rig = new FindingsRig();
    rules = rig.registry.rules('modbus', table);
    peer = rig.registry.peer({ protocol: 'modbus', address: '127.0.0.2' });
    peer.isValid = true;
    rest = await Rest.open(testPlant({ types: ['PV-3Phase', 'PV-3Phase'] }), { findings: rig.registry });
  });
  afterEach(() => rest.api.stop());

  const broken = (rule: RuleHandle, key: string, whose = peer, deviceIndex = 0) => {
    rule.broken(whose, deviceIndex, () => ({ text: `wrote ${key}`, facts: { point: key }, excerpt: 'x' }), key);
  };
  const ids = (reply: Json) => reply.findings.map(({ rule }: Json) => rule);

  it('lists broken rules newest first, and by filters', async () => {
    broken(rules.t_bad, 'a');
    broken(rules.t_slow, 'b');
    expect(ids(await rest.get('/findings'))).to.deep.equal(['modbus.t_slow', 'modbus.t_bad']);
    for (const [query, expected] of [
      ['severity=violation', ['modbus.t_bad']],
      ['severity=remark', ['modbus.t_slow', 'modbus.t_bad']],
      ['rule=modbus.t_slow', ['modbus.t_slow']],
      ['device=1', []],
      ['protocol=csip', []],
      ['after_id=1', ['modbus.t_slow']],
      ['after_id=2', []],
      ['limit=1', ['modbus.t_slow']],
      ['state=not_exercised', ['modbus.t_never']],
      [`peer=${peer.id}`, ['modbus.t_slow', 'modbus.t_bad']],
      [`since=${new Date(rig.wall.nowMs() + 1).toISOString()}`, []],
    ] as const)
      expect(ids(await rest.get(`/findings?${query}`)), query).to.deep.equal(expected);
    await rest.refused('/findings?peer=nobody', 404, 'unknown-resource');
  });

  it('refuses a rule that there is not, and knows those of protocols that are off', async () => {
    broken(rules.t_bad, 'a');
    const { errors } = await rest.refused('/findings?rule=modbus.t_sloww', 422, 'validation');
    expect(errors[0]).to.deep.include({ in: 'query', name: 'rule' });
    expect(ids(await rest.get('/findings?rule=dnp3.sequence'))).to.deep.equal([]);
    const cleared = await rest.call('/findings?rule=typo', { method: 'DELETE' });
    expect(cleared.status).to.equal(422);
    expect(ids(await rest.get('/findings'))).to.deep.equal(['modbus.t_bad']);
  });

  it('gives a rule a new id with each case, but not with a repetition', async () => {
    broken(rules.t_bad, 'a');
    broken(rules.t_slow, 'b');
    broken(rules.t_slow, 'b');
    broken(rules.t_bad, 'c');
    const { last_id: last, findings } = await rest.get('/findings?after_id=2');
    expect(last).to.equal(3);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.deep.include({ id: 3, rule: 'modbus.t_bad', count: 2, repeats: 0, text: 'wrote c' });
  });

  it('reports on a peer with every rule in one of the lists', async () => {
    broken(rules.t_bad, 'a');
    rules.t_slow.exercised(peer);
    const report = await rest.get(`/findings/peers/${peer.id}`);
    expect(report).to.deep.include({ name: '127.0.0.2', verdict: 'violations', named: false });
    expect(report.broken[0].evidence[0]).to.deep.include({
      text: 'wrote a',
      facts: { point: 'a' },
      message_kept: false,
      excerpt: 'x',
      device_index: 0,
    });
    expect(report.held.map(({ rule }: Json) => rule)).to.deep.equal(['modbus.t_slow']);
    expect(report.coverage.core_missing).to.deep.equal(['modbus.t_never']);
    expect(report.not_exercised.map(({ rule }: Json) => rule)).to.include('modbus.t_never');
    await rest.refused('/findings/peers/000000000000', 404, 'unknown-resource');
  });

  it('joins peers under one name, which has one report', async () => {
    const other = rig.registry.peer({ protocol: 'dnp3', address: '1@127.0.0.2' });
    other.isValid = true;
    broken(rules.t_bad, 'a');
    const match = [
      { protocol: 'modbus', address: '127.0.0.2' },
      { protocol: 'dnp3', address: '1@127.0.0.2' },
    ];
    await rest.post('/findings/peers', { name: 'Head-end A', match });
    const { peers } = await rest.get('/findings/peers');
    expect(peers).to.have.length(1);
    expect(peers[0]).to.deep.include({ name: 'Head-end A', named: true, verdict: 'violations' });
    expect(peers[0].identities.map(({ protocol }: Json) => protocol)).to.deep.equal(['modbus', 'dnp3']);
    expect((await rest.get('/findings/peers/Head-end%20A')).id).to.equal(peers[0].id);
    await rest.refused('/findings/peers', 409, 'conflict', { name: 'B', match: match[0] });
    await rest.post('/findings/peers', { name: 'Head-end A', match: [] });
    expect((await rest.get('/findings/peers')).peers).to.have.length(2);
  });

  it('counts strangers, who have no report', async () => {
    rig.registry.peer({ protocol: 'modbus', address: '10.0.0.9' });
    expect(await rest.get('/findings/peers')).to.deep.include({ strangers: 1 });
    expect((await rest.get('/findings/peers')).peers).to.have.length(1);
  });

  it('waives a finding with a reason, for one peer or all, until an end', async () => {
    broken(rules.t_bad, 'a');
    const until = new Date(rig.wall.nowMs() + 1000).toISOString();
    await rest.post('/findings/waivers', { rule: 'modbus.t_bad', peer: 'nobody', reason: 'other' }, 201);
    expect(ids(await rest.get('/findings'))).to.deep.equal(['modbus.t_bad']);
    const { waivers } = await rest.post('/findings/waivers', { rule: 'modbus.t_bad', reason: 'agreed', until }, 201);
    expect(ids(await rest.get('/findings'))).to.deep.equal([]);
    const report = await rest.get(`/findings/peers/${peer.id}`);
    expect(report.verdict).to.equal('inconclusive');
    expect(report.waived[0]).to.deep.include({ rule: 'modbus.t_bad', reason: 'agreed' });
    rig.wall.advance(1000);
    expect(ids(await rest.get('/findings'))).to.deep.equal(['modbus.t_bad']);
    const path = `/findings/waivers/${waivers[0].id}`;
    expect((await rest.call(path, { method: 'DELETE' })).status).to.equal(200);
    expect((await rest.call(path, { method: 'DELETE' })).status).to.equal(404);
    await rest.refused('/findings/waivers', 422, 'validation', { rule: 'modbus.t_bad' });
    await rest.refused('/findings/waivers', 422, 'validation', { rule: 'modbus.t_bad', reason: ' \n' });
    await rest.refused('/findings/waivers', 404, 'unknown-resource', { rule: 'modbus.none', reason: 'x' });
  });

  it('switches a rule off, lowers its severity and sets its thresholds, all or nothing', async () => {
    const path = '/findings/rules/modbus.t_slow';
    const wrong: readonly object[] = [
      { severity: 'violation' },
      { params: { none: 1 } },
      { params: { interval_s: 0.5 } },
      { params: { constructor: 1 } },
    ];
    for (const body of wrong) await rest.refused(path, 422, 'validation', { enabled: false, ...body });
    expect(rules.t_slow.on).to.equal(true);
    const reply = await rest.post(path, { severity: 'remark', params: { interval_s: 5 } });
    expect(reply).to.deep.include({ severity: 'remark', default_severity: 'risk', enabled: true });
    expect(rules.t_slow.param('interval_s')).to.equal(5);
    await rest.post(path, { severity: 'risk', enabled: false });
    broken(rules.t_slow, 'a');
    const report = await rest.get(`/findings/peers/${peer.id}`);
    expect(report.not_observable.find(({ rule }: Json) => rule === 'modbus.t_slow').reason).to.equal(
      'the rule is switched off',
    );
    await rest.refused('/findings/rules/modbus.none', 404, 'unknown-resource', {});
  });

  it('forgets findings, and not the peers', async () => {
    broken(rules.t_bad, 'a');
    broken(rules.t_slow, 'b');
    const left = await rest.call('/findings?rule=modbus.t_bad', { method: 'DELETE' });
    expect(ids(left.json)).to.deep.equal(['modbus.t_slow']);
    const none = await rest.call('/findings', { method: 'DELETE' });
    expect(ids(none.json)).to.deep.equal([]);
    expect((await rest.get('/findings/peers')).peers).to.have.length(1);
  });

  it('answers GET and refuses changes while findings are switched off', async () => {
    rig.isOn = false;
    broken(rules.t_bad, 'a');
    expect(await rest.get('/findings')).to.deep.include({ enabled: false, findings: [] });
    await rest.refused('/findings/waivers', 409, 'disabled', { rule: 'modbus.t_bad', reason: 'x' });
    expect((await rest.call('/findings', { method: 'DELETE' })).status).to.equal(409);
  });

  it('lists the catalogue with thresholds', async () => {
    const { rules: all } = await rest.get('/findings/rules');
    const slow = all.find(({ id }: Json) => id === 'modbus.t_slow');
    expect(slow).to.deep.include({ basis: 'practice', core: false, provoked_by: [] });
    expect(slow.params).to.deep.equal([
      { name: 'interval_s', value: 2, default: 2, min: 1, max: 60, unit: 's', title: 'shortest interval' },
    ]);
  });
  it('gives the report as JSON in the form of REST, as JUnit XML, text, and a page without scripts', async () => {
    broken(rules.t_bad, '<script>');
    const path = `/findings/peers/${peer.id}/report`;
    const json = await rest.get(path);
    expect(json.peers).to.deep.equal([await rest.get(`/findings/peers/${peer.id}`)]);
    const page = await rest.call(`${path}?format=html`);
    expect(page.headers['content-type']).to.equal('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).to.include("default-src 'none'");
    expect(page.text).not.to.include('<script');
    expect(page.text).to.include('wrote &lt;script&gt;');
    const junit = await rest.call(`${path}?format=junit&fail_on=risk`);
    expect(junit.headers['content-type']).to.equal('application/xml');
    expect(junit.text.match(/<failure/g)).to.have.length(1);
    const { text } = await rest.call(`${path}?format=text`);
    expect(text).to.include('wrote <script>');
    await rest.refused('/findings/peers/nobody/report', 404, 'unknown-resource');
    expect((await rest.call(`${path}?format=pdf`)).status).to.equal(422);
  });
});
