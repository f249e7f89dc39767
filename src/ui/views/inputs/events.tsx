/** Starter of grid events: cards for the usual ones, and a form for all. */
import { useRef, useState } from 'preact/hooks';
import { anyCall, get } from '../../api/call';
import type { Call, ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import { CallLine } from '../../kit/api-switch';
import { useInPlace } from '../../kit/in-place';
import { Panel } from '../../kit/panel';
import { RequestForm } from '../../kit/schema-form';
import type { Schema } from '../../kit/schema-form';
import { words } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import { EventShape } from './event-shape';
import type { ShapeKind } from './event-shape';
import { callsFor, useScope } from './scope';
import type { Scope } from './scope';

type GridEvent = ReplyOf<'grid-events'>['events'][number];

export function useGridEvents(): readonly GridEvent[] | undefined {
  return useLive(get('grid-events'), 'once').data?.events;
}

/** Nominal frequency, Hz: frequency events reach as far above it as below. */
export function nominalHzOf(events: readonly GridEvent[] | undefined): number {
  const step = events?.find(({ name }) => name === 'frequency_step')?.parameters.find(({ name }) => name === 'to_hz');
  return step?.minimum == null || step.maximum === null ? 60 : (step.minimum + step.maximum) / 2;
}

const eventCall = (query: object, event: string | null, parameters?: object) =>
  anyCall('POST', 'controls/grid/event', query, { event, ...(parameters && { parameters }) });

/** Calls that end the event of a scope. */
export const stopCalls = (scope: Scope): readonly Call[] => callsFor(scope, (query) => eventCall(query, null));

interface CardNumber {
  /** parameter of the event */
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  /** units of the field per unit of the parameter */
  readonly factor: number;
  /** start value of the field; default: that of the event */
  readonly preset?: number;
}

interface Card {
  readonly title: string;
  /** text of the button */
  readonly start: string;
  readonly event: GridEvent['name'];
  /** parameters that the card fixes */
  readonly fixed: Readonly<Record<string, string>>;
  readonly numbers: readonly CardNumber[];
  readonly shape: ShapeKind;
}

const percent = (name: string): CardNumber => ({ name, label: 'To', unit: '%', factor: 100 });
const seconds: CardNumber = { name: 'duration_s', label: 'For', unit: 's', factor: 1 };
const hertz: CardNumber = { name: 'to_hz', label: 'To', unit: 'Hz', factor: 1 };

const cards: readonly Card[] = [
  {
    title: 'Sag',
    start: 'Start sag',
    event: 'sag',
    fixed: {},
    numbers: [percent('residual_pu'), seconds],
    shape: 'level',
  },
  {
    title: 'Swell',
    start: 'Start swell',
    event: 'swell',
    fixed: {},
    numbers: [percent('level_pu'), seconds],
    shape: 'level',
  },
  { title: 'Outage', start: 'Start outage', event: 'outage', fixed: {}, numbers: [seconds], shape: 'outage' },
  {
    title: 'Frequency step',
    start: 'Start step',
    event: 'frequency_step',
    fixed: {},
    numbers: [hertz, seconds],
    shape: 'frequency-step',
  },
  {
    title: 'Ramp',
    start: 'Start ramp',
    event: 'frequency_ramp',
    fixed: {},
    numbers: [hertz, { name: 'rate_hz_s', label: 'At', unit: 'Hz/s', factor: 1 }],
    shape: 'frequency-ramp',
  },
  {
    title: 'Phase jump',
    start: 'Start jump',
    event: 'phase_jump',
    fixed: {},
    numbers: [{ name: 'deg', label: 'By', unit: '°', factor: 1 }],
    shape: 'angle',
  },
  {
    title: 'Unbalance',
    start: 'Start unbalance',
    event: 'voltage_step',
    fixed: { phases: 'A' },
    numbers: [{ ...percent('to_pu'), label: 'A to', preset: 80 }, seconds],
    shape: 'one-phase',
  },
];

/** Nine decimals: further ones are rounding errors of the conversion. */
const rounded = (value: number) => Number(value.toFixed(9));

/** The number that the drawing shows. */
function drawnNumber({ shape }: Card, value: number, nominalHz: number): number {
  if (shape.startsWith('frequency')) return value - nominalHz;
  return shape === 'angle' ? value : value / 100;
}

interface EventCardProps {
  readonly card: Card;
  readonly event: GridEvent;
  readonly scope: Scope;
  readonly nominalHz: number;
}

function EventCard({ card, event, scope, nominalHz }: EventCardProps) {
  const { title, start: startText, numbers, fixed, shape } = card;
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const { problems, change } = useInPlace();
  const presetOf = ({ name, factor, preset: ofCard }: CardNumber) => {
    if (ofCard !== undefined) return String(ofCard);
    const preset = event.parameters.find((each) => each.name === name)?.default;
    return String(rounded(Number(preset ?? 0) * factor));
  };
  const textOf = (number: CardNumber) => typed[number.name] ?? presetOf(number);
  const valueOf = (number: CardNumber) => Number(textOf(number).replace(',', '.'));
  const parameters = {
    ...fixed,
    ...Object.fromEntries(numbers.map((number) => [number.name, rounded(valueOf(number) / number.factor)])),
  };
  const calls = callsFor(scope, (query) => eventCall(query, event.name, parameters));
  const issueOf = (number: CardNumber) =>
    Number.isFinite(valueOf(number))
      ? (problems.map((problem) => problem.about(`/parameters/${number.name}`)).find((issue) => issue !== null) ?? null)
      : 'must be a number';
  const text = `${title}: ${numbers.map((number) => `${number.label.toLowerCase()} ${textOf(number)}\u00a0${number.unit}`).join(', ')}`;
  const start = () => {
    if (numbers.every((number) => Number.isFinite(valueOf(number))))
      void change({ text, calls, undo: stopCalls(scope) });
  };
  const [first] = numbers;
  const other = problems.find((problem) => numbers.every(({ name }) => problem.about(`/parameters/${name}`) === null));
  const [shownCall] = calls;
  return (
    <form
      class="event-card"
      aria-label={title}
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault();
        start();
      }}
    >
      <h3>{title}</h3>
      <EventShape kind={shape} number={first ? drawnNumber(card, valueOf(first), nominalHz) : 0} />
      <div class="event-numbers">
        {numbers.map((number) => (
          <label key={number.name} class="event-number">
            <span>{number.label}</span>
            <input
              name={number.name}
              inputMode="decimal"
              aria-invalid={issueOf(number) !== null}
              value={textOf(number)}
              onInput={({ currentTarget: { value } }) => setTyped((before) => ({ ...before, [number.name]: value }))}
            />
            <span class="unit">{number.unit}</span>
            {issueOf(number) !== null && <small class="issue">{issueOf(number)}</small>}
          </label>
        ))}
      </div>
      <button class="small">{startText}</button>
      <Refused problem={other ?? null} />
      {shownCall && <CallLine call={shownCall} />}
    </form>
  );
}

