/** Time series of devices, and the time range in words. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { Refused } from '../../kit/action';
import { Chart } from '../../kit/chart';
import { ChartRoom } from '../../kit/chart-room';
import type { ChartMark, Zoom } from '../../kit/chart';
import { deviceLabel } from '../../kit/choices';
import { Empty, Panel } from '../../kit/panel';
import { Segments } from '../../kit/segments';
import { Loading } from '../../kit/states';
import { ViewHead } from '../../kit/tabs';
import { route, setParam } from '../../store/route';
import { useClock, useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { EnergyPanel } from './energy-panel';
import { GroupCharts, GroupChoice, GroupCsv, groupOfAddress, NoGroup, useGroups, useGroupsKnown } from './group';
import { Layouts } from './layouts';
import { MarkList, useMarks } from './marks';
import { dashes, drawn, expectedSeries, lineOf, metricsOfOne, quantities, standardMetrics } from './panels';
import type { Named, Quantity, Ratings } from './panels';
import { PlanePanel } from './plane';
import { SiteCharts } from './site';
import { useRatings } from './ratings';
import { useSamples } from './samples';
import type { Samples } from './samples';
import {
  Devices,
  Export,
  Further,
  PanelChoice,
  Picture,
  setZoom,
  Windows,
  furtherMetrics,
  scopeOfAddress,
  shownPanels,
  useShownDevices,
  zoomOfAddress,
  windowSeconds,
} from './tools';
import { Newest, Values } from './values';
import { dateAndTime } from '../../look/format';

const nothing: readonly number[] = [];

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
          Frozen at {instant(last)}; {waiting} newer {waiting === 1 ? 'sample waits' : 'samples wait'}.
        </p>
      )}
      {zoom !== null && Number.isFinite(last) && <p>{zoomText(zoom, first, last)}</p>}
    </div>
  );
}

/** Chooses the series: devices, the site with its kinds, or a group with its limits. */
function Subject() {
  const hasGroups = useGroups().length > 0 || scopeOfAddress() === 'group';
  return (
    <Segments
      label="Series of"
      options={[['devices', 'Devices'], ['site', 'Site'], ...(hasGroups ? [['group', 'Group'] as const] : [])]}
      value={scopeOfAddress() ?? 'devices'}
      onChoice={(of) => setParam('of', of === 'devices' ? null : of)}
    />
  );
}

/** Devices, the site, or a group of devices. */
export default function Charts() {
  const scope = route.value.path[0] === 'charts' ? scopeOfAddress() : null;
  return scope === null ? <OfDevices /> : <OfScope scope={scope} />;
}

function OfScope({ scope }: { readonly scope: 'group' | 'site' }) {
  const charts = useRef<HTMLDivElement>(null);
  const answer = useGroupsKnown();
  const groups = answer ?? [];
  const group = scope === 'group' ? groupOfAddress(groups) : undefined;
  const zoom = zoomOfAddress();
  return (
    <>
      <ViewHead title="Charts">
        <Layouts />
      </ViewHead>
      <div class="row">
        <Subject />
        {group !== undefined && <GroupChoice groups={groups} chosen={group} />}
        <Windows />
        {zoom !== null && (
          <button type="button" onClick={() => setZoom(null)}>
            Whole window, follow
          </button>
        )}
        {group !== undefined && <GroupCsv group={group} seconds={windowSeconds()} />}
        <Picture charts={() => charts.current} />
      </div>
      <div class="row">
        <PanelChoice />
      </div>
      {scope === 'group' && answer !== undefined && group === undefined && <NoGroup />}
      {scope === 'site' && <SiteCharts seconds={windowSeconds()} box={charts} />}
      {group !== undefined && <GroupCharts key={group} group={group} seconds={windowSeconds()} box={charts} />}
    </>
  );
}

/** Stands where no device can be shown: there is none, or the overview is not read yet. */
function NoDevice() {
  const isRead = useOverview() !== undefined;
  return isRead ? <Empty>No device yet.</Empty> : <Loading heights={[260, 260]} />;
}

