/** Members of the replies about findings. */
import type { KeptCase } from '../../core/findings/peer.ts';
import type { PeerGroup, PeerMatch } from '../../core/findings/peers.ts';
import type { Rule } from '../../core/findings/registry.ts';
import { cellStates, verdicts } from '../../core/findings/report.ts';
import type { GroupReport, GroupSummary, ReportRow, SeverityCounts } from '../../core/findings/report.ts';
import { findingProtocols, ruleNeeds } from '../../core/findings/identity.ts';
import { ruleBases, severities } from '../../core/findings/rule.ts';
import type { RuleParam, Severity } from '../../core/findings/rule.ts';
import type { Waiver } from '../../core/findings/waivers.ts';
import type { Peer } from '../../core/findings/peer.ts';
import { count, flag, integer, list, member, members, nested, number, text, time, word } from '../common/members.ts';
import { isoTime } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import { missingMember, shardMember } from '../fleet/members.ts';
import type { RouteContext } from '../http/context.ts';

/** Parts of the simulator that replies about findings need. */
export interface FindingsContext extends Pick<RouteContext, 'findings'> {
  readonly plant: Pick<RouteContext['plant'], 'dateMs'>;
}

const open = () => z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const evidence = members<KeptCase, FindingsContext>()('FindingEvidence', () => ({
  at: time('Wall time of the message that proves the case, or of the end of a wait.', ({ wallMs }) => wallMs),
  sim_time: time('Simulated time of the same instant.', ({ sim }, { plant }: FindingsContext) => plant.dateMs(sim)),
  since: time.orNull('Begin of an absence; null: the case is none.', ({ sinceMs }) => sinceMs),
  text: text('The case in a sentence.'),
  device_index: integer.orNull('The device; null: none, or several.'),
  channel: text.orNull(
    'Channel of the message: `modbus`, `ocpp/CP-1`; null: none.',
    ({ message }) => message?.channel ?? null,
  ),
  message_id: integer.orNull('Id of the message in its channel; null: none.', ({ message }) => message?.id ?? null),
  message_kept: flag(
    'True: the messages of the protocol still have it.',
    ({ message }, { findings }: FindingsContext) => message !== null && findings.isKept(message),
  ),
  excerpt: text.orNull('Beginning of the message, octets as hex; null: none.'),
  facts: member(open)('Computed values of the case, by name.'),
  faults: list(text())('Faults that were active, `protocol.kind`.'),
  excuse: text.orNull('Reason why the case does not count; null: it counts.'),
}));

const peerRef = members<PeerGroup>()('FindingPeer', () => ({
  id: text('12 hexadecimal digits, the same in each process.'),
  name: text('Name given by a user, or else the address.'),
}));

const waiver = members<Waiver>()('FindingWaiver', () => ({
  id: integer('Number of the waiver.'),
  rule: text('Id of the rule.'),
  peer: text.orNull('Id or name of the peer; null: all peers.'),
  reason: text('Reason for it, shown in each report.'),
  until: time.orNull('End, wall time; null: without an end.', ({ untilMs }) => untilMs),
  shard: shardMember(),
}));

export const waivers = members<readonly Waiver[]>()('FindingWaivers', () => ({
  waivers: list(waiver)('In the order in which they came.', (all) => all),
  missing: missingMember(),
}));

/** A row of a report with its group. */
export interface Listed {
  readonly row: ReportRow;
  readonly group: PeerGroup;
}

const finding = members<Listed, FindingsContext>()('Finding', () => ({
  id: integer(
    'Id of the last case; rises with each case of the process, so that `after_id` selects what is new.',
    ({ row }) => row.id,
  ),
  rule: text('Id of the rule, `modbus.write_part_of_point`.', ({ row }) => row.rule.id),
  title: text('The rule in a few words.', ({ row }) => row.rule.row.title),
  severity: word(severities)('Severity in force.', ({ row }) => row.rule.severity),
  protocol: word(findingProtocols)('Protocol of the rule.', ({ row }) => row.rule.protocol),
  peer: nested(peerRef)('The other side.', ({ group }) => group),
  state: word(cellStates)('State of the rule at this peer.', ({ row }) => row.state),
  reason: text.orNull(
    'Why it is excused, waived or not observable; null: it is none of these.',
    ({ row }) => row.reason,
  ),
  clause: text('Clause of the standard, or source of the practice.', ({ row }) => row.rule.row.clause),
  count: count('Cases; repetitions within the quiet time of the rule count as one.', ({ row }) => row.broken),
  repeats: count('Repetitions.', ({ row }) => row.repeats),
  exercised: count('Occasions at which the rule could have been broken.', ({ row }) => row.exercised),
  excused: count('Cases that do not count.', ({ row }) => row.excused),
  undecided: count('Occasions that could not be judged.', ({ row }) => row.undecided),
  first_at: time.orNull('Wall time of the first case; null: none.', ({ row }) => row.first?.wallMs ?? null),
  last_at: time.orNull(
    'Wall time of the last case that is not a repetition; null: none.',
    ({ row }) => row.last?.wallMs ?? null,
  ),
  devices: list(integer())('Devices of the cases, at most 16 for each peer.', ({ row }) => row.deviceIndexes),
  more_devices: flag('True: there are more devices.', ({ row }) => row.hasMoreDevices),
  text: text.orNull('The last case in a sentence; null: no case.', ({ row }) => row.cases.at(-1)?.text ?? null),
  consequence: text('Behaviour that a device in the field may then show.', ({ row }) => row.rule.row.consequence),
  situation: text(
    'Circumstances in which the rule can be broken: how to bring it about.',
    ({ row }) => row.rule.row.situation,
  ),
  provoked_by: list(text())('Faults that bring it about, `protocol.kind`.', ({ row }) => row.rule.row.provokedBy ?? []),
  evidence: list(evidence)('The first three cases and the last two.', ({ row }) => row.cases),
  shard: shardMember(),
}));

