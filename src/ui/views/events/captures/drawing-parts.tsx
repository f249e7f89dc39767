/** Parts of the drawing of a capture: axes, curves, labels, marks, cursor. */
import type { Signal } from '@preact/signals';
import { fixed, timeWithMs } from '../../../look/format';
import { instantText, scaleOf, secondsText, spread, tickDecimals, ticksOf, tickStep } from './axes';
import { valueText } from './lanes';
import type { Lane } from './lanes';
import { bandPath, pathOf, valueAt } from './steps';
import type { Scale, Span } from './steps';
import type { Capture } from './verdict-words';

export const top = 26;
const gap = 28;
export const foot = 24;
export const left = 44;
const labelGap = 14;
const tickGapPx = { x: 72, y: 30 };
const flagPx = 18;

/** Where things are, px. */
export interface Frame {
  readonly width: number;
  readonly right: number;
  readonly bottom: number;
  readonly x: Scale;
  readonly span: Span;
}

interface PlacedLane extends Lane {
  readonly y0: number;
  readonly y1: number;
  readonly y: Scale;
}

export function placed(lanes: readonly Lane[], height: number): readonly PlacedLane[] {
  const room = height - top - 20 - foot - gap * (lanes.length - 1);
  let y0 = top + 20;
  return lanes.map((lane) => {
    const y1 = y0 + Math.floor(room * lane.share);
    const each = { ...lane, y0, y1, y: scaleOf(lane.range, y1, y0) };
    y0 = y1 + gap;
    return each;
  });
}

export function Axes({ lane, frame }: { readonly lane: PlacedLane; readonly frame: Frame }) {
  const { range, y0, y1, y, title, unit } = lane;
  const step = tickStep(((range.to - range.from) * tickGapPx.y) / (y1 - y0));
  return (
    <>
      <text class="name" x={0} y={y0 - 9}>
        {title}
        <tspan class="unit">, {unit}</tspan>
      </text>
      {ticksOf(range.from, range.to, step).map((value) => (
        <g key={value}>
          <line class="grid-line" x1={left} x2={frame.right} y1={y(value)} y2={y(value)} />
          <text x={left - 6} y={y(value) + 4} text-anchor="end">
            {fixed(value, tickDecimals(step))}
          </text>
        </g>
      ))}
    </>
  );
}

export function Curves({ lane, frame }: { readonly lane: PlacedLane; readonly frame: Frame }) {
  const { span, x } = frame;
  const { y, y0, y1 } = lane;
  const clamp = (value: number) => Math.min(Math.max(y(value), y0), y1);
  return (
    <>
      {lane.zones.map(({ key, time, values }) => (
        <rect
          key={key}
          class="zone"
          x={x(time.from)}
          width={Math.max(1, x(time.to) - x(time.from))}
          y={clamp(values.to)}
          height={clamp(values.from) - clamp(values.to)}
        />
      ))}
      {lane.thresholds.map(({ text, value }) => (
        <line key={text} class="threshold" x1={left} x2={frame.right} y1={y(value)} y2={y(value)} />
      ))}
      {lane.envelopes.map(({ key, band, look }) => (
        <path key={key} class={`envelope ${look}`} d={bandPath(band, span, x, y)} />
      ))}
      {lane.lines.map(({ key, steps, look, form }) => (
        <path
          key={key}
          class={`curve ${form} ${look}`}
          data-curve={`${lane.name} ${key}`}
          d={pathOf(steps, span, x, y)}
        />
      ))}
    </>
  );
}

interface Label {
  readonly key: string;
  readonly y: number;
  readonly text: string;
  readonly look: string | null;
  readonly form: string;
  readonly valueAt: (at: number) => string;
}

function labelsOf(lane: PlacedLane, span: Span): readonly Label[] {
  const yAtEnd = (steps: Parameters<typeof valueAt>[0]) => lane.y(valueAt(steps, span.to) ?? steps.values.at(-1) ?? 0);
  return [
    ...lane.thresholds.map(({ text, value }) => ({
      key: text,
      y: lane.y(value),
      text,
      look: null,
      form: 'threshold',
      valueAt: () => '',
    })),
    ...lane.lines.flatMap(({ key, label, steps, look, form }) =>
      label === null
        ? []
        : [
            {
              key,
              y: yAtEnd(steps),
              text: label,
              look,
              form,
              valueAt: (at: number) => valueText(valueAt(steps, at), lane),
            },
          ],
    ),
    ...lane.envelopes.map(({ key, label, band, look }) => ({
      key,
      y: yAtEnd(band.high),
      text: label,
      look,
      form: 'envelope',
      valueAt: (at: number) =>
        [...new Set([valueText(valueAt(band.low, at), lane), valueText(valueAt(band.high, at), lane)])].join(' … '),
    })),
  ];
}

