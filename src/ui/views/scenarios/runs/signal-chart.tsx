/** A chart of one signal over the simulated time of a run, with marks where assertions about it failed. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Table } from '../../../kit/table';
import { dash, duration } from '../../../look/format';
import { rangeOf, stepPath, ticksOf, valueAt, withMargin } from './trace';
import type { Samples, Scales } from './trace';

export interface Line {
  /** `run 3` */
  readonly name: string;
  readonly samples: Samples;
}

export interface Mark {
  /** simulated seconds since the start of the run */
  readonly s: number;
  readonly text: string;
}

/** Values that an assertion allows for a time; null: any. */
export interface Bound {
  readonly from: number;
  readonly to: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly isFailed: boolean;
}

interface ChartProps {
  readonly signal: string;
  readonly unit: string | null;
  /** the first is drawn solid, the second dashed */
  readonly lines: readonly Line[];
  readonly marks: readonly Mark[];
  readonly bounds: readonly Bound[];
}

const frame = { height: 170, left: 64, right: 14, top: 14, bottom: 24 };

const valueText = (value: number | undefined) =>
  value === undefined ? dash : String(Number(value.toPrecision(5))).replace('-', '−');
const withUnit = (text: string, unit: string | null) =>
  unit === null || text === dash ? text : `${text}\u00a0${unit}`;

/** Width of an element, px. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () => setWidth(element.clientWidth || 600);
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return { box, width };
}

/** The limits of failed assertions, which are always in sight. */
const failedLimits = (bounds: readonly Bound[]): Samples =>
  bounds
    .filter(({ isFailed }) => isFailed)
    .flatMap(({ from, low, high }) => [low, high].flatMap((limit) => (limit === null ? [] : [[from, limit] as const])));

export function SignalChart({ signal, unit, lines, marks, bounds }: ChartProps) {
  const { box, width } = useWidth();
  const [cursorS, setCursor] = useState<number | null>(null);
  const range = rangeOf([...lines.map(({ samples }) => samples), failedLimits(bounds)]);
  if (range === null) return null;
  const [from, to] = [range.s[0], Math.max(range.s[1], range.s[0] + 1e-6)];
  const values = withMargin(range.value);
  const inner = Math.max(width - frame.left - frame.right, 10);
  const floor = frame.height - frame.bottom;
  const scales: Scales = {
    x: (s) => frame.left + ((s - from) / (to - from)) * inner,
    y: (value) => floor - ((value - values[0]) / (values[1] - values[0])) * (floor - frame.top),
  };
  const timeAt = (x: number) => Math.min(to, Math.max(from, from + ((x - frame.left) / inner) * (to - from)));
  const move = (event: KeyboardEvent) => {
    const way = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (way === 0) return;
    event.preventDefault();
    setCursor(Math.min(to, Math.max(from, (cursorS ?? from) + (way * (to - from)) / 50)));
  };
  return (
    <figure class="signal">
      <figcaption class="row">
        <strong>{withUnit(signal, null)}</strong>
        {unit !== null && <span class="muted">{unit}</span>}
        <Readout lines={lines} unit={unit} cursorS={cursorS} />
      </figcaption>
      <div
        ref={box}
        role="group"
        aria-label={`${signal}: arrow keys move the cursor`}
        tabIndex={0}
        onKeyDown={move}
        onPointerMove={(event) => setCursor(timeAt(event.offsetX))}
        onPointerLeave={() => setCursor(null)}
      >
        <svg width={width} height={frame.height} viewBox={`0 0 ${width} ${frame.height}`} aria-hidden="true">
          <Axes scales={scales} values={values} times={[from, to]} width={width} />
          <Bounds bounds={bounds} scales={scales} values={values} />
          {lines.map(({ name, samples }, n) => (
            <path key={name} class={n === 0 ? 'trace' : 'trace second'} d={stepPath(samples, scales)} />
          ))}
          {marks.map(({ s, text }) => (
            <g key={`${s} ${text}`} class="failure">
              <title>{text}</title>
              <line x1={scales.x(s)} x2={scales.x(s)} y1={frame.top} y2={floor} />
              <path d={`M${scales.x(s) - 4} ${frame.top - 9}l8 8m0 -8l-8 8`} />
            </g>
          ))}
          {cursorS !== null && (
            <line class="cursor" x1={scales.x(cursorS)} x2={scales.x(cursorS)} y1={frame.top} y2={floor} />
          )}
        </svg>
      </div>
      {marks.length > 0 && <small class="bad">✕ failed at {timesText(marks)}</small>}
      <Data signal={signal} lines={lines} />
    </figure>
  );
}

