/** Operations on findings: what the other side of each protocol did wrong, what it did right, what never came up. */
import { SimError } from '../../core/errors.ts';
import { isAtLeast } from '../../core/findings/registry.ts';
import type { FindingRegistry, Rule } from '../../core/findings/registry.ts';
import { cellStates, reportOn, summaryOn } from '../../core/findings/report.ts';
import type { GroupReport } from '../../core/findings/report.ts';
import type { Peer } from '../../core/findings/peer.ts';
import { maxAddressLength, maxMatches, maxPeerNameLength, maxPeerNames } from '../../core/findings/peers.ts';
import { findingProtocols } from '../../core/findings/identity.ts';
import { severities } from '../../core/findings/rule.ts';
import type { FindingProtocol } from '../../core/findings/identity.ts';
import { maxReasonLength, maxWaivers } from '../../core/findings/waivers.ts';
import { memo } from '../../core/lazy.ts';
import { findingFormats } from '../../evidence/findings/formats.ts';
import { afterIdParam, deviceParam, integerParam, isoMember, isoParam, newestParam } from '../common/schemas.ts';
import { z } from '../description/zod.ts';
import type { RouteContext } from '../http/context.ts';
import { invalid } from '../http/errors.ts';
import { Answer, route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { allRules, checkEnabled, checkRule, ruleNamed } from './catalogue.ts';
import { documentHeaders, findingMedia, findingsText } from './documents.ts';
import {
  documentHead,
  findingsPage,
  peerNames,
  peerReport,
  peersPage,
  ruleReply,
  rulesPage,
  waivers,
  worstFirst,
} from './members.ts';
import type { Listed } from './members.ts';

const path = '/findings';
const tag = 'Core';
const maxListed = 1000;
const defaultListed = 100;
const maxNameLength = 64;

const notBlank = { error: 'must not be blank' };

const idText = (description: string) => z.string().min(1).max(maxNameLength).openapi({ description });
/** The address of a peer may be its name. */
const peerText = (description: string) => z.string().min(1).max(maxAddressLength).openapi({ description });

const findingsQuery = z.strictObject({
  protocol: z.enum(findingProtocols).optional().openapi({ description: 'Only rules of this protocol.' }),
  peer: peerText('Only the peer with this id or name.').optional(),
  rule: idText('Only this rule.').optional(),
  severity: z.enum(severities).optional().openapi({ description: 'Only rules of this severity or worse.' }),
  device: deviceParam.optional(),
  state: z.enum(cellStates).optional().openapi({ description: 'Only rules in this state; default `broken`.' }),
  since: isoParam('since', 'Only rules with a case at this wall time or later.').optional(),
  after_id: afterIdParam.optional(),
  limit: newestParam(maxListed, defaultListed).optional(),
});

const clearQuery = z.strictObject({
  protocol: z.enum(findingProtocols).optional().openapi({ description: 'Only rules of this protocol.' }),
  peer: peerText('Only the peer with this id or name.').optional(),
  rule: idText('Only this rule.').optional(),
});

const reportQuery = z.strictObject({
  format: z.enum(findingFormats).optional().openapi({ description: 'Default `json`.' }),
  fail_on: z
    .enum(severities)
    .optional()
    .openapi({ description: 'Mildest severity that JUnit XML calls a failure; default `violation`.' }),
});

const reportDocumentSchema = memo(() =>
  z
    .strictObject({
      format: z.string().openapi({ description: '`derbench-findings/1`.' }),
      ...documentHead(),
      peers: z.array(peerReport.schema()).openapi({ description: 'The reports.' }),
    })
    .openapi('FindingDocument'),
);

const peerParams = z.object({
  id: peerText('Id or name of the peer, as `findings/peers` lists it; an address only if no other peer has it.'),
});
const ruleParams = z.object({ id: idText('Id of the rule, `modbus.write_part_of_point`.') });

const ruleBody = memo(() =>
  z
    .strictObject({
      enabled: z.boolean().optional().openapi({ description: 'False: the rule is not judged.' }),
      severity: z.enum(severities).optional().openapi({ description: 'At most the severity of the catalogue.' }),
      params: z
        .record(z.string().max(maxNameLength), z.number())
        .optional()
        .openapi({ description: 'Thresholds by name; those that are absent stay.' }),
    })
    .openapi('FindingRuleRequest'),
);

const waiverBody = memo(() =>
  z
    .strictObject({
      rule: idText('Id of the rule.'),
      peer: peerText('Id or name of the peer, or its address if it has none; default all peers.').optional(),
      reason: z
        .string()
        .regex(/\S/, notBlank)
        .max(maxReasonLength)
        .openapi({ description: 'Reason, shown in each report.' }),
      until: isoMember('End, wall time; default none.').optional(),
    })
    .openapi('FindingWaiverRequest'),
);

const matchSchema = z.strictObject({
  protocol: z.enum(['modbus', 'csip', 'ocpp', 'dnp3']).openapi({ description: 'Protocol.' }),
  address: z.string().min(1).max(maxAddressLength).openapi({ description: 'Address as in `findings/peers`.' }),
  certificate: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: 'must have 64 hexadecimal digits in lower case' })
    .optional()
    .openapi({ description: 'SHA-256 of the certificate; default any, or none.' }),
});

