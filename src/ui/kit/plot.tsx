/** Plots of one quantity over another in SVG: curves, regions, an operating point, draggable points. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { fixed } from '../look/format';
import { useBox } from './box';

/** `[x, y]` in the units of the axes */
export type Point = readonly [x: number, y: number];

export interface Axis {
  readonly label: string;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  /** logarithmic; `min` is above 0 */
  readonly log?: boolean;
}

/** An element of a plot, drawn in order, dots last. Colours are CSS values such as `var(--p)`. */
export type Mark =
  | {
      readonly kind: 'line';
      readonly points: readonly Point[];
      readonly colour: string;
      readonly dashed?: boolean;
      readonly width?: number;
      readonly title?: string;
    }
  | {
      readonly kind: 'area';
      readonly points: readonly Point[];
      readonly colour: string;
      readonly opacity?: number;
      readonly title?: string;
    }
  | {
      readonly kind: 'dot';
      readonly at: Point;
      readonly colour: string;
      readonly title: string;
      readonly radius?: number;
    }
  | {
      readonly kind: 'rule';
      readonly x?: number;
      readonly y?: number;
      readonly colour: string;
      readonly title?: string;
    }
  | { readonly kind: 'text'; readonly at: Point; readonly text: string };

/** A point that dragging moves, or arrow keys when it has the focus. */
export interface Handle {
  readonly at: Point;
  readonly label: string;
  /** the daemon's objection to this point */
  readonly issue?: string | null;
}

interface PlotProps {
  readonly label: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly marks: readonly Mark[];
  readonly handles?: readonly Handle[];
  readonly onMove?: (index: number, to: Point) => void;
  /** step of an arrow key, and grid for dragging; on a logarithmic axis the finest step */
  readonly step?: Point;
  /** before its room is known, px: the drawing is as wide as its room, so that its text keeps its size */
  readonly width?: number;
  readonly height?: number;
  readonly children?: ComponentChildren;
}

const [left, right, top, bottom] = [56, 14, 10, 40];

/** Largest width of a drawing, and least distance of its labels along the lower and the left axis, px. */
const [maxPx, lowerPx, leftPx] = [900, 60, 40];

/** About `count` round numbers between two limits. */
function ticksOf(min: number, max: number, count: number): readonly number[] {
  const raw = (max - min) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  const firstTick = Math.ceil(min / step - 1e-9) * step;
  const ticks = Math.floor((max - firstTick) / step + 1e-9) + 1;
  return Array.from({ length: ticks }, (_unused, index) => firstTick + index * step);
}

function decades(min: number, max: number): readonly number[] {
  const all: number[] = [];
  for (let value = 10 ** Math.ceil(Math.log10(min) - 1e-9); value <= max * 1.000001; value *= 10) all.push(value);
  return all;
}

interface Scale {
  to(value: number): number;
  from(px: number): number;
  readonly ticks: readonly number[];
  readonly decimals: number;
}

function scaleOf({ min, max, log = false }: Axis, fromPx: number, toPx: number): Scale {
  const [low, high] = log ? [Math.log10(min), Math.log10(max)] : [min, max];
  const span = high - low || 1;
  const count = Math.min(6, Math.max(2, Math.floor(Math.abs(toPx - fromPx) / (toPx > fromPx ? lowerPx : leftPx))));
  const ticks = log ? decades(min, max) : ticksOf(min, max, count);
  const step = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0)) || 1;
  return {
    to(value) {
      const at = log ? Math.log10(Math.max(value, min)) : value;
      return fromPx + ((at - low) / span) * (toPx - fromPx);
    },
    from(px) {
      const at = low + ((px - fromPx) / (toPx - fromPx)) * span;
      return log ? 10 ** at : at;
    },
    ticks,
    decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
  };
}

/** Step at a value: `finest`; on a logarithmic axis up to 100 times `finest`, for larger values. */
function stepAt({ log = false }: Axis, finest: number, value: number, direction: number): number {
  if (!log) return finest;
  // at the lower end of a decade, steps down are finer than steps up
  const decade = Math.floor(Math.log10(Math.max(value, finest) / finest + direction * 1e-6));
  return finest * 10 ** Math.min(Math.max(decade - 1, 0), 2);
}

