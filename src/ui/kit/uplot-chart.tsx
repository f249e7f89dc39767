/** Time series with uPlot: zoom by dragging, a cursor common to all charts of a view, PNG. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { dash, fixed } from '../look/format';
import { colour, theme } from '../shell/theme';
import { Flags, PointedLine } from './chart-marks';
import { chartPx } from './chart-room';
import type { ChartMark, ChartView } from './chart-marks';
import { minMaxRows } from './min-max';
import type { Zoom } from './min-max';

export interface Series {
  readonly label: string;
  readonly unit: string;
  readonly decimals: number;
  /** variable of `base.css`, such as `--p` */
  readonly colour: string;
  readonly dash?: readonly number[];
  readonly side?: 'left' | 'right';
  /** true: bars, each from its time to the next */
  readonly isBar?: boolean;
}

export interface ChartData {
  /**
   * times in seconds since the epoch, ascending; then the values of each series: null in a gap, undefined where a series
   * has no sample at the time of another one
   */
  readonly columns: readonly (readonly (number | null | undefined)[])[];
}

interface ChartProps {
  readonly label: string;
  readonly series: readonly Series[];
  readonly data: ChartData;
  /** filled areas between two series, by index in `series` */
  readonly bands?: readonly (readonly [upper: number, lower: number])[];
  readonly height?: number;
  /** least span of the left axis, so that a change in the last digit does not fill the chart; default by unit */
  readonly minSpan?: number;
  /** true: zero is always in view on the left axis */
  readonly hasZero?: boolean;
  readonly timezone: string;
  /** instants with a line through the chart, oldest first */
  readonly marks?: readonly ChartMark[];
  /** true: the marks have their flags above this chart */
  readonly hasFlags?: boolean;
  /** visible time range; null: all; absent: the chart keeps its own zoom */
  readonly zoom?: Zoom;
  readonly onZoom?: (zoom: Zoom) => void;
}

/** Series by chart element, for the legends in PNG files. */
const seriesOf = new WeakMap<Element, readonly Series[]>();

/** Charts with the same key share their cursor. */
const cursorKey = 'time';

// uPlot declares the sides as a `const enum`, which does not exist at run time
/* eslint-disable @typescript-eslint/no-unsafe-enum-assignment */
const sides: Readonly<Record<'right' | 'bottom' | 'left', uPlot.Axis.Side>> = { right: 1, bottom: 2, left: 3 };
/* eslint-enable @typescript-eslint/no-unsafe-enum-assignment */

/** Widths of an axis, of its label, and of the room for half a label of time at an end without an axis. */
const [axisPx, axisLabelPx, endPx] = [56, 18, 24];

/** Room above a chart for flags, px. */
const flagRoomPx = 24;

/** Labels of a value axis, with as many decimals as its steps have. */
function labelsOf(_plot: unknown, splits: readonly number[], _axis: unknown, _space: unknown, step: number): string[] {
  const decimals = String(step).split('.')[1]?.length ?? 0;
  return splits.map((value) => fixed(value, decimals));
}

