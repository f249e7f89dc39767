import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
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
import { show, wallTime, words } from '../../look/format';
import { useLive } from '../../store/live';
import { useOutcome } from './grid-support/why';

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
    <Panel title="State" wide>
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

const pages: Readonly<Record<string, ComponentType<PageProps>>> = {
  pv: PvPage,
  battery: BatteryPage,
  wind: WindPage,
  fuelcell: FuelCellPage,
  'hybrid-dc': HybridPage,
  evse: EvsePage,
};

/** State and operation of a device, and what its kind has. */
export function Picture({ device }: PageProps) {
  const Page = pages[device.asset_type];
  return (
    <div class="grid">
      <DeviceHeader device={device} />
      {Page && <Page device={device} />}
    </div>
  );
}
