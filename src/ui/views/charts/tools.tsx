/** Choices and files of the charts; the address keeps all choices. */
import { useState } from 'preact/hooks';
import { get, Problem, send } from '../../api/call';
import { CallLine } from '../../kit/api-switch';
import { download } from '../../kit/download';
import { pngOf } from '../../kit/uplot-chart';
import { deviceLabel } from '../../kit/choices';
import { termOf, withUnit } from '../../look/format';
import { say } from '../../kit/notice';
import { param, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { standardMetrics } from './panels';

/**
 * Joins tables of several devices, with the device as first column. Kinds of devices differ in metrics, so cells may be
 * empty.
 */
function joinedCsv(tables: readonly (readonly [device: number, text: string])[]): string {
  const split = tables.map(([device, text]) => {
    // cells of the history are numbers and single words, without quotes
    const [head = '', ...lines] = text.trimEnd().split(/\r?\n/);
    return { device, names: head.split(','), lines };
  });
  const names = [...new Set(split.flatMap((table) => table.names))];
  const rows = split.flatMap(({ device, names: columnNames, lines }) => {
    const places = names.map((name) => columnNames.indexOf(name));
    return lines.map((line) => {
      const cells = line.split(',');
      return [device, ...places.map((place) => cells[place] ?? '')].join(',');
    });
  });
  return `${['device_index', ...names].join(',')}\n${rows.map((row) => `${row}\n`).join('')}`;
}

const maxDevices = 8;
const windows: readonly (readonly [value: string, label: string, seconds: number | null])[] = [
  ['15min', '15 min', 900],
  ['1h', '1 h', 3600],
  ['4h', '4 h', 14_400],
  ['all', 'all that is kept', null],
];

/** Devices of the charts: those of the address, otherwise the chosen one. */
export function useShownDevices(): readonly DeviceEntry[] {
  const all = useOverview()?.devices ?? [];
  const chosen = useDevice();
  const named = param('devices')?.split(',') ?? [];
  const selected = all.filter(({ device_index }) => named.includes(String(device_index))).slice(0, maxDevices);
  return selected.length > 0 || chosen === undefined ? selected : [chosen];
}

/** Seconds of the window in the address. null: all samples of the daemon. */
export function windowSeconds(): number | null {
  const [, , seconds = 900] = windows.find(([value]) => value === param('window')) ?? [];
  return seconds;
}

/** Metrics in addition to those of the standard charts. */
export function furtherMetrics(): readonly string[] {
  return (param('extra') ?? '').split(',').filter((name) => name !== '');
}

const allPanels = ['power', 'grid', 'soc', 'plane', 'drawn', 'values'] as const;
type PanelName = (typeof allPanels)[number];
const panelTitles: Readonly<Record<PanelName, string>> = {
  power: 'P and Q',
  grid: 'V and f',
  soc: 'SoC',
  plane: 'P-Q plane',
  drawn: 'What is drawn',
  values: 'All values',
};
/** Panels without a choice in the address: all but the table of all values. */
const defaultPanels: readonly PanelName[] = ['power', 'grid', 'soc', 'plane', 'drawn'];

/** Visible panels in the order of the page. */
export function shownPanels(): readonly PanelName[] {
  const named = param('panels')?.split(',');
  return named === undefined ? defaultPanels : allPanels.filter((name) => named.includes(name));
}

export function PanelChoice() {
  const panels = shownPanels();
  const toggle = (name: PanelName) => {
    const next = allPanels.filter((one) => panels.includes(one) !== (one === name));
    setParam('panels', next.join() === defaultPanels.join() ? null : next.join() || 'none');
  };
  return (
    <span class="row" role="group" aria-label="Panels">
      {allPanels.map((name) => (
        <button key={name} type="button" aria-pressed={panels.includes(name)} onClick={() => toggle(name)}>
          {panelTitles[name]}
        </button>
      ))}
    </span>
  );
}

export function Windows() {
  const window = param('window') ?? '15min';
  return (
    <span class="row" role="group" aria-label="Window of simulated time">
      {windows.map(([value, label]) => (
        <button key={value} type="button" aria-pressed={value === window} onClick={() => setParam('window', value)}>
          {label}
        </button>
      ))}
    </span>
  );
}

interface FurtherProps {
  /** metrics of the devices */
  readonly offered: readonly string[];
}

/** Chooses additional metrics of the history, such as the irradiance. */
export function Further({ offered }: FurtherProps) {
  const metrics = furtherMetrics();
  const others = [...new Set([...offered, ...metrics])].filter((name) => !standardMetrics.includes(name));
  const toggle = (name: string) =>
    setParam('extra', (metrics.includes(name) ? metrics.filter((one) => one !== name) : [...metrics, name]).join(','));
  return (
    <details>
      <summary>Further metrics: {metrics.length}</summary>
      <div class="device-choice">
        {others.map((name) => (
          <label key={name} class="field check">
            <input type="checkbox" checked={metrics.includes(name)} onChange={() => toggle(name)} />
            {withUnit(termOf(name))}
          </label>
        ))}
      </div>
    </details>
  );
}

export function Devices({ shown }: { readonly shown: readonly DeviceEntry[] }) {
  const all = useOverview()?.devices ?? [];
  if (all.length < 2) return null;
  const indexes = shown.map(({ device_index }) => device_index);
  const toggle = (index: number) => {
    const next = indexes.includes(index) ? indexes.filter((one) => one !== index) : [...indexes, index];
    setParam('devices', next.sort((a, b) => a - b).join(','));
  };
  return (
    <details>
      <summary>
        {indexes.length} of {all.length} devices (up to {maxDevices})
      </summary>
      <div class="device-choice">
        {all.map((device) => (
          <label key={device.device_index} class="field check">
            <input
              type="checkbox"
              checked={indexes.includes(device.device_index)}
              disabled={!indexes.includes(device.device_index) && indexes.length >= maxDevices}
              onChange={() => toggle(device.device_index)}
            />
            {deviceLabel(device)}
          </label>
        ))}
      </div>
    </details>
  );
}

interface ExportProps {
  readonly devices: readonly DeviceEntry[];
  readonly seconds: number | null;
  readonly charts: () => HTMLElement | null;
}

/** Downloads the samples in the formats of the API, and the charts as a picture. */
export function Export({ devices, seconds, charts }: ExportProps) {
  const csvCall = (device: number) =>
    get('history', {
      query: {
        device,
        format: 'csv',
        limit: 100_000,
        ...(seconds !== null && { seconds }),
      },
    });
  const indexes = devices.map(({ device_index }) => device_index);
  const [isBusy, setBusy] = useState(false);
  const textOf = async (device: number) => {
    const answer = await send(csvCall(device));
    const text = await answer.text();
    if (!answer.ok) throw new Problem(answer.status, 'unreadable', `The history of device ${device} cannot be read.`);
    return text;
  };
  const csv = async () => {
    setBusy(true);
    try {
      const tables: (readonly [number, string])[] = [];
      for (const device of indexes) tables.push([device, await textOf(device)]);
      const text = tables.length > 1 ? joinedCsv(tables) : tables.map(([, one]) => one).join('');
      const name = `derbench-device${indexes.length > 1 ? 's' : ''}-${indexes.join('-')}.csv`;
      download(new Blob([text], { type: 'text/csv' }), name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      say(error.message);
    } finally {
      setBusy(false);
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
      <button type="button" disabled={isBusy} onClick={() => void csv()}>
        CSV
      </button>
      {first && <CallLine call={csvCall(first.device_index)} />}
      <button type="button" onClick={() => void png()}>
        PNG
      </button>
    </span>
  );
}
