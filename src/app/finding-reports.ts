/** Reports on findings when a simulator ends; loaded only where the settings ask for them. */
import { writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { AppConfig } from '../config/settings/app-config.ts';
import type { Plant } from '../contract/plant.ts';
import { SimError } from '../core/errors.ts';
import type { Issue } from '../core/errors.ts';
import type { FaultRegistry } from '../core/faults/registry.ts';
import { isAtLeast } from '../core/findings/registry.ts';
import type { FindingRegistry } from '../core/findings/registry.ts';
import { reportOn } from '../core/findings/report.ts';
import { severities } from '../core/findings/rule.ts';
import type { SimTime } from '../core/time/clock.ts';
import { faultNames, reportsDocument } from '../evidence/findings/document.ts';
import type { ReportContext, ReportsJson } from '../evidence/findings/document.ts';
import { formatOfExtension, formattedReport } from '../evidence/findings/formats.ts';
import type { FindingFormat } from '../evidence/findings/formats.ts';
import { refusalOf, unwritable } from './result-files.ts';

interface Around extends Pick<ReportContext, 'version' | 'buildId' | 'startedAtMs' | 'scenario'> {
  readonly findings: FindingRegistry;
  readonly faults: Pick<FaultRegistry, 'active' | 'ended'>;
  readonly nowMs: () => number;
  readonly dateMs: (t: SimTime) => number;
}

/** The simulator around the reports of its findings. */
function reportContext({ findings, faults, nowMs, ...around }: Around): ReportContext {
  return {
    ...around,
    nowMs: nowMs(),
    faults: faultNames(faults),
    isKept: (message) => findings.isKept(message),
  };
}

/** The reports on all peers. */
export function reportAll(around: Around): ReportsJson {
  const { findings } = around;
  const reports = findings.peers.groups().map((group) => reportOn(findings, group));
  return reportsDocument(reports, reportContext(around));
}

/** Findings of one simulator that has ended, and the settings that say what becomes of them. */
export interface EndedFindings {
  readonly reports: ReportsJson;
  /** the reports in the form of REST; empty: no setting asks for them */
  readonly peers: readonly unknown[];
  readonly settings: AppConfig['findings'];
}

const formatOf = (path: string) => formatOfExtension[extname(path).toLowerCase()] ?? 'text';

/** The reports on all peers in the form of REST, for files of JSON. */
async function peersInRest(findings: FindingRegistry, plant: Pick<Plant, 'dateMs'>): Promise<readonly unknown[]> {
  const { peerReport } = await import('../api/findings/members.ts');
  return findings.peers.groups().map((group) => peerReport.reply(reportOn(findings, group), { findings, plant }));
}

/** Findings about all peers so far. */
export async function endedFindings(
  around: Around,
  plant: Pick<Plant, 'dateMs'>,
  settings: AppConfig['findings'],
): Promise<EndedFindings> {
  const hasJson = settings.reports.some((path) => formatOf(path) === 'json');
  const peers = hasJson ? await peersInRest(around.findings, plant) : [];
  return { reports: reportAll(around), peers, settings };
}

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
    const write = () => {
      writeFileSync(path, reportFile(formatOf(path), named, last));
    };
    return refusalOf('--findings_report', path, write) ?? [];
  });
}

/** Refuses files that could not be written at the end. @throws SimError CONFIG_INVALID */
export function checkReportFiles(paths: readonly string[]): void {
  const issues = paths.flatMap((path) => unwritable('--findings_report', path) ?? []);
  if (issues.length > 0) throw new SimError('CONFIG_INVALID', 'A report could not be written:', issues);
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
