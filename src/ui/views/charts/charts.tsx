/** Time series of devices, and the time range in words. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { Refused } from '../../kit/action';
import { Chart } from '../../kit/chart';
import type { Zoom } from '../../kit/chart';
import { deviceLabel } from '../../kit/choices';
import { Empty, Panel } from '../../kit/panel';
import { ViewHead } from '../../kit/tabs';
import { param, route, setParam } from '../../store/route';
import { useClock } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { dashes, drawn, gridLines, lineOf, powerLines, socLines, standardMetrics } from './panels';
import type { Line, Named } from './panels';
import { PlanePanel } from './plane';
import { useSamples } from './samples';
import type { Samples } from './samples';
import {
  Devices,
  Export,
  Further,
  PanelChoice,
  Windows,
  furtherMetrics,
  shownPanels,
  useShownDevices,
  windowSeconds,
} from './tools';
import { Newest, Values } from './values';
import { dateAndTime } from '../../look/format';

interface RangeProps {
  readonly samples: ReadonlyMap<number, Samples>;
  readonly zoom: Zoom;
  /** number of samples since the picture was held; null: the picture is live */
  readonly waiting: number | null;
}

const instant = (seconds: number) => dateAndTime(new Date(seconds * 1000).toISOString());

function zoomText([from, to]: readonly [number, number], first: number, last: number): string {
  const span = `${instant(from)} to ${instant(to)}`;
  if (from > last) return `No samples in view: ${span} is after the newest sample, of ${instant(last)}.`;
  if (to < first) return `No samples in view: ${span} is before the oldest drawn sample, of ${instant(first)}.`;
  if (to > last) return `In view: ${span}. The newest sample is of ${instant(last)}; later samples will be drawn here.`;
  if (from < first) return `In view: ${span}. The drawn samples begin at ${instant(first)}.`;
  return `In view: ${span}. Newer samples are outside.`;
}

function TimeRange({ samples, zoom, waiting }: RangeProps) {
  const all = [...samples.values()];
  const starts = all.flatMap(({ keptSince }) => keptSince ?? []);
  const first = Math.min(...all.flatMap(({ times }) => times[0] ?? []));
  const last = Math.max(...all.flatMap(({ times }) => times.at(-1) ?? []));
  const leftOut = Math.max(0, ...all.map((one) => one.leftOut));
  return (
    <div class="muted" data-test="sight" role="status">
      {leftOut > 0 && <p>The clock was set back: {leftOut} earlier samples are in the CSV only.</p>}
      {starts.length > 0 && (
        <p>
          Kept since {instant(Math.max(...starts))}: the window reaches further back, but the simulator keeps{' '}
          {Math.max(...all.map(({ capacity }) => capacity))} samples per device. The CSV begins there as well.
        </p>
      )}
      {waiting !== null && (
        <p>
          The picture is held at {instant(last)}; {waiting} newer {waiting === 1 ? 'sample waits' : 'samples wait'}.
        </p>
      )}
      {zoom !== null && Number.isFinite(last) && <p>{zoomText(zoom, first, last)}</p>}
    </div>
  );
}

/** The time range in the address, `from,to` in seconds since the epoch. */
function zoomOf(text: string | null): Zoom {
  const [from = NaN, to = NaN] = text?.split(',').map(Number) ?? [];
  return from < to ? [from, to] : null;
}

const setZoom = (zoom: Zoom) => setParam('zoom', zoom === null ? null : zoom.map((at) => at.toFixed(3)).join(','));