function axis(scale: string, side: uPlot.Axis.Side, units: string, hasGrid: boolean): uPlot.Axis {
  return {
    scale,
    side,
    label: units,
    labelSize: axisLabelPx,
    size: axisPx,
    values: labelsOf,
    stroke: colour('--muted'),
    grid: { show: hasGrid, stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line') },
    font: '11px system-ui, sans-serif',
    labelFont: '11px system-ui, sans-serif',
  };
}

function unitsOf(series: readonly Series[], side: 'left' | 'right'): string {
  return [...new Set(series.filter((one) => (one.side ?? 'left') === side).map(({ unit }) => unit))].join(', ');
}

const withMinutes = uPlot.fmtDate('{HH}:{mm}');
const withSeconds = uPlot.fmtDate('{HH}:{mm}:{ss}');
const fullTime = uPlot.fmtDate('{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}');

/** Least span of a value axis by unit. */
const minSpans: Readonly<Record<string, number>> = { kW: 0.1, kvar: 0.1, V: 4, Hz: 0.1, '%': 5 };

/** @param minSpan least span, in the middle of the values */
export function rangeOf(minSpan: number, hasZero: boolean) {
  return (_plot: unknown, least: number | null, largest: number | null): [number, number] => {
    if (least === null || largest === null) return [0, minSpan];
    const [min, max] = hasZero ? [Math.min(0, least), Math.max(0, largest)] : [least, largest];
    const spare = Math.max((max - min) * 0.06, (minSpan - (max - min)) / 2);
    return [min - spare, max + spare];
  };
}

/** Values hold until the next sample: a slope would invent values between two samples. */
const steps = uPlot.paths.stepped?.({ align: 1 });

const bars = uPlot.paths.bars?.({ size: [0.86], align: 1 });

/** Least distance of the labels of time, px. */
const timeLabelPx = 80;

function optionsOf(
  { series, bands = [], height = chartPx, timezone, minSpan, hasZero = false, hasFlags = false }: ChartProps,
  width: number,
  zoom: { readonly current: Zoom },
): uPlot.Options {
  const [left, right] = [unitsOf(series, 'left'), unitsOf(series, 'right')];
  const zoned = (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), timezone);
  const timesOf = (_plot: uPlot, splits: readonly number[]) => {
    const step = (splits[1] ?? 0) - (splits[0] ?? 0);
    return splits.map((at) => (step < 60 ? withSeconds : withMinutes)(zoned(at)));
  };
  const time: uPlot.Axis = {
    ...axis('x', sides.left, '', true),
    side: sides.bottom,
    size: 30,
    label: '',
    labelSize: 0,
    space: timeLabelPx,
    values: timesOf,
  };
  return {
    width,
    height,
    tzDate: zoned,
    padding: [hasFlags ? flagRoomPx : null, right === '' ? endPx : null, null, null],
    cursor: { sync: { key: cursorKey }, drag: { x: true, y: false, setScale: false } },
    legend: { live: true, markers: { width: 0, fill: (_plot, place) => strokeOf(series[place - 1] ?? noStroke) } },
    scales: {
      x: { time: true, range: (_plot, min, max) => (zoom.current === null ? [min, max] : [...zoom.current]) },
      left: { range: rangeOf(minSpan ?? minSpans[left] ?? 1, hasZero) },
      right: { range: rangeOf(minSpans[right] ?? 1, false) },
    },
    axes: [
      time,
      axis('left', sides.left, left, true),
      ...(right === '' ? [] : [axis('right', sides.right, right, false)]),
    ],
    bands: bands.map(([upper, lower]) => ({
      series: [upper + 1, lower + 1] as [number, number],
      fill: `color-mix(in srgb, ${colour('--soc')} 14%, transparent)`,
    })),
    series: [
      { label: 'Time', value: (_plot: uPlot, at: number | null) => (at === null ? dash : fullTime(zoned(at))) },
      ...series.map((one) => ({
        label: one.label,
        scale: one.side ?? 'left',
        stroke: colour(one.colour),
        width: 1.5,
        dash: one.dash === undefined ? undefined : [...one.dash],
        points: { show: false },
        paths: one.isBar === true ? bars : steps,
        fill: one.isBar === true ? colour(one.colour) : undefined,
        spanGaps: false,
        value: (_plot: uPlot, value: number | null) => `${fixed(value, one.decimals)} ${one.unit}`,
      })),
    ] as uPlot.Series[],
  };
}

const noStroke = { colour: '--text' } as const;

/** The line of a series as a background, so that its key has the dashes and not the colour alone. */
function strokeOf(
  { colour: name, dash: pattern = [] }: Pick<Series, 'colour' | 'dash'> = { colour: '--text' },
): string {
  let end = 0;
  const stops = pattern.map(
    (length, at) => `${at % 2 === 0 ? colour(name) : 'transparent'} ${end}px ${(end += length)}px`,
  );
  return stops.length === 0 ? colour(name) : `repeating-linear-gradient(90deg, ${stops.join(', ')})`;
}

