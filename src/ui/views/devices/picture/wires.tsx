/** Parts of the picture of a device: boxes of the page, wires between them, and small curves. */
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { limitText, show } from '../../../look/format';
import { useClock } from '../../../store/site';
import { acceptedChanges } from './change';

interface BoxProps {
  readonly title: string;
  /** at the right of the title */
  readonly end?: ComponentChildren;
  /** nothing works here: dashed frame */
  readonly off?: boolean;
  /** as high as the branches beside it, which end at it */
  readonly tall?: boolean;
  readonly children?: ComponentChildren;
}

export function Box({ title, end, off = false, tall = false, children }: BoxProps) {
  return (
    <div class={`node${off ? ' off' : ''}${tall ? ' tall' : ''}`}>
      <div class="node-head">
        <strong>{title}</strong>
        {end !== undefined && <strong>{end}</strong>}
      </div>
      {children}
    </div>
  );
}

/** Share of the rating below which no marks run: they would flicker around zero. */
const deadBand = 0.005;

/** Speed of the marks on a wire; null: no flow. */
export function flowSpeed(kw: number | null, ratingKw: number): 'slow' | 'medium' | 'fast' | null {
  const share = ratingKw > 0 ? Math.abs(kw ?? 0) / ratingKw : 0;
  if (share <= deadBand) return null;
  return share < 0.1 ? 'slow' : share < 0.5 ? 'medium' : 'fast';
}

interface WireProps {
  /** names of both ends, for readers: `array to inverter` */
  readonly name: string;
  /** positive: in the direction of reading; null: not measured */
  readonly kw: number | null;
  readonly ratingKw: number;
  /** the switch between the two ends is open */
  readonly open?: boolean;
  /** hangs, as a cable does */
  readonly slack?: boolean;
  readonly note?: string;
}

const across = { straight: 'M0 50H100', slack: 'M0 50C30 50 25 90 50 90S70 50 100 50' };

export function Wire({ name, kw, ratingKw, open = false, slack = false, note }: WireProps) {
  const isPaused = useClock()?.mode === 'paused';
  const speed = open ? null : flowSpeed(kw, ratingKw);
  const look = `flow ${speed ?? ''}${(kw ?? 0) < 0 ? ' back' : ''}${isPaused ? ' stands' : ''}`;
  const path = slack ? across.slack : across.straight;
  return (
    <div
      class={`wire${open ? ' open' : ''}`}
      role="img"
      aria-label={`${name}: ${open ? 'switch open' : show(kw, 'activePower')}`}
    >
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <path class="line across" d={path} />
        <path class="line down" d="M50 0V100" />
        {speed !== null && <path class={`${look} across`} d={path} />}
        {speed !== null && <path class={`${look} down`} d="M50 0V100" />}
      </svg>
      {open && <strong>open</strong>}
      {note !== undefined && <small>{note}</small>}
    </div>
  );
}

/** A power in large digits, which flashes once when it moves after a change. */
export function Power({ kw, test }: { readonly kw: number | null | undefined; readonly test?: string }) {
  const [number = '', unit] = show(kw === null || kw === undefined ? kw : Math.abs(kw), 'activePower').split('\u00a0');
  const last = useRef({ number, changes: acceptedChanges.peek(), flashes: 0 });
  const changes = acceptedChanges.value;
  if (number !== last.current.number) {
    const isMoved = changes !== last.current.changes;
    last.current = { number, changes, flashes: last.current.flashes + (isMoved ? 1 : 0) };
  }
  const { flashes } = last.current;
  return (
    <span key={flashes} class={`figure${flashes > 0 ? ' flash' : ''}`} data-test={test}>
      {number}
      {unit !== undefined && <small> {unit}</small>}
    </span>
  );
}

type Point = readonly [x: number, y: number];

interface InsetProps {
  /** name of the curve, for readers */
  readonly label: string;
  readonly points: readonly Point[];
  readonly at: Point;
  /** ranges of both axes: `0–21 A`, `0–695 V` */
  readonly ranges: readonly [y: string, x: string];
}

const [insetWidth, insetHeight] = [120, 52];

/** A curve with the operating point, without axes: its ends stand below it. */
export function Inset({ label, points, at, ranges }: InsetProps) {
  if (points.length === 0) return null;
  const xs = [...points, at].map(([x]) => x);
  const ys = [...points, at].map(([, y]) => y);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(0, ...ys), Math.max(...ys)];
  const place = ([x, y]: Point) => [
    4 + ((x - left) / (right - left || 1)) * (insetWidth - 8),
    insetHeight - 4 - ((y - low) / (high - low || 1)) * (insetHeight - 8),
  ];
  const [x = 0, y = 0] = place(at);
  const text = points
    .map((point) =>
      place(point)
        .map((each) => each.toFixed(1))
        .join(','),
    )
    .join(' ');
  return (
    <figure class="inset">
      <svg width={insetWidth} height={insetHeight} role="img" aria-label={`${label}, ${ranges.join(' over ')}`}>
        <polyline points={text} />
        <circle cx={x} cy={y} r={4} />
      </svg>
      <figcaption>
        <span>{ranges[0]}</span> <span>over {ranges[1]}</span>
      </figcaption>
    </figure>
  );
}

interface LevelProps {
  readonly label: string;
  readonly pct: number;
  /** lines across the bar; null: not set */
  readonly marks?: readonly (readonly [name: string, at: number | null])[];
}

/** A level from 0 to 100 % with limits as lines. */
export function Level({ label, pct, marks = [] }: LevelProps) {
  const visible = marks.filter((mark): mark is readonly [string, number] => mark[1] !== null);
  const names = visible.map(([name, at]) => `${name} ${limitText(at)}`);
  return (
    <div class="soc-bar" role="img" aria-label={[`${label} ${show(pct, 'percent')}`, ...names].join(', ')}>
      <i style={{ width: `${Math.min(100, Math.max(0, pct))}%` }} />
      {visible.map(([name, at]) => (
        <u key={name} style={{ left: `${at}%` }} title={`${name} ${limitText(at)}`} />
      ))}
    </div>
  );
}
