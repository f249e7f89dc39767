/** Judges of one station's central system share what they know of the connection, and where they put what they find. */
import type { Findings, RuleHandles } from '../../core/findings/rule.ts';
import type { Peer } from '../../core/findings/peer.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { OcppRule, ocppRules } from '../../finding-rules/ocpp.ts';

export type OcppRules = RuleHandles<typeof ocppRules>;

/** A case before it has its evidence. */
export interface Found {
  readonly rule: OcppRule;
  readonly text: string;
  /** of the call, also for its answer; null: unknown */
  readonly action: string | null;
  readonly messageId: string | null;
  /** requirement that is broken; absent: that of the rule */
  readonly clause?: string;
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

export interface JudgeContext {
  readonly findings: Findings;
  readonly rules: OcppRules;
  readonly wall: WallClock;
  /** charge point id */
  readonly station: string;
  readonly deviceIndex: number;
  /** version in the words of the catalogue: 1.6, 2.0.1, 2.1 */
  readonly version: string | null;
  /** null: there is no connection */
  readonly peer: Peer | null;
  broken(found: Found): void;
  kept(rule: OcppRule): void;
  undecided(rule: OcppRule): void;
}
