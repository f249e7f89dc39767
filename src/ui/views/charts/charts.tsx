import '../../look/charts.css';
import { useRef, useState } from 'preact/hooks';
import { get } from '../../api/call';
import { Problem, send } from '../../api/perform';
import { Curl, Refused } from '../../kit/action';
import { Chart, download, pngOf } from '../../kit/chart';
import { deviceLabel } from '../../kit/device-picker';
import { Empty, Panel } from '../../kit/panel';
import { dash, dateAndTime, words } from '../../look/format';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { useLive } from '../../store/live';
import { say } from '../../store/notices';
import { param, setParam } from '../../store/route';
import { useClock, useDevice, useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { drawn, gridLines, powerLines, socLines } from './panels';
import type { Line } from './panels';
import { PlanePanel } from './plane';
import { metrics, newest, useSamples } from './samples';
import type { Samples } from './samples';

const maxDevices = 8;
const windows: readonly (readonly [value: string, label: string, seconds: number | null])[] = [
  ['15min', '15 min', 900],
  ['1h', '1 h', 3600],
  ['4h', '4 h', 14_400],
  ['all', 'all that is kept', null],
];

/** Devices of the charts: those of the address, else the chosen one. */
function useShownDevices(): readonly DeviceEntry[] {
  const all = useOverview()?.devices ?? [];
  const chosen = useDevice();
  const named = param('devices')?.split(',') ?? [];
  const shown = all.filter(({ device_index }) => named.includes(String(device_index))).slice(0, maxDevices);
  return shown.length > 0 || chosen === undefined ? shown : [chosen];
}

/** How did it get there: past and live values of up to eight devices. */
export function ChartsView() {
  const shown = useShownDevices();
  const [, , seconds = 900] = windows.find(([value]) => value === param('window')) ?? [];
  const extra = param('extra');
  const [isPaused, setPaused] = useState(false);
  const charts = useRef<HTMLDivElement>(null);
  const indexes = shown.map(({ device_index }) => device_index);
  const { samples, problem } = useSamples(indexes, seconds, extra, isPaused);
  const cut = new Map([...samples].map(([device, one]) => [device, newest(one, seconds)] as const));
  const [first] = shown;
  if (first === undefined) return <Empty>No device yet.</Empty>;
  return (
    <>
      <div class="title">
        <h1>Charts</h1>
        <Windows />
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Go on' : 'Hold the picture'}
        </button>
        <Extra device={first.device_index} />
        <Export devices={shown} seconds={seconds} extra={extra} charts={() => charts.current} />
      </div>
      <Devices shown={shown} />
      <Refused problem={problem} />
      <Curves shown={shown} samples={cut} extra={extra} box={charts} />
      <div class="grid">
        <PlanePanel device={first.device_index} name={deviceLabel(first)} samples={cut.get(first.device_index)} />
        <Newest shown={shown} samples={cut} />
      </div>
    </>
  );
}

function Windows() {
  const chosen = param('window') ?? '15min';
  return (
    <span class="row" role="group" aria-label="Window of simulated time">
      {windows.map(([value, label]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => setParam('window', value)}>
          {label}
        </button>
      ))}
    </span>
  );
}

