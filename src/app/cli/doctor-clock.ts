/** Checks of `derbench doctor` of clocks: that of this machine, and those of a simulator against it. */
import type { WallClock } from '../../core/time/clock.ts';

export interface ClockCheck {
  readonly grade: 'ok' | 'note' | 'bad';
  readonly name: string;
  /** with the remedy */
  readonly text: string;
}

const check = (grade: ClockCheck['grade'], name: string, text: string): ClockCheck => ({ grade, name, text });

/** A clock that shows an earlier time was never set: this program is younger. */
const earliestMs = Date.parse('2026-06-01');
/** Smaller steps and differences are corrections of the time, or time under way. */
const toleranceMs = 1000;

const dateText = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
const secondsText = (ms: number) => `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms > 0 ? 'ahead of' : 'behind'}`;

/** Wall time less monotonic time, ms: it changes when somebody sets the clock. */
export const clockOffsetMs = (clock: WallClock): number => clock.nowMs() - clock.monotonicMs();

/** @param startOffsetMs `clockOffsetMs` at the start of the checks */
export function machineClockCheck(clock: WallClock, startOffsetMs: number): ClockCheck {
  const nowMs = clock.nowMs();
  if (nowMs < earliestMs)
    return check('bad', 'clock', `it shows ${dateText(nowMs)}, so certificates are not valid yet. Set it.`);
  const byMs = clockOffsetMs(clock) - startOffsetMs;
  return Math.abs(byMs) > toleranceMs
    ? check('note', 'clock', `it is now ${secondsText(byMs)} a steady clock. Find the program that sets it.`)
    : check('ok', 'clock', `${dateText(nowMs)}, without a jump during these checks`);
}

const timesyncd = '/run/systemd/timesync';
/** Files of programs that keep the time of a Linux machine. */
const keepers: readonly (readonly [file: string, name: string])[] = [
  [`${timesyncd}/synchronized`, 'systemd-timesyncd'],
  ['/run/chrony/chronyd.pid', 'chrony'],
  ['/run/chronyd.pid', 'chrony'],
  ['/run/ntpd.pid', 'ntpd'],
  ['/run/openntpd.pid', 'openntpd'],
];
const containers = ['/.dockerenv', '/run/.containerenv'];

/** The program that keeps the time, found by its files: no request leaves the machine. */
export function timeKeeperCheck(exists: (file: string) => boolean): ClockCheck {
  const keeper = keepers.find(([file]) => exists(file));
  const name = 'time keeping';
  if (keeper !== undefined) return check('ok', name, `by ${keeper[1]}`);
  if (exists(timesyncd))
    return check('note', name, 'systemd-timesyncd waits for its first answer. See timedatectl timesync-status.');
  if (containers.some(exists)) return check('ok', name, 'by the machine of this container, which cannot be seen here');
  return check('note', name, 'none was found. Start chrony or systemd-timesyncd if peers check certificates or times.');
}

/** A clock of a simulator, as `GET controls/time` has it, read between two times of this machine. */
export interface RemoteTime {
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** How far a time is outside of the span of the request, ms. */
function outsideMs(ms: number, { askedMs, answeredMs }: RemoteTime): number {
  if (ms > answeredMs) return ms - answeredMs;
  return Math.min(0, ms - askedMs);
}

/** The machine of a simulator against this one, and its simulated clock against its machine. */
export function simulatorClockChecks(time: RemoteTime): readonly ClockCheck[] {
  const { mode, rate, wall_time: wallTime, sim_time: simTime } = time.body ?? {};
  const wallMs = Date.parse(String(wallTime));
  const simulatedMs = Date.parse(String(simTime));
  if (Number.isNaN(wallMs) || Number.isNaN(simulatedMs))
    return [check('bad', 'clocks', 'GET controls/time has none. Use commands of its release.')];
  const awayMs = outsideMs(wallMs, time);
  const machine =
    Math.abs(awayMs) > toleranceMs
      ? check('note', 'its machine', `${secondsText(awayMs)} this one. Synchronise both before you compare times.`)
      : check('ok', 'its machine', 'shows the time of this one');
  const pace = mode === 'accelerated' ? `at rate ${String(rate)}` : String(mode);
  const shown =
    mode === 'wall_clock'
      ? 'that of its machine'
      : `${dateText(simulatedMs)}, ${pace}; start with --wall_clock yes for the time of day`;
  return [machine, check('ok', 'simulated time', shown)];
}
