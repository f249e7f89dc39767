/** Time series with uPlot: zoom by dragging, a cursor that all charts of a view share, PNG. */
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { dash, digits } from '../look/format';
import { colour, theme } from '../shell/theme';

export interface Series {
  readonly label: string;
  readonly unit: string;
  readonly decimals: number;
  /** variable of `base.css`, such as `--p` */
  readonly colour: string;
  readonly dash?: readonly number[];
  readonly side?: 'left' | 'right';
}

export interface ChartData {
  /** seconds since the epoch, ascending, and one column of values per series */
  readonly columns: readonly (readonly (number | null)[])[];
}

interface ChartProps {
  readonly label: string;
  readonly series: readonly Series[];
  readonly data: ChartData;
  /** filled between two series, by their place in `series` */
  readonly bands?: readonly (readonly [upper: number, lower: number])[];
  readonly height?: number;
  readonly timezone: string;
}

/** Charts with this key move their cursors together. */
const cursorKey = 'time';

// uPlot declares them as a `const enum`, whose names do not exist at run time
/* eslint-disable @typescript-eslint/no-unsafe-enum-assignment */
const sides: Readonly<Record<'right' | 'bottom' | 'left', uPlot.Axis.Side>> = { right: 1, bottom: 2, left: 3 };
/* eslint-enable @typescript-eslint/no-unsafe-enum-assignment */

function axis(scale: string, side: uPlot.Axis.Side, units: string, hasGrid: boolean): uPlot.Axis {
  return {
    scale,
    side,
    label: units,
    labelSize: 18,
    size: 56,
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

/** Least height of an axis by its unit: a steady value is a line in the middle, not a cliff of its last digit. */
const leastSpans: Readonly<Record<string, number>> = { kW: 0.1, kvar: 0.1, V: 4, Hz: 0.2, '%': 10 };

function rangeOf(unit: string) {
  const least = leastSpans[unit] ?? 1;
  return (_plot: uPlot, min: number | null, max: number | null): [number, number] => {
    if (min === null || max === null) return [0, least];
    const spare = Math.max((max - min) * 0.06, (least - (max - min)) / 2);
    return [min - spare, max + spare];
  };
}

function optionsOf({ series, bands = [], height = 200, timezone }: ChartProps, width: number): uPlot.Options {
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
    values: timesOf,
  };
  return {
    width,
    height,
    tzDate: zoned,
    cursor: { sync: { key: cursorKey }, drag: { x: true, y: false } },
    legend: { live: true },
    scales: { x: { time: true }, left: { range: rangeOf(left) }, right: { range: rangeOf(right) } },
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
        spanGaps: false,
        value: (_plot: uPlot, value: number | null) => `${digits(value, one.decimals)} ${one.unit}`,
      })),
    ] as uPlot.Series[],
  };
}

/** A chart of columns; a double click takes a zoom back. */
export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const zoomed = useRef(false);
  const shape = JSON.stringify([props.series, props.bands, props.height, props.timezone, theme.value]);
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return undefined;
    const made = new uPlot(
      optionsOf(props, parent.clientWidth || 600),
      props.data.columns as uPlot.AlignedData,
      parent,
    );
    plot.current = made;
    zoomed.current = false;
    made.over.addEventListener('mouseup', () => {
      if (made.select.width > 2) zoomed.current = true;
    });
    made.over.addEventListener('dblclick', () => (zoomed.current = false));
    const resized = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height: props.height ?? 200 }));
    resized.observe(parent);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(props.data.columns as uPlot.AlignedData, !zoomed.current);
    if (zoomed.current) plot.current?.redraw();
    // without a cursor the legend has the newest values
    // (uPlot clears it in a microtask of its own after new data)
    queueMicrotask(() => {
      if (plot.current?.cursor.idx == null) plot.current?.setLegend({ idx: (props.data.columns[0]?.length ?? 1) - 1 });
    });
  }, [props.data]);
  return <div ref={box} class="chart" role="group" aria-label={props.label} />;
}

/** The pictures of all charts inside an element, one below the other, on the colour of the page. */
export async function pngOf(element: HTMLElement): Promise<Blob | null> {
  const pictures = [...element.querySelectorAll('canvas')];
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, ...pictures.map(({ width }) => width));
  canvas.height = Math.max(
    1,
    pictures.reduce((sum, { height }) => sum + height, 0),
  );
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.fillStyle = colour('--surface');
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = 0;
  for (const picture of pictures) {
    context.drawImage(picture, 0, top);
    top += picture.height;
  }
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

/** Offers content as a file to keep. */
export function download(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