interface LabelsProps {
  readonly lane: PlacedLane;
  readonly frame: Frame;
  readonly cursor: Signal<number | null>;
}

/** Names at the ends of the lines, with the values at the cursor. */
export function Labels({ lane, frame, cursor }: LabelsProps) {
  const at = cursor.value;
  const labels = labelsOf(lane, frame.span);
  const places = spread(
    labels.map(({ y }) => Math.min(Math.max(y, lane.y0), lane.y1)),
    labelGap,
    lane.y0 - 4,
    lane.y1 + 6,
  );
  return (
    <>
      {labels.map(({ key, text, look, form, valueAt: valueOf }, n) => {
        const y = places[n] ?? 0;
        if (look === null)
          return (
            <text key={key} class="bad" x={frame.right + 8} y={y + 4}>
              {text}
            </text>
          );
        return (
          <g key={key}>
            <line class={`curve ${form} ${look}`} x1={frame.right + 8} x2={frame.right + 20} y1={y} y2={y} />
            <text class="label" x={frame.right + 25} y={y + 4}>
              {text}
              {at !== null && <tspan class="value"> {valueOf(at)}</tspan>}
            </text>
          </g>
        );
      })}
    </>
  );
}

export function TimeAxis({ frame, y }: { readonly frame: Frame; readonly y: number }) {
  const { span, x, right } = frame;
  const step = tickStep(((span.to - span.from) * tickGapPx.x) / (right - left));
  return (
    <>
      {ticksOf(span.from, span.to, step).map((at) => (
        <text key={at} x={x(at)} y={y} text-anchor="middle">
          {secondsText(at, step)}
        </text>
      ))}
    </>
  );
}

interface MarksProps {
  readonly marks: Capture['marks'];
  readonly frame: Frame;
}

/** Numbered flags, which stand side by side where their instants touch, and their lines through all lanes. */
export function Marks({ marks, frame }: MarksProps) {
  const { x, span, bottom } = frame;
  const visible = marks.filter(({ t_s }) => t_s >= span.from && t_s <= span.to);
  let last = -Infinity;
  return (
    <>
      {visible.map(({ number, t_s, text }) => {
        const flagX = (last = Math.max(x(t_s), last + flagPx));
        return (
          <g key={number} class="capture-mark">
            <title>
              {text}, {instantText(t_s)}
            </title>
            <path d={`M${flagX} 18L${x(t_s)} 24V${bottom}`} />
            <rect x={flagX - 8} y={2} width={16} height={16} rx={3} />
            <text x={flagX} y={14} text-anchor="middle">
              {number}
            </text>
          </g>
        );
      })}
    </>
  );
}

export function Cursor({ cursor, frame }: { readonly cursor: Signal<number | null>; readonly frame: Frame }) {
  const at = cursor.value;
  if (at === null || at < frame.span.from || at > frame.span.to) return null;
  return <line class="cursor" data-test="cursor" x1={frame.x(at)} x2={frame.x(at)} y1={top} y2={frame.bottom} />;
}

/** Where the cursor is, for readers too. */
export function Instant({ cursor, startedAt }: { readonly cursor: Signal<number | null>; readonly startedAt: string }) {
  const at = cursor.value;
  return (
    <output class="instant" data-test="instant">
      {at === null
        ? 'Point, or use the arrow keys'
        : `${instantText(at)}, ${timeWithMs(new Date(Date.parse(startedAt) + at * 1000).toISOString())}`}
    </output>
  );
}

/** Names and values where there is no room beside the lines. */
export function Key({ lanes, cursor }: { readonly lanes: readonly Lane[]; readonly cursor: Signal<number | null> }) {
  const at = cursor.value;
  return (
    <div class="capture-key">
      {lanes.map((lane) => (
        <p key={lane.name} class="key">
          <strong>{lane.name}</strong>
          {lane.lines.flatMap(({ key, label, look, steps }) =>
            label === null
              ? []
              : [
                  <span key={key} class={look}>
                    {label} {at !== null && valueText(valueAt(steps, at), lane)}
                  </span>,
                ],
          )}
          {lane.envelopes.map(({ key, label, look }) => (
            <span key={key} class={look}>
              {label}
            </span>
          ))}
          {lane.thresholds.map(({ text }) => (
            <span key={text} class="bad">
              {text}
            </span>
          ))}
        </p>
      ))}
    </div>
  );
}
