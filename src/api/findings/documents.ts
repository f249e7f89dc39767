/** Reports on peers as documents, for REST and for files. */
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { GroupReport } from '../../core/findings/report.ts';
import type { Severity } from '../../core/findings/rule.ts';
import { lazily } from '../../core/lazy.ts';
import { pagePolicy } from '../../core/markup.ts';
import type { ReportsJson } from '../../evidence/findings/document.ts';
import type { FindingFormat } from '../../evidence/findings/formats.ts';
import type { RouteContext } from '../http/context.ts';
import { peerReport } from './members.ts';

/** Loaded for the first report: most processes never make one. */
const renderers = lazily(async () => ({
  ...(await import('../../evidence/findings/document.ts')),
  ...(await import('../../evidence/findings/formats.ts')),
}));

/** Media types by format. */
export const findingMedia: Readonly<Record<FindingFormat, string>> = {
  html: 'text/html; charset=utf-8',
  junit: 'application/xml',
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
};

/** Parts of the simulator that the head of a report shows. */
export type DocumentContext = Pick<RouteContext, 'plant' | 'info' | 'clock' | 'faults'> & {
  readonly findings: FindingRegistry;
};

/** The reports with the facts of the process. */
export async function documentOf(context: DocumentContext, reports: readonly GroupReport[]): Promise<ReportsJson> {
  const { plant, findings, info, clock, faults } = context;
  const { faultNames, reportsDocument } = await renderers();
  return reportsDocument(reports, {
    version: info.version,
    buildId: info.buildId,
    startedAtMs: info.startedAtMs,
    nowMs: clock.nowMs(),
    dateMs: (t) => plant.dateMs(t),
    isKept: (message) => findings.isKept(message),
    faults: faultNames(faults),
  });
}

/** @param failOn mildest severity that JUnit XML calls a failure */
export async function findingsText(
  context: DocumentContext,
  reports: readonly GroupReport[],
  format: FindingFormat,
  failOn: Severity,
): Promise<string> {
  const document = await documentOf(context, reports);
  const { formattedReport } = await renderers();
  if (format !== 'json') return formattedReport(document, format, failOn);
  const peers = reports.map((report) => peerReport.reply(report, context));
  return `${JSON.stringify({ ...document, peers }, null, 2)}\n`;
}

/** Headers of a document. */
export const documentHeaders = (format: FindingFormat, text: string): Readonly<Record<string, string>> =>
  format === 'html' ? { 'Content-Security-Policy': `${pagePolicy(text)}; frame-ancestors 'none'` } : {};