/** Labels of parameters whose names are not clear. */
const titles: Readonly<Record<string, string>> = {
  residual_pu: 'Residual voltage',
  level_pu: 'Voltage',
  level_1_pu: 'Voltage of level 1',
  level_2_pu: 'Voltage of level 2',
  level_3_pu: 'Voltage of level 3',
  to_pu: 'New voltage',
  to_hz: 'New frequency',
  deg: 'Angle',
  edge_s: 'Length of each edge',
  frequency_hz: 'Frequency of the oscillation',
};

function schemaOf({ parameters }: GridEvent): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, unit, default: preset, minimum, maximum, allowed }) => [
        name,
        {
          type: typeof preset === 'number' ? 'number' : 'string',
          default: preset,
          ...(titles[name] !== undefined && { title: titles[name] }),
          ...(unit !== null && { unit: unit === 'deg' ? '°' : unit }),
          ...(minimum !== null && { minimum }),
          ...(maximum !== null && { maximum }),
          ...(allowed !== null && { enum: allowed }),
          ...(allowed !== null && { description: `Default ${String(preset)}.` }),
        },
      ]),
    ),
  };
}

interface EventFormProps {
  readonly event: GridEvent;
  readonly scope: Scope;
}

/** All parameters of an event. */
function EventForm({ event, scope }: EventFormProps) {
  const { problems, change } = useInPlace();
  const further = useRef<readonly Call[]>([]);
  const callOf = (parameters: object): Call => {
    const [first, ...others] = callsFor(scope, (query) => eventCall(query, event.name, parameters));
    further.current = others;
    return first ?? eventCall({}, event.name, parameters);
  };
  const text = `${words(event.name)} started`;
  return (
    <>
      <RequestForm
        schema={schemaOf(event)}
        under="/parameters"
        submit={`Start ${words(event.name)}`}
        call={callOf}
        onDone={() => void change({ text, calls: further.current, undo: stopCalls(scope) })}
      />
      <Refused problem={problems[0] ?? null} />
    </>
  );
}

/** Every event of the library with all its parameters. */
function AllEvents({ events, scope }: { readonly events: readonly GridEvent[]; readonly scope: Scope }) {
  const chosen = events.find(({ name }) => name === param('event')) ?? events[0];
  if (chosen === undefined) return null;
  return (
    <details class="more-events" open={param('event') !== null}>
      <summary>More: {events.length} events with all their numbers</summary>
      <div class="stack">
        <label class="row">
          <span class="muted">Event</span>
          <select value={chosen.name} onChange={({ currentTarget: { value } }) => setParam('event', value)}>
            {events.map(({ name }) => (
              <option key={name} value={name}>
                {words(name)}
              </option>
            ))}
          </select>
        </label>
        <p class="muted">{chosen.description}</p>
        <EventForm key={chosen.name} event={chosen} scope={scope} />
      </div>
    </details>
  );
}

export function EventPanel() {
  const scope = useScope();
  const events = useGridEvents() ?? [];
  const nominalHz = nominalHzOf(events);
  return (
    <Panel title="Start an event">
      <div class="event-cards">
        {cards.map((card) => {
          const event = events.find(({ name }) => name === card.event);
          return event && <EventCard key={card.title} card={card} event={event} scope={scope} nominalHz={nominalHz} />;
        })}
      </div>
      <AllEvents events={events} scope={scope} />
    </Panel>
  );
}
