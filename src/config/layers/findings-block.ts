/** The block `findings` of a configuration file: settings of rules, waivers, and names of peers. */
import { z } from 'zod';
import { errorText } from '../../core/errors.ts';
import type { Issue } from '../../core/errors.ts';
import { maxAddressLength, maxMatches, maxPeerNameLength, maxPeerNames, PeerBook } from '../../core/findings/peers.ts';
import type { PeerName } from '../../core/findings/peers.ts';
import { isAtLeast } from '../../core/findings/registry.ts';
import { findingProtocols } from '../../core/findings/identity.ts';
import { severities } from '../../core/findings/rule.ts';
import type { RuleRow } from '../../core/findings/rule.ts';
import { maxReasonLength, maxWaivers } from '../../core/findings/waivers.ts';
import { catalogueRows } from '../../finding-rules/all.ts';
import { unknownName } from '../issues/issues.ts';

const ruleSchema = z.strictObject({
  enabled: z.boolean().optional().meta({ description: 'false: the rule is not judged; default true.' }),
  severity: z.enum(severities).optional().meta({ description: 'A milder severity than that of the catalogue.' }),
  params: z
    .record(z.string().max(64), z.number())
    .optional()
    .meta({ description: 'Thresholds of the rule by name (GET findings/rules).' }),
});

const waiverSchema = z.strictObject({
  rule: z.string().max(100).meta({ description: 'Id of the rule.' }),
  peer: z
    .string()
    .min(1)
    .max(maxAddressLength)
    .optional()
    .meta({ description: 'Id or name of a peer; default all peers.' }),
  reason: z
    .string()
    .regex(/\S/, { error: 'must not be blank' })
    .max(maxReasonLength)
    .meta({ description: 'Reason, which each report shows.' }),
  until: z.iso.datetime({ offset: true }).optional().meta({ description: 'End of the waiver; default none.' }),
});

const matchSchema = z.strictObject({
  protocol: z.enum(findingProtocols).exclude(['common']),
  address: z
    .string()
    .min(1)
    .max(maxAddressLength)
    .meta({ description: 'Address of the peer as GET findings/peers shows it.' }),
  certificate: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .meta({ description: 'SHA-256 of its certificate, hex; default any certificate, or none.' }),
});

const peerSchema = z.strictObject({
  name: z.string().min(1).max(maxPeerNameLength).meta({ description: 'Name of the peers in reports.' }),
  match: z
    .union([matchSchema, z.array(matchSchema).min(1).max(maxMatches)])
    .meta({ description: 'The peer, or several that have one report.' }),
});

export const findingsSchema = z
  .strictObject({
    rules: z.record(z.string().max(100), ruleSchema).optional().meta({ description: 'Settings of rules by id.' }),
    waivers: z.array(waiverSchema).max(maxWaivers).optional().meta({ description: 'Findings that are accepted.' }),
    peers: z.array(peerSchema).max(maxPeerNames).optional().meta({ description: 'Names of peers.' }),
  })
  .meta({ description: 'Findings about the other side of each protocol.' });

export type FindingsBlock = z.infer<typeof findingsSchema>;

type RuleSettings = z.infer<typeof ruleSchema>;

/** A name with its peers as a list. */
export const peerNameOf = ({ name, match }: z.infer<typeof peerSchema>): PeerName => ({
  name,
  match: [match]
    .flat()
    .map(({ certificate, ...rest }) => ({ ...rest, ...(certificate !== undefined && { certificate }) })),
});

function ruleIssues(id: string, row: RuleRow, { severity, params = {} }: RuleSettings): readonly string[] {
  const issues: string[] = [];
  if (severity !== undefined && severity !== row.severity && isAtLeast(severity, row.severity))
    issues.push(`the severity of ${id} is ${row.severity}, and can only be lowered`);
  for (const [name, value] of Object.entries(params)) {
    const param = row.params?.[name];
    if (param === undefined) issues.push(`${id} has no parameter ${JSON.stringify(name)}`);
    else if (value < param.min || value > param.max)
      issues.push(`${name} of ${id} is ${value}; allowed: ${param.min} to ${param.max}`);
  }
  return issues;
}

/** Names that claim one peer twice. */
function nameIssues(peers: NonNullable<FindingsBlock['peers']>): readonly string[] {
  const book = new PeerBook(
    () => 0,
    () => undefined,
  );
  return peers.flatMap((peer) => {
    if (book.names.some(({ name }) => name === peer.name)) return [`${JSON.stringify(peer.name)} stands twice`];
    try {
      book.setName(peerNameOf(peer));
      return [];
    } catch (error) {
      return [`${JSON.stringify(peer.name)}: ${errorText(error)}`];
    }
  });
}

/**
 * Issues of a block whose form is right.
 * @param label prefix of the names of issues
 * @param rows the catalogue by id
 */
export function findingIssues(
  { rules = {}, waivers = [], peers = [] }: FindingsBlock,
  label: string,
  rows: ReadonlyMap<string, RuleRow> = catalogueRows,
): readonly Issue[] {
  const ids = [...rows.keys()];
  const ofRules = Object.entries(rules).flatMap(([id, settings]) => {
    const name = `${label}: findings.rules`;
    const row = rows.get(id);
    if (row === undefined) return [unknownName(name, `rule ${JSON.stringify(id)}`, id, ids)];
    return ruleIssues(id, row, settings).map((detail) => ({ name, detail }));
  });
  const ofWaivers = waivers.flatMap(({ rule }, at) =>
    rows.has(rule) ? [] : [unknownName(`${label}: findings.waivers[${at}].rule`, 'rule', rule, ids)],
  );
  const ofPeers = nameIssues(peers).map((detail) => ({ name: `${label}: findings.peers`, detail }));
  return [...ofRules, ...ofWaivers, ...ofPeers];
}
