import { get } from '../../api/call';
import { deviceLabel, DevicePicker } from '../../kit/choices';
import { Chip, Empty, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { quantities, show, words, dash, wallTime } from '../../look/format';
import type { QuantityName } from '../../look/format';
import { useLive } from '../../store/live';
import { deviceHref, href, setParam } from '../../store/route';
import { useDevice, useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { useFigures } from '../../store/figures';
import { snapshotOf } from '../../store/stream';
import { LiveChart } from '../charts/live-chart';
import { useOutcome, WhyLine } from '../devices/grid-support/why';
import { DeviceList, StateChip } from '../devices/device-list';
import { DeviceDiagram, direction } from './diagram';

interface Peer {
  readonly protocol: string;
  readonly peer: string;
  readonly details: string;
  readonly since: string | null;
}

const columns: readonly Column<Peer>[] = [
  { title: 'Protocol', value: ({ protocol }) => protocol },
  { title: 'Peer', value: ({ peer }) => peer },
  { title: 'Details', value: ({ details }) => details },
  { title: 'Since', cell: ({ since }) => (since === null ? dash : wallTime(since)), value: ({ since }) => since },
];

function usePeers(enabled: (protocol: string) => boolean): readonly Peer[] {
  const modbus = useLive(get('modbus')).data;
  const stream = useLive(get('stream/clients')).data;
  const csip = useLive(enabled('csip') ? get('csip/status') : null).data;
  const ocpp = useLive(enabled('ocpp') ? get('ocpp') : null).data;
  const dnp3 = useLive(enabled('dnp3') ? get('dnp3') : null).data;
  const masters = (modbus?.interfaces ?? []).flatMap(({ comm, listeners }) =>
    listeners.flatMap(({ device_index, clients }) =>
      clients.map(({ peer, connected_at }) => ({
        protocol: comm === 'modbus_tcp' ? 'Modbus TCP' : 'Modbus',
        peer,
        details: device_index === null ? 'all devices' : `device ${device_index}`,
        since: connected_at,
      })),
    ),
  );
  const stations = (ocpp?.charge_points ?? []).flatMap((station) =>
    station === null
      ? []
      : [
          {
            protocol: 'OCPP',
            peer: station.url ?? dash,
            details: `${station.id}, ${words(station.connection_state)}`,
            since: null,
          },
        ],
  );
  const others: readonly Peer[] = [
    ...(csip?.enabled === true
      ? [
          {
            protocol: 'CSIP',
            peer: csip.server === null ? dash : `${csip.server.host}:${csip.server.port}`,
            details: csip.state,
            since: csip.connection.last_contact,
          },
        ]
      : []),
    ...(dnp3?.masters ?? []).map(({ address, peer }) => ({
      protocol: 'DNP3',
      peer: `${peer} (${address})`,
      details: `device ${dnp3?.device_index}`,
      since: null,
    })),
    ...(stream?.clients ?? []).map(({ peer, device_index, connected_at }) => ({
      protocol: 'Telemetry (WebSocket)',
      peer,
      details: `open dashboard or script, ${device_index === null ? 'all devices' : `device ${device_index}`}`,
      since: connected_at,
    })),
  ];
  return [...masters, ...stations, ...others];
}

/** Connected systems of every protocol; this page is one of the clients of the WebSocket. */
function Peers({ enabled }: { readonly enabled: (protocol: string) => boolean }) {
  const rows = usePeers(enabled);
  return (
    <Panel title={`Connected (${rows.length})`} flush>
      <Table
        name="Connected peers"
        columns={columns}
        rows={rows}
        keyOf={({ protocol, peer, details }) => `${protocol} ${peer} ${details}`}
        height={rows.length > 8 ? 260 : undefined}
        empty="Nothing is connected."
      />
    </Panel>
  );
}

/** All devices, the chosen one with its flows, alarms, and connected systems. */
export default function Overview() {
  const overview = useOverview();
  const device = useDevice();
  if (overview === undefined) return <Empty>Waiting for the daemon.</Empty>;
  const enabled = (protocol: string) =>
    Object.entries(overview.comm_status).some(([name, comm]) => name === protocol && comm.enabled);
  return (
    <>
      <h1 class="visually-hidden">Overview</h1>
      <SiteLine devices={overview.devices} />
      <DeviceList
        devices={overview.devices}
        chosen={device?.device_index}
        onChoice={(index) => setParam('device', index)}
      />
      {device && (
        <>
          <Tiles device={device} />
          <div class="overview">
            <Panel
              title={deviceLabel(device)}
              tools={
                <>
                  <DevicePicker />
                  <a href={deviceHref(device.device_index, 'picture')}>Device page</a>
                </>
              }
            >
              <DeviceDiagram device={device} />
              <WhyLine device={device.device_index} />
              <OutcomeLine device={device.device_index} />
            </Panel>
            <div class="stack">
              <LiveChart device={device.device_index} name={device.name} />
              <Alarms device={device} />
              <Peers enabled={enabled} />
            </div>
          </div>
        </>
      )}
    </>
  );
}

function OutcomeLine({ device }: { readonly device: number }) {
  const outcome = useOutcome(device);
  return outcome === null ? null : <p data-test="outcome">{outcome}</p>;
}

/** Power at the connection point, and the number of devices in each state. */
function SiteLine({ devices }: { readonly devices: readonly DeviceEntry[] }) {
  useFigures();
  const site = useLive(get('site')).data;
  const counts = new Map<string, number>();
  for (const { device_index, status } of devices) {
    const state = (snapshotOf(device_index)?.status ?? status).inverter_state;
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return (
    <p class="row" data-test="site">
      <strong>
        Site {show(site?.net_power_kw, 'activePower')} {direction(site?.net_power_kw)}
      </strong>
      <span class="muted">
        generation {show(site?.generation_kw, 'activePower')}, consumption {show(site?.consumption_kw, 'activePower')},
        load {show(site?.load_kw, 'activePower')}
      </span>
      <span>{[...counts].map(([state, count]) => `${count} ${words(state)}`).join(', ')}</span>
      {(site?.binding.length ?? 0) > 0 && (
        <a href={href('inputs/site')}>
          <Chip tone="warn">site limit acts: {site?.binding.map(words).join(', ')}</Chip>
        </a>
      )}
    </p>
  );
}

function Tile({
  quantity,
  value,
  note,
  colour,
}: {
  readonly quantity: QuantityName;
  readonly value: number | null | undefined;
  readonly note?: string;
  readonly colour: string;
}) {
  return (
    <div class="tile" data-test={quantity}>
      <div class="note">{quantities[quantity].label}</div>
      <div class="value" style={{ color: `var(${colour})` }}>
        {show(value, quantity)}
      </div>
      <div class="note">{note ?? '\u00a0'}</div>
    </div>
  );
}

function Tiles({ device }: { readonly device: DeviceEntry }) {
  useFigures();
  const snapshot = snapshotOf(device.device_index);
  const metrics = snapshot?.metrics;
  return (
    <div class="tiles" role="group" aria-label={`Measurements of ${deviceLabel(device)}`}>
      <Tile quantity="activePower" value={metrics?.power_kw} note={direction(metrics?.power_kw)} colour="--p" />
      <Tile
        quantity="reactivePower"
        value={metrics?.reactive_power_kvar}
        note={`power factor ${show(metrics?.power_factor, 'powerFactor')}`}
        colour="--q"
      />
      <Tile
        quantity="voltage"
        value={metrics?.voltage_ln_v}
        note={`line to line ${show(metrics?.voltage_ll_v, 'voltage')}`}
        colour="--v"
      />
      <Tile quantity="frequency" value={metrics?.frequency_hz} colour="--f" />
      {metrics?.state_of_charge_pct !== null && metrics !== undefined && (
        <Tile
          quantity="soc"
          value={metrics.state_of_charge_pct}
          note={`reserve ${show(metrics.soc_reserve_min_pct, 'percent')} to ${show(metrics.soc_reserve_max_pct, 'percent')}`}
          colour="--soc"
        />
      )}
      <div class="tile">
        <div class="note">State</div>
        <div class="value" data-test="state">
          <StateChip status={snapshot?.status ?? device.status} />
        </div>
        <div class="note">{words((snapshot?.status ?? device.status).connection_state)}</div>
      </div>
    </div>
  );
}

function Alarms({ device }: { readonly device: DeviceEntry }) {
  const alarms = useLive(get('overview', { query: { device: device.device_index } })).data?.alarms;
  const rows = alarms?.active ?? [];
  return (
    <Panel title={`Alarms (${alarms?.active_count ?? 0})`} flush>
      <Table
        name="Alarms"
        columns={[
          {
            title: 'Severity',
            cell: ({ severity }) => <Chip tone={severity === 'error' ? 'bad' : 'warn'}>{words(severity)}</Chip>,
            value: ({ severity }) => severity,
          },
          { title: 'Code', value: ({ code }) => code },
          { title: 'Meaning', value: ({ message }) => message },
        ]}
        rows={rows}
        keyOf={({ code, port }) => `${code} ${port ?? ''}`}
        empty="This device has no alarms."
      />
    </Panel>
  );
}
