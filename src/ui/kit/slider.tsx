/** A value in force that is changed in place: slider, number field and presets. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

interface Preset {
  readonly title: string;
  readonly value: number;
}

interface SliderProps {
  readonly name: string;
  /** value in force; null: not read, or the device has none */
  readonly value: number | null | undefined;
  readonly min: number;
  readonly max: number;
  /** largest number that can be typed; default `max` */
  readonly typedMax?: number;
  /** place of the handle without a value; default `min` */
  readonly emptyAt?: number;
  /** text of the number field without a value */
  readonly placeholder?: string;
  readonly step: number;
  readonly unit: string;
  /** value in force and its writer, at the right */
  readonly note?: ComponentChildren;
  /** value of the limit that wins, as a mark on the slider */
  readonly limit?: number | null;
  readonly presets?: readonly Preset[];
  readonly disabled?: boolean;
  /** resolves to false when the value is refused: the slider goes back to the one in force */
  readonly onSet: (value: number) => unknown;
  /** below the slider */
  readonly children?: ComponentChildren;
}

/** Least time between two values that are sent while the slider is dragged with Alt held, ms. */
const dragGapMs = 200;

const clamp = (value: number, min: number, max: number) => Math.min(max, Math.max(min, value));

const numberText = (value: number) => String(value).replace('-', '\u2212');

interface Range {
  readonly min: number;
  readonly max: number;
  readonly unit: string;
}

/** Objection to what is typed, which names the range. null: it can be sent. */
function objectionTo(text: string, { min, max, unit }: Range): string | null {
  const value = Number(text);
  const range = `${numberText(min)} to ${numberText(max)} ${unit}`.trim();
  if (!Number.isFinite(value)) return `${text} is no number: enter ${range}.`;
  return value < min || value > max ? `${numberText(value)} is out of range: enter ${range}.` : null;
}

/** Sends on release and Enter, so that a drag is one call. A number out of range is not sent. */
export function Slider(props: SliderProps) {
  const { name, value, min, max, step, unit, note, limit = null, presets = [], disabled = false, onSet } = props;
  const [edited, setEdited] = useState<string | null>(null);
  const [objection, setObjection] = useState<string | null>(null);
  const sentAtMs = useRef(-Infinity);
  const withAlt = useRef(false);
  // a value that changes by itself does not take the slider out of the hand
  const held = useRef(false);
  // the answer of the daemon ends what is typed
  useEffect(() => {
    if (!held.current) setEdited(null);
  }, [value]);
  const shown = edited ?? (value === null || value === undefined ? '' : String(value));
  const at = Number(shown === '' ? (props.emptyAt ?? min) : shown);
  const set = async (text: string) => {
    const isEmpty = text.trim() === '';
    const problem = isEmpty ? null : objectionTo(text, { min, max: props.typedMax ?? max, unit });
    setObjection(problem);
    if (isEmpty || problem !== null || (await onSet(Number(text))) === false) setEdited(null);
  };
  const edit = (text: string) => {
    held.current = true;
    setObjection(null);
    setEdited(text);
  };
  const release = (text: string) => {
    held.current = false;
    void set(text);
  };
  const drag = (text: string) => {
    edit(text);
    const nowMs = performance.now();
    if (!withAlt.current || nowMs - sentAtMs.current < dragGapMs) return;
    sentAtMs.current = nowMs;
    void set(text);
  };
  return (
    <div
      class="control"
      role="group"
      aria-label={name}
      // a preset that is set takes the place of what was typed
      onClick={({ target }) => (target as Element).closest('button') && setObjection(null)}
    >
      <div class="control-head">
        <span>{name}</span>
        {note !== undefined && <small>{note}</small>}
      </div>
      <div class="slider">
        <span class="track" style={{ '--at': `${share(at, min, max)}%` }}>
          <input
            type="range"
            aria-label={name}
            aria-valuetext={shown === '' ? (props.placeholder ?? 'no value') : `${shown} ${unit}`}
            min={min}
            max={max}
            step={step}
            value={at}
            disabled={disabled}
            onPointerMove={(event) => (withAlt.current = event.altKey)}
            onInput={(event) => drag(event.currentTarget.value)}
            onChange={(event) => release(event.currentTarget.value)}
          />
          {limit !== null && <i class="limit" style={{ left: `${share(limit, min, max)}%` }} />}
        </span>
        <span class="number">
          <input
            inputMode="decimal"
            aria-label={`${name}, ${unit}`}
            placeholder={props.placeholder}
            value={shown}
            disabled={disabled}
            onInput={(event) => edit(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Enter' && release(event.currentTarget.value)}
            onBlur={(event) => held.current && release(event.currentTarget.value)}
          />
          <span class="unit">{unit}</span>
        </span>
      </div>
      {presets.length > 0 && (
        <div class="row">
          {presets.map((preset) => (
            <button
              key={preset.title}
              type="button"
              class="small"
              title={`${preset.value} ${unit}`}
              aria-pressed={preset.value === value}
              disabled={disabled}
              onClick={() => onSet(preset.value)}
            >
              {preset.title}
            </button>
          ))}
        </div>
      )}
      {props.children}
      {objection !== null && (
        <p class="problem" role="alert">
          {objection}
        </p>
      )}
    </div>
  );
}

/** Place of a value between two ends, %. */
function share(value: number, min: number, max: number): number {
  return max === min ? 0 : ((clamp(value, min, max) - min) / (max - min)) * 100;
}
