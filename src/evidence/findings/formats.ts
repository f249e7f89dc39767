/** The forms in which a report leaves the simulator. */
import type { Severity } from '../../core/findings/rule.ts';
import type { ReportsJson } from './document.ts';
import { htmlReport } from './html.ts';
import { junitReport } from './junit.ts';
import { reportText } from './text.ts';

export const findingFormats = ['html', 'junit', 'json', 'text'] as const;
export type FindingFormat = (typeof findingFormats)[number];

/** Formats by the extension of a file. */
export const formatOfExtension: Readonly<Record<string, FindingFormat>> = {
  '.html': 'html',
  '.xml': 'junit',
  '.json': 'json',
  '.txt': 'text',
};

/** A document for people or for a CI; JSON has the form of REST. @param failOn mildest severity that JUnit XML calls a failure */
export function formattedReport(
  reports: ReportsJson,
  format: Exclude<FindingFormat, 'json'>,
  failOn: Severity,
): string {
  switch (format) {
    case 'html':
      return htmlReport(reports);
    case 'junit':
      return junitReport(reports, failOn);
    case 'text':
      return reportText(reports);
  }
}
