/** The reports on peers as plain text. */
import { printableLines } from '../../core/log/log.ts';
import type { FindingJson, ReportJson, ReportsJson, RuleJson } from './document.ts';
import {
  countsText,
  coverageText,
  devicesText,
  headingText,
  identitiesText,
  legend,
  situationText,
  undecidedText,
} from './words.ts';

function findingLines(finding: FindingJson): readonly string[] {
  const { rule, severity, title, clause, text, consequence, reason, last_at: lastAt } = finding;
  const devices = devicesText(finding);
  return [
    `  ${severity} ${rule}: ${title}`,
    `    case: ${text ?? ''}`,
    ...(finding.evidence.at(-1) === undefined ? [] : evidenceLines(finding.evidence.at(-1))),
    `    count: ${countsText(finding)}, the last case at ${lastAt ?? '?'}${devices === '' ? '' : `, ${devices}`}`,
    `    basis: ${clause}`,
    ...(reason === null ? [`    in the field: ${consequence}`] : [`    ${finding.state}: ${reason}`]),
  ];
}

/** Computed values and message of a case. */
function evidenceLines(evidence: FindingJson['evidence'][number] | undefined): readonly string[] {
  if (evidence === undefined) return [];
  const { facts, channel, message_id: id, excerpt } = evidence;
  const values = Object.entries(facts).map(([name, value]) => `${name} ${String(value)}`);
  const message = id === null ? [] : [`message ${id} of ${channel ?? ''}`];
  const details = [...values, ...message];
  return [
    ...(details.length === 0 ? [] : [`    evidence: ${details.join(', ')}`]),
    ...(excerpt === null ? [] : [`    sent: ${excerpt}`]),
  ];
}

const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, ...lines]);

const ruleLine =
  (words: (row: RuleJson) => string) =>
  (row: RuleJson): readonly string[] => [
    `  ${row.severity} ${row.rule}${row.core ? ' (core)' : ''}: ${row.title}`,
    `    ${words(row)}`,
  ];

function reportLines(report: ReportJson): readonly string[] {
  const { summary, broken, waived, excused, undecided, held, coverage } = report;
  const missing = coverage.core_missing;
  return [
    `${headingText(report)}: ${summary.verdict}`,
    identitiesText(report),
    coverageText(report),
    ...(missing.length === 0 ? [] : [`core rules that never came up, though they could: ${missing.join(', ')}`]),
    ...section('Broken', broken.flatMap(findingLines)),
    ...section('Waived', waived.flatMap(findingLines)),
    ...section('Excused', excused.flatMap(findingLines)),
    ...section('Undecided', undecided.flatMap(ruleLine(() => undecidedText))),
    ...section(
      'Never came up',
      report.not_exercised.flatMap(ruleLine((row) => `comes up when: ${situationText(row)}`)),
    ),
    ...section(
      'Cannot be judged here',
      report.not_observable.flatMap(ruleLine(({ reason }) => `reason: ${reason ?? ''}`)),
    ),
    ...section(
      'Held',
      held.map(({ rule, core, title, exercised }) => `  ${rule}${core ? ' (core)' : ''}, ${exercised} times: ${title}`),
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
  return [head, ...legend, ...bodies.flat()]
    .map((line) => `${printableLines(line.replaceAll(/\s*\n\s*/g, ' '))}\n`)
    .join('');
}
