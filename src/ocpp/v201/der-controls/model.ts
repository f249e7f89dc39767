/**
 * DER controls of 2.1 (block R) as values, with the rules for SetDERControl beside its schema (R04.FR.13 to FR.17,
 * errata 2025-09) and the lists of ReportDERControl. Instants in ms since the epoch, in the time of the central system.
 */
import { z } from 'zod';
import type {
  DERControlEnum,
  DERCurve,
  EnterService,
  FixedPF,
  FixedVar,
  FreqDroop,
  Gradient,
  LimitMaxDischarge,
  Requests,
  DERUnitEnum,
} from '../messages.ts';
import { derControlMembers } from '../../../contract/ocpp-der.ts';
import { amount, instant, record, serial } from '../../../core/slot-values.ts';
import { fitsSchema } from '../stored.ts';
import { instantOf } from '../../station/stack.ts';

export type { DERControlEnum } from '../messages.ts';

/** Values of a control, under the member of SetDERControl that carries them. */
export type DerBody =
  | { readonly member: 'curve'; readonly value: DERCurve }
  | { readonly member: 'enterService'; readonly value: EnterService }
  | { readonly member: 'fixedPFAbsorb'; readonly value: FixedPF }
  | { readonly member: 'fixedPFInject'; readonly value: FixedPF }
  | { readonly member: 'fixedVar'; readonly value: FixedVar }
  | { readonly member: 'freqDroop'; readonly value: FreqDroop }
  | { readonly member: 'gradient'; readonly value: Gradient }
  | { readonly member: 'limitMaxDischarge'; readonly value: LimitMaxDischarge };

export type DerMember = DerBody['member'];

export interface DerControl {
  readonly id: string;
  readonly type: DERControlEnum;
  readonly isDefault: boolean;
  /** the lower number wins */
  readonly priority: number;
  /** never before the control was set; of a default the instant at which it was set */
  readonly startMs: number;
  /** null: it lasts until it is cleared or superseded */
  readonly endMs: number | null;
  /** serial number: greater than in all earlier controls */
  readonly order: number;
  readonly body: DerBody;
  readonly superseded: boolean;
  /** true: the start was reached, and the control was not superseded then */
  readonly started: boolean;
}

/** True if the values of a control were those of a request. */
const fitsRequest = ({ isDefault, id, type, body: { member, value } }: DerControl): boolean =>
  (derControlMembers as Readonly<Record<string, string>>)[type] === member &&
  fitsSchema('ocpp2.1', ['SetDERControl'], { isDefault, controlId: id, controlType: type, [member]: value });

/** A stored control. */
export const storedControl = record<DerControl>({
  id: z.string(),
  type: z.string(),
  isDefault: z.boolean(),
  priority: amount,
  startMs: instant,
  endMs: instant.nullable(),
  order: serial,
  body: z.object({ member: z.string(), value: z.looseObject({}) }),
  superseded: z.boolean(),
  started: z.boolean(),
}).refine((control) => fitsRequest(control as unknown as DerControl), 'is no part of SetDERControl');

/** A start or end for NotifyDERStartStop. */
export interface DerNotice {
  readonly id: string;
  readonly started: boolean;
  readonly atMs: number;
  readonly supersededIds: readonly string[];
}

/** Refusal of a control; the reason code is one of the appendix. */
export interface DerRefusal {
  readonly status: 'Rejected' | 'NotSupported';
  readonly reasonCode: string;
  readonly detail: string;
  /** requirement that the request breaks; absent: the refusal rests on no requirement of the standard */
  readonly clause?: string;
}

export const rejected = (detail: string, reasonCode = 'InvalidValue'): DerRefusal => ({
  status: 'Rejected',
  reasonCode,
  detail,
});

export const notSupported = (detail: string): DerRefusal => ({
  status: 'NotSupported',
  reasonCode: 'UnsupportedParam',
  detail,
});

export function isRefusal(result: object): result is DerRefusal {
  return 'reasonCode' in result;
}

/** The member of SetDERControl that belongs to each type of control. */
export const memberOf: Readonly<Record<DERControlEnum, DerMember>> = derControlMembers;

/** The bodies of a request, in the order of `DerBody`. */
export function bodiesOf(request: Requests['SetDERControl']): readonly DerBody[] {
  const { curve, enterService, fixedPFAbsorb, fixedPFInject, fixedVar, freqDroop, gradient, limitMaxDischarge } =
    request;
  return [
    ...(curve === undefined ? [] : [{ member: 'curve', value: curve } as const]),
    ...(enterService === undefined ? [] : [{ member: 'enterService', value: enterService } as const]),
    ...(fixedPFAbsorb === undefined ? [] : [{ member: 'fixedPFAbsorb', value: fixedPFAbsorb } as const]),
    ...(fixedPFInject === undefined ? [] : [{ member: 'fixedPFInject', value: fixedPFInject } as const]),
    ...(fixedVar === undefined ? [] : [{ member: 'fixedVar', value: fixedVar } as const]),
    ...(freqDroop === undefined ? [] : [{ member: 'freqDroop', value: freqDroop } as const]),
    ...(gradient === undefined ? [] : [{ member: 'gradient', value: gradient } as const]),
    ...(limitMaxDischarge === undefined ? [] : [{ member: 'limitMaxDischarge', value: limitMaxDischarge } as const]),
  ];
}

