/** The registry of findings of a simulator, its part of the configuration, and the reports at the end. */
import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { peerNameOf } from '../config/layers/findings-block.ts';
import type { FindingsBlock } from '../config/layers/findings-block.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import { FindingRegistry, isAtLeast } from '../core/findings/registry.ts';
import type { FindingRegistryOptions, Rule } from '../core/findings/registry.ts';
import { reportOn } from '../core/findings/report.ts';
import { findingProtocols, severities } from '../core/findings/rule.ts';
import type { FindingProtocol, RuleTable } from '../core/findings/rule.ts';
import type { Issue } from '../core/errors.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import { fileReason } from '../core/text-file.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import { reportsDocument } from '../evidence/findings/document.ts';
import type { ReportContext, ReportsJson } from '../evidence/findings/document.ts';
import { formatOfExtension, formattedReport } from '../evidence/findings/formats.ts';
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

interface Around extends Pick<ReportContext, 'version' | 'buildId' | 'startedAtMs' | 'scenario'> {
  readonly findings: FindingRegistry;
  readonly faults: Pick<FaultRegistry, 'active' | 'ended'>;
  readonly wireLog: Pick<WireLog, 'find'>;
  readonly nowMs: () => number;
  readonly dateMs: (t: SimTime) => number;
}

/** The simulator around the reports of its findings. */
export function reportContext({ faults, wireLog, nowMs, ...around }: Omit<Around, 'findings'>): ReportContext {
  const all = [...faults.active, ...faults.ended.map(({ fault }) => fault)];
  return {
    ...around,
    nowMs: nowMs(),
    faults: [...new Set(all.map(({ protocol, facts: { kind } }) => `${protocol}.${kind.kind}`))].toSorted(),
    isKept(protocol, { channel, id }) {
      const kept = wireLog.find(protocol, channel)?.list({ afterId: id - 1 }) ?? [];
      return kept[0]?.id === id;
    },
  };
}

/** The reports on all peers. */
export function reportAll({ findings, ...around }: Around): ReportsJson {
  const reports = findings.peers.groups().map((group) => reportOn(findings, group));
  return reportsDocument(reports, reportContext(around));
}

/** Findings of one simulator that has ended, and the settings that say what becomes of them. */
export interface EndedFindings {
  readonly reports: ReportsJson;
  readonly settings: AppConfig['findings'];
}

/**
 * Writes the files of the settings; those of several simulators have the peers of all.
 * @returns an issue for each that cannot be written
 */
export function writeFindings(ended: readonly EndedFindings[]): readonly Issue[] {
  const paths = new Set(ended.flatMap(({ settings }) => settings.reports));
  return [...paths].flatMap((path) => {
    const named = ended.filter(({ settings }) => settings.reports.includes(path));
    const last = named.at(-1);
    if (last === undefined) return [];
    const reports = { ...last.reports, peers: named.flatMap(({ reports: { peers } }) => peers) };
    const { failOn } = last.settings;
    const format = formatOfExtension[extname(path).toLowerCase()] ?? 'text';
    try {
      // a report in which nothing could fail would be no test
      writeFileSync(path, formattedReport(reports, format, failOn === 'never' ? 'violation' : failOn));
      return [];
    } catch (error) {
      return [{ name: '--findings_report', detail: `${path} cannot be written: ${fileReason(error)}` }];
    }
  });
}

/** A line for each peer that has broken rules for which the process fails. */
export function failingPeers({ reports, settings: { failOn } }: EndedFindings): readonly string[] {
  if (failOn === 'never') return [];
  return reports.peers.flatMap(({ peer, broken }) => {
    const failing = broken.filter(({ severity }) => isAtLeast(severity, failOn));
    const counts = severities.flatMap((severity) => {
      const count = failing.filter((finding) => finding.severity === severity).length;
      return count === 0 ? [] : `${count} ${severity}${count === 1 ? '' : 's'}`;
    });
    const ids = failing.map(({ rule }) => rule);
    return failing.length === 0 ? [] : `findings: ${peer.name} has ${counts.join(', ')}: ${ids.join(', ')}`;
  });
}