/** One more metric of the history, such as the irradiance. */
function Extra({ device }: { readonly device: number }) {
  const all = useLive(get('history', { query: { device, limit: 1 } }), 'once').data?.metrics ?? [];
  const others = all.filter((name) => !(metrics as readonly string[]).includes(name) && !name.endsWith('_state'));
  return (
    <label class="row">
      <span class="muted">Also</span>
      <select value={param('extra') ?? ''} onChange={(event) => setParam('extra', event.currentTarget.value)}>
        <option value="">nothing more</option>
        {others.map((name) => (
          <option key={name} value={name}>
            {words(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Devices({ shown }: { readonly shown: readonly DeviceEntry[] }) {
  const all = useOverview()?.devices ?? [];
  if (all.length < 2) return null;
  const chosen = shown.map(({ device_index }) => device_index);
  const toggle = (index: number) => {
    const next = chosen.includes(index) ? chosen.filter((one) => one !== index) : [...chosen, index];
    setParam('devices', next.sort((a, b) => a - b).join(','));
  };
  return (
    <details>
      <summary>
        {chosen.length} of {all.length} devices (up to {maxDevices})
      </summary>
      <div class="device-choice">
        {all.map((device) => (
          <label key={device.device_index} class="field check">
            <input
              type="checkbox"
              checked={chosen.includes(device.device_index)}
              disabled={!chosen.includes(device.device_index) && chosen.length >= maxDevices}
              onChange={() => toggle(device.device_index)}
            />
            {deviceLabel(device)}
          </label>
        ))}
      </div>
    </details>
  );
}

interface CurvesProps {
  readonly shown: readonly DeviceEntry[];
  readonly samples: ReadonlyMap<number, Samples>;
  readonly extra: string | null;
  readonly box: { current: HTMLDivElement | null };
}

function Curves({ shown, samples, extra, box }: CurvesProps) {
  const timezone = useClock()?.timezone ?? 'UTC';
  const named = shown.map((device) => [device.device_index, device.name] as const);
  const storages = named.filter(([device]) =>
    samples
      .get(device)
      ?.columns.get('state_of_charge_pct')
      ?.some((value) => value !== null),
  );
  const extraLines: readonly Line[] =
    extra === null ? [] : [{ metric: extra, label: words(extra), unit: '', decimals: 3, colour: '--accent' }];
  const panels: readonly (readonly [
    title: string,
    lines: readonly Line[],
    of: readonly (readonly [number, string])[],
  ])[] = [
    ['Active and reactive power', powerLines, named],
    ['Voltage and frequency', gridLines, named],
    ...(storages.length > 0 ? [['State of charge', socLines, storages] as const] : []),
    ...(extraLines.length > 0 ? [[words(extra), extraLines, named] as const] : []),
  ];
  return (
    <div class="stack" ref={box}>
      {panels.map(([title, lines, of]) => {
        const { series, data } = drawn(of, samples, lines);
        // of several batteries each has its own band, and bands over bands say nothing
        const bands = lines === socLines && of.length === 1 ? ([[1, 2]] as const) : [];
        return (
          <Panel key={title} title={title}>
            {series.length === 0 ? (
              <Empty>The first sample comes with the next tick.</Empty>
            ) : (
              <Chart label={title} series={series} data={data} bands={bands} timezone={timezone} />
            )}
          </Panel>
        );
      })}
    </div>
  );
}

interface ExportProps {
  readonly devices: readonly DeviceEntry[];
  readonly seconds: number | null;
  readonly extra: string | null;
  readonly charts: () => HTMLElement | null;
}

function Export({ devices, seconds, extra, charts }: ExportProps) {
  const csvCall = (device: number) =>
    get('history', {
      query: {
        device,
        format: 'csv',
        limit: 100_000,
        metrics: extra === null ? [...metrics] : [...metrics, extra],
        ...(seconds !== null && { seconds }),
      },
    });
  const csv = async () => {
    try {
      for (const { device_index } of devices) {
        download(await (await send(csvCall(device_index))).blob(), `derbench-device-${device_index}.csv`);
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      say(error.message);
    }
  };
  const png = async () => {
    const element = charts();
    const picture = element === null ? null : await pngOf(element);
    if (picture) download(picture, 'derbench-charts.png');
  };
  const [first] = devices;
  return (
    <span class="row">
      <button type="button" onClick={() => void csv()}>
        CSV
      </button>
      {first && <Curl call={csvCall(first.device_index)} />}
      <button type="button" onClick={() => void png()}>
        PNG
      </button>
    </span>
  );
}

interface DrawnRow {
  readonly device: DeviceEntry;
  readonly samples: Samples | undefined;
}

const instant = (time: number | undefined) =>
  time === undefined ? dash : dateAndTime(new Date(time * 1000).toISOString());

function newestOf(title: string, metric: string): Column<DrawnRow> {
  const value = ({ samples }: DrawnRow) => samples?.columns.get(metric)?.at(-1);
  return { title, numeric: true, value, cell: (row) => <span data-metric={metric}>{value(row) ?? dash}</span> };
}

const drawnColumns: readonly Column<DrawnRow>[] = [
  { title: 'Device', cell: ({ device }) => deviceLabel(device), value: ({ device }) => device.device_index },
  {
    title: 'Samples',
    numeric: true,
    cell: ({ samples }) => samples?.times.length ?? 0,
    value: ({ samples }) => samples?.times.length,
  },
  { title: 'From', cell: ({ samples }) => instant(samples?.times[0]) },
  { title: 'To', cell: ({ samples }) => instant(samples?.times.at(-1)) },
  newestOf('P, kW', 'power_kw'),
  newestOf('Q, kvar', 'reactive_power_kvar'),
  newestOf('V', 'voltage_ln_v'),
  newestOf('Hz', 'frequency_hz'),
  newestOf('SoC, %', 'state_of_charge_pct'),
];

/** The charts in words: what is drawn, and the newest values. */
function Newest({
  shown,
  samples,
}: {
  readonly shown: readonly DeviceEntry[];
  readonly samples: ReadonlyMap<number, Samples>;
}) {
  return (
    <Panel title="What is drawn" flush>
      <Table
        name="What is drawn"
        columns={drawnColumns}
        rows={shown.map((device) => ({ device, samples: samples.get(device.device_index) }))}
        keyOf={({ device }) => device.device_index}
        height={300}
      />
    </Panel>
  );
}
