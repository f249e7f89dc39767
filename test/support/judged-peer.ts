/** A peer with rules in several states: judges of tests, which leave those of the product alone. */
import type { Findings, RuleRow } from '../../src/core/findings/rule.ts';
import type { Peer } from '../../src/core/findings/peer.ts';

/** SHA-256 of the identity, as in `findings/peers`. */
export const judgedPeerId = '5585754e4416';

const longWord = 'x'.repeat(300);

const row = (title: string, more: Partial<RuleRow> = {}): RuleRow => ({
  severity: 'risk',
  basis: 'practice',
  clause: 'practice',
  title,
  situation: `Situation of: ${title}.`,
  proof: 'proof',
  consequence: `A device may do something about it: ${longWord}`,
  trap: 'trap',
  ...more,
});

const table = {
  t_write: row('Writes end inside a point', { severity: 'violation', basis: 'clause', clause: 'Standard 1.2, 6.3' }),
  t_slow: row('Polls are fast'),
  t_kept: row('Frames are whole'),
  t_retry: row('Repetitions wait', { provokedBy: ['modbus.delay'], core: 'reading' }),
  t_role: row('Roles are enough', { needs: ['tls'] }),
};

/** @param message of the violation in the wire log; null: none */
export function judgePeer(findings: Findings, message: { readonly channel: string; readonly id: number } | null): Peer {
  const peer = findings.peer({ protocol: 'modbus', address: '127.0.0.2' });
  const rules = findings.rules('modbus', table);
  peer.isValid = true;
  peer.facet('software', `<b>${longWord}</b>`);
  peer.lacking.set('tls', 'the connection has no TLS');
  rules.t_kept.exercised(peer);
  rules.t_slow.broken(peer, null, () => ({ text: `every 10 ms: ${longWord}` }));
  rules.t_write.broken(peer, 0, () => ({
    text: 'wrote half of <b>704.WMaxLimPct</b>',
    facts: { point: '704.WMaxLimPct' },
    excerpt: longWord,
    message,
  }));
  return peer;
}