/** Times of a body; EnterService and Gradients have none. */
function timesOf({ value }: DerBody): { readonly startTime?: string; readonly duration?: number } {
  return 'gradient' in value || 'lowVoltage' in value ? {} : value;
}

/** Types that are settings of the station: only defaults exist. */
const settingTypes: readonly DERControlEnum[] = ['EnterService', 'Gradients'];

const activePower: readonly DERUnitEnum[] = ['PctMaxW', 'PctWAvail'];
const reactivePower: readonly DERUnitEnum[] = ['PctMaxVar', 'PctVarAvail'];
const none: readonly DERUnitEnum[] = ['Not_Applicable'];

/** Units of the y axis that a curve of each type may have. */
const yUnits: Readonly<Partial<Record<DERControlEnum, readonly DERUnitEnum[]>>> = {
  FreqWatt: activePower,
  VoltWatt: activePower,
  VoltVar: reactivePower,
  WattVar: reactivePower,
};

/** A refusal because of a rule of the standard. @param rule number of the requirement */
function broken(rule: string, detail: string, reasonCode = 'InvalidValue'): DerRefusal {
  return { ...rejected(detail, reasonCode), clause: `OCPP 2.1 R04.${rule}` };
}

/** The last instant that has a time stamp, ms since the epoch. */
const maxDateMs = 253_402_300_799_999;

/** True if JSON parsing has made a number infinite. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}

interface Times {
  readonly startMs: number;
  readonly endMs: number | null;
}

/** Start and end of a scheduled control. */
function scheduleOf(body: DerBody, nowMs: number): Times | DerRefusal {
  const { startTime, duration } = timesOf(body);
  const startMs = startTime === undefined ? nowMs : instantOf(startTime);
  if (!(startMs <= maxDateMs)) return rejected('startTime is not a date');
  if (duration === undefined) return { startMs: Math.max(startMs, nowMs), endMs: null };
  if (!(duration > 0)) return rejected('duration must be greater than 0', 'ValuePositiveOnly');
  const endMs = startMs + duration * 1000;
  if (endMs <= nowMs) return rejected('startTime and duration: the control is over already');
  // an end after the last date counts as none
  return { startMs: Math.max(startMs, nowMs), endMs: endMs <= maxDateMs ? endMs : null };
}

/** The only body of a request, which must belong to its `controlType`. */
function bodyOf(request: Requests['SetDERControl']): DerBody | DerRefusal {
  const neededMember = memberOf[request.controlType];
  const bodies = bodiesOf(request);
  const body = bodies.find(({ member }) => member === neededMember);
  if (body === undefined) return broken('FR.16', `${request.controlType} needs ${neededMember}`, 'MissingParam');
  if (bodies.length > 1) {
    const others = bodies.filter((each) => each !== body).map(({ member }) => member);
    return broken(
      'FR.17',
      `${request.controlType} allows ${neededMember} only, without ${others.join(', ')}`,
      'TooManyElements',
    );
  }
  if (hasInfinity(body.value)) return rejected(`${neededMember} has a number out of range`, 'ValueOutOfRange');
  return body;
}

function unitRefusal(type: DERControlEnum, body: DerBody): DerRefusal | null {
  if (body.member !== 'curve') return null;
  const allowed = yUnits[type] ?? none;
  return allowed.includes(body.value.yUnit) ? null : rejected(`yUnit of ${type}: allowed: ${allowed.join(', ')}`);
}

/** The control of a request, or its refusal. @param order greater than in all earlier controls */
export function controlOf(request: Requests['SetDERControl'], nowMs: number, order: number): DerControl | DerRefusal {
  const { controlType: type, controlId: id, isDefault } = request;
  const body = bodyOf(request);
  if (isRefusal(body)) return body;
  if (!isDefault && settingTypes.includes(type)) return broken('FR.15', `${type} is set as a default only`);
  const { startTime, duration } = timesOf(body);
  if (isDefault && (startTime !== undefined || duration !== undefined))
    return broken('FR.13', 'a default has neither startTime nor duration', 'UnsupportedParam');
  const wrongUnit = unitRefusal(type, body);
  if (wrongUnit !== null) return wrongUnit;
  const times = isDefault ? { startMs: nowMs, endMs: null } : scheduleOf(body, nowMs);
  if (isRefusal(times)) return times;
  const { priority } = body.value;
  return { id, type, isDefault, priority, ...times, order, body, superseded: false, started: false };
}

type Report = Requests['ReportDERControl'];

/** Maximum items of a list in the schemas. */
export const maxListed = 24;

/** A report with one control, in the list that belongs to its type. */
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

/** The messages after a GetDERControl, in order. @param controls at least one control */
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
