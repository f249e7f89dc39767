import { Chip, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash, fixed, timeOfDay, words } from '../../look/format';
import { deviceHref, param, setParam } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { useFigures } from '../../store/figures';
import { arrivalOf, snapshotOf } from '../../store/stream';
import type { Snapshot } from '../../store/stream';
import { useClock } from '../../store/site';

interface Row {
  readonly device: DeviceEntry;
  /** from the stream, newer than the list */
  readonly snapshot: Snapshot | undefined;
  readonly stale: boolean;
}

type Status = DeviceEntry['status'];

const tones: Readonly<Record<Status['inverter_state'], Tone>> = {
  off: 'off',
  sleeping: 'off',
  standby: 'off',
  starting: 'warn',
  shutting_down: 'warn',
  running: 'good',
  throttled: 'warn',
  fault: 'bad',
};

/** State of a device as a coloured word. */
export function StateChip({ status }: { readonly status: Status }) {
  return <Chip tone={tones[status.inverter_state]}>{words(status.inverter_state)}</Chip>;
}

/** The function or limit that decides the active power of a device. */
function decider({ decided_by }: DeviceEntry): string {
  return words(decided_by.active);
}

/** Source, point and time of the last write to a device: `modbus 704.WMaxLimPct 12:04:07`. */
function lastWriteText({ last_write }: DeviceEntry): string {
  return last_write === null ? dash : `${last_write.source} ${last_write.name} ${timeOfDay(last_write.changed_at)}`;
}

const power = (value: number | null | undefined) => fixed(value, 2);

const columns: readonly Column<Row>[] = [
  { title: '#', numeric: true, value: ({ device }) => device.device_index },
  {
    title: 'Name',
    cell: ({ device: { device_index, name } }) => <a href={deviceHref(device_index, 'picture')}>{name}</a>,
    value: ({ device }) => device.name,
  },
  { title: 'Kind', value: ({ device }) => device.device_type },
  {
    title: 'P, kW',
    numeric: true,
    cell: ({ snapshot, stale }) => <span class={stale ? 'stale' : undefined}>{power(snapshot?.metrics.power_kw)}</span>,
    value: ({ snapshot }) => snapshot?.metrics.power_kw,
  },
  {
    title: 'Q, kvar',
    numeric: true,
    cell: ({ snapshot }) => power(snapshot?.metrics.reactive_power_kvar),
    value: ({ snapshot }) => snapshot?.metrics.reactive_power_kvar,
  },
  {
    title: 'V',
    numeric: true,
    cell: ({ snapshot }) => fixed(snapshot?.metrics.voltage_ln_v, 1),
    value: ({ snapshot }) => snapshot?.metrics.voltage_ln_v,
  },
  {
    title: 'Hz',
    numeric: true,
    cell: ({ snapshot }) => fixed(snapshot?.metrics.frequency_hz, 3),
    value: ({ snapshot }) => snapshot?.metrics.frequency_hz,
  },
  {
    title: 'SoC, %',
    numeric: true,
    cell: ({ snapshot }) => fixed(snapshot?.metrics.state_of_charge_pct, 1),
    value: ({ snapshot }) => snapshot?.metrics.state_of_charge_pct,
  },
  {
    title: 'State',
    cell: ({ device, snapshot }) => <StateChip status={snapshot?.status ?? device.status} />,
    value: ({ device, snapshot }) => (snapshot?.status ?? device.status).inverter_state,
  },
  { title: 'Power set by', value: ({ device }) => decider(device) },
  { title: 'Last write', value: ({ device }) => lastWriteText(device) },
  {
    title: 'Alarms',
    numeric: true,
    cell: ({ device }) => (device.alarm_count > 0 ? <Chip tone="bad">{device.alarm_count}</Chip> : '0'),
    value: ({ device }) => device.alarm_count,
  },
];

/** Age in ticks at which telemetry is shown grey. */
const staleTicks = 3;

interface DeviceListProps {
  readonly devices: readonly DeviceEntry[];
  readonly chosen?: number | undefined;
  readonly onChoice: (index: number) => void;
}

/** Every device with its newest telemetry. */
export function DeviceList({ devices, chosen, onChoice }: DeviceListProps) {
  useFigures();
  const clock = useClock();
  const filter = param('filter') ?? '';
  const limitMs = clock === undefined || clock.mode === 'paused' ? Infinity : clock.tick_interval_s * staleTicks * 1000;
  const nowMs = performance.now();
  const rows = devices
    .filter((device) => matches(device, filter))
    .map((device) => ({
      device,
      snapshot: snapshotOf(device.device_index),
      stale: nowMs - (arrivalOf(device.device_index) ?? nowMs) > limitMs,
    }));
  return (
    <Panel
      title={`Devices (${rows.length}${rows.length === devices.length ? '' : ` of ${devices.length}`})`}
      wide
      flush
      tools={
        <input
          type="search"
          aria-label="Filter devices"
          placeholder="Name, kind, state, alarms"
          value={filter}
          onInput={(event) => setParam('filter', event.currentTarget.value)}
        />
      }
    >
      <Table
        name="Devices"
        columns={columns}
        rows={rows}
        keyOf={({ device }) => device.device_index}
        height={Math.min(360, 64 + rows.length * 29)}
        selected={chosen ?? null}
        onSelect={({ device }) => onChoice(device.device_index)}
        empty={
          devices.length === 0
            ? 'No device: add one under "Simulator" in the menu of the name.'
            : 'No device matches the filter.'
        }
      />
    </Panel>
  );
}

function matches(device: DeviceEntry, filter: string): boolean {
  if (filter === '') return true;
  if (filter === 'alarms') return device.alarm_count > 0;
  const state = snapshotOf(device.device_index)?.status ?? device.status;
  return `${device.device_index} ${device.name} ${device.device_type} ${device.asset_type} ${state.inverter_state} ${decider(device)}`
    .toLowerCase()
    .includes(filter.toLowerCase());
}
