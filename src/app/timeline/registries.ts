/** Faults, findings, alarms of communication and CSIP events for the timeline, from those who keep them. */
import type { Capture, CaptureReport, VerdictWord } from '../../contract/captures.ts';
import type { CsipEvent, CsipEvents } from '../../contract/csip-reports.ts';
import type { CommAlarmChange, CommAlarms } from '../../core/comm-alarms.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { meterIndex } from '../../core/faults/kinds.ts';
import type { EndedFault, FaultChange, FaultRegistry } from '../../core/faults/registry.ts';
import type { FindingRegistry, NewCase } from '../../core/findings/registry.ts';
import type { TimelineLevel } from '../../core/timeline/entry.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { TimelineSink } from '../../core/timeline/timeline.ts';
import { messageOfEvent, messageRef } from './messages.ts';
import type { Messages } from './messages.ts';

function faultName({ protocol, facts }: ActiveFault): string {
  return `${protocol}.${facts.kind.kind}`;
}

/** The device of a fault; undefined: several, or the meter. */
function deviceOf({ facts: { deviceIndex } }: ActiveFault): number | undefined {
  return deviceIndex === null || deviceIndex === meterIndex ? undefined : deviceIndex;
}

const endWords: Readonly<Record<EndedFault['end'], string>> = {
  cleared: 'it was cleared',
  count: 'it has struck as often as it should',
  duration: 'its time is over',
  device_removed: 'its device was removed',
  device_reset: 'its device was reset',
};

function tellFault(timeline: TimelineSink, fault: ActiveFault, words: string, isOver: boolean): void {
  const { id, by } = fault.facts;
  timeline.add({
    kind: 'fault',
    level: isOver ? 'info' : 'warn',
    title: `${isOver ? 'Fault ended' : 'Fault injected'}: ${faultName(fault)}`,
    text: `Fault ${id} (${faultName(fault)}) ${words}.`,
    deviceIndex: deviceOf(fault),
    by,
    ref: { type: 'fault', id: String(id) },
  });
}

export function tellFaults(faults: Pick<FaultRegistry, 'onChange'>, timeline: TimelineSink): () => void {
  return faults.onChange(({ begun, ended }: FaultChange) => {
    for (const fault of begun) tellFault(timeline, fault, 'is in force', false);
    for (const fault of ended)
      tellFault(timeline, fault, `has ended${fault.end === null ? '' : `: ${endWords[fault.end]}`}`, true);
  });
}

/** Tells of violations and risks that no excuse covers. */
export function tellFinding(timeline: TimelineSink, { rule, peer, cell, one }: NewCase): void {
  if (rule.severity === 'remark' || one.excuse !== null) return;
  const { protocol, address } = peer.identity;
  timeline.add({
    kind: 'finding',
    level: rule.severity === 'violation' ? 'bad' : 'warn',
    title: rule.row.title,
    text: one.text,
    deviceIndex: one.deviceIndex ?? undefined,
    by: { source: protocol, peer: address },
    at: one.sim,
    ref: { type: 'finding', id: String(cell.id) },
  });
}

export function tellFindings(findings: Pick<FindingRegistry, 'onCase'>, timeline: TimelineSink): () => void {
  return findings.onCase((newCase) => {
    tellFinding(timeline, newCase);
  });
}

const commWords: Readonly<Partial<Record<CommAlarmChange['alarm']['code'], readonly [begin: string, end: string]>>> = {
  csip_connection_lost: ['Connection to the CSIP server lost', 'Connection to the CSIP server is back'],
  ocpp_connection_lost: ['Connection to the central system lost', 'Connection to the central system is back'],
  dnp3_master_lost: ['DNP3 master lost', 'DNP3 master is back'],
};

function tellCommAlarm(timeline: TimelineSink, { deviceIndex, alarm, isOver }: CommAlarmChange): void {
  const { code, severity, message } = alarm;
  const [begin, end] = commWords[code] ?? [`Alarm ${code}`, `Alarm ended: ${code}`];
  const level = severity === 'error' ? 'bad' : 'warn';
  timeline.add({
    kind: code in commWords ? 'connection' : 'alarm',
    level: isOver ? 'info' : level,
    title: isOver ? end : begin,
    text: isOver ? `${end}.` : `${begin}: ${message}.`,
    deviceIndex,
  });
}

export function tellCommAlarms(commAlarms: CommAlarms, timeline: TimelineSink): () => void {
  return commAlarms.onChange((change) => {
    tellCommAlarm(timeline, change);
  });
}

const eventWords: Readonly<Record<CsipEvent['state'], string>> = {
  scheduled: 'is scheduled',
  active: 'is in force',
  completed: 'has ended',
  cancelled: 'was cancelled',
  superseded: 'was superseded',
  rejected: 'was rejected',
};

export function tellCsipEvents(csip: CsipEvents, messages: Messages, timeline: TimelineSink): () => void {
  return csip.onEvent(({ mrid, state, deviceIndices }) => {
    const isRefused = state === 'rejected';
    const message = messageOfEvent(messages, mrid);
    for (const deviceIndex of deviceIndices)
      timeline.add({
        kind: isRefused ? 'refusal' : 'peer',
        level: isRefused ? 'warn' : 'info',
        title: `CSIP event ${eventWords[state]}`,
        text: `Event ${mrid} ${eventWords[state]}.`,
        deviceIndex,
        by: { source: 'csip', peer: mrid },
        ref: messageRef(message),
        message,
      });
  });
}

const warnedVerdicts: ReadonlySet<VerdictWord> = new Set(['tripped', 'still_out']);

function captureLevel({ verdicts }: CaptureReport): TimelineLevel {
  const words = verdicts.map(({ verdict }) => verdict);
  if (words.includes('against_the_rule')) return 'bad';
  return words.some((word) => warnedVerdicts.has(word)) ? 'warn' : 'info';
}

/** Tells of a capture in which nothing more is recorded. */
export function tellCapture(
  timeline: TimelineSink,
  { id, triggers, start, endS }: Capture,
  report: CaptureReport,
): void {
  const [first] = triggers;
  if (first === undefined) return;
  const title = `${first.title.charAt(0).toLowerCase()}${first.title.slice(1)}`;
  timeline.add({
    kind: 'capture',
    level: captureLevel(report),
    title: `Capture ${id}: ${title}`,
    text: `Capture ${id}, ${title}: ${report.summary}`,
    // the report comes later, as soon as other work leaves time for it
    at: addSeconds(start, endS),
    deviceIndex: first.deviceIndex ?? undefined,
    by: first.by ?? undefined,
    ref: { type: 'capture', id: String(id) },
  });
}
