/** Rules by which the other side of a protocol is judged: rows of a catalogue, and what a judge does with one of them. */
import type { Buffer } from 'node:buffer';
import type { FindingProtocol, PeerIdentity, RuleNeed } from './identity.ts';
import type { Peer } from './peer.ts';

/** From worst to mildest. */
export const severities = ['violation', 'risk', 'remark'] as const;
/**
 * `violation`: a clause or schema of the standard forbids it; `risk`: devices in the field fail because of it;
 * `remark`: a habit worth knowing.
 */
export type Severity = (typeof severities)[number];

/** Basis of a rule: a clause of the standard, its schema, or reports of devices in the field. */
export const ruleBases = ['clause', 'schema', 'practice'] as const;
export type RuleBasis = (typeof ruleBases)[number];

/** A threshold of a rule. */
export interface RuleParam {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  /** `s`, `%`; null: a count */
  readonly unit: string | null;
  readonly title: string;
}

/** A row of the catalogue. The texts are one plain sentence each. */
export interface RuleRow {
  /** severity at most; a request may lower it */
  readonly severity: Severity;
  readonly basis: RuleBasis;
  /** clause of the standard, or the source of the practice */
  readonly clause: string;
  /** versions of the protocol that have the rule; absent: all */
  readonly versions?: readonly string[];
  /**
   * A rule of the core list: a peer without findings is clean only after it was exercised. `writing`: only for a peer
   * that has written. Absent: not in the list
   */
  readonly core?: 'reading' | 'writing';
  readonly title: string;
  /** circumstances in which the rule can be broken, and so how to bring it about */
  readonly situation: string;
  /** the behaviour that breaks it */
  readonly proof: string;
  /** behaviour that a device in the field may then show */
  readonly consequence: string;
  /** the similar behaviour that is right, which the judge leaves alone */
  readonly trap: string;
  readonly needs?: readonly RuleNeed[];
  /** it compares wall time with simulated time, and is judged at the rate 1 only; default: false */
  readonly mixesClocks?: true;
  /** it is about time: a stall of this process excuses it; default: false */
  readonly isTimed?: true;
  /**
   * Faults (`protocol.kind`) that excuse a case, beside transport faults of the protocol and `device.reboot`; `none`:
   * no fault does
   */
  readonly excusedBy?: readonly string[] | 'none';
  /** faults (`protocol.kind`) that bring the situation about, and do not excuse the case */
  readonly provokedBy?: readonly string[];
  /** time within which the same case counts as a repetition, s; default 60 */
  readonly quietS?: number;
  /** occasions without a case after which the rule is held; default 1 */
  readonly minExercised?: number;
  readonly params?: Readonly<Record<string, RuleParam>>;
}

/** The rows of one protocol by the second part of their ids. */
export type RuleTable = Readonly<Record<string, RuleRow>>;

/** A case that breaks a rule, with its evidence, from a message that has passed redaction. */
export interface Case {
  /** one sentence, cut at 500 characters */
  readonly text: string;
  /** computed values, at most 16 */
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>;
  /**
   * the message in the wire log; `channel` is the protocol of the channel, with its key if it has one: `modbus`,
   * `ocpp/CP-1`. Absent or null: the log is off, or there is none
   */
  readonly message?: { readonly channel: string; readonly id: number } | null;
  /** text, or octets that are shown as hex; cut at 512 octets */
  readonly excerpt?: string | Buffer;
  /** begin of an absence, ms since the epoch */
  readonly sinceMs?: number;
}

/** A rule in the hands of a judge. */
export interface RuleHandle {
  /** false: switched off, or not to be judged now */
  readonly on: boolean;
  readonly row: RuleRow;
  /** @throws Error if the row has no such parameter */
  param(name: string): number;
  /** Counts an occasion at which the rule could have been broken. */
  exercised(peer: Peer): void;
  /**
   * Counts an occasion at which it was broken.
   * @param deviceIndex null: none, or several
   * @param makeCase called only if the case is kept
   * @param key tells cases of one device apart: a repetition has the same key
   */
  broken(peer: Peer, deviceIndex: number | null, makeCase: () => Case, key?: string): void;
  /** Counts an occasion that could not be judged. */
  undecided(peer: Peer): void;
}

/** The rules of a judge by the second part of their ids, so that a misspelt id does not compile. */
export type RuleHandles<R extends RuleTable> = { readonly [K in keyof R]: RuleHandle };

/**
 * How a peer must be there for the whole of a wait: `connected` without an interruption, or `active` with a request in
 * the later half of it (protocols that poll over short connections).
 */
export type Presence = 'connected' | 'active';

export interface Wait {
  readonly rule: RuleHandle;
  readonly peer: Peer;
  readonly deviceIndex: number | null;
  readonly waitMs: number;
  readonly presence: Presence;
  /** The case if nothing ends the wait. */
  readonly expired: () => Case;
  readonly key?: string;
  /** false at the end of the wait: what was to be done is needless by now. Absent: it is not */
  readonly isDue?: () => boolean;
}

/** Something that a peer has to do in time. */
export interface Deadline {
  /** false: it was met or dropped, or the time is over */
  readonly isPending: boolean;
  /** It was done: the rule counts as exercised. */
  met(): void;
  /** It is not to be judged: the situation has changed. */
  drop(): void;
}

/** The registry of findings as judges see it. */
export interface Findings {
  /** false: nothing is judged, and judges need not look */
  readonly on: boolean;
  /** Registers the rules of a judge. */
  rules<R extends RuleTable>(protocol: FindingProtocol, rows: R): RuleHandles<R>;
  /** The peer with this identity, which a connection keeps. */
  peer(identity: PeerIdentity): Peer;
  /** Waits for something that a peer has to do; the case is dated at the end of the wait. */
  waitFor(wait: Wait): Deadline;
  /** Switches off the rules of a judge that has thrown. */
  failed(rules: RuleHandles<RuleTable>, error: unknown): void;
}
