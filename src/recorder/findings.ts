/** Findings about peers as messages of a channel, so that a recording has them between those that prove them. */
import type { Peer } from '../core/findings/peer.ts';
import type { FindingRegistry, NewCase } from '../core/findings/registry.ts';
import type { CellState } from '../core/findings/report.ts';
import type { WireLog, WireMessage } from '../core/wire/wire-log.ts';

type Registry = Pick<FindingRegistry, 'onCase' | 'waivers'>;
type CaseFacts = Readonly<Record<string, unknown>>;

const isoOrNull = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

/** State of the rule by this case alone, and the reason why it does not count; null: it counts. */
function stateOf(ruleId: string, peer: Peer, excuse: string | null, { waivers }: Registry) {
  const waiver = waivers.inForce(ruleId, peer);
  const state: CellState = excuse !== null ? 'excused' : waiver === undefined ? 'broken' : 'waived';
  return { state, reason: excuse ?? waiver?.reason ?? null };
}

/** The excerpt is left out: the message beside it is in the recording, without its secrets. */
function messageOf({ rule, peer, cell, one }: NewCase, registry: Registry): WireMessage<CaseFacts, string> {
  return {
    direction: 'in',
    peer: peer.identity.address,
    deviceIndex: one.deviceIndex,
    kind: 'finding',
    summary: one.text,
    raw: '',
    facts: {
      case_id: cell.id,
      rule: rule.id,
      severity: rule.severity,
      peer_id: peer.id,
      ...stateOf(rule.id, peer, one.excuse, registry),
      channel: one.message?.channel ?? null,
      message_id: one.message?.id ?? null,
      since: isoOrNull(one.sinceMs),
      facts: one.facts,
      faults: one.faults,
    },
  };
}

/** Passes each new case to the channel while it is listened to. */
export function channelFindings(wireLog: WireLog, registry: Registry): void {
  const channel = wireLog.channel<CaseFacts, null, string>({
    protocol: 'findings',
    key: '',
    entries: 1,
    bytes: 0,
    decode: () => null,
    report: ({ facts }) => facts,
    text: true,
  });
  registry.onCase((newCase) => {
    if (channel.active) channel.push(messageOf(newCase, registry));
  });
}