const noSelection = { left: 0, top: 0, width: 0, height: 0 };

/** Calls back with the time range of a drag, and with null on a double click. */
function onDrag(plot: uPlot, zoomTo: (zoom: Zoom) => void): void {
  let isDragged = false;
  plot.over.addEventListener('mousedown', () => (isDragged = true));
  plot.over.addEventListener('dblclick', () => zoomTo(null));
  // uPlot copies the selection to all charts with the same cursor: only the dragged chart zooms
  (plot.hooks.setSelect ??= []).push(() => {
    const { left, width } = plot.select;
    if (width === 0) return;
    const isLong = isDragged && width > 2;
    isDragged = false;
    const [from, to] = [plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x')];
    plot.setSelect(noSelection, false);
    if (isLong) zoomTo([from, to]);
  });
}

/** Moves the cursor by samples. @returns false: the key has no effect */
function moveCursor(plot: uPlot, key: string, isFast: boolean): boolean {
  const times = plot.data[0];
  const last = times.length - 1;
  const at = plot.cursor.idx ?? last;
  const step = isFast ? 10 : 1;
  const places: Readonly<Record<string, number>> = {
    ArrowLeft: at - step,
    ArrowRight: at + step,
    Home: plot.valToIdx(plot.scales['x']?.min ?? 0),
    End: plot.valToIdx(plot.scales['x']?.max ?? Infinity),
  };
  const place = places[key];
  if (place === undefined) return false;
  const time = times[Math.min(Math.max(place, 0), last)];
  if (time !== undefined) plot.setCursor({ left: plot.valToPos(time, 'x'), top: 4 });
  return true;
}

/** The time axis as it is drawn; bounds in pixels of the page. */
function viewOf({ scales: { x }, bbox }: uPlot): ChartView {
  const [leftPx = 0, widthPx = 0, topPx = 0, heightPx = 0] = [bbox.left, bbox.width, bbox.top, bbox.height].map(
    (devicePx) => devicePx / devicePixelRatio,
  );
  return { fromS: x?.min ?? 0, toS: x?.max ?? 0, leftPx, widthPx, topPx, heightPx };
}

/** Lines at the instants of the marks. */
function drawMarks(plot: uPlot, marks: readonly ChartMark[]): void {
  const { ctx: context, bbox, scales } = plot;
  const [min, max] = [scales['x']?.min ?? 0, scales['x']?.max ?? 0];
  context.save();
  context.strokeStyle = colour('--edge');
  context.lineWidth = devicePixelRatio;
  context.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { atS } of marks) {
    if (atS < min || atS > max) continue;
    const at = plot.valToPos(atS, 'x', true);
    context.beginPath();
    context.moveTo(at, bbox.top);
    context.lineTo(at, bbox.top + bbox.height);
    context.stroke();
  }
  context.restore();
}

/** Width of a chart whose box has none yet, px. */
const defaultPx = 600;

/** The rows that are drawn. */
function rowsOf({ columns }: ChartData, zoom: Zoom, parent: HTMLElement): uPlot.AlignedData {
  return minMaxRows(columns, zoom, parent.clientWidth || defaultPx) as uPlot.AlignedData;
}

const noMarks: readonly ChartMark[] = [];

