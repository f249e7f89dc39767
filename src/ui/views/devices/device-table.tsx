/** Devices as a table, with the newest figures of the stream. */
import { Chip } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash, fixed, timeOfDay } from '../../look/format';
import { deviceHref, go } from '../../store/route';
import type { DeviceEntry } from '../../store/site';
import { figuresOf, manyDevices } from '../../store/stream';
import { limitWords, toneOf } from './condition';
import type { Condition } from './condition';

/** Source, point and time of the last write to a device: `modbus 704.WMaxLimPct 12:04:07`. */
function lastWriteText({ last_write: write }: DeviceEntry): string {
  return write === null ? dash : `${write.source} ${write.name} ${timeOfDay(write.changed_at)}`;
}

const limitText = ({ limitedBy }: Condition) => (limitedBy === null ? 'nothing' : limitWords[limitedBy]);
const figures = ({ device }: Condition) => figuresOf(device.device_index);

const columns: readonly Column<Condition>[] = [
  { title: '#', numeric: true, value: ({ device }) => device.device_index },
  {
    title: 'Name',
    cell: ({ device: { device_index, name } }) => <a href={deviceHref(device_index, 'picture')}>{name}</a>,
    value: ({ device }) => device.name,
  },
  {
    title: 'Alarms',
    numeric: true,
    cell: ({ device }) => (device.alarm_count > 0 ? <Chip tone="bad">{device.alarm_count}</Chip> : '0'),
    value: ({ device }) => device.alarm_count,
  },
  { title: 'Kind', value: ({ device }) => device.device_type },
  {
    title: 'State',
    cell: (condition) => <Chip tone={toneOf(condition)}>{condition.state}</Chip>,
    value: ({ state }) => state,
  },
  {
    title: 'P, kW',
    numeric: true,
    cell: ({ powerKw }) => fixed(powerKw, 2),
    value: ({ powerKw }) => powerKw,
  },
  {
    title: 'Q, kvar',
    numeric: true,
    cell: (condition) => fixed(figures(condition)?.reactiveKvar, 2),
    value: (condition) => figures(condition)?.reactiveKvar,
  },
];

/** Only snapshots have volts and frequency; a fleet has the voltage in percent. */
const voltageColumns = (count: number): readonly Column<Condition>[] =>
  count > manyDevices
    ? [
        {
          title: 'V, %',
          numeric: true,
          cell: (condition) => fixed(figures(condition)?.voltagePct, 1),
          value: (condition) => figures(condition)?.voltagePct,
        },
      ]
    : [
        {
          title: 'V',
          numeric: true,
          cell: (condition) => fixed(figures(condition)?.voltageV, 1),
          value: (condition) => figures(condition)?.voltageV,
        },
        {
          title: 'Hz',
          numeric: true,
          cell: (condition) => fixed(figures(condition)?.frequencyHz, 3),
          value: (condition) => figures(condition)?.frequencyHz,
        },
      ];

const lastColumns: readonly Column<Condition>[] = [
  { title: 'SoC, %', numeric: true, cell: ({ socPct }) => fixed(socPct, 1), value: ({ socPct }) => socPct },
  { title: 'Limited by', value: limitText },
  { title: 'Last write', value: ({ device }) => lastWriteText(device) },
];

export function DeviceTable({
  conditions,
  heightPx,
  count = conditions.length,
}: {
  readonly conditions: readonly Condition[];
  readonly heightPx: number;
  /** devices of the site, those that the filter leaves out among them */
  readonly count?: number;
}) {
  return (
    <Table
      name="Devices"
      columns={[...columns, ...voltageColumns(count), ...lastColumns]}
      rows={conditions}
      keyOf={({ device }) => device.device_index}
      height={heightPx}
      onSelect={({ device }) => go(`devices/${device.device_index}/picture`)}
      empty="No device matches the filter."
    />
  );
}
