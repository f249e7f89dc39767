/** The registry of findings of a simulator, and its part of the configuration. */
import { peerNameOf } from '../config/layers/findings-block.ts';
import type { FindingsBlock } from '../config/layers/findings-block.ts';
import { FindingRegistry } from '../core/findings/registry.ts';
import type { CaseMessage, FindingRegistryOptions, Rule } from '../core/findings/registry.ts';
import { findingProtocols } from '../core/findings/identity.ts';
import type { FindingProtocol } from '../core/findings/identity.ts';
import type { RuleTable } from '../core/findings/rule.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import { catalogue } from '../finding-rules/all.ts';

/** A registry with all rules of the catalogue, so that reports also list those of protocols that are off. */
export function createFindings(
  options: FindingRegistryOptions,
  { rules = {}, ...block }: FindingsBlock,
  tables: Readonly<Record<FindingProtocol, RuleTable>> = catalogue,
): FindingRegistry {
  const findings = new FindingRegistry(options);
  for (const protocol of findingProtocols) findings.rules(protocol, tables[protocol]);
  for (const rule of findings.list) {
    const { enabled = true, severity = rule.severity, params = {} } = rules[rule.id] ?? {};
    rule.isEnabled = enabled;
    rule.severity = severity;
    for (const [name, value] of Object.entries(params)) rule.params.set(name, value);
  }
  for (const { rule, peer = null, reason, until } of block.waivers ?? [])
    findings.waivers.add({ rule, peer, reason, untilMs: until === undefined ? null : Date.parse(until) });
  for (const peer of block.peers ?? []) findings.peers.setName(peerNameOf(peer));
  return findings;
}

function ruleSettings({ isEnabled, severity, params, row }: Rule) {
  const changed = [...params].filter(([name, value]) => value !== row.params?.[name]?.default);
  return {
    ...(!isEnabled && { enabled: false }),
    ...(severity !== row.severity && { severity }),
    ...(changed.length > 0 && { params: Object.fromEntries(changed) }),
  };
}

/** The settings of the rules, the waivers and the names in force, as a block of a configuration file. */
export function findingsBlock({ list, waivers, peers }: FindingRegistry): FindingsBlock {
  const rules = list.map((rule) => [rule.id, ruleSettings(rule)] as const);
  const changed = rules.filter(([, settings]) => Object.keys(settings).length > 0);
  return {
    ...(changed.length > 0 && { rules: Object.fromEntries(changed) }),
    ...(waivers.list.length > 0 && {
      waivers: waivers.list.map(({ rule, peer, reason, untilMs }) => ({
        rule,
        ...(peer !== null && { peer }),
        reason,
        ...(untilMs !== null && { until: new Date(untilMs).toISOString() }),
      })),
    }),
    ...(peers.names.length > 0 && {
      peers: peers.names.map(({ name, match }) => ({ name, match: match.map((one) => ({ ...one })) })),
    }),
  };
}

/** True if the log still has the message of a case. */
export function isInLog(wireLog: Pick<WireLog, 'find'>, { channel, id }: CaseMessage): boolean {
  const [protocol = '', ...key] = channel.split('/');
  const [first] = wireLog.find(protocol, key.join('/'))?.list({ where: (entry) => entry.id === id }) ?? [];
  return first !== undefined;
}
