import type { ReplyOf } from '../../api/call';
import { Panel } from '../../kit/panel';
import { digits } from '../../look/format';
import { param, setParam } from '../../store/route';

type Strings = NonNullable<ReplyOf<'battery'>['strings']>;

const quantities = {
  voltage: { label: 'Voltage', unit: 'V', decimals: 4 },
  temperature: { label: 'Temperature', unit: '°C', decimals: 1 },
} as const;

const [cell, gap, left] = [14, 1, 40];

/** A scale from low to high that does not depend on telling red from green. */
function colour(share: number): string {
  return `color-mix(in oklab, var(--p) ${Math.round((1 - share) * 100)}%, var(--q))`;
}

/** All cells of a battery, one row per module, coloured by voltage or temperature. */
export function CellMap({ strings }: { readonly strings: Strings }) {
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
  const text = (value: number) => `${digits(value, decimals)} ${unit}`;
  const summary =
    `${all.length} cells in ${rows.length} modules. Lowest ${text(low.value)} (cell ${low.at}), highest ` +
    `${text(high.value)} (cell ${high.at}), mean ${text(mean)}, ${balancing} balancing.`;
  return (
    <Panel
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
