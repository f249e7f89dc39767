/** Charts of the samples of a group. */
import type { ReplyOf } from '../../api/call';
import { chartOf, limitLines, netLines, power } from './scope-charts';
import type { ScopeChart } from './scope-charts';

/** Metrics that the charts are made of. */
export const groupMetrics = [
  'net_power_kw',
  'generation_kw',
  'consumption_kw',
  'export_limit_kw',
  'import_limit_kw',
  'generation_limit_kw',
  'load_limit_kw',
] as const;
type Values = Record<(typeof groupMetrics)[number], (number | null)[]>;

type Columns = Extract<ReplyOf<'site/scopes/history'>, { columns: unknown }>['columns'];

interface Past {
  /** seconds since the epoch */
  readonly times: readonly number[];
  readonly values: Values;
}

/** No samples. */
export const noPast: Past = {
  times: [],
  values: Object.fromEntries(groupMetrics.map((name) => [name, []])) as unknown as Values,
};

/** The samples since the clock was last set back. */
export function pastOf({ timestamp, ...columns }: Columns): Past {
  const times = timestamp.map((at) => Date.parse(at) / 1000);
  const setBackAt = times.findLastIndex((time, at) => time < (times[at - 1] ?? -Infinity));
  const from = Math.max(0, setBackAt);
  const values = Object.fromEntries(groupMetrics.map((name) => [name, (columns[name] ?? []).slice(from)])) as Values;
  return { times: times.slice(from), values };
}

/** Net power between its limits, and both directions apart. */
export function groupCharts({ times, values }: Past): readonly ScopeChart[] {
  const consumed = values.consumption_kw.map((kw) => (kw === null ? null : 0 - kw));
  return [
    chartOf({ panel: 'p', title: 'Net power', hasZero: true }, times, netLines(values)),
    chartOf({ panel: 'p', title: 'Generation and consumption of the devices', hasZero: true }, times, [
      [{ ...power, label: 'generation' }, values.generation_kw],
      [{ ...power, label: 'consumption', dash: [2, 3] }, consumed],
      ...limitLines('generation limit', values.generation_limit_kw),
      ...limitLines('load limit', values.load_limit_kw, -1),
    ]),
  ];
}
