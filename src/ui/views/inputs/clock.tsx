/** The simulated clock: time of day, date, zone, mode, rate, run until. */
import { useState } from 'preact/hooks';
import { post } from '../../api/call';
import type { BodyOf, ReplyOf } from '../../api/call';
import { InPlaceButton, InPlaceSlider } from '../../kit/in-place';
import { Empty, Panel } from '../../kit/panel';
import { RunUntil } from '../../kit/run-until';
import { Form } from '../../kit/form';
import { dateAndTime, dateWords, fixed, wallTime, words } from '../../look/format';
import { isLate, useClock, useClockOwner } from '../../store/site';
import { Writer } from './scope';

type Time = ReplyOf<'controls/time'>;
type Body = BodyOf<'controls/time'>;

const timeCall = (body: Body) => post('controls/time', { body });

const modes = [
  ['accelerated', 'Run'],
  ['paused', 'Pause'],
  ['wall_clock', 'Real time of day'],
] as const satisfies readonly (readonly [Time['mode'], string])[];

const timesOfDay = [
  ['Midnight', '00:00:00'],
  ['Morning', '06:00:00'],
  ['Noon', '12:00:00'],
  ['Evening', '18:00:00'],
] as const;

/** Largest rate of the clock, and the rates of the buttons. */
const maxRate = 3600;
const rates = [1, 10, 60, 600, maxRate] as const;

function ClockState({ clock }: { readonly clock: Time }) {
  return (
    <p class="state-line">
      <strong>{clock.clock_time}</strong>
      <span>
        {dateWords(clock.sim_time)} <span class="muted">{dateAndTime(clock.sim_time).slice(0, 10)}</span>
      </span>
      <span>{clock.timezone}</span>
      <span>
        {words(clock.mode)}, ×{fixed(clock.rate, 2)}{' '}
        {isLate(clock) && <span class="muted">reaches ×{fixed(clock.rate_effective, 2)}</span>}
      </span>
      <span class="muted">wall clock {wallTime(clock.wall_time)}</span>
    </p>
  );
}

function Writers({ clock }: { readonly clock: Time }) {
  return (
    <p class="muted">
      Set by: <Writer by={clock.changed_by} />. Stepped by: <Writer by={clock.stepped_by} />.
    </p>
  );
}

/** Mode as joined buttons. */
function Mode({ clock }: { readonly clock: Time }) {
  return (
    <div class="control">
      <div class="control-head">Mode</div>
      <div class="row">
        {modes.map(([mode, title]) => (
          <InPlaceButton
            key={mode}
            text={`Clock: ${title.toLowerCase()}`}
            calls={[timeCall({ mode })]}
            undo={[timeCall({ mode: clock.mode })]}
            pressed={clock.mode === mode}
          >
            {title}
          </InPlaceButton>
        ))}
      </div>
    </div>
  );
}

function Rate({ clock }: { readonly clock: Time }) {
  const body = (rate: number): Body =>
    clock.mode === 'wall_clock' ? { mode: 'accelerated', rate } : { mode: clock.mode, rate };
  const undo = [timeCall(clock.mode === 'wall_clock' ? { mode: 'wall_clock' } : body(clock.rate))];
  return (
    <InPlaceSlider
      name="Rate"
      value={clock.mode === 'wall_clock' ? null : clock.rate}
      placeholder="real time"
      emptyAt={1}
      min={0.01}
      max={100}
      typedMax={maxRate}
      step={1}
      decimals={2}
      unit="×"
      note="simulated seconds per second"
      presets={rates.map((rate) => [rate === maxRate ? 'max' : `×${rate}`, rate] as const)}
      callsOf={(rate) => [timeCall(body(rate))]}
      undo={undo}
    />
  );
}

/** Time of day: presets, and a field for any other. */
function TimeOfDay({ clock }: { readonly clock: Time }) {
  const isReal = clock.mode === 'wall_clock';
  const unable = isReal ? 'The clock shows the real time of day.' : null;
  const undo = [timeCall({ clock_time: clock.clock_time })];
  return (
    <div class="control">
      <div class="control-head">
        Time of day <small>an earlier time starts the charts anew; the date stays</small>
      </div>
      <div class="row">
        {timesOfDay.map(([title, time]) => (
          <InPlaceButton
            key={title}
            text={`Time of day: ${time}`}
            calls={[timeCall({ clock_time: time })]}
            undo={undo}
            unable={unable}
          >
            {title}
          </InPlaceButton>
        ))}
      </div>
      <Form
        fields={[{ kind: 'text', name: 'clock_time', label: 'Other time', placeholder: clock.clock_time }]}
        submit="Set the time"
        unable={unable}
        call={({ clock_time: time }) => timeCall({ clock_time: String(time ?? '') })}
      />
    </div>
  );
}

function Zone({ clock }: { readonly clock: Time }) {
  const [typed, setTyped] = useState<string | null>(null);
  const zone = (typed ?? clock.timezone).trim();
  return (
    <div class="control">
      <div class="control-head">
        Time zone <small>of the date and the sun</small>
      </div>
      <div class="row">
        <input
          name="timezone"
          list="zones"
          aria-label="Time zone"
          value={typed ?? clock.timezone}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <datalist id="zones">
          {Intl.supportedValuesOf('timeZone').map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <InPlaceButton
          text={`Time zone: ${zone}`}
          calls={[timeCall({ timezone: zone })]}
          undo={[timeCall({ timezone: clock.timezone })]}
          unable={zone === clock.timezone ? 'It is in force.' : null}
        >
          Set the zone
        </InPlaceButton>
      </div>
    </div>
  );
}

export function ClockTab() {
  const clock = useClock();
  const owner = useClockOwner();
  if (clock === undefined) return <Empty>The clock is not read yet.</Empty>;
  return (
    <>
      <Panel title="Clock">
        <ClockState clock={clock} />
        <Writers clock={clock} />
        {owner !== null && <p>The scenario {owner} has the clock until it ends.</p>}
      </Panel>
      <div class="inputs">
        <Panel title="How time passes">
          <Mode clock={clock} />
          <Rate clock={clock} />
          <div class="control">
            <div class="control-head">
              Run until <small>as fast as possible, if necessary to the next day</small>
            </div>
            {clock.mode === 'paused' && owner === null ? (
              <RunUntil simTime={clock.sim_time} clockTime={clock.clock_time} />
            ) : (
              <p class="muted">Pause the clock to run it until a time of day.</p>
            )}
          </div>
        </Panel>
        <Panel title="What time it is">
          <TimeOfDay clock={clock} />
          <Zone clock={clock} />
        </Panel>
      </div>
    </>
  );
}
