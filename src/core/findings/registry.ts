/** The registry of findings: what peers did wrong, what they did right, and what never came up. */
import { Buffer } from 'node:buffer';
import { errorText } from '../errors.ts';
import type { FaultRegistry } from '../faults/registry.ts';
import { Listeners } from '../listeners.ts';
import { LimitedLog } from '../log/limited-log.ts';
import type { Logger } from '../log/log.ts';
import type { SimTime, WallClock } from '../time/clock.ts';
import type { Later } from '../time/timers.ts';
import { Deadlines } from './deadlines.ts';
import { Excuses } from './excuse.ts';
import { Cell, cutName, cutText } from './peer.ts';
import type { KeptCase, Peer } from './peer.ts';
import { PeerBook } from './peers.ts';
import { severities } from './rule.ts';
import type { FindingProtocol, PeerIdentity } from './identity.ts';
import type { Case, Deadline, Findings, RuleHandle, RuleHandles, RuleRow, RuleTable, Severity, Wait } from './rule.ts';
import { Waivers } from './waivers.ts';

export interface FindingRegistryOptions {
  readonly wall: WallClock;
  readonly sim: () => SimTime;
  readonly later: Later;
  readonly log: Logger;
  readonly faults: Pick<FaultRegistry, 'active' | 'ended' | 'onChange'>;
  /** true: simulated time runs at the rate 1 */
  readonly isRealTime: () => boolean;
  /** true: the event loop stood still just now */
  readonly hasStalled: () => boolean;
  readonly isOn: () => boolean;
  /** true: the wire log still has the message */
  readonly isKept: (message: CaseMessage) => boolean;
}

/** A rule with its settings. */
export class Rule implements RuleHandle {
  readonly id: string;
  readonly number: number;
  readonly protocol: FindingProtocol;
  readonly row: RuleRow;
  isEnabled = true;
  severity: Severity;
  /** error of its judge, which is switched off; null: none */
  failure: string | null = null;
  readonly params = new Map<string, number>();
  readonly #registry: Judged;

  constructor(id: string, number: number, protocol: FindingProtocol, row: RuleRow, registry: Judged) {
    this.id = id;
    this.number = number;
    this.protocol = protocol;
    this.row = row;
    this.severity = row.severity;
    this.#registry = registry;
    for (const [name, param] of Object.entries(row.params ?? {})) this.params.set(name, param.default);
  }

  get on(): boolean {
    return this.isEnabled && this.failure === null && this.#registry.judges(this);
  }

  param(name: string): number {
    const value = this.params.get(name);
    if (value === undefined) throw new Error(`${this.id} has no parameter ${name}`);
    return value;
  }

  exercised(peer: Peer): void {
    if (this.on) this.#registry.cellOf(peer, this).kept += 1;
  }

  broken(peer: Peer, deviceIndex: number | null, makeCase: () => Case, key = ''): void {
    if (this.on) this.#registry.broken(this, peer, deviceIndex, makeCase, key);
  }

  undecided(peer: Peer): void {
    if (this.on) this.#registry.cellOf(peer, this).undecided += 1;
  }
}

/** The registry as its rules see it. */
interface Judged {
  judges(rule: Rule): boolean;
  cellOf(peer: Peer, rule: Rule): Cell;
  broken(rule: Rule, peer: Peer, deviceIndex: number | null, makeCase: () => Case, key: string): void;
}

/** A case that has just been counted. */
export interface NewCase {
  readonly rule: Rule;
  readonly peer: Peer;
  readonly cell: Cell;
  readonly one: KeptCase;
}

const maxTextLength = 500;
const maxExcerptOctets = 512;
const maxFacts = 16;
const maxEvidenceOctets = 8 * 1024 * 1024;
const linesPerSecond = 10;
const defaultQuietS = 60;

/** Octets that a case takes beside its texts, about. */
const caseOctets = 300;

