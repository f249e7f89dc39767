import { expect } from 'chai';
import {
  ScheduleStore,
  hasOffsets,
  isTiming,
  momentOf,
  repeatUnit,
} from '../../../src/dnp3/profile/schedules/schedule.ts';
import type { Schedule } from '../../../src/dnp3/profile/schedules/schedule.ts';

const dayMs = 86_400_000;
const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / dayMs;
const at = (text: string) => Date.parse(`${text}Z`);

/** A schedule with points after 0 s and 60 s, and its end after 120 s. */
function schedule(
  date: string,
  more: Partial<Pick<Schedule, 'unit' | 'interval' | 'startMs'>> & { readonly on?: readonly number[] } = {},
): Schedule {
  const { on = [], ...rest } = more;
  const made = new ScheduleStore().schedule(1);
  Object.assign(made, { startDay: dayOf(date), startMs: 8 * 3_600_000, count: 3 }, rest);
  made.values.set([0, 10, 60, 20, 120, 0]);
  for (const day of on) made.weekdays[day] = true;
  return made;
}

/** The starts after an instant, one after the other. */
function starts(of: Schedule, from: string, count: number): readonly string[] {
  const found: string[] = [];
  let now = at(from);
  while (found.length < count) {
    const { nextMs } = momentOf(of, now);
    if (nextMs === null) break;
    now = nextMs;
    if (momentOf(of, now).startMs === now) found.push(new Date(now).toISOString().slice(0, 16));
  }
  return found;
}

describe('times of schedules', () => {
  it('has each point from its offset on, and ends with the last one', () => {
    const once = schedule('2026-06-01');
    const moment = (text: string) => momentOf(once, at(text));
    expect(moment('2026-06-01T07:59:59')).to.deep.equal({
      point: null,
      startMs: null,
      nextMs: at('2026-06-01T08:00:00'),
    });
    expect(moment('2026-06-01T08:00:00').point).to.equal(0);
    expect(moment('2026-06-01T08:00:59.999').point).to.equal(0);
    expect(moment('2026-06-01T08:01:00').point).to.equal(1);
    expect(moment('2026-06-01T08:02:00')).to.deep.equal({ point: null, startMs: null, nextMs: null });
  });

  it('acts by nothing before the offset of the first point', () => {
    const late = schedule('2026-06-01');
    late.values.set([30, 10]);
    const { point, startMs, nextMs } = momentOf(late, at('2026-06-01T08:00:10'));
    expect([point, startMs, nextMs]).to.deep.equal([null, at('2026-06-01T08:00:00'), at('2026-06-01T08:00:30')]);
  });

  it('repeats after seconds, minutes, hours, days and weeks', () => {
    const second = (unit: number, interval: number) =>
      starts(schedule('2026-06-01', { unit, interval }), '2026-06-01T08:00:00', 2)[1];
    expect(second(repeatUnit.seconds, 600)).to.equal('2026-06-01T08:20');
    expect(second(repeatUnit.minutes, 30)).to.equal('2026-06-01T09:00');
    expect(second(repeatUnit.hours, 5)).to.equal('2026-06-01T18:00');
    expect(second(repeatUnit.days, 2)).to.equal('2026-06-05T08:00');
    expect(second(repeatUnit.weeks, 1)).to.equal('2026-06-15T08:00');
  });

  it('repeats after months, on the last day of those that are too short', () => {
    const monthly = schedule('2026-01-31', { unit: repeatUnit.months, interval: 1 });
    expect(starts(monthly, '2026-01-01T00:00:00', 4)).to.deep.equal([
      '2026-01-31T08:00',
      '2026-02-28T08:00',
      '2026-03-31T08:00',
      '2026-04-30T08:00',
    ]);
    const quarterly = schedule('2026-01-31', { unit: repeatUnit.months, interval: 3 });
    expect(starts(quarterly, '2027-09-15T00:00:00', 2)).to.deep.equal(['2027-10-31T08:00', '2028-01-31T08:00']);
  });

  it('runs on weekdays, counted from Sunday, from its start date on', () => {
    // 2026-06-03 is a Wednesday
    const days = schedule('2026-06-03', { on: [1, 3, 6] });
    expect(starts(days, '2026-01-01T00:00:00', 4)).to.deep.equal([
      '2026-06-03T08:00',
      '2026-06-06T08:00',
      '2026-06-08T08:00',
      '2026-06-10T08:00',
    ]);
    const fortnightly = schedule('2026-06-03', { on: [0, 3], unit: repeatUnit.weeks, interval: 2 });
    expect(starts(fortnightly, '2026-06-04T00:00:00', 3)).to.deep.equal([
      '2026-06-14T08:00',
      '2026-06-17T08:00',
      '2026-06-28T08:00',
    ]);
  });

  it('refuses repetitions without an interval or a unit, and dates beyond the last one', () => {
    expect(isTiming(schedule('2026-06-01'))).to.equal(true);
    expect(isTiming(schedule('2026-06-01', { unit: repeatUnit.days }))).to.equal(false);
    for (const unit of [7, 8]) expect(isTiming(schedule('2026-06-01', { unit, interval: 1 }))).to.equal(false);
    expect(isTiming(Object.assign(schedule('2026-06-01'), { startDay: 2 ** 31 - 1 }))).to.equal(false);
  });

  it('stays a number with the greatest intervals', () => {
    for (let unit = 1; unit <= 6; unit += 1) {
      const rare = schedule('2026-06-01', { unit, interval: 2 ** 31 - 1 });
      const { point, nextMs } = momentOf(rare, at('2026-06-02T00:00:00'));
      expect(point).to.equal(null);
      expect(nextMs === null || Number.isFinite(nextMs), `unit ${unit}`).to.equal(true);
    }
  });

  it('needs two offsets at least, which go up', () => {
    const made = schedule('2026-06-01');
    expect(hasOffsets(made)).to.equal(true);
    made.values.set([0, 1, 0, 2]);
    expect(hasOffsets(made)).to.equal(false);
    made.count = 1;
    expect(hasOffsets(made)).to.equal(false);
  });
});