const nameBody = memo(() =>
  z
    .strictObject({
      name: z
        .string()
        .min(1)
        .max(maxPeerNameLength)
        .openapi({ description: 'The name, which replaces the address in reports.' }),
      match: z
        .union([matchSchema, z.array(matchSchema).max(maxMatches)])
        .openapi({ description: 'The peer, or several that have one report then; an empty list removes the name.' }),
    })
    .openapi('FindingPeerNameRequest'),
);

/** The report on a peer. @throws SimError UNKNOWN_RESOURCE */
function reportNamed({ findings }: RouteContext, idOrName: string): GroupReport {
  const group = findings.peers.group(idOrName);
  if (group === undefined) throw new SimError('UNKNOWN_RESOURCE', `there is no peer ${JSON.stringify(idOrName)}`);
  const report = reportOn(findings, group);
  return { ...report, rows: report.rows.toSorted(worstFirst) };
}

interface Selection {
  readonly protocol?: FindingProtocol | undefined;
  readonly peer?: string | undefined;
  readonly rule?: string | undefined;
}

function listedOf(ctx: RouteContext, query: z.output<typeof findingsQuery>): readonly Listed[] {
  const {
    protocol,
    peer,
    rule,
    severity = 'remark',
    device,
    state = 'broken',
    since = 0,
    after_id: afterId = 0,
  } = query;
  if (device !== undefined) ctx.plant.device(device);
  const groups = peer === undefined ? ctx.findings.peers.groups() : [reportNamed(ctx, peer).group];
  return groups
    .flatMap((group) => reportOn(ctx.findings, group).rows.map((row) => ({ row, group })))
    .filter(
      ({ row }) =>
        row.state === state &&
        row.id >= (afterId === 0 ? 0 : afterId + 1) &&
        (protocol === undefined || row.rule.protocol === protocol) &&
        (rule === undefined || row.rule.id === rule) &&
        isAtLeast(row.rule.severity, severity) &&
        (device === undefined || row.deviceIndexes.includes(device)) &&
        (since === 0 || (row.last?.wallMs ?? -Infinity) >= since),
    )
    .toSorted((a, b) => b.row.id - a.row.id)
    .slice(0, query.limit ?? defaultListed);
}

function pageOf(ctx: RouteContext, query: z.output<typeof findingsQuery>) {
  const { findings } = ctx;
  return findingsPage.reply({ enabled: findings.on, lastId: findings.lastId, listed: listedOf(ctx, query) }, ctx);
}

