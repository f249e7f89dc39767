/** Controls as lists of ReportDERControl: by member, at most 24 in each, over as many messages as needed. */
import type { Requests } from '../messages.ts';
import type { DerBody, DerControl, DerMember } from './model.ts';

type Report = Requests['ReportDERControl'];

/** Schema: items of a list. */
export const maxListed = 24;

/** One control as the list of its member. */
function listed({ id, type, isDefault, superseded: isSuperseded, body }: DerControl): Omit<Report, 'requestId'> {
  const facts = { id, isDefault, isSuperseded };
  switch (body.member) {
    case 'curve':
      return { curve: [{ ...facts, curveType: type, curve: body.value }] };
    case 'enterService':
      return { enterService: [{ id, enterService: body.value }] };
    case 'fixedPFAbsorb':
      return { fixedPFAbsorb: [{ ...facts, fixedPF: body.value }] };
    case 'fixedPFInject':
      return { fixedPFInject: [{ ...facts, fixedPF: body.value }] };
    case 'fixedVar':
      return { fixedVar: [{ ...facts, fixedVar: body.value }] };
    case 'freqDroop':
      return { freqDroop: [{ ...facts, freqDroop: body.value }] };
    case 'gradient':
      return { gradient: [{ id, gradient: body.value }] };
    case 'limitMaxDischarge':
      return { limitMaxDischarge: [{ ...facts, limitMaxDischarge: body.value }] };
  }
}

function merged(controls: readonly DerControl[]): Omit<Report, 'requestId'> {
  const lists: Record<string, unknown[]> = {};
  for (const control of controls)
    for (const [member, items] of Object.entries(listed(control)))
      lists[member] = [...(lists[member] ?? []), ...(items as readonly unknown[])];
  return lists;
}

/** The messages that answer a GetDERControl, in order. @param controls at least one */
export function reportsOf(controls: readonly DerControl[], requestId: number): readonly Report[] {
  const parts: DerControl[][] = [];
  const counts = new Map<DerMember, number>();
  for (const control of controls) {
    const member: DerBody['member'] = control.body.member;
    const before = counts.get(member) ?? 0;
    counts.set(member, before + 1);
    (parts[Math.floor(before / maxListed)] ??= []).push(control);
  }
  return parts.map((part, at) => ({ requestId, ...(at < parts.length - 1 && { tbc: true }), ...merged(part) }));
}