/** A chart of time series. Dragging zooms; double click or Escape resets; arrow keys move the cursor. */
export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [ownZoom, setOwn] = useState<Zoom>(null);
  const zoom = useRef<Zoom>(null);
  zoom.current = props.zoom === undefined ? ownZoom : props.zoom;
  const zoomTo = useRef(setOwn as (zoom: Zoom) => void);
  zoomTo.current = props.onZoom ?? setOwn;
  const { marks = noMarks, hasFlags = false } = props;
  const drawnMarks = useRef(marks);
  drawnMarks.current = marks;
  const [view, setView] = useState<ChartView | null>(null);
  const shape = JSON.stringify([
    props.series,
    props.bands,
    props.height,
    props.minSpan,
    props.hasZero,
    props.timezone,
    hasFlags,
    theme.value,
  ]);
  useLayoutEffect(() => {
    const parent = box.current;
    if (parent === null) return undefined;
    const options = optionsOf(props, parent.clientWidth || defaultPx, zoom);
    options.hooks = {
      draw: [
        (drawing) => {
          drawMarks(drawing, drawnMarks.current);
          if (drawnMarks.current.length > 0) setView(viewOf(drawing));
        },
      ],
    };
    const chart = new uPlot(options, rowsOf(props.data, zoom.current, parent), parent);
    plot.current = chart;
    seriesOf.set(parent, props.series);
    onDrag(chart, (to) => zoomTo.current(to));
    const resized = new ResizeObserver(() =>
      chart.setSize({ width: parent.clientWidth, height: props.height ?? chartPx }),
    );
    resized.observe(parent);
    return () => {
      resized.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [shape]);
  useLayoutEffect(() => {
    if (plot.current === null || box.current === null) return;
    const rows = rowsOf(props.data, zoom.current, box.current);
    plot.current.setData(rows);
    // without a cursor the legend shows the newest values (uPlot clears it in a microtask after new data)
    queueMicrotask(() => {
      if (plot.current?.cursor.idx == null) plot.current?.setLegend({ idx: (rows[0].length || 1) - 1 });
    });
  }, [shape, props.data, zoom.current?.join()]);
  useLayoutEffect(() => plot.current?.redraw(false), [marks]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') zoomTo.current(null);
    else if (plot.current === null || !moveCursor(plot.current, event.key, event.shiftKey)) return;
    event.preventDefault();
  };
  return (
    <div
      ref={box}
      class="chart"
      role="group"
      aria-label={`${props.label}: arrow keys move the cursor`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      {view !== null && (
        <>
          <PointedLine marks={marks} view={view} />
          {hasFlags && <Flags marks={marks} view={view} />}
        </>
      )}
    </div>
  );
}

const legendPx = 20;

/**
 * Draws the names and lines of the series in as many rows as needed; device pixels.
 * @param draws false: only measures
 * @returns height of the rows
 */
function drawLegend(context: CanvasRenderingContext2D, series: readonly Series[], top: number, draws: boolean): number {
  const ratio = devicePixelRatio;
  const row = legendPx * ratio;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.lineWidth = 1.5 * ratio;
  let [left, middle] = [8 * ratio, top + row / 2];
  for (const { label, unit, colour: name, dash: pattern = [] } of series) {
    const text = unit === '' ? label : `${label}, ${unit}`;
    const width = 54 * ratio + context.measureText(text).width;
    if (left + width > context.canvas.width && left > 8 * ratio) [left, middle] = [8 * ratio, middle + row];
    if (draws) {
      context.strokeStyle = colour(name);
      context.setLineDash(pattern.map((length) => length * ratio));
      context.beginPath();
      context.moveTo(left, middle);
      context.lineTo(left + 32 * ratio, middle);
      context.stroke();
      context.fillStyle = colour('--text');
      context.fillText(text, left + 38 * ratio, middle + 4 * ratio);
    }
    left += width;
  }
  return Math.ceil(middle + row / 2 - top);
}

/** The charts in an element with their legends, one below the other, on the background of the page. */
export async function pngOf(element: HTMLElement): Promise<Blob | null> {
  const pictures = [...element.querySelectorAll('.chart')].flatMap((chart) => {
    const picture = chart.querySelector('canvas');
    return picture === null ? [] : [{ picture, series: seriesOf.get(chart) ?? [] }];
  });
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, ...pictures.map(({ picture }) => picture.width));
  const context = canvas.getContext('2d');
  if (context === null) return null;
  const heights = pictures.map(({ picture, series }) => picture.height + drawLegend(context, series, 0, false));
  canvas.height = heights.reduce((sum, height) => sum + height, 1);
  context.fillStyle = colour('--surface');
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = 0;
  pictures.forEach(({ picture, series }, index) => {
    const legend = drawLegend(context, series, top, true);
    context.drawImage(picture, 0, top + legend);
    top += heights[index] ?? 0;
  });
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}