/** Forgets what the selection names. @throws SimError UNKNOWN_RESOURCE */
function clear(ctx: RouteContext, { protocol, peer, rule }: Selection): void {
  const peers: readonly Peer[] | null = peer === undefined ? null : reportNamed(ctx, peer).group.peers;
  ctx.findings.clear(
    (one, whose) =>
      (protocol === undefined || one.protocol === protocol) &&
      (rule === undefined || one.id === rule) &&
      (peers === null || peers.includes(whose)),
  );
}

/** Changes a rule, as a whole or not at all. @throws HttpProblem validation */
function configure(rule: Rule, { enabled, severity, params = {} }: z.output<ReturnType<typeof ruleBody>>): void {
  if (severity !== undefined && !isAtLeast(rule.row.severity, severity))
    throw invalid('body', '/severity', `must not be worse than ${rule.row.severity}, the severity of the catalogue`);
  for (const [name, value] of Object.entries(params)) {
    const param = Object.hasOwn(rule.row.params ?? {}, name) ? rule.row.params?.[name] : undefined;
    if (param === undefined) throw invalid('body', `/params/${name}`, `${rule.id} has no such parameter`);
    if (value < param.min || value > param.max)
      throw invalid('body', `/params/${name}`, `must be in ${param.min}..${param.max}`);
  }
  if (enabled !== undefined) rule.isEnabled = enabled;
  if (severity !== undefined) rule.severity = severity;
  for (const [name, value] of Object.entries(params)) rule.params.set(name, value);
}

const summariesOf = (findings: FindingRegistry) => findings.peers.groups().map((group) => summaryOn(findings, group));

