/** Tables of the samples in the charts. */
import type { ChartData, Series } from '../../kit/chart';
import { deviceLabel } from '../../kit/choices';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import type { Column } from '../../kit/table';
import { dash, dateAndTime, fixed, termOf, withUnit } from '../../look/format';
import type { DeviceEntry } from '../../store/site';
import type { Samples } from './samples';

interface DrawnRow {
  readonly device: DeviceEntry;
  readonly samples: Samples | undefined;
}

const instant = (time: number | undefined) =>
  time === undefined ? dash : dateAndTime(new Date(time * 1000).toISOString());

function newestOf(title: string, metric: string): Column<DrawnRow> {
  const value = ({ samples }: DrawnRow) => samples?.column(metric)?.at(-1);
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

/** Number and time range of the drawn samples by device, with their newest values. */
export function Newest({
  shown,
  samples,
}: {
  readonly shown: readonly DeviceEntry[];
  readonly samples: ReadonlyMap<number, Samples>;
}) {
  return (
    <Panel title="Data" flush wide>
      <Table
        name="Data"
        columns={drawnColumns}
        rows={shown.map((device) => ({ device, samples: samples.get(device.device_index) }))}
        keyOf={({ device }) => device.device_index}
        height={300}
      />
    </Panel>
  );
}

type ValueRow = Readonly<Record<string, number | null>> & { readonly time: number };

/** All visible samples of one device, newest first. */
export function Values({
  device,
  samples,
  metrics,
}: {
  readonly device: DeviceEntry;
  readonly samples: Samples | undefined;
  readonly metrics: readonly string[];
}) {
  const names = metrics.filter((name) => samples?.metrics.includes(name) && samples.column(name) !== undefined);
  const columnsOf = new Map(names.map((name) => [name, samples?.column(name) ?? []]));
  const rows: readonly ValueRow[] = (samples?.times ?? [])
    .map((time, at) => ({
      time,
      ...Object.fromEntries(names.map((name) => [name, columnsOf.get(name)?.[at] ?? null])),
    }))
    .reverse();
  const columns: readonly Column<ValueRow>[] = [
    { title: 'Time', value: ({ time }) => preciseInstant(time) },
    ...names.map(
      (name): Column<ValueRow> => ({
        title: withUnit(termOf(name)),
        numeric: true,
        value: (row) => row[name],
      }),
    ),
  ];
  return (
    <Panel title={`Values of ${deviceLabel(device)}`} flush wide>
      <Table
        name={`Values of ${deviceLabel(device)}`}
        columns={columns}
        rows={rows}
        keyOf={({ time }) => time}
        height={320}
      />
    </Panel>
  );
}

interface ScopeValuesProps {
  /** of the site or group */
  readonly name: string;
  /** with the same times */
  readonly charts: readonly { readonly series: readonly Series[]; readonly data: ChartData }[];
}

/** All drawn samples of a site or group, newest first. */
export function ScopeValues({ name, charts }: ScopeValuesProps) {
  const title = `Values of the ${name}`;
  const times = charts[0]?.data.columns[0] ?? [];
  const lines = charts.flatMap(({ series, data }) =>
    series.map(({ label, unit, decimals }, at) => ({
      title: withUnit({ term: label, unit }),
      decimals,
      values: data.columns[at + 1] ?? [],
    })),
  );
  const rows = times
    .map((time, at) => ({ time: time ?? 0, values: lines.map(({ values }) => values[at] ?? null) }))
    // a gap in the drawing is a row without values
    .filter(({ values }) => values.some((value) => value !== null))
    .reverse();
  type Row = (typeof rows)[number];
  const columns: readonly Column<Row>[] = [
    { title: 'Time', value: ({ time }) => preciseInstant(time) },
    ...lines.map(
      ({ title: head, decimals }, at): Column<Row> => ({
        title: head,
        numeric: true,
        cell: ({ values }) => fixed(values[at], decimals),
        value: ({ values }) => values[at],
      }),
    ),
  ];
  return (
    <Panel title={title} flush wide>
      <Table name={title} columns={columns} rows={rows} keyOf={({ time }) => time} height={320} />
    </Panel>
  );
}

/** Date and time with milliseconds, since ticks may be shorter than a second. */
function preciseInstant(time: number): string {
  const iso = new Date(time * 1000).toISOString();
  return `${dateAndTime(iso)}${iso.slice(19, 23)}`;
}
