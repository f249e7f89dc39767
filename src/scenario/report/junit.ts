/** The result of a run as JUnit XML for CI systems, with a test case for each step and assertion. */
import type { AssertionResult, RunReport, StepResult } from '../../contract/scenarios.ts';
import { xmlText } from '../../core/markup.ts';

interface Case {
  readonly name: string;
  readonly place: string;
  readonly timeS: number;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly message: string;
}

function stepCase({ name, place, state, message }: StepResult): Case {
  const outcome = state === 'done' ? 'passed' : state === 'failed' ? 'failed' : 'skipped';
  return {
    name: `step: ${name}`,
    place,
    timeS: 0,
    outcome,
    message: message ?? (outcome === 'skipped' ? 'not reached' : ''),
  };
}

function assertionCase({ name, place, state, message, beganS, decidedS }: AssertionResult): Case {
  const outcome = state === 'passed' ? 'passed' : state === 'failed' ? 'failed' : 'skipped';
  const words = outcome === 'skipped' && message === '' ? 'the scenario ended before its verdict' : message;
  return { name, place, timeS: (decidedS ?? beganS) - beganS, outcome, message: words };
}

function caseXml(suite: string, { name, place, timeS, outcome, message }: Case): string {
  const head = `    <testcase classname="${xmlText(suite)}" name="${xmlText(name)}" file="${xmlText(place)}" time="${timeS.toFixed(3)}"`;
  if (outcome === 'passed') return `${head}/>`;
  const inner =
    outcome === 'failed'
      ? `<failure message="${xmlText(message)}">${xmlText(`${place}: ${message}`)}</failure>`
      : `<skipped message="${xmlText(message)}"/>`;
  return `${head}>${inner}</testcase>`;
}

function propertiesXml({ checksOfPeers: checks }: RunReport): readonly string[] {
  if (checks === null || checks.rules === 0) return [];
  const property = (name: string, value: number) => `<property name="${name}" value="${value}"/>`;
  const both =
    property('checks_of_peers.exercised', checks.exercised) + property('checks_of_peers.rules', checks.rules);
  return [`    <properties>${both}</properties>`];
}

function suiteXml(report: RunReport): readonly string[] {
  const cases = [...report.steps().map(stepCase), ...report.assertions().map(assertionCase)];
  const number = (outcome: Case['outcome']) => cases.filter((testCase) => testCase.outcome === outcome).length;
  const seconds = ((report.endedAtMs ?? report.startedAtMs) - report.startedAtMs) / 1000;
  const name = xmlText(report.name);
  const errors =
    report.error === null
      ? []
      : [
          `    <testcase classname="${name}" name="the scenario runs to its end" time="0"><error ` +
            `message="${xmlText(report.error)}"/></testcase>`,
        ];
  const counts =
    `tests="${cases.length + errors.length}" failures="${number('failed')}" errors="${errors.length}" ` +
    `skipped="${number('skipped')}" time="${seconds.toFixed(3)}"`;
  return [
    `  <testsuite name="${name}" timestamp="${new Date(report.startedAtMs).toISOString().slice(0, 19)}" ${counts}>`,
    ...propertiesXml(report),
    ...errors,
    ...cases.map((testCase) => caseXml(report.name, testCase)),
    '  </testsuite>',
  ];
}

/** One suite for each run. Times of assertions are simulated seconds, those of suites real ones. */
export function junitXml(reports: readonly RunReport[]): string {
  const suites = reports.flatMap(suiteXml);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="derbench">',
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}