function snapped(axis: Axis, finest: number, value: number): number {
  const step = stepAt(axis, finest, value, 1);
  return Math.round(value / step) * step;
}

export function Plot({
  label,
  x: xNow,
  y: yNow,
  marks,
  handles = [],
  onMove,
  step = [0.1, 1],
  width: startPx = 560,
  height = 320,
  children,
}: PlotProps) {
  const figure = useRef<HTMLElement>(null);
  const width = Math.min(useBox(figure).widthPx || startPx, maxPx);
  const svg = useRef<SVGSVGElement>(null);
  // the axes stay fixed during a drag, so that the point stays under the pointer
  const dragged = useRef<{ readonly index: number; readonly x: Axis; readonly y: Axis } | null>(null);
  const [, setDrops] = useState(0);
  const { x, y } = dragged.current ?? { x: xNow, y: yNow };
  const release = () => {
    if (dragged.current === null) return;
    dragged.current = null;
    setDrops((count) => count + 1);
  };
  const xs = scaleOf(x, left, width - right);
  const ys = scaleOf(y, height - bottom, top);
  const at = (event: PointerEvent): Point => {
    const box = svg.current?.getBoundingClientRect() ?? { left: 0, top: 0, width, height };
    const [px, py] = [
      ((event.clientX - box.left) / box.width) * width,
      ((event.clientY - box.top) / box.height) * height,
    ];
    return [snapped(x, step[0], xs.from(px)), snapped(y, step[1], ys.from(py))];
  };
  const clip = `clip-${label.replace(/\W+/g, '-')}`;
  return (
    <figure class="plot" ref={figure}>
      <svg
        ref={svg}
        viewBox={`0 0 ${width} ${height}`}
        role={handles.length > 0 ? 'group' : 'img'}
        aria-label={label}
        onPointerMove={(event) => {
          if (dragged.current !== null) onMove?.(dragged.current.index, at(event));
        }}
        onPointerUp={release}
        onPointerCancel={release}
        onLostPointerCapture={release}
      >
        <clipPath id={clip}>
          <rect x={left} y={top} width={width - left - right} height={height - top - bottom} />
        </clipPath>
        <Axes x={x} y={y} xs={xs} ys={ys} width={width} height={height} />
        <g clip-path={`url(#${clip})`}>
          {marks.map((mark, index) =>
            mark.kind === 'dot' ? null : (
              <MarkShape key={index} mark={mark} xs={xs} ys={ys} width={width} height={height} />
            ),
          )}
        </g>
        {handles.map((handle, index) => (
          <HandleShape
            key={index}
            handle={handle}
            cx={xs.to(handle.at[0])}
            cy={ys.to(handle.at[1])}
            stepAt={(dx, dy) => [stepAt(x, step[0], handle.at[0], dx), stepAt(y, step[1], handle.at[1], dy)]}
            onGrab={(event) => {
              dragged.current = { index, x, y };
              svg.current?.setPointerCapture(event.pointerId);
            }}
            onMove={(to) => onMove?.(index, to)}
          />
        ))}
        {/* the operating point is drawn in front of the handles, and lets the pointer through to them */}
        <g clip-path={`url(#${clip})`} class="dots">
          {marks.map((mark, index) =>
            mark.kind === 'dot' ? (
              <MarkShape key={index} mark={mark} xs={xs} ys={ys} width={width} height={height} />
            ) : null,
          )}
        </g>
      </svg>
      {children !== undefined && <figcaption>{children}</figcaption>}
    </figure>
  );
}

interface AxesProps {
  readonly x: Axis;
  readonly y: Axis;
  readonly xs: Scale;
  readonly ys: Scale;
  readonly width: number;
  readonly height: number;
}

