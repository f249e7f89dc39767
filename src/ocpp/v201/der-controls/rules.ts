/** Rules for SetDERControl beside its schema (R04.FR.13 to FR.17, errata 2025-09). */
import { instantOf } from '../../station/stack.ts';
import type { DERUnitEnum, Requests } from '../messages.ts';
import { bodiesOf, isRefusal, memberOf, rejected, timesOf } from './model.ts';
import type { DerBody, DERControlEnum, DerControl, DerRefusal } from './model.ts';

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

/** Finds a number that JSON parsing has made infinite. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}

interface Times {
  readonly startMs: number;
  readonly endMs: number | null;
}

/** When a scheduled control is in force. */
function scheduleOf(body: DerBody, nowMs: number): Times | DerRefusal {
  const { startTime, duration } = timesOf(body);
  const startMs = startTime === undefined ? nowMs : instantOf(startTime);
  if (!(startMs <= maxDateMs)) return rejected('startTime is no date');
  if (duration === undefined) return { startMs: Math.max(startMs, nowMs), endMs: null };
  if (!(duration > 0)) return rejected('duration: a control lasts for some time', 'ValuePositiveOnly');
  const endMs = startMs + duration * 1000;
  if (endMs <= nowMs) return rejected('startTime and duration: the control is over already');
  // an end beyond all dates counts as none
  return { startMs: Math.max(startMs, nowMs), endMs: endMs <= maxDateMs ? endMs : null };
}

/** The one body of a request, of the type that it names. */
function bodyOf(request: Requests['SetDERControl']): DerBody | DerRefusal {
  const neededMember = memberOf[request.controlType];
  const bodies = bodiesOf(request);
  const body = bodies.find(({ member }) => member === neededMember);
  if (body === undefined) return broken('FR.16', `${request.controlType} needs ${neededMember}`, 'MissingParam');
  if (bodies.length > 1) {
    const others = bodies.filter((each) => each !== body).map(({ member }) => member);
    return broken(
      'FR.17',
      `${request.controlType} takes ${neededMember} alone, without ${others.join(', ')}`,
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

/** The control that a request makes, or why it is Rejected. @param order greater than that of each control before */
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
