/** Controls of the device page: the value in force, changed in place. */
import type { ComponentChildren } from 'preact';
import type { Call, Problem } from '../../../api/call';
import { Refused } from '../../../kit/action';
import { CallLine } from '../../../kit/api-switch';
import { Segments } from '../../../kit/segments';
import { Slider } from '../../../kit/slider';
import { Unread } from '../../../kit/states';
import { fixed } from '../../../look/format';
import { useChange } from './change';

/** A button that sets a value; the titles and values are those of `presets.ts`. */
export interface PresetButton {
  readonly title: string;
  /** the value, as title of the button */
  readonly hint: string;
  readonly call: Call;
  readonly pressed?: boolean;
}

/** Height of a control with presets, px. */
const controlPx = 94;

/** A control whose value has not been read. */
export function UnreadControl({ problem }: { readonly problem: Problem | null }) {
  return <Unread problem={problem} heights={[controlPx]} />;
}

/** Properties of every control. */
interface Common {
  readonly name: string;
  /** value in force and its writer */
  readonly note?: ComponentChildren;
  /** sets what is in force now, for Undo; null: cannot be taken back */
  readonly undo: Call | null;
  /** reason why the state refuses a change: disables the control */
  readonly unable?: string | null;
  readonly children?: ComponentChildren;
}

interface SetterProps extends Common {
  readonly value: number | null | undefined;
  readonly min: number;
  readonly max: number;
  readonly unit: string;
  readonly decimals: number;
  /** step of the slider; default: the last decimal */
  readonly dragStep?: number;
  /** value of the limit that wins */
  readonly limit?: number | null;
  readonly callOf: (value: number) => Call;
  readonly presets?: readonly PresetButton[];
  /** keeps a value that another control sends */
  readonly onSet?: (value: number) => void;
}

const rounded = (value: number | null | undefined, decimals: number) =>
  value === null || value === undefined ? null : Number(value.toFixed(decimals));

/** A slider with its number and its presets. */
export function Setter(props: SetterProps) {
  const {
    name,
    value,
    min,
    max,
    unit,
    decimals,
    note,
    limit = null,
    callOf,
    presets = [],
    undo,
    unable = null,
  } = props;
  const { problem, busy, make } = useChange();
  const shown = rounded(value, decimals);
  const send = (next: number) =>
    make({ call: callOf(next), text: `${name}: ${fixed(next, decimals)} ${unit}`.trim(), undo });
  return (
    <Slider
      name={name}
      value={shown}
      min={min}
      max={max}
      step={props.dragStep ?? 10 ** -decimals}
      unit={unit}
      note={note}
      limit={limit}
      disabled={unable !== null}
      onSet={props.onSet ?? send}
    >
      {presets.length > 0 && (
        <div class="row">
          {presets.map(({ title, hint, call, pressed = false }) => (
            <button
              key={title}
              type="button"
              class="small"
              title={hint}
              aria-pressed={pressed}
              disabled={busy || unable !== null}
              onClick={() => void make({ call, text: `${name}: ${title}`, undo })}
            >
              {title}
            </button>
          ))}
        </div>
      )}
      {props.children}
      {unable !== null && <small class="muted">{unable}</small>}
      <Refused problem={problem} />
      {shown !== null && <CallLine call={callOf(shown)} />}
    </Slider>
  );
}

interface ChoiceProps<V extends string> extends Common {
  readonly value: V | null;
  readonly options: readonly (readonly [value: V, title: string])[];
  readonly callOf: (value: V) => Call;
}

/** One choice of a few. */
export function Choice<V extends string>(props: ChoiceProps<V>) {
  const { name, note, value, options, callOf, undo, unable = null, children } = props;
  const { problem, busy, make } = useChange();
  const choose = (option: V, title: string) => make({ call: callOf(option), text: `${name}: ${title}`, undo });
  return (
    <ControlGroup name={name} note={note}>
      <Segments
        label={name}
        options={options}
        value={value}
        disabled={busy || unable !== null}
        onChoice={(option) => void choose(option, options.find(([one]) => one === option)?.[1] ?? option)}
      />
      {children}
      {unable !== null && <small class="muted">{unable}</small>}
      <Refused problem={problem} />
      {value !== null && <CallLine call={callOf(value)} />}
    </ControlGroup>
  );
}

/** A control of other parts, with the same head. */
export function ControlGroup({ name, note, children }: Pick<Common, 'name' | 'note' | 'children'>) {
  return (
    <div class="control" role="group" aria-label={name}>
      <div class="control-head">
        <span>{name}</span>
        {note !== undefined && <small>{note}</small>}
      </div>
      {children}
    </div>
  );
}
