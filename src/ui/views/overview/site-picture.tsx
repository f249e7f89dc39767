/** The site on one line: grid, net power, and what flows in and out, all of one answer. */
import { Bar, BarKey } from '../../kit/bars';
import type { Part } from '../../kit/bars';
import { Icon } from '../../kit/icons';
import { Figure } from '../../kit/rows';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { show, words } from '../../look/format';
import { useFigures } from '../../store/figures';
import { useLive } from '../../store/live';
import { href } from '../../store/route';
import type { Overview } from '../../store/site';
import { snapshotOf } from '../../store/stream';
import { balanceOf } from './balance';
import type { Site } from './balance';

type Energy = ReplyOf<'energy'>;

/** Power that is shown as zero. */
const negligibleKw = 0.005;

export const power = (kw: number) => show(kw, 'activePower');
const withoutUnit = (kw: number) => power(kw).replace(/\u00a0kW$/, '');

/** The state of the grid in a word; null: nothing special. */
function gridWord(grid: ReplyOf<'controls/grid'> | undefined): string | null {
  if (grid === undefined) return null;
  if (grid.outage) return 'Outage';
  if (grid.island) return 'Island';
  return grid.event === null ? null : words(grid.event.name);
}

interface Voltages {
  readonly voltage_ll_v: number | null;
  readonly voltage_ln_v: number;
}

/** The voltage of a device in percent of its nominal one. null: not known. */
function useVoltagePct(device: number, { voltage_ll_v: lineV, voltage_ln_v: phaseV }: Voltages): number | null {
  // 702.VNom is line to neutral on a single phase, line to line otherwise
  const plate = useLive(get('nameplate', { query: { device } }), 'change').data;
  const nominalV = plate?.settings.v_nom_v ?? plate?.ratings.v_nom_v ?? 0;
  return nominalV > 0 ? ((lineV ?? phaseV) / nominalV) * 100 : null;
}

function GridNode({ overview }: { readonly overview: Overview }) {
  useFigures();
  const grid = useLive(get('controls/grid'), 'state').data;
  const metrics = snapshotOf(overview.device_index)?.metrics ?? overview.metrics;
  const pct = useVoltagePct(overview.device_index, metrics);
  const word = gridWord(grid);
  return (
    <a
      class="grid-node"
      href={href('inputs/grid')}
      data-test="grid"
      title={`Measured by device ${overview.device_index}`}
    >
      <strong>
        <Icon name="grid" />
        {word === null ? 'Grid' : `Grid: ${word}`}
      </strong>
      <span>
        {show(metrics.voltage_ll_v ?? metrics.voltage_ln_v, 'voltage')} <small>{show(pct, 'percent')}</small>
      </span>
      <span>{show(metrics.frequency_hz, 'frequency')}</span>
    </a>
  );
}

/** Direction of the net power in words, and as an arrow. */
export function directionOf(netKw: number): readonly [text: string, arrow: string] {
  if (Math.abs(netKw) < negligibleKw) return ['No power at the grid', ''];
  return netKw > 0 ? ['To the grid', '▲'] : ['From the grid', '▼'];
}

const limitNames = { export: 'Export', import: 'Import', generation: 'Generation', load: 'Load' } as const;
const limitOrder = ['export', 'import', 'generation', 'load'] as const;

/** The limit of the site that matters most: one that acts, otherwise the first one. */
function limitText(site: Site): string | null {
  const present = limitOrder.filter((name) => site[`${name}_limit_kw`] !== null);
  const name = present.find((each) => site.binding.includes(each)) ?? present[0];
  if (name === undefined) return null;
  const owner = site[`${name}_limit_owner`];
  const acts = site.exceeded.includes(name) ? 'exceeded' : site.binding.includes(name) ? 'reached' : 'not reached';
  return `${limitNames[name]} limit ${power(site[`${name}_limit_kw`] ?? 0)}${owner === null ? '' : ` (${owner})`}, ${acts}`;
}

function energyText(energy: Energy | undefined): string {
  if (energy === undefined) return '';
  const { exported_kwh: out, imported_kwh: taken } = energy.today;
  return `Today ${show(out, 'energy')} out, ${show(taken, 'energy')} in`;
}

function Net({ site, energy }: { readonly site: Site; readonly energy: Energy | undefined }) {
  const [text, arrow] = directionOf(site.net_power_kw);
  const limit = limitText(site);
  return (
    <div class="net" data-test="net">
      <div class="note">
        {text} {arrow}
      </div>
      <div class="value">
        <Figure text={power(Math.abs(site.net_power_kw))} />
      </div>
      <div class="note">{energyText(energy)}</div>
      {limit !== null && (
        <div class="note">
          <a href={href('inputs/site')}>{limit}</a>
        </div>
      )}
    </div>
  );
}

function Flow({ label, parts, sumKw, scale }: { label: string; parts: readonly Part[]; sumKw: number; scale: number }) {
  return (
    <>
      <span>{label}</span>
      <Bar label={label} parts={parts} scale={scale} text={power} />
      <strong class="right">
        <Figure text={power(sumKw)} />
      </strong>
      <BarKey parts={parts} text={withoutUnit} />
    </>
  );
}

/** Grid node, net power and bars. */
export function SiteHead({
  overview,
  site,
  energy,
}: {
  readonly overview: Overview;
  readonly site: Site;
  readonly energy: Energy | undefined;
}) {
  const balance = balanceOf(site);
  return (
    <div class="site-head" data-test="site">
      <GridNode overview={overview} />
      <Net site={site} energy={energy} />
      <div class="in-out">
        <Flow label="In" parts={balance.in} sumKw={balance.inKw} scale={balance.scale} />
        <Flow label="Out" parts={balance.out} sumKw={balance.outKw} scale={balance.scale} />
      </div>
    </div>
  );
}
