/** The whole evidence as JUnit XML: suites of the findings, and one for each device. */
import type { Severity } from '../../core/findings/rule.ts';
import { findingSuites, junitDocument, suiteXml } from '../findings/junit.ts';
import type { Case } from '../findings/junit.ts';
import type { AnswerJson, DeviceEvidence, DifferenceJson, EvidenceJson } from './document.ts';
import { isFault } from './document.ts';

function quantityCase(quantity: string, differences: readonly DifferenceJson[]): Case {
  const faults = differences.filter(isFault);
  const detail = differences.map(({ explanation, protocol, value }) => explanation ?? `${protocol}: ${String(value)}`);
  return {
    rule: `quantity ${quantity}`,
    outcome: faults.length > 0 ? 'failed' : 'noted',
    message: differences.map(({ protocol, cause }) => `${protocol}: ${cause}`).join(', '),
    detail: detail.join('\n'),
  };
}

function answerCase({ protocol, command, told, done, cause, explanation, wall_time: at }: AnswerJson): Case {
  return {
    rule: `${protocol} ${command} ${told.name} at ${at}`,
    outcome: done === null ? 'skipped' : done ? 'passed' : 'failed',
    message: cause.replaceAll('_', ' '),
    detail: explanation ?? '',
  };
}

function deviceSuite(device: DeviceEvidence, madeAt: string): string {
  const { device_index: index, name, differences, answers, quantity_count: count } = device;
  const byQuantity = new Map<string, DifferenceJson[]>();
  for (const one of differences) byQuantity.set(one.quantity, [...(byQuantity.get(one.quantity) ?? []), one]);
  const cases: readonly Case[] = [
    {
      rule: `${count - byQuantity.size} quantities are the same in all protocols`,
      outcome: 'passed',
      message: '',
      detail: '',
    },
    ...[...byQuantity].map(([quantity, all]) => quantityCase(quantity, all)),
    ...answers.map(answerCase),
  ];
  return suiteXml(`Device ${index}, ${name}`, cases, madeAt);
}

/** @param failOn mildest severity of a broken rule that is a failure */
export function evidenceJunit(evidence: EvidenceJson, failOn: Severity): string {
  const { devices, made_at: madeAt } = evidence;
  return junitDocument('derbench evidence', [
    ...findingSuites(evidence, failOn),
    ...devices.map((device) => deviceSuite(device, madeAt)),
  ]);
}
