/** Charts of the site as a whole, and of the devices of each kind together. */
import { useMemo } from 'preact/hooks';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Refused } from '../../kit/action';
import type { Series } from '../../kit/chart';
import { kindOf, kinds } from '../../kit/kind-icons';
import { useLive } from '../../store/live';
import { useOverview } from '../../store/site';
import type { DeviceEntry } from '../../store/site';
import { dashes } from './panels';
import { chartOf, netLines, power, ScopeCharts } from './scope-charts';
import type { Drawn, ScopeChart } from './scope-charts';

type Charted = Pick<
  ReplyOf<'site/history'>,
  'net_power_kw' | 'possible_kw' | 'export_limit_kw' | 'import_limit_kw' | 'voltage_pct' | 'kinds'
>;

/** As the daemon answers without samples. @param devices of the site */
function empty(devices: readonly DeviceEntry[]): Charted {
  const kinds = [...new Set(devices.map((one) => one.asset_type))];
  return {
    net_power_kw: [],
    possible_kw: [],
    export_limit_kw: [],
    import_limit_kw: [],
    voltage_pct: [],
    kinds: kinds.map((kind) => ({ asset_type: kind, net_power_kw: [] })),
  };
}

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

function kindLines({ kinds: present }: Charted): readonly Drawn[] {
  const inOrder = [...present].sort((a, b) => placeOf(a.asset_type) - placeOf(b.asset_type));
  return inOrder.map(({ asset_type: kind, net_power_kw: kw }) => {
    // whatever other kinds there are
    const dash = dashes[placeOf(kind)] ?? [];
    return [{ ...power, label: kindOf(kind).title, ...(dash.length > 0 && { dash }) }, kw];
  });
}

function chartsOf(past: Charted, times: readonly number[]): readonly ScopeChart[] {
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
  const { data: past, problem } = useLive(get('site/history', { query: { seconds: seconds ?? maxSeconds } }), paceMs);
  const devices = useOverview()?.devices ?? [];
  const times = useMemo(() => past?.timestamp.map((at) => Date.parse(at) / 1000) ?? [], [past]);
  const isLoading = past === undefined;
  const charted = useMemo(() => past ?? empty(devices), [past, isLoading && devices]);
  const charts = useMemo(() => chartsOf(charted, times), [charted, times]);
  if (isLoading && problem !== null) return <Refused problem={problem} />;
  return <ScopeCharts {...{ charts, times, devices, isLoading, box }} netKw={charted.net_power_kw} name="site" />;
}