/** Text of at most 512 octets, cut between characters, or as many octets as hex. */
function excerptOf(excerpt: string | Buffer | undefined): string | null {
  if (excerpt === undefined) return null;
  if (typeof excerpt !== 'string') return excerpt.subarray(0, maxExcerptOctets).toString('hex');
  // no character takes more octets in UTF-8 than three per unit of UTF-16
  const octets = Buffer.from(excerpt.slice(0, maxExcerptOctets));
  if (octets.length <= maxExcerptOctets) return octets.toString();
  let end = maxExcerptOctets;
  while (((octets[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return octets.toString('utf8', 0, end);
}

function factsOf(facts: Case['facts'] = {}): KeptCase['facts'] {
  const entries = Object.entries(facts).slice(0, maxFacts);
  return Object.fromEntries(
    entries.map(([name, value]) => [cutName(name), typeof value === 'string' ? cutText(value, maxTextLength) : value]),
  );
}

/** A message in the wire log. */
export type CaseMessage = NonNullable<KeptCase['message']>;

/** Counters that never fall. */
interface Totals {
  readonly findings: Map<FindingProtocol, Record<Severity, number>>;
  readonly excused: Map<FindingProtocol, number>;
}

export class FindingRegistry implements Findings, Judged {
  readonly peers: PeerBook;
  readonly waivers: Waivers;
  readonly totals: Totals = { findings: new Map(), excused: new Map() };
  readonly #options: FindingRegistryOptions;
  readonly #rules = new Map<string, Rule>();
  readonly #excuses: Excuses;
  readonly #deadlines: Deadlines;
  readonly #log: LimitedLog;
  readonly #listeners: Listeners<[NewCase]>;
  #lastId = 0;
  #evidenceOctets = 0;

  constructor(options: FindingRegistryOptions) {
    const { wall, log, later } = options;
    const nowMs = () => wall.nowMs();
    this.#options = options;
    this.#log = new LimitedLog(log, wall, 'findings', later, linesPerSecond);
    this.#deadlines = new Deadlines({
      later,
      pend: (rule, peer, change) => {
        if (rule instanceof Rule) peer.cell(rule.number).pending += change;
      },
      failed: (rule, error) => {
        this.failed({ rule }, error);
      },
    });
    this.#listeners = new Listeners((error) => {
      log.error(`a listener to findings failed: ${errorText(error)}`);
    });
    this.peers = new PeerBook(nowMs, (peer) => {
      this.#release(peer);
    });
    this.#excuses = new Excuses(options, () => this.peers.valid);
    this.waivers = new Waivers(nowMs, (peer, idOrName) => this.peers.isCalled(peer, idOrName));
  }

  get on(): boolean {
    return this.#options.isOn();
  }

  /** Registered rules, in the order of registration. */
  get list(): readonly Rule[] {
    return [...this.#rules.values()];
  }

  /** Waits that were not begun, because too many were pending. */
  get dropped(): number {
    return this.#deadlines.dropped;
  }

  /** Waits that have not ended. */
  get pending(): number {
    return this.#deadlines.pending;
  }

  /** Id of the last case. */
  get lastId(): number {
    return this.#lastId;
  }

  ruleOf(id: string): Rule | undefined {
    return this.#rules.get(id);
  }

  rules<R extends RuleTable>(protocol: FindingProtocol, rows: R): RuleHandles<R> {
    return Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [name, this.#ruleFor(`${protocol}.${name}`, protocol, row)]),
    ) as unknown as RuleHandles<R>;
  }

  peer(identity: PeerIdentity): Peer {
    return this.peers.of(identity);
  }

  waitFor(wait: Wait): Deadline {
    return this.#deadlines.begin(wait);
  }

  failed(rules: RuleHandles<RuleTable>, error: unknown): void {
    const failing = Object.values(rules).filter((rule): rule is Rule => rule instanceof Rule && rule.failure === null);
    if (failing.length === 0) return;
    for (const rule of failing) rule.failure = errorText(error);
    this.#options.log.error(
      `the judge of ${failing[0]?.id} and ${failing.length - 1} other rules failed and is off: ${errorText(error)}`,
    );
  }

  /** True if the messages of the protocol still have the one of a case. */
  isKept(message: CaseMessage): boolean {
    return this.#options.isKept(message);
  }

  /** @returns function that unsubscribes */
  onCase(listener: (newCase: NewCase) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Forgets counts and evidence, of all cells or those that fit. Peers and counters of metrics stay. */
  clear(fits: (rule: Rule, peer: Peer) => boolean = () => true): void {
    for (const peer of this.peers.valid)
      for (const rule of this.#rules.values()) {
        const cell = peer.cells[rule.number];
        if (cell === undefined || !fits(rule, peer)) continue;
        this.#empty(peer, rule.number);
      }
  }

  /** Ends the waits for what a peer has to do at a device that is gone. */
  deviceRemoved(index: number): void {
    this.#deadlines.drop(({ deviceIndex }) => deviceIndex === index);
  }

  /** Ends all waits. */
  close(): void {
    this.#deadlines.drop();
    this.#log.flush();
  }

  judges(rule: Rule): boolean {
    return this.on && (!rule.row.mixesClocks || this.#options.isRealTime());
  }

  cellOf(peer: Peer, rule: Rule): Cell {
    return this.peers.listed(peer).cell(rule.number);
  }

  broken(rule: Rule, peer: Peer, deviceIndex: number | null, makeCase: () => Case, key: string): void {
    if (!peer.isValid) return;
    const { wall } = this.#options;
    const cell = this.cellOf(peer, rule);
    cell.missed += 1;
    const nowMs = wall.nowMs();
    peer.lastSeenMs = nowMs;
    const excuse = this.#excuses.reasonFor({ peer, row: rule.row }, deviceIndex);
    if (excuse === null) cell.offences += 1;
    const quietMs = (rule.row.quietS ?? defaultQuietS) * 1000;
    const caseKey = `${excuse === null ? '' : 'excused '}${deviceIndex} ${key.slice(0, maxTextLength)}`;
    if (cell.repeatsAt(caseKey, wall.monotonicMs(), quietMs)) {
      cell.repeats += 1;
      return;
    }
    const one = this.#kept(makeCase(), deviceIndex, excuse);
    this.#lastId += 1;
    cell.id = this.#lastId;
    this.#evidenceOctets += cell.keep(one);
    if (this.#evidenceOctets > maxEvidenceOctets) this.#thin();
    this.#count(rule, excuse);
    if (excuse === null && cell.broken === 1)
      this.#log.info(
        () => `${rule.id} (${rule.severity}) by ${peer.identity.address}: ${one.text}`,
        deviceIndex ?? undefined,
      );
    this.#listeners.notify({ rule, peer, cell, one });
  }

  #count({ protocol, severity }: Rule, excuse: string | null): void {
    const { findings, excused } = this.totals;
    if (excuse !== null) {
      excused.set(protocol, (excused.get(protocol) ?? 0) + 1);
      return;
    }
    const counts = findings.get(protocol) ?? { violation: 0, risk: 0, remark: 0 };
    counts[severity] += 1;
    findings.set(protocol, counts);
  }

  #kept(newCase: Case, deviceIndex: number | null, excuse: string | null): KeptCase {
    const { text, facts, message, excerpt, sinceMs } = newCase;
    const { wall, sim } = this.#options;
    const kept = {
      wallMs: wall.nowMs(),
      sim: sim(),
      text: cutText(text, maxTextLength),
      facts: factsOf(facts),
      message: message ? { channel: cutName(message.channel), id: message.id } : null,
      excerpt: excerptOf(excerpt),
      sinceMs: sinceMs ?? null,
      deviceIndex,
      faults: this.#excuses.faultsOf(deviceIndex),
      excuse,
    };
    const octets = kept.text.length + (kept.excerpt?.length ?? 0) + JSON.stringify(kept.facts).length;
    return { ...kept, size: caseOctets + octets };
  }

  #ruleFor(id: string, protocol: FindingProtocol, row: RuleRow): Rule {
    const existing = this.#rules.get(id);
    if (existing !== undefined) return existing;
    const rule = new Rule(id, this.#rules.size, protocol, row, this);
    this.#rules.set(id, rule);
    return rule;
  }

  /**
   * Drops evidence down to half of the room: first all but the first case of each cell, then these, beginning with the
   * peers that are idle longest.
   */
  #thin(): void {
    const idleFirst = this.peers.valid.toSorted((a, b) => a.lastSeenMs - b.lastSeenMs).flatMap(({ cells }) => cells);
    for (const kept of [1, 0])
      for (const cell of idleFirst) {
        if (this.#evidenceOctets <= maxEvidenceOctets / 2) return;
        this.#evidenceOctets -= cell?.thin(kept) ?? 0;
      }
  }

  #release(peer: Peer): void {
    for (const number of peer.cells.keys()) this.#empty(peer, number);
  }

  /** Forgets the counts and the evidence of a cell; its waits go on. */
  #empty(peer: Peer, ruleNumber: number): void {
    const cell = peer.cells[ruleNumber];
    if (cell === undefined) return;
    this.#evidenceOctets -= cell.thin(0);
    const fresh = new Cell();
    fresh.pending = cell.pending;
    peer.cells[ruleNumber] = cell.pending > 0 ? fresh : undefined;
  }
}

/** True if `severity` is this one or worse. */
export const isAtLeast = (severity: Severity, least: Severity) =>
  severities.indexOf(severity) <= severities.indexOf(least);
