/** Reasons in this simulator why a case does not count against a peer. */
import type { ActiveFault } from '../faults/active-fault.ts';
import type { FaultRegistry } from '../faults/registry.ts';
import type { WallClock } from '../time/clock.ts';
import type { Peer } from './peer.ts';
import type { RuleRow } from './rule.ts';

/** Time after the end of a fault in which its consequences are still seen, ms. */
const afterFaultMs = 30_000;
/** Requests after the end of a fault in which its consequences are still seen, however long the peer waits with them. */
const afterFaultRequests = 2;

export interface ExcuseOptions {
  readonly faults: Pick<FaultRegistry, 'active' | 'ended' | 'onChange'>;
  readonly wall: WallClock;
  /** true: the event loop stood still just now */
  readonly hasStalled: () => boolean;
}

/** A rule at a peer, whose protocol also counts for the rules of several protocols. */
export interface JudgedRule {
  readonly peer: Peer;
  readonly row: RuleRow;
}

const nameOf = ({ protocol, facts: { kind } }: ActiveFault) => `${protocol}.${kind.kind}`;

const concerns = (fault: ActiveFault, deviceIndex: number | null) =>
  deviceIndex === null || fault.concerns(deviceIndex);

/** True if the fault can have caused what breaks the rule. */
function canExcuse(fault: ActiveFault, { peer, row: { excusedBy, provokedBy } }: JudgedRule): boolean {
  const name = nameOf(fault);
  if (excusedBy === 'none' || provokedBy?.includes(name)) return false;
  if (excusedBy?.includes(name)) return true;
  return name === 'device.reboot' || (fault.layer === 'transport' && fault.protocol === peer.identity.protocol);
}

export class Excuses {
  readonly #options: ExcuseOptions;

  /** requests of each peer at the end of a fault */
  readonly #requestsAtEnd = new WeakMap<ActiveFault, ReadonlyMap<Peer, number>>();

  /** @param peers that the consequences of a fault may concern */
  constructor(options: ExcuseOptions, peers: () => readonly Peer[]) {
    this.#options = options;
    options.faults.onChange(({ ended }) => {
      if (ended.length === 0) return;
      const requests = new Map(peers().map((peer) => [peer, peer.requests]));
      for (const fault of ended) this.#requestsAtEnd.set(fault, requests);
    });
  }

  /** Active faults that concern the device. @returns `protocol.kind` of each */
  faultsOf(deviceIndex: number | null): readonly string[] {
    const { active } = this.#options.faults;
    return [...new Set(active.filter((fault) => concerns(fault, deviceIndex)).map(nameOf))];
  }

  /** @returns reason why a case does not count; null: it counts */
  reasonFor(rule: JudgedRule, deviceIndex: number | null): string | null {
    const { faults, wall, hasStalled } = this.#options;
    const active = faults.active.find((fault) => concerns(fault, deviceIndex) && canExcuse(fault, rule));
    if (active !== undefined) return `the fault ${nameOf(active)} is active`;
    const sinceMs = wall.nowMs() - afterFaultMs;
    const ended = faults.ended.filter(({ fault }) => concerns(fault, deviceIndex) && canExcuse(fault, rule));
    const recent = ended.find(({ endedAtMs }) => endedAtMs > sinceMs);
    if (recent !== undefined) return `the fault ${nameOf(recent.fault)} ended less than ${afterFaultMs / 1000} s ago`;
    const unseen = ended.find(({ fault }) => this.#requestsSince(fault, rule.peer) <= afterFaultRequests);
    if (unseen !== undefined)
      return `the peer has sent ${afterFaultRequests} requests at most since the end of the fault ${nameOf(unseen.fault)}`;
    return rule.row.isTimed && hasStalled() ? 'this process stood still just before' : null;
  }

  #requestsSince(fault: ActiveFault, peer: Peer): number {
    return peer.requests - (this.#requestsAtEnd.get(fault)?.get(peer) ?? -Infinity);
  }
}
