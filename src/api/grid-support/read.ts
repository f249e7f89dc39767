/** Makes the grid-support objects of REST from registers. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { isEnabled, isSupported, reversionRemainingS, reversionTimeS } from '../../sunspec/map/grid-support/state.ts';
import { hasPoint, pointNumber, pointValue, pointWriter } from '../common/points.ts';
import { isoOrNull } from '../common/schemas.ts';
import type { GridFunction, Member, Members } from './members.ts';

export type DateMsOf = (at: SimTime) => number;
type ReplyObject = Record<string, unknown>;
function valueOf(bank: Bank, model: number, point: string, kilo: boolean): number | null {
  const value = pointNumber(bank, model, point);
  if (value === null) return null;
  // no -0 in replies
  return value === 0 ? 0 : kilo ? value / 1000 : value;
}

function symbolOf(bank: Bank, model: number, point: string): string | null {
  const value = pointValue(bank, model, point);
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function memberReply(bank: Bank, model: number, member: Member, dateMs: DateMsOf): unknown {
  switch (member.kind) {
    case 'number':
      return valueOf(bank, model, member.point, member.kilo === true);
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
          member.axes.map(({ name, point }) => [name, valueOf(bank, model, `${member.at}.Pt[${i}].${point}`, false)]),
        ),
      );
    }
  }
}

/** Members of a function or of a stored set, by name. */
export function membersReply(bank: Bank, model: number, members: Members, dateMs: DateMsOf): ReplyObject {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, memberReply(bank, model, member, dateMs)]),
  );
}

/** The object of one function, as its registers stand. */
export function functionReply(bank: Bank, spec: GridFunction, dateMs: DateMsOf): ReplyObject {
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
