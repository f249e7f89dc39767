/** The bar at the top of each page: clock, fast runs, protocols, alarms and faults. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, post, perform, Problem } from '../api/call';
import { Action, Refused, useDo, Curl } from '../kit/action';
import { Chip } from '../kit/panel';
import type { Tone } from '../kit/panel';
import { zone, timeOfDay } from '../look/format';
import { useLive, refresh, useShared } from '../store/live';
import { apiMode, toggleApiMode } from '../store/api-mode';
import { href } from '../store/route';
import { useClock, useClockOwner, useOverview } from '../store/site';
import type { Overview } from '../store/site';
import { tickEveryMs } from '../store/stream';
import { Help, helpOpen, paused, runningMode, searchOpen, stepCall, togglePauseCall } from './shortcuts';
import { Search } from './search';
import { setTheme, theme } from './theme';
import { say } from '../kit/notice';

const clockCall = get('controls/time');
/** Polling interval of the clock during a fast run, ms. */
const progressMs = 500;

/** Range of a fast run. */
interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Runs ticks as fast as possible until a time of day, if necessary of the next day. */
function RunUntil({ simTime, clockTime }: { readonly simTime: string; readonly clockTime: string }) {
  const [time, setTime] = useState('');
  const [span, setSpan] = useState<Span | null>(null);
  const { busy, problem, run } = useDo();
  const until = untilOf(simTime, clockTime, time);
  const call = until === null ? null : post('controls/time/step', { body: { until } });
  const start = async () => {
    if (call === null || until === null) return;
    setSpan({ fromMs: Date.parse(simTime), untilMs: Date.parse(until) });
    await run(call);
    setSpan(null);
  };
  if (busy && span !== null) return <Progress span={span} simTime={simTime} />;
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
      {call && <Curl call={call} />}
      <Refused problem={problem} />
    </span>
  );
}

