import { expect } from 'chai';
import { CronPattern, patternOf } from '../../src/scenario/run/calendar.ts';

const noonMs = Date.UTC(2026, 5, 21, 12);
const next = (pattern: string, afterMs: number, zone = 'UTC') => {
  const ms = new CronPattern(pattern, zone).next(afterMs);
  return ms === null ? null : new Date(ms).toISOString();
};

describe('times of day and cron patterns of scenarios', () => {
  it('come next after an instant, never in it', () => {
    const noon = patternOf(12 * 3600);
    expect(noon).to.equal('0 0 12 * * *');
    expect(next(noon, noonMs - 1)).to.equal('2026-06-21T12:00:00.000Z');
    expect(next(noon, noonMs)).to.equal('2026-06-22T12:00:00.000Z');
    expect(next('0 */15 * * * *', noonMs)).to.equal('2026-06-21T12:15:00.000Z');
  });

  it('are whole seconds, the last one of a day too', () => {
    expect(patternOf(86_399)).to.equal('59 59 23 * * *');
    expect(next(patternOf(86_399), noonMs)).to.equal('2026-06-21T23:59:59.000Z');
    expect(next(patternOf(0), noonMs)).to.equal('2026-06-22T00:00:00.000Z');
  });

  it('are those of the zone of the scenario', () => {
    expect(next(patternOf(12 * 3600), noonMs, 'Asia/Kathmandu')).to.equal('2026-06-22T06:15:00.000Z');
  });

  it('wait for a leap day', () => {
    expect(next('0 0 12 29 2 *', noonMs)).to.equal('2028-02-29T12:00:00.000Z');
  });
});