export interface Page {
  readonly enabled: boolean;
  readonly lastId: number;
  readonly listed: readonly Listed[];
}

export const findingsPage = members<Page, FindingsContext>()('Findings', () => ({
  enabled: flag('False: `--findings no`.'),
  last_id: count('Id of the last case of the process; 0: none.'),
  findings: list(finding)('Newest first.', ({ listed }) => listed),
  missing: missingMember(),
}));

const severityCounts = members<SeverityCounts>()('FindingCounts', () => ({
  broken: count('Rules that were broken.'),
  held: count('Rules that came up and were kept.'),
  not_exercised: count('Rules whose situation never came up.', (of) => of.not_exercised),
  not_observable: count('Rules that cannot be judged here.', (of) => of.not_observable),
}));

const summary = members<GroupSummary['summary']>()('FindingSummary', () => ({
  violation: nested(severityCounts)('Rules of the standard.'),
  risk: nested(severityCounts)('Habits that devices in the field fail at.'),
  remark: nested(severityCounts)('Habits worth knowing.'),
}));

const coverage = members<GroupSummary['coverage']>()('FindingCoverage', () => ({
  exercised: count('Rules that came up.'),
  observable: count('Rules that can be judged.'),
  core_missing: list(text())('Rules of the core list that never came up: the verdict is `inconclusive` at best.'),
}));

const facet = members<readonly [string, readonly string[]]>()('FindingPeerFacet', () => ({
  name: text('Kind of property: `version`, `unit`.', ([name]) => name),
  values: list(text())('At most 16.', ([, values]) => values),
}));

const identity = members<Peer>()('FindingPeerIdentity', () => ({
  id: text('12 hexadecimal digits, the same in each process.'),
  protocol: word(findingProtocols)('Protocol.', (peer) => peer.identity.protocol),
  address: text('Address without port, origin of a server, path of a line.', (peer) => peer.identity.address),
  certificate: text.orNull(
    'SHA-256 of its certificate, hexadecimal; null: none.',
    (peer) => peer.identity.certificate ?? null,
  ),
  open_connections: count('Open connections.'),
  requests: count('Valid requests, where the protocol counts them.'),
  last_seen: time('Wall time of the last connection, departure or case.', (peer) => peer.lastSeenMs),
  facets: list(facet)('Properties.', (peer) => [...peer.facets].map(([name, values]) => [name, [...values]] as const)),
}));

const peerEntry = members<GroupSummary>()('FindingPeerEntry', () => ({
  id: text('12 hexadecimal digits, the same in each process.', ({ group }) => group.id),
  name: text('Name given by a user, or else the address.', ({ group }) => group.name),
  named: flag('True: a user has given the name.', ({ group }) => group.isNamed),
  identities: list(identity)('The peers that have this one report.', ({ group }) => group.peers),
  verdict: word(verdicts)(
    'Worst severity that was broken; `inconclusive`: nothing was, but rules of the core list never came up.',
  ),
  summary: nested(summary)('Rules by severity and state.'),
  coverage: nested(coverage)('Extent to which the rules came up.'),
  shard: shardMember(),
}));

export interface PeersPage {
  readonly enabled: boolean;
  readonly reports: readonly GroupSummary[];
  readonly strangers: number;
  readonly forgotten: number;
}

export const peersPage = members<PeersPage>()('FindingPeers', () => ({
  enabled: flag('False: `--findings no`.'),
  peers: list(peerEntry)('Named ones first, then in the order in which they came.', ({ reports }) => reports),
  strangers: count(
    'Addresses that have sent no valid request: scanners, browsers, health checks. They have no findings.',
  ),
  forgotten: count('Peers that gave their place to others, of 500.'),
  missing: missingMember(),
}));

const rowsIn =
  (...states: readonly ReportRow['state'][]) =>
  ({ rows, group }: GroupReport): readonly Listed[] =>
    rows.filter(({ state }) => states.includes(state)).map((row) => ({ row, group }));

