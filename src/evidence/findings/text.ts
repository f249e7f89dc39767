/** The reports on peers as plain text. */
import { printableLines } from '../../core/log/log.ts';
import type { FindingJson, ReportJson, ReportsJson, RuleJson } from './document.ts';
import {
  countsText,
  coverageText,
  devicesText,
  headingText,
  identitiesText,
  situationText,
  undecidedText,
} from './words.ts';

function findingLines(finding: FindingJson): readonly string[] {
  const { rule, severity, title, clause, text, consequence, reason, last_at: lastAt } = finding;
  const devices = devicesText(finding);
  return [
    `  ${severity} ${rule}: ${title}`,
    `    ${text ?? ''}`,
    `    ${countsText(finding)}, last at ${lastAt ?? '?'}${devices === '' ? '' : `, ${finding.devices.length === 1 ? 'device' : 'devices'} ${devices}`}`,
    `    ${clause}`,
    ...(reason === null ? [`    ${consequence}`] : [`    ${finding.state}: ${reason}`]),
  ];
}

const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, ...lines]);

const ruleLine =
  (words: (row: RuleJson) => string) =>
  (row: RuleJson): string =>
    `  ${row.severity} ${row.rule}${row.core ? ' (core)' : ''}: ${words(row)}`;

function reportLines(report: ReportJson): readonly string[] {
  const { summary, broken, waived, excused, undecided, held, coverage } = report;
  const missing = coverage.core_missing;
  return [
    `${headingText(report)}: ${summary.verdict}`,
    identitiesText(report),
    coverageText(report),
    ...(missing.length === 0 ? [] : [`core rules that never came up: ${missing.join(', ')}`]),
    ...section('Broken', broken.flatMap(findingLines)),
    ...section('Waived', waived.flatMap(findingLines)),
    ...section('Excused', excused.flatMap(findingLines)),
    ...section('Undecided', undecided.map(ruleLine(() => undecidedText))),
    ...section('Not exercised, and how to bring it about', report.not_exercised.map(ruleLine(situationText))),
    ...section('Not observable', report.not_observable.map(ruleLine(({ reason }) => reason ?? ''))),
    ...section(
      'Held',
      held.map(({ rule }) => `  ${rule}`),
    ),
  ];
}

/** Lines without control characters, also where a peer has sent some. */
export function reportText({ derbench, made_at: madeAt, peers }: ReportsJson): string {
  const head = `Findings of derbench ${derbench.version}, build ${derbench.build_id}, at ${madeAt}`;
  const bodies =
    peers.length === 0
      ? [['', 'No peer has sent a valid request.']]
      : peers.map(reportLines).map((lines) => ['', ...lines]);
  return [head, ...bodies.flat()].map((line) => `${printableLines(line.replaceAll(/\s*\n\s*/g, ' '))}\n`).join('');
}
