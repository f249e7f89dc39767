/** Choices and files of the charts; the address keeps all choices. */
import { useState } from 'preact/hooks';
import { get, Problem, send } from '../../api/call';
import { CallLine } from '../../kit/api-switch';
import { download } from '../../kit/download';
import { pngOf } from '../../kit/uplot-chart';
import type { Zoom } from '../../kit/chart';
import { DeviceList } from '../../kit/device-list';
import { termOf, withUnit } from '../../look/format';
import { Menu } from '../../kit/menu';
import { say } from '../../kit/notice';
import { Segments } from '../../kit/segments';
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

/** Panels with their titles in the order of the page. */
const panelTitles: ReadonlyMap<string, string> = new Map([
  ['p', 'P'],
  ['q', 'Q'],
  ['v', 'V'],
  ['f', 'f'],
  ['soc', 'SoC'],
  ['energy', 'Energy'],
  ['marks', 'Marks'],
  ['plane', 'P-Q plane'],
  ['data', 'Data'],
  ['values', 'All values'],
]);
const allPanels = [...panelTitles.keys()];
/** Panels without a choice in the address: all but the table of all values. */
const defaultPanels = allPanels.filter((name) => name !== 'values');

/** Earlier names of panels in addresses. */
const earlier: Readonly<Record<string, readonly string[]>> = { power: ['p', 'q'], grid: ['v', 'f'], drawn: ['data'] };

/** Visible panels in the order of the page. */
export function shownPanels(): readonly string[] {
  const named = param('panels')
    ?.split(',')
    .flatMap((name) => earlier[name] ?? name);
  return named === undefined ? defaultPanels : allPanels.filter((name) => named.includes(name));
}

/** The charts of the site and its kinds of devices, or of a group; null: of devices. */
export function scopeOfAddress(): 'group' | 'site' | null {
  const of = param('of');
  return of === 'site' || of === 'group' ? of : null;
}

const scopePanels = { site: ['p', 'v', 'energy', 'marks', 'values'], group: ['p', 'energy', 'marks', 'values'] };

/** The time range in the address, `from,to` in seconds since the epoch. */
export function zoomOfAddress(): Zoom {
  const [from = NaN, to = NaN] = param('zoom')?.split(',').map(Number) ?? [];
  return from < to ? [from, to] : null;
}

export const setZoom = (zoom: Zoom) =>
  setParam('zoom', zoom === null ? null : zoom.map((at) => at.toFixed(3)).join(','));

export function PanelChoice() {
  const panels = shownPanels();
  const scope = scopeOfAddress();
  const toggle = (name: string) => {
    const next = allPanels.filter((one) => panels.includes(one) !== (one === name));
    setParam('panels', next.join() === defaultPanels.join() ? null : next.join() || 'none');
  };
  return (
    <div class="segments scrolls" role="group" aria-label="Panels">
      {[...panelTitles]
        .filter(([name]) => scope === null || scopePanels[scope].includes(name))
        .map(([name, title]) => (
          <button key={name} type="button" aria-pressed={panels.includes(name)} onClick={() => toggle(name)}>
            {title}
          </button>
        ))}
    </div>
  );
}

export function Windows() {
  const window = param('window') ?? '15min';
  return (
    <Segments
      label="Window of simulated time"
      options={windows.map(([value, label]) => [value, label] as const)}
      value={window}
      onChoice={(value) => setParam('window', value)}
    />
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
  const text = `Further metrics: ${metrics.length}`;
  return (
    <Menu label={text} face={text}>
      {() => (
        <div class="device-choice">
          {others.map((name) => (
            <label key={name} class="field check">
              <input type="checkbox" checked={metrics.includes(name)} onChange={() => toggle(name)} />
              {withUnit(termOf(name))}
            </label>
          ))}
        </div>
      )}
    </Menu>
  );
}

/** Chooses the devices of the charts. */
export function Devices({ shown }: { readonly shown: readonly DeviceEntry[] }) {
  const all = useOverview()?.devices ?? [];
  if (all.length < 2) return null;
  const indexes = shown.map(({ device_index }) => device_index);
  const text = `${indexes.length} of ${all.length} devices`;
  return (
    <Menu label={text} face={text}>
      {() => (
        <div class="stack">
          <small class="muted">Up to {maxDevices}</small>
          <DeviceList chosen={indexes} max={maxDevices} onChoice={(next) => setParam('devices', next.join())} />
        </div>
      )}
    </Menu>
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
  const [first] = devices;
  return (
    <span class="row">
      <button type="button" disabled={isBusy} onClick={() => void csv()}>
        CSV
      </button>
      {first && <CallLine call={csvCall(first.device_index)} />}
      <Picture charts={charts} />
    </span>
  );
}

/** Downloads the charts as a picture. */
export function Picture({ charts }: Pick<ExportProps, 'charts'>) {
  const png = async () => {
    const element = charts();
    const picture = element === null ? null : await pngOf(element);
    if (picture) download(picture, 'derbench-charts.png');
  };
  return (
    <button type="button" onClick={() => void png()}>
      PNG
    </button>
  );
}