function Axes({ x, y, xs, ys, width, height }: AxesProps) {
  return (
    <g class="axes">
      {xs.ticks.map((value) => (
        <g key={`x${value}`}>
          <line x1={xs.to(value)} x2={xs.to(value)} y1={top} y2={height - bottom} />
          <text x={xs.to(value)} y={height - bottom + 14} text-anchor="middle">
            {fixed(value, x.log ? Math.max(0, -Math.floor(Math.log10(value))) : xs.decimals)}
          </text>
        </g>
      ))}
      {ys.ticks.map((value) => (
        <g key={`y${value}`}>
          <line x1={left} x2={width - right} y1={ys.to(value)} y2={ys.to(value)} />
          <text x={left - 6} y={ys.to(value) + 4} text-anchor="end">
            {fixed(value, y.log ? Math.max(0, -Math.floor(Math.log10(value))) : ys.decimals)}
          </text>
        </g>
      ))}
      <text x={(left + width - right) / 2} y={height - 6} text-anchor="middle">
        {x.label}
        {x.unit === '' ? '' : `, ${x.unit}`}
      </text>
      <text
        x={12}
        y={(top + height - bottom) / 2}
        text-anchor="middle"
        transform={`rotate(-90 12 ${(top + height - bottom) / 2})`}
      >
        {y.label}
        {y.unit === '' ? '' : `, ${y.unit}`}
      </text>
    </g>
  );
}

function MarkShape({
  mark,
  xs,
  ys,
  width,
  height,
}: {
  readonly mark: Mark;
  readonly xs: Scale;
  readonly ys: Scale;
  readonly width: number;
  readonly height: number;
}) {
  const path = (points: readonly Point[]) =>
    points.map(([px, py]) => `${xs.to(px).toFixed(1)},${ys.to(py).toFixed(1)}`).join(' ');
  switch (mark.kind) {
    case 'line':
      return (
        <polyline
          points={path(mark.points)}
          fill="none"
          stroke={mark.colour}
          stroke-width={mark.width ?? 2}
          stroke-dasharray={mark.dashed ? '5 4' : undefined}
        >
          {mark.title !== undefined && <title>{mark.title}</title>}
        </polyline>
      );
    case 'area':
      return (
        <polygon points={path(mark.points)} fill={mark.colour} fill-opacity={mark.opacity ?? 0.18}>
          {mark.title !== undefined && <title>{mark.title}</title>}
        </polygon>
      );
    case 'dot':
      return (
        <circle
          cx={xs.to(mark.at[0])}
          cy={ys.to(mark.at[1])}
          r={mark.radius ?? 5}
          fill={mark.colour}
          class="live-point"
        >
          <title>{mark.title}</title>
        </circle>
      );
    case 'rule': {
      const [x1, x2] = mark.x === undefined ? [left, width - right] : [xs.to(mark.x), xs.to(mark.x)];
      const [y1, y2] = mark.y === undefined ? [top, height - bottom] : [ys.to(mark.y), ys.to(mark.y)];
      return (
        <line x1={x1} x2={x2} y1={y1} y2={y2} stroke={mark.colour} stroke-dasharray="2 3">
          {mark.title !== undefined && <title>{mark.title}</title>}
        </line>
      );
    }
    case 'text':
      return (
        <text x={xs.to(mark.at[0])} y={ys.to(mark.at[1])} text-anchor="middle" class="note">
          {mark.text}
        </text>
      );
  }
}

interface HandleShapeProps {
  readonly handle: Handle;
  readonly cx: number;
  readonly cy: number;
  /** size of a step from the point in a direction, in units of the axes */
  readonly stepAt: (dx: number, dy: number) => Point;
  readonly onGrab: (event: PointerEvent) => void;
  readonly onMove: (to: Point) => void;
}

const arrows: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

function HandleShape({ handle: { at, label, issue }, cx, cy, stepAt: stepOf, onGrab, onMove }: HandleShapeProps) {
  const onKey = (event: KeyboardEvent) => {
    const arrow = arrows[event.key];
    if (!arrow) return;
    event.preventDefault();
    const times = event.shiftKey ? 10 : 1;
    const step = stepOf(arrow[0], arrow[1]);
    onMove([at[0] + arrow[0] * step[0] * times, at[1] + arrow[1] * step[1] * times]);
  };
  return (
    <circle
      cx={cx}
      cy={cy}
      r={7}
      class={issue ? 'handle wrong' : 'handle'}
      tabindex={0}
      role="button"
      aria-label={label}
      onPointerDown={onGrab}
      onKeyDown={onKey}
    >
      <title>{issue ?? label}</title>
    </circle>
  );
}