/** Progress of a fast run, and a button that stops the run. */
function Progress({ span, simTime }: { readonly span: Span; readonly simTime: string }) {
  useShared(clockCall, progressMs);
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

const faultsCall = get('faults', { query: { limit: 1 } });

export function TopBar() {
  const overview = useOverview();
  return (
    <header class="top">
      <a class="name" href={href('overview')}>
        derbench
      </a>
      <Clock />
      {overview && <Lamps overview={overview} />}
      {overview && <AlarmCount overview={overview} />}
      <FaultCount />
      <span class="row">
        <button
          type="button"
          class="quiet"
          title="Search a device or point (/)"
          onClick={() => (searchOpen.value = true)}
        >
          Search
        </button>
        <button type="button" class="quiet" title="Keys (?)" onClick={() => (helpOpen.value = true)}>
          Keys
        </button>
        <button
          type="button"
          class="quiet"
          aria-pressed={apiMode.value}
          title="Show the calls of this page (a)"
          onClick={toggleApiMode}
        >
          API
        </button>
        <button type="button" class="quiet" onClick={() => setTheme(theme.value === 'dark' ? 'light' : 'dark')}>
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
      </span>
      {helpOpen.value && <Help />}
      {searchOpen.value && <Search />}
    </header>
  );
}

/** The simulated clock: rate, pause, step, and running until a time of day. */
function Clock() {
  const clock = useClock();
  const owner = useClockOwner();
  const unable = owner === null ? null : `the scenario ${owner} has the clock until it ends`;
  const isPaused = clock?.mode === 'paused';
  useEffect(() => {
    paused.value = isPaused;
    if (clock !== undefined && clock.mode !== 'paused') runningMode.value = clock.mode;
    zone.value = clock?.timezone ?? 'UTC';
    tickEveryMs.value = clock === undefined || isPaused ? null : clock.tick_interval_s * 1000;
  }, [clock?.mode, clock?.timezone, clock?.tick_interval_s]);
  if (!clock) return <span class="clock muted">no clock yet</span>;
  return (
    <div class="clock" role="group" aria-label="Simulated clock">
      <strong title={`${clock.sim_time} (${clock.timezone}), tick ${clock.tick}`} data-test="clock">
        {clock.clock_time}
      </strong>
      <Rate mode={clock.mode} rate={clock.rate} unable={unable} />
      <Action
        call={togglePauseCall(isPaused)}
        title="Pause or run the clock (space)"
        pressed={isPaused}
        unable={unable}
      >
        {isPaused ? 'Run' : 'Pause'}
      </Action>
      {isPaused && (
        <>
          <Action call={stepCall()} title="Run one tick (.)" curl={false} unable={unable}>
            Step
          </Action>
          {owner === null && <RunUntil simTime={clock.sim_time} clockTime={clock.clock_time} />}
        </>
      )}
      {unable !== null && (
        <a class="owner" href={href('scenarios')} title={unable} data-test="clock-owner">
          <Chip tone="warn">scenario {owner}</Chip>
        </a>
      )}
    </div>
  );
}

const rates = [0.1, 1, 2, 5, 10, 60, 300, 600, 1200, 3600];

interface RateProps {
  readonly mode: string;
  readonly rate: number;
  /** reason why the rate cannot be set now */
  readonly unable: string | null;
}

function Rate({ mode, rate, unable }: RateProps) {
  const { problem, run } = useDo();
  const options = rates.includes(rate) ? rates : [...rates, rate].sort((a, b) => a - b);
  const set = (value: string) => {
    if (value === 'wall') void run(post('controls/time', { body: { mode: 'wall_clock' } }));
    else
      void run(
        post('controls/time', { body: { mode: mode === 'paused' ? 'paused' : 'accelerated', rate: Number(value) } }),
      );
  };
  return (
    <>
      <select
        aria-label="Rate of the clock"
        title={unable ?? 'Simulated seconds per real second'}
        disabled={unable !== null}
        value={mode === 'wall_clock' ? 'wall' : String(rate)}
        onChange={(event) => set(event.currentTarget.value)}
      >
        <option value="wall">real time of day</option>
        {options.map((option) => (
          <option key={option} value={String(option)}>
            ×{option}
          </option>
        ))}
      </select>
      <Refused problem={problem} />
    </>
  );
}

const commNames: Readonly<Record<string, string>> = {
  modbus_tcp: 'Modbus',
  modbus_rtu: 'Modbus RTU',
  modbus_proxy: 'Proxy',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
  sunspec_client: 'SunSpec client',
  websocket: 'Stream',
};
const commViews: Readonly<Record<string, string>> = {
  modbus_tcp: 'protocols/modbus',
  modbus_rtu: 'protocols/modbus',
  modbus_proxy: 'protocols/modbus',
  csip: 'protocols/csip',
  ocpp: 'protocols/ocpp',
  dnp3: 'protocols/dnp3',
  sunspec_client: 'protocols/sunspec-client',
};

type Comm = Overview['comm_status'][keyof Overview['comm_status']];

/** Colour and text of a protocol's state. */
function commLook({ enabled, state, peers }: Comm): { readonly tone: Tone; readonly word: string } {
  if (!enabled) return { tone: 'off', word: 'off' };
  if (state === 'error') return { tone: 'bad', word: 'error' };
  if (state === 'retrying') return { tone: 'warn', word: 'retrying' };
  return { tone: peers > 0 ? 'good' : 'muted', word: peers > 0 ? String(peers) : state.replaceAll('_', ' ') };
}

/** One lamp per protocol with the number of peers or its state. */
function Lamps({ overview }: { readonly overview: Overview }) {
  const protocols = Object.entries(overview.comm_status).filter(
    ([name, { enabled }]) => name !== 'websocket' && (enabled || ['csip', 'ocpp', 'dnp3'].includes(name)),
  );
  return (
    <nav class="lamps" aria-label="Protocols">
      {protocols.map(([name, comm]) => {
        const { tone, word } = commLook(comm);
        return (
          <a key={name} href={href(commViews[name] ?? 'protocols')} title={comm.detail ?? undefined}>
            <Chip tone={tone}>
              {commNames[name] ?? name} {word}
            </Chip>
          </a>
        );
      })}
    </nav>
  );
}

function AlarmCount({ overview }: { readonly overview: Overview }) {
  const count = overview.devices.reduce((sum, { alarm_count }) => sum + alarm_count, 0);
  const countBefore = useRef(count);
  const isRising = count > countBefore.current;
  countBefore.current = count;
  return (
    <a href={href('overview', { filter: 'alarms' })} class={isRising ? 'alarm-count flash' : 'alarm-count'}>
      <Chip tone={count > 0 ? 'bad' : 'muted'}>
        {count} {count === 1 ? 'alarm' : 'alarms'}
      </Chip>
    </a>
  );
}

/** Number of injected faults, as a reminder. */
function FaultCount() {
  const count = useLive(faultsCall, 5000).data?.count ?? 0;
  if (count === 0) return null;
  return (
    <a href={href('faults')} class="fault-count">
      <Chip tone="warn">
        {count} {count === 1 ? 'fault' : 'faults'} injected
      </Chip>
    </a>
  );
}