/** Maximum number of failures whose times are written out. */
const maxNamed = 5;

/** `5 s, 30 s and 2 more` */
function timesText(marks: readonly Mark[]): string {
  const times = [...new Set(marks.map(({ s }) => s))].sort((a, b) => a - b).map(duration);
  const more = times.length > maxNamed ? ` and ${times.length - maxNamed} more` : '';
  return `${times.slice(0, maxNamed).join(', ')}${more}`;
}

interface ReadoutProps {
  readonly lines: readonly Line[];
  readonly unit: string | null;
  readonly cursorS: number | null;
}

/** Values at the cursor, else the last ones; with two lines also which is which. */
function Readout({ lines, unit, cursorS }: ReadoutProps) {
  return (
    <span class="readout muted">
      {lines.map(({ name, samples }, n) => {
        const value = cursorS === null ? samples.at(-1)?.[1] : valueAt(samples, cursorS);
        return (
          <span key={name}>
            {lines.length > 1 && `${n === 0 ? '—' : '- -'} ${name}: `}
            {withUnit(valueText(value), unit)}
          </span>
        );
      })}
      <span>{cursorS === null ? 'at the end' : `at ${duration(cursorS)}`}</span>
    </span>
  );
}

interface AxesProps {
  readonly scales: Scales;
  readonly values: readonly [number, number];
  readonly times: readonly [number, number];
  readonly width: number;
}

function Axes({ scales: { x, y }, values, times, width }: AxesProps) {
  const floor = frame.height - frame.bottom;
  return (
    <>
      {ticksOf(values, 4).map((value) => (
        <g key={value}>
          <line class="rule" x1={frame.left} x2={width - frame.right} y1={y(value)} y2={y(value)} />
          <text x={frame.left - 6} y={y(value) + 4} text-anchor="end">
            {valueText(value)}
          </text>
        </g>
      ))}
      {timeTicks(times, width - frame.left - frame.right).map((s) => (
        <text key={s} x={x(s)} y={floor + 16} text-anchor="middle">
          {duration(s)}
        </text>
      ))}
    </>
  );
}

interface BoundsProps {
  readonly bounds: readonly Bound[];
  readonly scales: Scales;
  readonly values: readonly [number, number];
}

/** Dashed lines at the limits of assertions, as long as they hold. */
function Bounds({ bounds, scales: { x, y }, values: [bottom, top] }: BoundsProps) {
  const limits = bounds.flatMap(({ low, high, ...rest }) => [low, high].map((limit) => ({ ...rest, limit })));
  return (
    <>
      {limits.map(({ limit, from, to, isFailed }, n) =>
        limit === null || limit < bottom || limit > top ? null : (
          <line
            key={n}
            class={isFailed ? 'bound failed' : 'bound'}
            x1={x(from)}
            x2={Math.max(x(to), x(from) + 6)}
            y1={y(limit)}
            y2={y(limit)}
          />
        ),
      )}
    </>
  );
}

const spansS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** Times at the axis, at least 80 px apart. */
export function timeTicks([from, to]: readonly [number, number], width: number): readonly number[] {
  const count = Math.max(1, Math.floor(width / 80));
  const rough = (to - from) / count;
  if (rough < 0.5) return ticksOf([from, to], count);
  const step = spansS.find((each) => each >= rough) ?? Math.ceil(rough / 86_400) * 86_400;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_none, n) => (first + n) * step);
}

/** The samples as a table, drawn once it is opened. */
function Data({ signal, lines }: { readonly signal: string; readonly lines: readonly Line[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <small>Data</small>
      </summary>
      {isOpen &&
        lines.map(({ name, samples }) => (
          <Table
            key={name}
            name={lines.length > 1 ? `${signal}, ${name}` : signal}
            rows={samples.map(([s, value], n) => ({ n, s, value }))}
            keyOf={({ n }) => n}
            height={240}
            columns={[
              { title: 'Time, s', value: ({ s }) => s, numeric: true },
              { title: signal, value: ({ value }) => value, numeric: true },
            ]}
          />
        ))}
    </details>
  );
}
