/** The reports on peers as JUnit XML: one suite for each peer, one case for each rule that could be observed. */
import { isAtLeast } from '../../core/findings/registry.ts';
import type { Severity } from '../../core/findings/rule.ts';
import { xmlText } from '../../core/markup.ts';
import type { FindingJson, ReportJson, ReportsJson } from './document.ts';
import { countsText, headingText, skipText } from './words.ts';

export interface Case {
  readonly rule: string;
  readonly outcome: 'passed' | 'failed' | 'noted' | 'skipped';
  readonly message: string;
  readonly detail: string;
}

function brokenCase(finding: FindingJson, failOn: Severity): Case {
  const { rule, severity, clause, text, consequence, evidence } = finding;
  const cases = evidence.map(({ at, text: words }) => `${at} ${words}`);
  return {
    rule,
    outcome: isAtLeast(severity, failOn) ? 'failed' : 'noted',
    message: `${severity}: ${text ?? ''} (${countsText(finding)})`,
    detail: [clause, consequence, ...cases].join('\n'),
  };
}

function casesOf(report: ReportJson, failOn: Severity): readonly Case[] {
  const skipped = (['waived', 'excused', 'undecided', 'not_exercised'] as const).flatMap((state) =>
    report[state].map(
      (row): Case => ({ rule: row.rule, outcome: 'skipped', message: skipText(row, state), detail: '' }),
    ),
  );
  return [
    ...report.broken.map((finding) => brokenCase(finding, failOn)),
    ...report.held.map(({ rule }): Case => ({ rule, outcome: 'passed', message: '', detail: '' })),
    ...skipped,
  ];
}

function caseXml(suite: string, { rule, outcome, message, detail }: Case): string {
  const head = `    <testcase classname="${xmlText(suite)}" name="${xmlText(rule)}" time="0"`;
  switch (outcome) {
    case 'passed':
      return `${head}/>`;
    case 'failed':
      return `${head}><failure message="${xmlText(message)}">${xmlText(detail)}</failure></testcase>`;
    case 'noted':
      return `${head}><system-out>${xmlText(`${message}\n${detail}`)}</system-out></testcase>`;
    case 'skipped':
      return `${head}><skipped message="${xmlText(message)}"/></testcase>`;
  }
}

/** One suite. @param madeAt wall time of the document, ISO 8601 */
export function suiteXml(name: string, cases: readonly Case[], madeAt: string): string {
  const number = (outcome: Case['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  const counts = `tests="${cases.length}" failures="${number('failed')}" errors="0" skipped="${number('skipped')}"`;
  return [
    `  <testsuite name="${xmlText(name)}" timestamp="${madeAt.slice(0, 19)}" ${counts} time="0">`,
    ...cases.map((one) => caseXml(name, one)),
    '  </testsuite>',
  ].join('\n');
}

/** One suite for each peer. @param failOn mildest severity of a broken rule that is a failure; milder ones are passed with a text */
export const findingSuites = ({ made_at: madeAt, peers }: ReportsJson, failOn: Severity): readonly string[] =>
  peers.map((report) => suiteXml(headingText(report), casesOf(report, failOn), madeAt));

export const junitDocument = (name: string, suites: readonly string[]): string =>
  ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="${name}">`, ...suites, '</testsuites>', ''].join('\n');

/** @param failOn as of `findingSuites` */
export const junitReport = (reports: ReportsJson, failOn: Severity): string =>
  junitDocument('derbench findings', findingSuites(reports, failOn));
