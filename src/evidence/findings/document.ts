/** The content of reports on peers, in the order in which people read it. */
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { Instant, KeptCase, Peer } from '../../core/findings/peer.ts';
import type { PeerGroup } from '../../core/findings/peers.ts';
import type { CellState, GroupReport, ReportRow } from '../../core/findings/report.ts';
import { severities } from '../../core/findings/rule.ts';
import type { SimTime } from '../../core/time/clock.ts';

/** Names of the faults of a process, active and ended: `protocol.kind`. */
export function faultNames({ active, ended }: Pick<FaultRegistry, 'active' | 'ended'>): readonly string[] {
  const all = [...active, ...ended.map(({ fault }) => fault)];
  return [...new Set(all.map(({ protocol, facts: { kind } }) => `${protocol}.${kind.kind}`))].toSorted();
}

/** The simulator around the reports. */
export interface ReportContext {
  readonly version: string;
  readonly buildId: string;
  /** wall time, ms since the epoch */
  readonly startedAtMs: number;
  /** wall time of the report, ms since the epoch */
  readonly nowMs: number;
  /** simulated date, ms since the epoch */
  readonly dateMs: (t: SimTime) => number;
  /** true if the wire log still has the message of a case */
  readonly isKept: (message: NonNullable<KeptCase['message']>) => boolean;
  /** faults of this process, `protocol.kind` */
  readonly faults: readonly string[];
  /** name of the scenario whose run the reports are about; absent: none */
  readonly scenario?: string;
}

const iso = (ms: number) => new Date(ms).toISOString();
const isoOf = (instant: Instant | null) => instant && iso(instant.wallMs);

function evidenceJson(one: KeptCase, { dateMs, isKept }: ReportContext) {
  const { wallMs, sim, text, facts, message, excerpt, sinceMs, deviceIndex, faults, excuse } = one;
  return {
    at: iso(wallMs),
    sim_time: iso(dateMs(sim)),
    since: sinceMs === null ? null : iso(sinceMs),
    text,
    device: deviceIndex,
    channel: message?.channel ?? null,
    message_id: message?.id ?? null,
    message_kept: message !== null && isKept(message),
    excerpt,
    facts,
    faults,
    excuse,
  };
}

/** One rule at a peer or group of peers, with its evidence. */
export function findingDocument(row: ReportRow, { id, name }: Pick<PeerGroup, 'id' | 'name'>, context: ReportContext) {
  const { rule, cases, waiver } = row;
  return {
    id: row.id,
    rule: rule.id,
    severity: rule.severity,
    protocol: rule.protocol,
    peer: { id, name },
    state: row.state,
    title: rule.row.title,
    basis: rule.row.basis,
    clause: rule.row.clause,
    count: row.broken,
    repeats: row.repeats,
    exercised: row.exercised,
    excused: row.excused,
    undecided: row.undecided,
    first_at: isoOf(row.first),
    last_at: isoOf(row.last),
    devices: row.deviceIndexes,
    more_devices: row.hasMoreDevices,
    text: cases.at(-1)?.text ?? null,
    consequence: rule.row.consequence,
    reason: row.reason,
    waiver: waiver && { id: waiver.id, until: waiver.untilMs === null ? null : iso(waiver.untilMs) },
    evidence: cases.map((one) => evidenceJson(one, context)),
  };
}

/** One rule without evidence: how to bring it about, or why it is not judged. */
function ruleDocument({ rule, exercised, reason }: ReportRow) {
  const { title, clause, situation, provokedBy = [], core } = rule.row;
  return {
    rule: rule.id,
    severity: rule.severity,
    title,
    clause,
    core: core !== undefined,
    exercised,
    situation,
    provoked_by: provokedBy,
    reason,
  };
}

function peerDocument({ id, identity, facets, requests, hasWritten, openConnections, lastSeenMs }: Peer) {
  return {
    id,
    protocol: identity.protocol,
    address: identity.address,
    certificate: identity.certificate ?? null,
    facets: Object.fromEntries([...facets].map(([name, values]) => [name, [...values]])),
    requests,
    has_written: hasWritten,
    open_connections: openConnections,
    last_seen_at: iso(lastSeenMs),
  };
}

/** The report on one peer, or on those that share a name. Findings are in order of severity, the worst first. */
export function reportDocument(report: GroupReport, context: ReportContext) {
  const { group, verdict, summary, coverage } = report;
  const rows = report.rows.toSorted(
    (a, b) => severities.indexOf(a.rule.severity) - severities.indexOf(b.rule.severity),
  );
  const inState = (state: CellState) => rows.filter((row) => row.state === state);
  const findings = (state: CellState) => inState(state).map((row) => findingDocument(row, group, context));
  return {
    peer: { id: group.id, name: group.name, named: group.isNamed, identities: group.peers.map(peerDocument) },
    scenario: context.scenario ?? null,
    summary: { verdict, ...summary },
    coverage: {
      exercised: coverage.exercised,
      observable: coverage.observable,
      core_missing: coverage.coreMissing,
    },
    broken: findings('broken'),
    waived: findings('waived'),
    excused: findings('excused'),
    undecided: inState('undecided').map(ruleDocument),
    held: inState('held').map(ruleDocument),
    not_exercised: inState('not_exercised').map(ruleDocument),
    not_observable: inState('not_observable').map(ruleDocument),
  };
}

/** The reports on all peers. */
export function reportsDocument(reports: readonly GroupReport[], context: ReportContext) {
  const { version, buildId, startedAtMs, nowMs, faults } = context;
  return {
    format: 'derbench-findings/1',
    derbench: { version, build_id: buildId },
    started_at: iso(startedAtMs),
    made_at: iso(nowMs),
    faults,
    peers: reports.map((report) => reportDocument(report, context)),
  };
}

export type FindingJson = ReturnType<typeof findingDocument>;
export type RuleJson = ReturnType<typeof ruleDocument>;
export type ReportJson = ReturnType<typeof reportDocument>;
export type ReportsJson = ReturnType<typeof reportsDocument>;
