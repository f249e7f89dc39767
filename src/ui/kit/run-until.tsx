/** Running until a time of day: the form, and the progress in the top bar. */
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { get, perform, post, Problem } from '../api/call';
import { timeOfDay } from '../look/format';
import { refresh, useShared } from '../store/live';
import { Refused, useDo } from './action';
import { CallLine } from './api-switch';
import { say } from './notice';

const clockCall = get('controls/time');
/** Polling interval of the clock during a fast run, ms. */
const progressMs = 500;

/** Range of a fast run. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The fast run that this page has started; null: none. */
export const fastRun = signal<Span | null>(null);

/** Runs ticks as fast as possible until a time of day, if necessary of the next day. */
export function RunUntil({ simTime, clockTime }: { readonly simTime: string; readonly clockTime: string }) {
  const [time, setTime] = useState('');
  const { busy, problem, run } = useDo();
  const until = untilOf(simTime, clockTime, time);
  const call = until === null ? null : post('controls/time/step', { body: { until } });
  const start = async () => {
    if (call === null || until === null) return;
    fastRun.value = { fromMs: Date.parse(simTime), untilMs: Date.parse(until) };
    await run(call);
    fastRun.value = null;
  };
  return (
    <span class="row">
      <input
        type="text"
        placeholder="HH:MM:SS"
        size={9}
        aria-label="Run until"
        value={time}
        onInput={(event) => setTime(event.currentTarget.value)}
      />
      <button type="button" disabled={call === null || busy} onClick={() => void start()}>
        Run until
      </button>
      {call && <CallLine call={call} />}
      <Refused problem={problem} />
    </span>
  );
}

/** Progress of the fast run, and a button that stops it. */
export function Progress({ simTime }: { readonly simTime: string }) {
  useShared(clockCall, progressMs);
  const span = fastRun.value;
  if (span === null) return null;
  const target = timeOfDay(new Date(span.untilMs).toISOString());
  return (
    <span class="row">
      <progress
        aria-label="Running until"
        max={span.untilMs - span.fromMs}
        value={Math.max(0, Date.parse(simTime) - span.fromMs)}
      />
      <span data-test="run-progress">
        {timeOfDay(simTime)} / {target}
      </span>
      <button type="button" onClick={() => void stop()}>
        Stop there
      </button>
    </span>
  );
}

/** Stops a fast run, which ends when the clock leaves `paused`: runs and pauses it, without a tick in between. */
async function stop(): Promise<void> {
  try {
    await perform(post('controls/time', { body: { mode: 'accelerated' } }));
    await perform(post('controls/time', { body: { mode: 'paused' } }));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
  refresh();
}

const dayMs = 86_400_000;

const msOfDay = (time: string) => {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
};

/**
 * The next instant at which the simulated clock shows a time of day, ignoring daylight saving changes in between.
 * @param text `HH:MM` or `HH:MM:SS`; otherwise the result is null
 */
function untilOf(simTime: string, clockTime: string, text: string): string | null {
  if (!/^([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(text.trim())) return null;
  const aheadMs = (msOfDay(text) - msOfDay(clockTime) + dayMs) % dayMs || dayMs;
  const nowMs = Math.floor(Date.parse(simTime) / 1000) * 1000;
  return new Date(nowMs + aheadMs).toISOString();
}
