import { expect } from 'chai';
import {
  clockOffsetMs,
  machineClockCheck,
  simulatorClockChecks,
  timeKeeperCheck,
} from '../../../src/app/cli/doctor-clock.ts';

const nowMs = Date.parse('2026-12-01T10:00:00Z');
const clockAt = (ms: number, monotonicMs = 0) => ({ nowMs: () => ms, monotonicMs: () => monotonicMs });
const start = clockOffsetMs(clockAt(nowMs));

describe('clocks of derbench doctor', () => {
  for (const [title, clock, grade, text] of [
    ['that goes on', clockAt(nowMs + 5000, 5000), 'ok', '2026-12-01T10:00:05Z, without a jump'],
    ['corrected by less than a second', clockAt(nowMs + 1000), 'ok', 'without a jump'],
    ['set forward', clockAt(nowMs + 7200, 5000), 'note', '2.2 s ahead of a steady clock'],
    ['set back', clockAt(nowMs, 5000), 'note', '5.0 s behind a steady clock'],
    ['that was never set', clockAt(0), 'bad', 'shows 1970-01-01T00:00:00Z'],
  ] as const)
    it(`grade a clock ${title} as ${grade}`, () => {
      const check = machineClockCheck(clock, start);
      expect(check.grade).to.equal(grade);
      expect(check.text).to.contain(text);
    });

  for (const [files, grade, text] of [
    [['/run/systemd/timesync', '/run/systemd/timesync/synchronized'], 'ok', 'by systemd-timesyncd'],
    [['/run/systemd/timesync'], 'note', 'waits for its first answer'],
    [['/run/chrony/chronyd.pid'], 'ok', 'by chrony'],
    [['/.dockerenv'], 'ok', 'of this container'],
    [[], 'note', 'Start chrony'],
  ] as const)
    it(`find the program that keeps the time by ${files.join(' and ') || 'nothing'}`, () => {
      const check = timeKeeperCheck((file) => (files as readonly string[]).includes(file));
      expect(check.grade).to.equal(grade);
      expect(check.text).to.contain(text);
    });

  const remote = (wallMs: number, mode = 'accelerated') => ({
    askedMs: nowMs,
    answeredMs: nowMs + 1500,
    body: { mode, rate: 10, wall_time: new Date(wallMs).toISOString(), sim_time: '2026-06-21T12:00:00.000Z' },
  });

  it('allow for the time that the answer took', () => {
    for (const [awayMs, grade] of [
      [-1001, 'note'],
      [-1000, 'ok'],
      [2500, 'ok'],
      [2501, 'note'],
    ] as const)
      expect(simulatorClockChecks(remote(nowMs + awayMs))[0]?.grade, String(awayMs)).to.equal(grade);
    expect(simulatorClockChecks(remote(nowMs - 90_000))[0]?.text).to.contain('90.0 s behind this one');
  });

  it('show the simulated time with its rate', () => {
    expect(simulatorClockChecks(remote(nowMs))[1]?.text).to.match(/^2026-06-21T12:00:00Z, at rate 10; /);
    expect(simulatorClockChecks(remote(nowMs, 'paused'))[1]?.text).to.match(/^2026-06-21T12:00:00Z, paused; /);
    expect(simulatorClockChecks(remote(nowMs, 'wall_clock'))[1]?.text).to.equal('that of its machine');
  });

  it('grade an answer without times as bad', () => {
    expect(simulatorClockChecks({ ...remote(nowMs), body: null }).map(({ grade }) => grade)).to.deep.equal(['bad']);
  });
});
