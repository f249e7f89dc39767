/** Reasons in this simulator why a case does not count against a peer. */
import type { ActiveFault } from '../faults/active-fault.ts';
import type { FaultRegistry } from '../faults/registry.ts';
import type { WallClock } from '../time/clock.ts';
import type { PeerIdentity } from './identity.ts';
import type { RuleRow } from './rule.ts';

/** Time after the end of a fault in which its consequences are still seen, ms. */
const afterFaultMs = 30_000;

export interface ExcuseOptions {
  readonly faults: Pick<FaultRegistry, 'active' | 'ended'>;
  readonly wall: WallClock;
  /** true: the event loop stood still just now */
  readonly hasStalled: () => boolean;
}

/** A rule at a peer, whose protocol also counts for the rules of several protocols. */
export interface ProtocolRule {
  readonly protocol: PeerIdentity['protocol'];
  readonly row: RuleRow;
}

const nameOf = ({ protocol, facts: { kind } }: ActiveFault) => `${protocol}.${kind.kind}`;

const concerns = (fault: ActiveFault, deviceIndex: number | null) =>
  deviceIndex === null || fault.concerns(deviceIndex);

/** True if the fault can have caused what breaks the rule. */
function canExcuse(fault: ActiveFault, { protocol, row: { excusedBy, provokedBy } }: ProtocolRule): boolean {
  const name = nameOf(fault);
  if (excusedBy === 'none' || provokedBy?.includes(name)) return false;
  if (excusedBy?.includes(name)) return true;
  return name === 'device.reboot' || (fault.layer === 'transport' && fault.protocol === protocol);
}

export class Excuses {
  readonly #options: ExcuseOptions;

  constructor(options: ExcuseOptions) {
    this.#options = options;
  }

  /** Active faults that concern the device. @returns `protocol.kind` of each */
  faultsOf(deviceIndex: number | null): readonly string[] {
    const { active } = this.#options.faults;
    return [...new Set(active.filter((fault) => concerns(fault, deviceIndex)).map(nameOf))];
  }

  /** @returns reason why a case does not count; null: it counts */
  reasonFor(rule: ProtocolRule, deviceIndex: number | null): string | null {
    const { faults, wall, hasStalled } = this.#options;
    const active = faults.active.find((fault) => concerns(fault, deviceIndex) && canExcuse(fault, rule));
    if (active !== undefined) return `the fault ${nameOf(active)} is active`;
    const sinceMs = wall.nowMs() - afterFaultMs;
    const ended = faults.ended.find(
      ({ fault, endedAtMs }) => endedAtMs > sinceMs && concerns(fault, deviceIndex) && canExcuse(fault, rule),
    );
    if (ended !== undefined) return `the fault ${nameOf(ended.fault)} ended less than ${afterFaultMs / 1000} s ago`;
    return rule.row.isTimed && hasStalled() ? 'this process stood still just before' : null;
  }
}
