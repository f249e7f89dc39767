import { expect } from 'chai';
import { createFindings } from '../../../src/ocpp/rpc/messages.ts';

describe('findings of a station', () => {
  const rule = (text: string) =>
    ({ kind: 'rule', action: 'Reset', messageId: '1', clause: 'OCPP-J 1.6 4.1.4', text }) as const;

  it('newest first, with ids and instants', () => {
    let nowMs = 1000;
    const findings = createFindings(() => nowMs);
    findings.add(rule('first'));
    nowMs = 2000;
    findings.add({ kind: 'schema', action: null, messageId: null, clause: 'OCPP-J 1.6 4.2', text: 'second' });
    expect(findings.list).to.deep.equal([
      { id: 2, atMs: 2000, kind: 'schema', action: null, messageId: null, clause: 'OCPP-J 1.6 4.2', text: 'second' },
      { id: 1, atMs: 1000, ...rule('first') },
    ]);
    expect(findings.counts).to.deep.equal({ schema: 1, rule: 1 });
  });

  it('keeps the newest 200 and counts all; clearing leaves counts and goes on with the ids', () => {
    const findings = createFindings(() => 0);
    for (let n = 1; n <= 250; n += 1) findings.add(rule(String(n)));
    expect(findings.list).to.have.length(200);
    expect(findings.list[0]?.text).to.equal('250');
    findings.clear();
    expect(findings.list).to.deep.equal([]);
    findings.add(rule('again'));
    expect(findings.list.map(({ id }) => id)).to.deep.equal([251]);
    expect(findings.counts).to.deep.equal({ schema: 0, rule: 251 });
  });

  it('repeats words of the peer only in part', () => {
    const findings = createFindings(() => 0);
    findings.add({ ...rule('t'.repeat(10_000)), action: 'A'.repeat(10_000), messageId: 'i'.repeat(10_000) });
    expect(JSON.stringify(findings.list).length).to.be.lessThan(900);
  });
});