/** History and live values of up to eight devices. */
function OfDevices() {
  const shown = useShownDevices();
  const seconds = windowSeconds();
  const further = furtherMetrics();
  const metrics = [...standardMetrics, ...(shown.length === 1 ? metricsOfOne : []), ...further];
  const [isPaused, setPaused] = useState(false);
  const charts = useRef<HTMLDivElement>(null);
  const indexes = shown.map(({ device_index }) => device_index);
  const { samples, waiting, problem } = useSamples(indexes, seconds, metrics, isPaused);
  const panels = shownPanels();
  const timezone = useClock()?.timezone ?? 'UTC';
  const oldestS = Math.min(...[...samples.values()].flatMap(({ times }) => times[0] ?? []));
  const hasMarks = panels.includes('marks') && Number.isFinite(oldestS);
  const marks = useMarks(shown, hasMarks ? oldestS : undefined);
  const [first] = shown;
  if (first === undefined) return <NoDevice />;
  const offered = [...samples.values()].flatMap(({ metrics }) => metrics);
  const zoom = zoomOfAddress();
  return (
    <>
      {route.value.path[0] === 'charts' && (
        <ViewHead title="Charts">
          <Layouts />
        </ViewHead>
      )}
      <div class="row">
        {route.value.path[0] === 'charts' && <Subject />}
        <Devices shown={shown} />
        <Windows />
        <Further offered={offered} />
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Freeze'}
        </button>
        {zoom !== null && (
          <button type="button" onClick={() => setZoom(null)}>
            Whole window, follow
          </button>
        )}
        <Export devices={shown} seconds={seconds} charts={() => charts.current} />
      </div>
      <div class="row">
        <PanelChoice />
      </div>
      <Refused problem={problem} />
      <TimeRange samples={samples} zoom={zoom} waiting={waiting} />
      <Curves {...{ shown, samples, further, marks }} isRefused={problem !== null} box={charts} />
      {panels.includes('energy') && shown.length === 1 && (
        <EnergyPanel
          name={deviceLabel(first)}
          isLoading={problem === null && !samples.has(first.device_index)}
          times={samples.get(first.device_index)?.times ?? nothing}
          kw={samples.get(first.device_index)?.column('power_kw') ?? nothing}
          out="delivered"
          into="absorbed"
          timezone={timezone}
        />
      )}
      <div class="grid">
        <MarkList marks={marks} />
        {panels.includes('plane') && (problem === null || samples.has(first.device_index)) && (
          <PlanePanel device={first.device_index} name={deviceLabel(first)} samples={samples.get(first.device_index)} />
        )}
        {panels.includes('data') && <Newest shown={shown} samples={samples} />}
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
  readonly marks: readonly ChartMark[];
  /** true: samples cannot be read */
  readonly isRefused: boolean;
  readonly box: { current: HTMLDivElement | null };
}

/** The chart of an additional metric. */
function furtherQuantity(metric: string): Quantity {
  const line = lineOf(metric);
  return { name: metric, title: line.label, lines: [line], minSpan: () => undefined };
}

function Curves({ shown, samples, further, marks, isRefused, box }: CurvesProps) {
  const timezone = useClock()?.timezone ?? 'UTC';
  const ratings = useRatings(shown.map(({ device_index }) => device_index));
  // labels with the index, since devices may share a name
  const named = shown.map((one, place): Named => ({ device: one.device_index, name: deviceLabel(one), place }));
  const names = shownPanels();
  const stored = new Set(shown.filter((one) => one.state_of_charge_pct !== null).map((one) => one.device_index));
  /** the devices that have values of the first line, as far as is known while samples are read */
  const devicesOf = ({ lines: [line] }: Quantity) =>
    named.filter(({ device }) => {
      const isCharge = line?.metric === 'state_of_charge_pct';
      if (!samples.has(device)) return !isCharge || stored.has(device);
      const column = samples.get(device)?.column(line?.metric ?? '');
      return column !== undefined && (!isCharge || column.some((value) => value !== null));
    });
  const standard = quantities.filter(
    (quantity) => names.includes(quantity.name) && (quantity.name !== 'soc' || devicesOf(quantity).length > 0),
  );
  return (
    <div class="stack" ref={box}>
      {named.length > 1 && <Key named={named} />}
      {[...standard, ...further.map(furtherQuantity)].map((quantity, at) => (
        <Curve
          key={quantity.name}
          marks={marks}
          hasFlags={at === 0}
          quantity={quantity}
          of={standard.includes(quantity) && quantity.name !== 'soc' ? named : devicesOf(quantity)}
          samples={samples}
          isRefused={isRefused}
          ratings={ratings}
          timezone={timezone}
        />
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
  readonly quantity: Quantity;
  readonly of: readonly Named[];
  readonly samples: ReadonlyMap<number, Samples>;
  readonly isRefused: boolean;
  readonly ratings: Ratings;
  readonly timezone: string;
  readonly marks: readonly ChartMark[];
  /** true: the flags of the marks are above this chart */
  readonly hasFlags: boolean;
}

/** Height of a chart of one quantity, px. */
const heightPx = 170;

function Curve({ quantity, of, samples, isRefused, ratings, timezone, marks, hasFlags }: CurveProps) {
  const { title, bands = [], hasZero = false } = quantity;
  const lines = (of.length === 1 && quantity.linesOfOne) || quantity.lines;
  const places = of.map(({ device, name, place }) => `${device} ${place} ${name}`).join();
  // memoised: each answer renders the view again, and there are thousands of values
  const { series, data } = useMemo(() => drawn(of, samples, lines), [samples, places, lines]);
  const minSpan = quantity.minSpan(ratings);
  if (series.length === 0) {
    const isLoading = of.some(({ device }) => !samples.has(device));
    return (
      <Panel title={title}>
        {isLoading && !isRefused ? (
          <ChartRoom series={expectedSeries(of, lines)} height={heightPx} />
        ) : (
          <Empty>{isLoading ? 'No samples could be read.' : 'None of these devices has this metric.'}</Empty>
        )}
      </Panel>
    );
  }
  return (
    <Panel title={title}>
      <Chart
        label={title}
        series={series}
        data={data}
        // a band for one device only: overlapping bands would be unreadable
        bands={of.length === 1 ? bands : []}
        height={heightPx}
        marks={marks}
        hasFlags={hasFlags && marks.length > 0}
        {...(minSpan !== undefined && { minSpan })}
        hasZero={hasZero}
        timezone={timezone}
        zoom={zoomOfAddress()}
        onZoom={setZoom}
      />
    </Panel>
  );
}
