/** Registers to grid-support objects. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { hasBit } from '../../sunspec/map/codec.ts';
import { ctrlModeMask, remainingPoint } from '../../sunspec/map/functions.ts';
import type { FunctionRow } from '../../sunspec/map/functions.ts';
import { hasPoint, pointNumber, pointValue, pointWriter } from '../common/points.ts';
import { isoOrNull } from '../common/schemas.ts';
import type { GridFunction, Member, Members } from './members.ts';

type DateMs = (at: SimTime) => number;
type ReplyObject = Record<string, unknown>;
/** The points that show the state of a function: from a row of the table, or from a function of this interface. */
type FunctionPoints = Pick<FunctionRow | GridFunction, 'model' | 'enable' | 'mode' | 'timer'>;

/** Whether a device has a function: its enable point, and its bit of 702.CtrlModes where there is one. */
export function isSupported(bank: Bank, { model, enable, mode }: FunctionPoints): boolean {
  if (!hasPoint(bank, model, enable)) return false;
  return mode === undefined || hasBit(pointNumber(bank, 702, 'CtrlModes') ?? 0, ctrlModeMask(mode));
}

/** Whether a function is switched on; one without a switch is on where its limit is above 0. */
export function isEnabled(bank: Bank, { model, enable }: FunctionPoints): boolean {
  const value = pointValue(bank, model, enable);
  return value === 'ENABLED' || (typeof value === 'number' && value > 0);
}

function engineering(bank: Bank, model: number, point: string, kilo: boolean): number | null {
  const value = pointNumber(bank, model, point);
  if (value === null) return null;
  // no -0 in replies
  return value === 0 ? 0 : kilo ? value / 1000 : value;
}

function symbolOf(bank: Bank, model: number, point: string): string | null {
  const value = pointValue(bank, model, point);
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function memberReply(bank: Bank, model: number, member: Member, dateMs: DateMs): unknown {
  switch (member.kind) {
    case 'number':
      return engineering(bank, model, member.point, member.kilo === true);
    case 'symbol':
      return symbolOf(bank, model, member.point);
    case 'flag':
      return hasPoint(bank, model, member.point) ? pointValue(bank, model, member.point) === 'ENABLED' : null;
    case 'object':
      return membersReply(bank, model, member.members, dateMs);
    case 'part':
      return functionReply(bank, member.part, dateMs);
    case 'curve': {
      const length = pointNumber(bank, model, `${member.at}.ActPt`) ?? 0;
      return Array.from({ length }, (_, i) =>
        Object.fromEntries(
          member.axes.map(({ name, point }) => [
            name,
            engineering(bank, model, `${member.at}.Pt[${i}].${point}`, false),
          ]),
        ),
      );
    }
  }
}

function membersReply(bank: Bank, model: number, members: Members, dateMs: DateMs): ReplyObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, memberReply(bank, model, member, dateMs)]),
  );
}

function reversionTimeS(bank: Bank, { model, timer }: FunctionPoints): number | null {
  return timer === undefined ? null : pointNumber(bank, model, timer);
}

/** Seconds that a reversion timer still runs, 0 once it is over; null while no reversion time is set. */
export function reversionRemainingS(bank: Bank, points: FunctionPoints): number | null {
  const { model, timer } = points;
  if (timer === undefined || (reversionTimeS(bank, points) ?? 0) === 0) return null;
  return pointNumber(bank, model, remainingPoint(timer));
}

/** The object of one function, as its registers stand. */
export function functionReply(bank: Bank, spec: GridFunction, dateMs: DateMs): ReplyObject {
  if (!isSupported(bank, spec)) return { supported: false };
  const { model, enable } = spec;
  const writer = pointWriter(bank, model, enable);
  return {
    supported: true,
    enabled: isEnabled(bank, spec),
    source: writer?.source ?? 'default',
    changed_at: isoOrNull(writer && dateMs(writer.at)),
    reversion_time_s: reversionTimeS(bank, spec),
    reversion_remaining_s: reversionRemainingS(bank, spec),
    ...membersReply(bank, model, spec.members, dateMs),
  };
}
