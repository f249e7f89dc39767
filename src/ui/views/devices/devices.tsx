import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { DevicePicker } from '../../kit/choices';
import { Empty, Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { useDevice } from '../../store/site';
import { BatteryPage } from './battery';
import { ChangeDialog } from './change';
import { EvsePage } from './evse';
import { FuelCellPage } from './fuel-cell';
import { HybridPage } from './hybrid';
import type { PageProps } from './page';
import { PvPage } from './pv';
import { WindPage } from './wind';
import { get, post } from '../../api/call';
import { Action } from '../../kit/action';
import { show, wallTime, words, dash, fixed } from '../../look/format';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import { useOutcome } from './grid-support/why';
import { Table } from '../../kit/table';

const tones: Readonly<Record<string, Tone>> = {
  running: 'good',
  throttled: 'warn',
  starting: 'warn',
  shutting_down: 'warn',
  standby: 'muted',
  sleeping: 'muted',
  fault: 'bad',
  off: 'off',
};

/** Common facts of devices: kind, state, alarms, commands, address, links to other views. */
function DeviceHeader({ device }: PageProps) {
  const { device_index: index, status, modbus } = device;
  const { data } = useLive(get('devices', { query: { device: index } }));
  const [changing, setChanging] = useState(false);
  const query = { device: index };
  const full = data?.devices[0];
  const outcome = useOutcome(index);
  return (
    <Panel title="State" wide tools={<Links index={index} />}>
      <Facts
        rows={[
          ['Kind', `${device.device_type}, profile ${device.device_profile_name ?? 'not set'}`],
          [
            'State',
            <span class="row" data-test="device-state">
              <Chip tone={tones[status.inverter_state] ?? 'muted'}>{words(status.inverter_state)}</Chip>
              <span>service {status.service_state}</span>
              <span>{status.connection_state}</span>
              {full?.status.message !== undefined && <span>{full.status.message}</span>}
            </span>,
          ],
          [
            'Power',
            <span data-test="device-power">
              {`${show(full?.metrics.power_kw, 'activePower')}, ` +
                show(full?.metrics.reactive_power_kvar, 'reactivePower')}
            </span>,
          ],
          outcome === null ? null : ['Grid', <span data-test="outcome">{outcome}</span>],
          ['Decided by', `active ${words(device.decided_by.active)}, reactive ${words(device.decided_by.reactive)}`],
          [
            'Modbus',
            modbus === null
              ? 'not served over TCP'
              : `${modbus.host}:${modbus.port}, unit ${modbus.unit_id}${modbus.tls ? ', TLS' : ''}`,
          ],
          device.charge_point_id === null ? null : ['Charge point', device.charge_point_id],
        ]}
      />
      <ul class="alarms" aria-label="Alarms">
        {full?.alarms.active.map(({ code, severity, since, message, latched, port }) => (
          <li key={`${code} ${port ?? ''}`}>
            <Chip tone={severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : 'muted'}>{severity}</Chip>{' '}
            <code>{code}</code> {message}{' '}
            <span class="muted">
              since {wallTime(since)}
              {latched ? ', latched' : ''}
            </span>
          </li>
        ))}
        {full?.alarms.active.length === 0 && <li class="muted">No alarms.</li>}
      </ul>
      <div class="row">
        <Action call={post('commands', { query, body: { command: 'start' } })}>Start device</Action>
        <Action call={post('commands', { query, body: { command: 'stop' } })}>Stop device</Action>
        <Action call={post('commands', { query, body: { command: 'reset', scope: 'alarms' } })}>Clear alarms</Action>
        <Action
          call={post('commands', { query, body: { command: 'reset', scope: 'device' } })}
          confirm="Reset the device? This ends all overrides and reloads the registers of its profile."
        >
          Reset device
        </Action>
        <button type="button" onClick={() => setChanging(true)}>
          Change device
        </button>
      </div>
      {changing && <ChangeDialog device={device} onClose={() => setChanging(false)} />}
    </Panel>
  );
}

function Links({ index }: { readonly index: number }) {
  return (
    <>
      <a href={href('grid-support', { device: index })}>Grid support</a>
      <a href={href('registers', { device: index })}>Registers</a>
      <a href={href('charts', { device: index })}>Charts</a>
      <a href={href('faults', { device: index })}>Faults</a>
    </>
  );
}

interface Rating {
  readonly name: string;
  readonly rated: number | null;
  readonly set: number | null | undefined;
}

/** Unit by the suffix of a name. */
function unitOf(name: string): string {
  const end = name.split('_').at(-1);
  return { w: 'W', va: 'VA', var: 'var', v: 'V', a: 'A', s: 'S' }[end ?? ''] ?? '';
}

function number(value: number | null | undefined, name: string): string {
  return fixed(value, /_(pf|s)$/.test(name) ? 3 : /_(a|v)$/.test(name) ? 1 : 0);
}

/** Ratings beside the settings of model 702, and identification of the device. */
function NameplatePanel({ device }: PageProps) {
  const { data } = useLive(get('nameplate', { query: { device: device.device_index } }), 5000);
  if (data === undefined) return null;
  const settings: Readonly<Record<string, number | null>> = data.settings;
  const rows: readonly Rating[] = Object.entries<number | null>(data.ratings).map(([name, rated]) => ({
    name,
    rated,
    set: settings[name],
  }));
  const { identity, storage } = data;
  return (
    <>
      <Panel title="Nameplate">
        <Facts
          rows={[
            ['Manufacturer', identity.manufacturer ?? dash],
            ['Model', identity.model ?? dash],
            ['Version', identity.version ?? dash],
            ['Serial number', identity.serial_number ?? dash],
            ['AC type', words(data.ac_type)],
            ['Categories', `${words(data.normal_category)}, ${words(data.abnormal_category)}`],
            ['Control modes', data.ctrl_modes.map(words).join(', ') || dash],
            storage && ['Storage', `${fixed((storage.wh_rating_wh ?? Number.NaN) / 1000, 2)} kWh`],
            [
              'DC ports',
              data.dc_ports
                .map(({ index, type, name }) => `${index} ${type ?? dash}${name ? ` ${name}` : ''}`)
                .join(', ') || dash,
            ],
            ['SunSpec models', data.models.map(({ id, place }) => place ?? id).join(', ')],
          ]}
        />
      </Panel>
      <Panel title="Ratings and settings" flush>
        <Table
          name="Ratings and settings"
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            {
              title: 'Name',
              cell: ({ name }) => name.replace(/_(w|va|var|v|a|s)$/, '').replaceAll('_', ' '),
              value: ({ name }) => name,
            },
            {
              title: 'Rated',
              cell: ({ name, rated }) => number(rated, name),
              value: ({ rated }) => rated,
              numeric: true,
            },
            { title: 'Setting', cell: ({ name, set }) => number(set, name), value: ({ set }) => set, numeric: true },
            { title: 'Unit', value: ({ name }) => unitOf(name) },
          ]}
        />
      </Panel>
    </>
  );
}

const pages: Readonly<Record<string, ComponentType<PageProps>>> = {
  pv: PvPage,
  battery: BatteryPage,
  wind: WindPage,
  fuelcell: FuelCellPage,
  'hybrid-dc': HybridPage,
  evse: EvsePage,
};

/** The page of the chosen device, by its kind. */
export function DevicesView() {
  const device = useDevice();
  if (device === undefined)
    return (
      <Empty>
        No device to show: choose one that exists, start derbench with --device_type, or add one with POST devices.
      </Empty>
    );
  const Page = pages[device.asset_type];
  return (
    <>
      <div class="title">
        <h1>{device.name}</h1>
        <DevicePicker />
      </div>
      <div class="grid" key={device.device_index}>
        <DeviceHeader device={device} />
        {Page && <Page device={device} />}
        <NameplatePanel device={device} />
      </div>
    </>
  );
}