export const peerReport = members<GroupReport, FindingsContext>()('FindingReport', () => ({
  ...peerEntry.members(),
  broken: list(finding)('Rules that were broken, worst first.', rowsIn('broken')),
  held: list(finding)('Rules that came up and were kept.', rowsIn('held')),
  excused: list(finding)('Rules that were broken only for reasons of this simulator.', rowsIn('excused')),
  not_exercised: list(finding)(
    'Rules whose situation never came up, or could not be judged to the end; `situation` says how to bring it about.',
    rowsIn('not_exercised', 'undecided'),
  ),
  not_observable: list(finding)('Rules that cannot be judged here, with the reason.', rowsIn('not_observable')),
  waived: list(finding)('Rules that were broken, and that a waiver accepts.', rowsIn('waived')),
}));

const param = members<readonly [string, RuleParam, number]>()('FindingRuleParam', () => ({
  name: text('Name in `params`.', ([name]) => name),
  value: number('Value now.', ([, , value]) => value),
  default: number('Default.', ([, row]) => row.default),
  min: number('Minimum.', ([, { min }]) => min),
  max: number('Maximum.', ([, { max }]) => max),
  unit: text.orNull('Unit; null: a count.', ([, { unit }]) => unit),
  title: text('Meaning.', ([, { title }]) => title),
}));

const rule = members<Rule>()('FindingRule', () => ({
  id: text('Id of the rule.'),
  protocol: word(findingProtocols)('Protocol.'),
  severity: word(severities)('Severity in force.'),
  default_severity: word(severities)(
    'Severity of the catalogue, the worst that can be set.',
    ({ row }) => row.severity,
  ),
  enabled: flag('False: a request or the configuration has switched it off.', ({ isEnabled }) => isEnabled),
  failure: text.orNull('Error of its judge, which is off until the next start; null: none.'),
  basis: word(ruleBases)('Basis of the rule.', ({ row }) => row.basis),
  clause: text('Clause of the standard, or source of the practice.', ({ row }) => row.clause),
  core: flag('True: a peer is clean only after the rule came up.', ({ row }) => row.core !== undefined),
  title: text('The rule in a few words.', ({ row }) => row.title),
  situation: text('Circumstances in which it can be broken.', ({ row }) => row.situation),
  proof: text('The behaviour that breaks it.', ({ row }) => row.proof),
  consequence: text('Behaviour that a device in the field may then show.', ({ row }) => row.consequence),
  trap: text('The similar behaviour that is right.', ({ row }) => row.trap),
  versions: list(text())('Versions of the protocol that have it; empty: all.', ({ row }) => row.versions ?? []),
  needs: list(member(() => z.enum(ruleNeeds))())(
    'Conditions without which it cannot be judged.',
    ({ row }) => row.needs ?? [],
  ),
  provoked_by: list(text())(
    'Faults that bring its situation about, `protocol.kind`.',
    ({ row }) => row.provokedBy ?? [],
  ),
  params: list(param)('Thresholds.', ({ row, params }) =>
    Object.entries(row.params ?? {}).map(([name, one]) => [name, one, params.get(name) ?? one.default] as const),
  ),
}));

export const ruleReply = rule;

export const rulesPage = members<readonly Rule[]>()('FindingRules', () => ({
  rules: list(rule)('By protocol.', (all) => all),
}));

const match = members<PeerMatch>()('FindingPeerMatch', () => ({
  protocol: word(findingProtocols)('Protocol.'),
  address: text('Address as in `findings/peers`.'),
  certificate: text.orNull('SHA-256 of the certificate; null: any, or none.', (one) => one.certificate ?? null),
}));

const peerName = members<{ readonly name: string; readonly match: readonly PeerMatch[] }>()('FindingPeerName', () => ({
  name: text('The name.'),
  match: list(match)('The peers that have it.'),
}));

export const peerNames = members<readonly { readonly name: string; readonly match: readonly PeerMatch[] }[]>()(
  'FindingPeerNames',
  () => ({ names: list(peerName)('In the order in which they came.', (all) => all) }),
);

/** From worst to mildest, then newest first. */
export const worstFirst = (a: ReportRow, b: ReportRow) => rank(a.rule.severity) - rank(b.rule.severity) || b.id - a.id;

const rank = (severity: Severity) => severities.indexOf(severity);

/** The simulator, and the time of a document. */
export const documentHead = () => ({
  derbench: z
    .strictObject({
      version: z.string().openapi({ description: 'Version of the simulator.' }),
      build_id: z.string().openapi({ description: 'Build of the simulator.' }),
    })
    .openapi({ description: 'The simulator.' }),
  started_at: isoTime.openapi({ description: 'Start of the process, wall time.' }),
  made_at: isoTime.openapi({ description: 'Wall time of the report.' }),
  faults: z.array(z.string()).openapi({ description: 'Faults of this process, `protocol.kind`.' }),
});
