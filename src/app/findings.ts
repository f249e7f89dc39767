/** The registry of findings of a simulator, its part of the configuration, and the reports at the end. */
import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { peerNameOf } from '../config/layers/findings-block.ts';
import type { FindingsBlock } from '../config/layers/findings-block.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import { FindingRegistry, isAtLeast } from '../core/findings/registry.ts';
import type { CaseMessage, FindingRegistryOptions, Rule } from '../core/findings/registry.ts';
import { reportOn } from '../core/findings/report.ts';
import { findingProtocols } from '../core/findings/identity.ts';
import { severities } from '../core/findings/rule.ts';
import type { FindingProtocol } from '../core/findings/identity.ts';
import type { RuleTable } from '../core/findings/rule.ts';
import type { Issue } from '../core/errors.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import { fileReason } from '../core/text-file.ts';
import type { SimTime } from '../core/time/clock.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import { reportsDocument } from '../evidence/findings/document.ts';
import type { ReportContext, ReportsJson } from '../evidence/findings/document.ts';
import type { Plant } from '../contract/plant.ts';
import { formatOfExtension, formattedReport } from '../evidence/findings/formats.ts';
import type { FindingFormat } from '../evidence/findings/formats.ts';
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

interface Around extends Pick<ReportContext, 'version' | 'buildId' | 'startedAtMs' | 'scenario'> {
  readonly findings: FindingRegistry;
  readonly faults: Pick<FaultRegistry, 'active' | 'ended'>;
  readonly nowMs: () => number;
  readonly dateMs: (t: SimTime) => number;
}

/** The simulator around the reports of its findings. */
export function reportContext({ findings, faults, nowMs, ...around }: Around): ReportContext {
  const all = [...faults.active, ...faults.ended.map(({ fault }) => fault)];
  return {
    ...around,
    nowMs: nowMs(),
    faults: [...new Set(all.map(({ protocol, facts: { kind } }) => `${protocol}.${kind.kind}`))].toSorted(),
    isKept: (message) => findings.isKept(message),
  };
}

/** The reports on all peers. */
export function reportAll(around: Around): ReportsJson {
  const { findings } = around;
  const reports = findings.peers.groups().map((group) => reportOn(findings, group));
  return reportsDocument(reports, reportContext(around));
}

/** The reports on all peers in the form of REST, for files of JSON. */
export async function peersInRest(
  findings: FindingRegistry,
  plant: Pick<Plant, 'dateMs'>,
): Promise<readonly unknown[]> {
  const { peerReport } = await import('../api/findings/members.ts');
  return findings.peers.groups().map((group) => peerReport.reply(reportOn(findings, group), { findings, plant }));
}

/** Findings of one simulator that has ended, and the settings that say what becomes of them. */
export interface EndedFindings {
  readonly reports: ReportsJson;
  /** the reports in the form of REST; empty: no setting asks for them */
  readonly peers: readonly unknown[];
  readonly settings: AppConfig['findings'];
}

export const formatOf = (path: string) => formatOfExtension[extname(path).toLowerCase()] ?? 'text';

/** @param last the simulator whose settings and head the report has */
function reportFile(format: FindingFormat, ended: readonly EndedFindings[], last: EndedFindings): string {
  if (format === 'json') {
    const peers = ended.flatMap((one) => one.peers);
    return `${JSON.stringify({ ...last.reports, peers }, null, 2)}\n`;
  }
  const reports = { ...last.reports, peers: ended.flatMap(({ reports: { peers } }) => peers) };
  const { failOn } = last.settings;
  // a report in which nothing could fail would be no test
  return formattedReport(reports, format, failOn === 'never' ? 'violation' : failOn);
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
    try {
      writeFileSync(path, reportFile(formatOf(path), named, last));
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
