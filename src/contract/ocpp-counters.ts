/** Sums of the counters of charge points. */
import type { OcppCounters } from './ocpp.ts';

export const noOcppCounters: OcppCounters = {
  messages: [],
  connects: 0,
  drops: 0,
  callErrors: 0,
  timeouts: 0,
  findings: { schema: 0, rule: 0 },
  droppedMeterValues: 0,
  lastContactMs: null,
};

function sumOfMessages(a: OcppCounters['messages'], b: OcppCounters['messages']): OcppCounters['messages'] {
  const rows = new Map<string, OcppCounters['messages'][number]>();
  for (const { direction, type, count } of [...a, ...b]) {
    const key = `${direction} ${type}`;
    rows.set(key, { direction, type, count: count + (rows.get(key)?.count ?? 0) });
  }
  return [...rows.values()];
}

export function sumOfOcppCounters(a: OcppCounters, b: OcppCounters): OcppCounters {
  const contacts = [a, b].flatMap(({ lastContactMs }) => lastContactMs ?? []);
  return {
    messages: sumOfMessages(a.messages, b.messages),
    connects: a.connects + b.connects,
    drops: a.drops + b.drops,
    callErrors: a.callErrors + b.callErrors,
    timeouts: a.timeouts + b.timeouts,
    findings: { schema: a.findings.schema + b.findings.schema, rule: a.findings.rule + b.findings.rule },
    droppedMeterValues: a.droppedMeterValues + b.droppedMeterValues,
    lastContactMs: contacts.length === 0 ? null : Math.max(...contacts),
  };
}