/** History and live values of up to eight devices. */
export default function Charts() {
  const shown = useShownDevices();
  const seconds = windowSeconds();
  const further = furtherMetrics();
  const metrics = [...standardMetrics, ...further];
  const [isPaused, setPaused] = useState(false);
  const charts = useRef<HTMLDivElement>(null);
  const indexes = shown.map(({ device_index }) => device_index);
  const { samples, waiting, problem } = useSamples(indexes, seconds, metrics, isPaused);
  const panels = shownPanels();
  const [first] = shown;
  if (first === undefined) return <Empty>No device yet.</Empty>;
  const offered = [...samples.values()].flatMap(({ metrics }) => metrics);
  const zoom = zoomOf(param('zoom'));
  return (
    <>
      {route.value.path[0] === 'charts' && <ViewHead title="Charts" />}
      <div class="row">
        <Windows />
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Hold the picture'}
        </button>
        {zoom !== null && (
          <button type="button" onClick={() => setZoom(null)}>
            Whole window, follow
          </button>
        )}
        <Export devices={shown} seconds={seconds} charts={() => charts.current} />
      </div>
      <PanelChoice />
      <Devices shown={shown} />
      <Further offered={offered} />
      <Refused problem={problem} />
      <TimeRange samples={samples} zoom={zoom} waiting={waiting} />
      <Curves shown={shown} samples={samples} further={further} box={charts} />
      <div class="grid">
        {panels.includes('plane') && (
          <PlanePanel device={first.device_index} name={deviceLabel(first)} samples={samples.get(first.device_index)} />
        )}
        {panels.includes('drawn') && <Newest shown={shown} samples={samples} />}
        {panels.includes('values') &&
          shown.map((device) => (
            <Values
              key={device.device_index}
              device={device}
              samples={samples.get(device.device_index)}
              metrics={metrics}
            />
          ))}
      </div>
    </>
  );
}

interface CurvesProps {
  readonly shown: readonly DeviceEntry[];
  readonly samples: ReadonlyMap<number, Samples>;
  readonly further: readonly string[];
  readonly box: { current: HTMLDivElement | null };
}

interface CurvesPanel {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly of: readonly Named[];
}

function Curves({ shown, samples, further, box }: CurvesProps) {
  const timezone = useClock()?.timezone ?? 'UTC';
  // labels with the index, since devices may share a name
  const named = shown.map((one, place): Named => ({ device: one.device_index, name: deviceLabel(one), place }));
  const devicesWith = (metric: string) => named.filter(({ device }) => samples.get(device)?.metrics.includes(metric));
  const storages = named.filter(({ device }) =>
    samples
      .get(device)
      ?.column('state_of_charge_pct')
      ?.some((value) => value !== null),
  );
  const names = shownPanels();
  const panels: readonly CurvesPanel[] = [
    ...(names.includes('power') ? [{ title: 'Active and reactive power', lines: powerLines, of: named }] : []),
    ...(names.includes('grid') ? [{ title: 'Voltage and frequency', lines: gridLines, of: named }] : []),
    ...(names.includes('soc') && storages.length > 0
      ? [{ title: 'State of charge', lines: socLines, of: storages }]
      : []),
    ...further.map((metric) => {
      const line = lineOf(metric);
      return { title: line.label, lines: [line], of: devicesWith(metric) };
    }),
  ];
  return (
    <div class="stack" ref={box}>
      {named.length > 1 && <Key named={named} />}
      {panels.map((panel) => (
        <Curve key={panel.title} panel={panel} samples={samples} timezone={timezone} />
      ))}
    </div>
  );
}

/** Dashes of the lines by device; colours are by quantity. */
function Key({ named }: { readonly named: readonly Named[] }) {
  return (
    <ul class="device-key" aria-label="Lines of the devices">
      {named.map(({ device, name, place }) => (
        <li key={device}>
          <svg width="40" height="8" aria-hidden="true">
            <line
              x2="40"
              y1="4"
              y2="4"
              stroke="currentColor"
              stroke-width="2"
              stroke-dasharray={dashes[place]?.join()}
            />
          </svg>{' '}
          {name}
        </li>
      ))}
    </ul>
  );
}

interface CurveProps {
  readonly panel: CurvesPanel;
  readonly samples: ReadonlyMap<number, Samples>;
  readonly timezone: string;
}

function Curve({ panel: { title, lines, of }, samples, timezone }: CurveProps) {
  const places = of.map(({ device, name, place }) => `${device} ${place} ${name}`).join();
  // memoised: each answer renders the view again, and there are thousands of values
  const { series, data } = useMemo(() => drawn(of, samples, lines), [samples, places, title]);
  // a band for one battery only: overlapping bands would be unreadable
  const bands = lines === socLines && of.length === 1 ? ([[1, 2]] as const) : [];
  if (series.length === 0)
    return (
      <Panel title={title}>
        <Empty>
          {of.length > 0 ? 'The first sample comes with the next tick.' : 'None of these devices has this metric.'}
        </Empty>
      </Panel>
    );
  return (
    <Panel title={title}>
      <Chart
        label={title}
        series={series}
        data={data}
        bands={bands}
        timezone={timezone}
        zoom={zoomOf(param('zoom'))}
        onZoom={setZoom}
      />
    </Panel>
  );
}
