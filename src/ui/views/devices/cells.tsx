import { get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { fixed } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import type { PageProps } from './page';

type Strings = NonNullable<ReplyOf<'battery'>['strings']>;

const quantities = {
  voltage: { label: 'Voltage', unit: 'V', decimals: 4 },
  temperature: { label: 'Temperature', unit: '°C', decimals: 1 },
} as const;

const [cell, gap, left] = [14, 1, 40];

/** Colour of a share from 0, low, to 1, high; distinguishable without red and green. */
function colour(share: number): string {
  return `color-mix(in oklab, var(--p) ${Math.round((1 - share) * 100)}%, var(--q))`;
}

/** All cells of a battery, one row per module, coloured by voltage or temperature. */
function CellMap({ strings }: { readonly strings: Strings }) {
  const name = param('cells') === 'temperature' ? 'temperature' : 'voltage';
  const { label, unit, decimals } = quantities[name];
  const rows = strings.flatMap(({ index: string, modules = [] }) =>
    modules.map(({ index, cells = [] }) => ({
      title: `${string}.${index}`,
      values: cells.map((one) => ({ ...one, value: name === 'voltage' ? one.voltage_v : one.temperature_c })),
    })),
  );
  const all = rows.flatMap(({ title, values }) =>
    values.map(({ value, index }) => ({ value, at: `${title}.${index}` })),
  );
  if (all.length === 0) return null;
  const low = all.reduce((a, b) => (b.value < a.value ? b : a));
  const high = all.reduce((a, b) => (b.value > a.value ? b : a));
  const mean = all.reduce((sum, { value }) => sum + value, 0) / all.length;
  const balancing = rows.reduce((sum, { values }) => sum + values.filter((one) => one.balancing).length, 0);
  const share = (value: number) => (high.value > low.value ? (value - low.value) / (high.value - low.value) : 0.5);
  const width = left + Math.max(...rows.map(({ values }) => values.length)) * (cell + gap);
  const text = (value: number) => `${fixed(value, decimals)} ${unit}`;
  const summary =
    `${all.length} cells in ${rows.length} modules. Lowest ${text(low.value)} (cell ${low.at}), highest ` +
    `${text(high.value)} (cell ${high.at}), mean ${text(mean)}, ${balancing} balancing.`;
  return (
    <Panel
      wide
      title="Cells"
      tools={Object.entries(quantities).map(([key, quantity]) => (
        <button key={key} type="button" aria-pressed={key === name} onClick={() => setParam('cells', key)}>
          {quantity.label}
        </button>
      ))}
    >
      <div class="heat">
        <p tabIndex={0} data-test="cell-summary">
          {summary}
        </p>
        <p class="muted row">
          {text(low.value)}
          <svg class="scale" viewBox="0 0 10 1" preserveAspectRatio="none" aria-hidden="true">
            {Array.from({ length: 10 }, (_unused, index) => (
              <rect key={index} x={index} width="1.05" height="1" style={{ fill: colour(index / 9) }} />
            ))}
          </svg>
          {text(high.value)}
        </p>
        <svg
          viewBox={`0 0 ${width} ${rows.length * (cell + gap)}`}
          preserveAspectRatio="xMinYMin meet"
          role="img"
          aria-label={`${label} of the cells. ${summary}`}
        >
          {rows.map(({ title, values }, row) => (
            <g key={title}>
              <text x="0" y={row * (cell + gap) + 11}>
                {title}
              </text>
              {values.map(({ index, value, balancing: balances }, column) => (
                <rect
                  key={index}
                  x={left + column * (cell + gap)}
                  y={row * (cell + gap)}
                  width={cell}
                  height={cell}
                  style={{ fill: colour(share(value)) }}
                >
                  <title>{`Cell ${title}.${index}: ${text(value)}${balances ? ', balancing' : ''}`}</title>
                </rect>
              ))}
            </g>
          ))}
        </svg>
      </div>
    </Panel>
  );
}

/** Strings, cells and modules of a battery. */
export function CellsTab({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data } = useLive(get('battery', { query: { ...query, detail: 'cells' } }));
  const strings = data?.strings ?? [];
  return (
    <div class="grid">
      <Panel title="Strings" flush wide>
        <Table
          name="Strings"
          rows={strings}
          keyOf={({ index }) => index}
          columns={[
            { title: 'String', value: ({ index }) => index, numeric: true },
            {
              title: 'Charge, %',
              cell: ({ soc_pct: soc }) => fixed(soc, 1),
              value: ({ soc_pct: soc }) => soc,
              numeric: true,
            },
            {
              title: 'Voltage, V',
              cell: ({ voltage_v: v }) => fixed(v, 1),
              value: ({ voltage_v: v }) => v,
              numeric: true,
            },
            {
              title: 'Current, A',
              cell: ({ current_a: a }) => fixed(a, 1),
              value: ({ current_a: a }) => a,
              numeric: true,
            },
            {
              title: 'Contactor',
              value: ({ contactor }) => contactor,
              cell: ({ index, contactor }) => {
                const to = contactor === 'closed' ? 'open' : 'closed';
                return (
                  <span class="row">
                    <span data-test={`contactor-${index}`}>{contactor}</span>
                    <Action call={post('controls/battery', { query, body: { strings: [{ index, contactor: to }] } })}>
                      {`${to === 'open' ? 'Open' : 'Close'} string ${index}`}
                    </Action>
                  </span>
                );
              },
            },
          ]}
        />
      </Panel>
      <CellMap strings={strings} />
      <Modules strings={strings} />
    </div>
  );
}

function Modules({ strings }: { readonly strings: NonNullable<ReplyOf<'battery'>['strings']> }) {
  const modules = strings.flatMap(({ index: string, modules: all = [] }) =>
    all.map((module) => ({ ...module, string })),
  );
  return (
    <Panel title="Modules" flush wide>
      <Table
        name="Modules"
        height={320}
        rows={modules}
        keyOf={({ string, index }) => `${string}.${index}`}
        columns={[
          { title: 'Module', value: ({ string, index }) => `${string}.${index}` },
          { title: 'Charge, %', cell: (row) => fixed(row.soc_pct, 1), value: (row) => row.soc_pct, numeric: true },
          { title: 'Health, %', cell: (row) => fixed(row.soh_pct, 1), value: (row) => row.soh_pct, numeric: true },
          {
            title: 'Voltage, V',
            cell: (row) => fixed(row.voltage_v, 1),
            value: (row) => row.voltage_v,
            numeric: true,
          },
          {
            title: 'Cell min, V',
            cell: (row) => fixed(row.cell_voltage_min_v, 3),
            value: (row) => row.cell_voltage_min_v,
            numeric: true,
          },
          {
            title: 'Cell max, V',
            cell: (row) => fixed(row.cell_voltage_max_v, 3),
            value: (row) => row.cell_voltage_max_v,
            numeric: true,
          },
          {
            title: 'Min, °C',
            cell: (row) => fixed(row.temperature_min_c, 1),
            value: (row) => row.temperature_min_c,
            numeric: true,
          },
          {
            title: 'Max, °C',
            cell: (row) => fixed(row.temperature_max_c, 1),
            value: (row) => row.temperature_max_c,
            numeric: true,
          },
        ]}
      />
    </Panel>
  );
}
