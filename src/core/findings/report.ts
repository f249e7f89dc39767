/** The report on a group of peers: the state of each rule, and the verdict. */
import type { Cell, KeptCase, Instant } from './peer.ts';
import type { PeerGroup } from './peers.ts';
import type { FindingRegistry, Rule } from './registry.ts';
import { severities } from './rule.ts';
import type { Severity } from './rule.ts';
import type { Waiver } from './waivers.ts';

export const cellStates = [
  'broken',
  'held',
  'excused',
  'undecided',
  'not_exercised',
  'not_observable',
  'waived',
] as const;
export type CellState = (typeof cellStates)[number];

export const verdicts = ['violations', 'risks', 'remarks', 'inconclusive', 'clean'] as const;
export type Verdict = (typeof verdicts)[number];

/** The state of one rule at a group of peers. */
interface RuleState {
  readonly rule: Rule;
  readonly state: CellState;
  /** why it is not observable, excused or waived; null: none of these */
  readonly reason: string | null;
  readonly waiver: Waiver | null;
}

/** One rule in a report. Counts are sums over the peers of the group. */
export interface ReportRow extends RuleState {
  /** id of the last case; 0: none */
  readonly id: number;
  readonly exercised: number;
  readonly broken: number;
  readonly repeats: number;
  readonly excused: number;
  readonly undecided: number;
  readonly first: Instant | null;
  readonly last: Instant | null;
  readonly deviceIndexes: readonly number[];
  readonly hasMoreDevices: boolean;
  readonly cases: readonly KeptCase[];
}

export interface SeverityCounts {
  readonly broken: number;
  readonly held: number;
  readonly not_exercised: number;
  readonly not_observable: number;
}

/** The verdict on a group of peers, without its rules. */
export interface GroupSummary {
  readonly group: PeerGroup;
  readonly verdict: Verdict;
  readonly summary: Readonly<Record<Severity, SeverityCounts>>;
  readonly coverage: {
    readonly exercised: number;
    readonly observable: number;
    /** ids of rules of the core list that were never exercised */
    readonly coreMissing: readonly string[];
  };
}

export interface GroupReport extends GroupSummary {
  readonly rows: readonly ReportRow[];
}

const verdictOf: Readonly<Record<Severity, Verdict>> = {
  violation: 'violations',
  risk: 'risks',
  remark: 'remarks',
};

const sum = (cells: readonly Cell[], of: (cell: Cell) => number) => cells.reduce((total, cell) => total + of(cell), 0);

const instants = (cells: readonly Cell[], of: (cell: Cell) => Instant | null) =>
  cells.flatMap((cell) => of(cell) ?? []).toSorted((a, b) => a.wallMs - b.wallMs);

/** The peers of the group that speak the protocol of the rule. */
const concernedPeers = ({ rule: { protocol }, group: { peers } }: Pick<Subject, 'rule' | 'group'>) =>
  protocol === 'common' ? peers : peers.filter(({ identity }) => identity.protocol === protocol);

/** Why a rule is not judged, or its cases do not count; null: it is. */
function switchedOff({ isEnabled, failure }: Rule): string | null {
  if (!isEnabled) return 'the rule is switched off';
  return failure === null ? null : `the judge failed: ${failure}`;
}

/** Why a rule cannot be judged at these peers; null: it can. */
function obstacle(subject: Subject): string | null {
  const { rule, registry } = subject;
  const { versions } = rule.row;
  const peers = concernedPeers(subject);
  const spoken = peers.flatMap(({ facets }) => [...(facets.get('version') ?? [])]);
  if (versions !== undefined && spoken.length > 0 && !spoken.some((version) => versions.includes(version)))
    return `the peer speaks ${spoken.join(', ')}`;
  const missing = (rule.row.needs ?? []).map((need) =>
    peers.every(({ lacking }) => lacking.has(need)) ? (peers[0]?.lacking.get(need) ?? null) : null,
  );
  const reason = missing.find((text) => text !== null);
  if (typeof reason === 'string') return reason;
  return registry.judges(rule) ? null : 'simulated time does not run at the rate 1';
}

interface Subject {
  readonly rule: Rule;
  readonly registry: FindingRegistry;
  readonly group: PeerGroup;
}

function stateOf(
  subject: Subject,
  cells: readonly Cell[],
): { readonly state: CellState; readonly reason: string | null } {
  const { rule } = subject;
  const off = switchedOff(rule);
  if (off !== null) return { state: 'not_observable', reason: off };
  if (cells.some(({ broken }) => broken > 0)) return { state: 'broken', reason: null };
  const kept = sum(cells, (cell) => cell.kept);
  const isPending = cells.some(({ pending }) => pending > 0);
  if (kept >= (rule.row.minExercised ?? 1) && !isPending) return { state: 'held', reason: null };
  const excuse = cells.map(({ lastExcuse }) => lastExcuse).find((text) => text !== null);
  if (typeof excuse === 'string') return { state: 'excused', reason: excuse };
  if (isPending || cells.some(({ undecided }) => undecided > 0)) return { state: 'undecided', reason: null };
  const reason = obstacle(subject);
  return reason === null ? { state: 'not_exercised', reason } : { state: 'not_observable', reason };
}

