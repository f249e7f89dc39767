/** The simulated clock in the top bar: time, rate, run and pause, one tick. */
import { useEffect, useState } from 'preact/hooks';
import type { ReplyOf } from '../api/call';
import { post } from '../api/call';
import { CallLine } from '../kit/api-switch';
import { Icon } from '../kit/icons';
import { Menu } from '../kit/menu';
import { fastRun, Progress, RunUntil } from '../kit/run-until';
import { Segments } from '../kit/segments';
import { dateWords, fixed, zone } from '../look/format';
import { href } from '../store/route';
import { isLate, useClock, useClockOwner, useIsWithoutClock, useRunningScenario } from '../store/site';
import { clockTimeSince, tickEveryMs, useFrame } from '../store/stream';
import { act, paused, runningMode, stepCall, togglePauseCall } from './shortcuts';

type ClockReply = ReplyOf<'controls/time'>;

export function Clock() {
  const clock = useClock();
  const owner = useClockOwner();
  const isPaused = clock?.mode === 'paused';
  useEffect(() => {
    paused.value = isPaused;
    if (clock !== undefined && clock.mode !== 'paused') runningMode.value = clock.mode;
    zone.value = clock?.timezone ?? 'UTC';
    tickEveryMs.value = clock === undefined || isPaused ? null : clock.tick_interval_s * 1000;
  }, [clock?.mode, clock?.timezone, clock?.tick_interval_s]);
  const isWithout = useIsWithoutClock();
  if (!clock) return <span class="clock muted">{isWithout ? 'a clock in each shard' : 'no clock yet'}</span>;
  return (
    <div class={isPaused ? 'clock paused' : 'clock'} role="group" aria-label="Simulated clock">
      <strong title={`${clock.sim_time} (${clock.timezone}), tick ${clock.tick}`} data-test="clock">
        <TimeOfDay clock={clock} />
      </strong>
      <small>
        {dateWords(clock.sim_time)}
        <br />
        {isPaused ? 'Paused' : clock.timezone}
      </small>
      {owner === null ? <Controls clock={clock} /> : <Owner name={owner} />}
      {fastRun.value !== null && <Progress simTime={clock.sim_time} />}
    </div>
  );
}

/** The clock moves with each frame, the figures once per second. */
function TimeOfDay({ clock }: { readonly clock: ClockReply }) {
  useFrame();
  return <>{clockTimeSince(clock.tick, clock.clock_time)}</>;
}

/** A scenario has the clock until it ends. */
function Owner({ name }: { readonly name: string }) {
  const id = useRunningScenario();
  return (
    <>
      <a
        class="owner"
        href={href('scenarios/runs')}
        data-test="clock-owner"
        title={`The scenario ${name} has the clock`}
      >
        scenario {name}
      </a>
      {id !== null && (
        <button type="button" class="small" onClick={() => void act(post('scenarios/{id}/stop', { params: { id } }))}>
          Stop scenario
        </button>
      )}
    </>
  );
}

function Controls({ clock }: { readonly clock: ClockReply }) {
  const isPaused = clock.mode === 'paused';
  const toggle = isPaused ? 'Run' : 'Pause';
  return (
    <div class="segments clock-keys">
      <Rate clock={clock} />
      <button
        type="button"
        aria-label={toggle}
        title={`${toggle} the clock (space)`}
        onClick={() => void act(togglePauseCall(isPaused))}
      >
        <Icon name={isPaused ? 'run' : 'pause'} />
      </button>
      <button
        type="button"
        disabled={!isPaused}
        title={isPaused ? 'Run one tick (.)' : 'One tick while the clock is paused'}
        onClick={() => void act(stepCall())}
      >
        Step
      </button>
    </div>
  );
}

const maxRate = 3600;
const presets = [
  [1, '×1'],
  [10, '×10'],
  [60, '×60'],
  [600, '×600'],
  [maxRate, 'max'],
] as const;

const rateText = (rate: number) => `×${fixed(rate, Number.isInteger(rate) ? 0 : 1)}`;

/** `×60, reaches ×41` */
function rateWords(clock: ClockReply): string {
  const { mode, rate, rate_effective: reached } = clock;
  if (mode === 'wall_clock') return 'real time';
  return isLate(clock) ? `${rateText(rate)}, reaches ×${fixed(reached, 0)}` : rateText(rate);
}

function Rate({ clock }: { readonly clock: ClockReply }) {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? (clock.mode === 'wall_clock' ? '' : String(clock.rate));
  const isPaused = clock.mode === 'paused';
  const setCall = (rate: number) =>
    post('controls/time', { body: { mode: isPaused ? 'paused' : 'accelerated', rate } });
  const set = (rate: number) => act(setCall(rate));
  return (
    <Menu
      label={`Rate of the clock: ${rateWords(clock)}`}
      title="Simulated seconds per real second"
      face={rateWords(clock)}
    >
      {(close) => (
        <div class="stack">
          <Segments
            label="Rate"
            options={presets}
            value={clock.mode === 'wall_clock' ? null : clock.rate}
            onChoice={(rate) => void set(rate).then(close)}
          />
          <form
            class="row"
            onSubmit={(event) => {
              event.preventDefault();
              void set(Number(text)).then(() => {
                setTyped(null);
                close();
              });
            }}
          >
            <input
              inputMode="decimal"
              aria-label="Other rate"
              placeholder={`0.01 to ${maxRate}`}
              value={text}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
            <button disabled={!(Number(text) > 0)}>Set rate</button>
          </form>
          <button
            type="button"
            onClick={() => void act(post('controls/time', { body: { mode: 'wall_clock' } })).then(close)}
          >
            Real time of day
          </button>
          <CallLine call={setCall(Number(text) > 0 ? Number(text) : clock.rate)} />
          <CallLine call={togglePauseCall(isPaused)} />
          <CallLine call={stepCall()} />
          {isPaused && <RunUntil simTime={clock.sim_time} clockTime={clock.clock_time} />}
        </div>
      )}
    </Menu>
  );
}
