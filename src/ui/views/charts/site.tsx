/** Charts of the site as a whole, and of the devices of each kind together. */
import { useMemo } from 'preact/hooks';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import type { Series } from '../../kit/chart';
import { kindOf, kinds } from '../../kit/kind-icons';
import { Loading } from '../../kit/states';
import { useLive } from '../../store/live';
import { useOverview } from '../../store/site';
import { dashes } from './panels';
import { chartOf, netLines, power, ScopeCharts } from './scope-charts';
import type { Drawn, ScopeChart } from './scope-charts';

type Past = ReplyOf<'site/history'>;

/** Times between two readings, ms: the daemon takes a sample in 5 s. */
const paceMs = 5000;
const maxSeconds = 86_400;

const possible: Series = { ...power, label: 'possible', colour: '--off', dash: [2, 3] };
const voltage: Series = { label: 'first device', unit: '%', decimals: 1, colour: '--v' };

/** Place of a kind in the order of the feeders; a kind that the page does not know is the last. */
function placeOf(kind: string): number {
  const place = Object.keys(kinds).indexOf(kind);
  return place < 0 ? dashes.length - 1 : place;
}

function kindLines({ kinds: present }: Past): readonly Drawn[] {
  const inOrder = [...present].sort((a, b) => placeOf(a.asset_type) - placeOf(b.asset_type));
  return inOrder.map(({ asset_type: kind, net_power_kw: kw }) => {
    // whatever other kinds there are
    const dash = dashes[placeOf(kind)] ?? [];
    return [{ ...power, label: kindOf(kind).title, ...(dash.length > 0 && { dash }) }, kw];
  });
}

function chartsOf(past: Past, times: readonly number[]): readonly ScopeChart[] {
  const net = [...netLines(past), [possible, past.possible_kw]] as const;
  return [
    chartOf({ panel: 'p', title: 'Net power', hasZero: true }, times, net),
    chartOf({ panel: 'p', title: 'Power by kind', hasZero: true }, times, kindLines(past)),
    chartOf({ panel: 'v', title: 'Voltage', hasZero: false }, times, [[voltage, past.voltage_pct]]),
  ];
}

/** @param seconds simulated time to show; null: all samples of the daemon */
export function SiteCharts({
  seconds,
  box,
}: {
  readonly seconds: number | null;
  readonly box: { current: HTMLDivElement | null };
}) {
  const past = useLive(get('site/history', { query: { seconds: seconds ?? maxSeconds } }), paceMs).data;
  const devices = useOverview()?.devices ?? [];
  const times = useMemo(() => past?.timestamp.map((at) => Date.parse(at) / 1000) ?? [], [past]);
  const charts = useMemo(() => (past === undefined ? [] : chartsOf(past, times)), [past, times]);
  if (past === undefined) return <Loading heights={[240, 240]} />;
  return <ScopeCharts {...{ charts, times, devices, box }} netKw={past.net_power_kw} name="site" />;
}