/** A waiver of the case, if there is one for each peer that has broken the rule. */
function waiverOf({ rule, registry, group: { peers } }: Subject): Waiver | null {
  const breakers = peers.filter(({ cells }) => (cells[rule.number]?.broken ?? 0) > 0);
  const waivers = breakers.map((peer) => registry.waivers.inForce(rule.id, peer));
  return waivers.every((waiver) => waiver !== undefined) ? (waivers[0] ?? null) : null;
}

const cellsOf = ({ rule: { number }, group: { peers } }: Subject) => peers.flatMap(({ cells }) => cells[number] ?? []);

function ruleState(subject: Subject, cells: readonly Cell[]): RuleState {
  const { rule } = subject;
  const judged = stateOf(subject, cells);
  const waiver = judged.state === 'broken' ? waiverOf(subject) : null;
  return { rule, ...(waiver === null ? judged : { state: 'waived' as const, reason: waiver.reason }), waiver };
}

function rowOf(subject: Subject): ReportRow {
  const cells = cellsOf(subject);
  // excused cases are no evidence against the peers of which one has broken the rule
  const telling = cells.some(({ broken }) => broken > 0) ? cells.filter(({ broken }) => broken > 0) : cells;
  const cases = telling.flatMap((cell) => cell.cases).toSorted((a, b) => a.wallMs - b.wallMs);
  const deviceIndexes = [...new Set(telling.flatMap(({ devices }) => [...devices]))].toSorted((a, b) => a - b);
  return {
    ...ruleState(subject, cells),
    id: Math.max(0, ...cells.map(({ id }) => id)),
    exercised: sum(cells, ({ exercised }) => exercised),
    broken: sum(cells, ({ broken }) => broken),
    repeats: sum(cells, ({ repeats }) => repeats),
    excused: sum(cells, ({ excused }) => excused),
    undecided: sum(cells, ({ undecided }) => undecided),
    first: instants(telling, ({ first }) => first)[0] ?? null,
    last: instants(telling, ({ last }) => last).at(-1) ?? null,
    deviceIndexes,
    hasMoreDevices: telling.some(({ hasMoreDevices }) => hasMoreDevices),
    cases,
  };
}

const observableStates: ReadonlySet<CellState> = new Set([
  'broken',
  'held',
  'excused',
  'undecided',
  'not_exercised',
  'waived',
]);
const exercisedStates: ReadonlySet<CellState> = new Set(['broken', 'held', 'excused', 'waived']);

/** True if the absence of this rule makes a report inconclusive: provoked ones need a fault, those of writers a write. */
function isMissed({ rule, state }: RuleState, group: PeerGroup): boolean {
  const { core, provokedBy } = rule.row;
  if (core === undefined || provokedBy !== undefined) return false;
  if (core === 'writing' && !concernedPeers({ rule, group }).some(({ hasWritten }) => hasWritten)) return false;
  return state === 'not_exercised' || state === 'undecided';
}

function countsOf(states: readonly RuleState[]): GroupSummary['summary'] {
  const none = () => ({ broken: 0, held: 0, not_exercised: 0, not_observable: 0 });
  const counts = { violation: none(), risk: none(), remark: none() };
  for (const { rule, state } of states) {
    const of: Partial<Record<CellState, number>> = counts[rule.severity];
    const count = of[state];
    if (count !== undefined) of[state] = count + 1;
  }
  return counts;
}

/** The rules of all protocols that the peers speak. */
function subjectsOf(registry: FindingRegistry, group: PeerGroup): readonly Subject[] {
  const protocols = new Set<string>([...group.peers.map(({ identity }) => identity.protocol), 'common']);
  return registry.list.filter(({ protocol }) => protocols.has(protocol)).map((rule) => ({ rule, registry, group }));
}

function summarized(rows: readonly RuleState[], group: PeerGroup): GroupSummary {
  const summary = countsOf(rows);
  const coreMissing = rows.filter((row) => isMissed(row, group)).map(({ rule }) => rule.id);
  const worst = severities.find((severity) => summary[severity].broken > 0);
  return {
    group,
    verdict: worst === undefined ? (coreMissing.length > 0 ? 'inconclusive' : 'clean') : verdictOf[worst],
    summary,
    coverage: {
      exercised: rows.filter(({ state }) => exercisedStates.has(state)).length,
      observable: rows.filter(({ state }) => observableStates.has(state)).length,
      coreMissing,
    },
  };
}

/** The verdict without evidence, which costs a third of a report. */
export function summaryOn(registry: FindingRegistry, group: PeerGroup): GroupSummary {
  const states = subjectsOf(registry, group).map((subject) => ruleState(subject, cellsOf(subject)));
  return summarized(states, group);
}

export function reportOn(registry: FindingRegistry, group: PeerGroup): GroupReport {
  const rows = subjectsOf(registry, group).map(rowOf);
  return { ...summarized(rows, group), rows };
}