export const findingRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    tag,
    operationId: 'list_findings',
    summary: 'Rules that peers have broken, of all protocols',
    description:
      'A finding is one rule at one peer. With `after_id` only those with a later case, for clients that poll; `state` lists rules in ' +
      'other states, `held` for example.',
    query: findingsQuery,
    reply: findingsPage.schema,
    problems: ['unknown-resource', 'shortage'],
    async handle(ctx, { query }) {
      await checkRule(ctx, query.rule);
      return pageOf(ctx, query);
    },
  }),
  route({
    method: 'delete',
    path,
    tag,
    operationId: 'clear_findings',
    summary: 'Forgets findings',
    description: 'Peers, names, waivers and the counters of metrics stay. The reply lists the findings that are left.',
    query: clearQuery,
    reply: findingsPage.schema,
    problems: ['unknown-resource', 'disabled', 'shortage'],
    async handle(ctx, { query }) {
      checkEnabled(ctx);
      await checkRule(ctx, query.rule);
      clear(ctx, query);
      return pageOf(ctx, {});
    },
  }),
  route({
    method: 'get',
    path: `${path}/peers`,
    tag,
    operationId: 'list_finding_peers',
    summary: 'Peers that were judged, with verdict and counts',
    reply: peersPage.schema,
    handle: ({ findings }) =>
      peersPage.reply({
        enabled: findings.on,
        reports: summariesOf(findings),
        strangers: findings.peers.strangers,
        forgotten: findings.peers.forgotten,
      }),
  }),
  route({
    method: 'post',
    path: `${path}/peers`,
    tag,
    operationId: 'name_finding_peer',
    summary: 'Names a peer, or joins several under one name and one report',
    description:
      'One head-end over several protocols, or over several addresses, then has one report. Two masters on one host are told apart by ' +
      `addresses of their own, such as 127.0.0.2. \`conflict\` for a peer with another name, and for more than ${maxPeerNames} names.`,
    body: nameBody,
    reply: peerNames.schema,
    problems: ['conflict', 'disabled'],
    handle(ctx, { body: { name, match } }) {
      checkEnabled(ctx);
      const matches = (Array.isArray(match) ? match : [match]).map(({ certificate, ...rest }) => ({
        ...rest,
        ...(certificate !== undefined && { certificate }),
      }));
      ctx.findings.peers.setName({ name, match: matches });
      return peerNames.reply(ctx.findings.peers.names);
    },
  }),
  route({
    method: 'get',
    path: `${path}/peers/{id}`,
    tag,
    operationId: 'get_finding_report',
    summary: 'The report on a peer: broken, held, excused, never come up, not observable',
    params: peerParams,
    reply: peerReport.schema,
    problems: ['unknown-resource'],
    handle: (ctx, { params }) => peerReport.reply(reportNamed(ctx, params.id), ctx),
  }),
  route({
    method: 'get',
    path: `${path}/peers/{id}/report`,
    tag,
    operationId: 'get_finding_document',
    summary: 'The report on a peer as a document: JSON, JUnit XML, a page, or text',
    description:
      'JUnit XML has a case for each rule that can be judged; one that never came up is skipped, and never passes.',
    params: peerParams,
    query: reportQuery,
    reply: reportDocumentSchema,
    problems: ['unknown-resource', 'shortage'],
    otherMedia: ['application/xml', 'text/html', 'text/plain'],
    async handle(ctx, { params, query: { format = 'json', fail_on: failOn = 'violation' } }) {
      const text = await findingsText(ctx, [reportNamed(ctx, params.id)], format, failOn);
      return new Answer<z.output<ReturnType<typeof reportDocumentSchema>>>(new TextReply(findingMedia[format], text), {
        headers: documentHeaders(format, text),
      });
    },
  }),
  route({
    method: 'get',
    path: `${path}/rules`,
    tag,
    operationId: 'list_finding_rules',
    summary: 'The catalogue of rules',
    reply: rulesPage.schema,
    problems: ['shortage'],
    handle: async (ctx) => rulesPage.reply(await allRules(ctx)),
  }),
  route({
    method: 'post',
    path: `${path}/rules/{id}`,
    tag,
    operationId: 'configure_finding_rule',
    summary: 'Switches a rule on or off, lowers its severity, or changes its thresholds',
    params: ruleParams,
    body: ruleBody,
    reply: ruleReply.schema,
    problems: ['unknown-resource', 'disabled', 'shortage'],
    async handle(ctx, { params, body }) {
      checkEnabled(ctx);
      const rule = await ruleNamed(ctx, params.id);
      configure(rule, body);
      return ruleReply.reply(rule);
    },
  }),
  route({
    method: 'get',
    path: `${path}/waivers`,
    tag,
    operationId: 'list_finding_waivers',
    summary: 'Findings that a user accepts',
    reply: waivers.schema,
    handle: ({ findings }) => waivers.reply(findings.waivers.list),
  }),
  route({
    method: 'post',
    path: `${path}/waivers`,
    tag,
    operationId: 'add_finding_waiver',
    summary: 'Accepts the findings of a rule, with a reason',
    description: `\`conflict\` for more than ${maxWaivers} waivers.`,
    body: waiverBody,
    reply: waivers.schema,
    status: 201,
    problems: ['unknown-resource', 'conflict', 'disabled', 'shortage'],
    async handle(ctx, { body: { rule, peer = null, reason, until = null } }) {
      checkEnabled(ctx);
      const { id } = await ruleNamed(ctx, rule);
      ctx.findings.waivers.add({ rule: id, peer, reason, untilMs: until });
      return waivers.reply(ctx.findings.waivers.list);
    },
  }),
  route({
    method: 'delete',
    path: `${path}/waivers/{id}`,
    tag,
    operationId: 'delete_finding_waiver',
    summary: 'Deletes a waiver',
    params: z.object({ id: integerParam('id', 1, Number.MAX_SAFE_INTEGER, 'Number of the waiver.') }),
    reply: waivers.schema,
    problems: ['unknown-resource', 'disabled'],
    handle(ctx, { params: { id } }) {
      checkEnabled(ctx);
      if (!ctx.findings.waivers.remove(id)) throw new SimError('UNKNOWN_RESOURCE', `there is no waiver ${id}`);
      return waivers.reply(ctx.findings.waivers.list);
    },
  }),
];
