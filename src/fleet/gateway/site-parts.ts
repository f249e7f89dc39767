/** The connection points and the history of the site of a fleet, joined from those of its shards. */
import type { MissingShard } from '../../api/fleet/members.ts';
import type { ListPart } from './lists.ts';

type Values = Readonly<Record<string, unknown>>;

/** Members of `site` that its entries in `site/scopes` have not. */
const replyMembers: ReadonlySet<string> = new Set(['by_kind', 'mode', 'missing', 'tick', 'sim_time']);

const listOf = ({ body }: ListPart, name: string) => (body[name] ?? []) as readonly unknown[];
const sizeOf = ({ devices }: Values) => (devices as readonly number[] | null)?.length ?? Infinity;

/**
 * @param whole the reply of `site`
 * @param parts replies of shards in the order of their devices
 * @param indexesOf devices of a shard
 */
export function joinScopes(
  whole: Values,
  parts: readonly ListPart[],
  missing: readonly MissingShard[],
  indexesOf: (shard: string) => readonly number[],
) {
  const inner = parts.flatMap((part) =>
    (listOf(part, 'scopes') as readonly Values[]).flatMap((scope) => {
      if (scope['devices'] !== null) return [scope];
      // limits of one shard alone
      const isLimited = Array.isArray(scope['owners']) && scope['owners'].length > 0;
      return isLimited ? [{ ...scope, devices: indexesOf(part.shard), shard: part.shard }] : [];
    }),
  );
  const ofFleet = Object.fromEntries(Object.entries(whole).filter(([name]) => !replyMembers.has(name)));
  return {
    // the sort is stable
    scopes: [ofFleet, ...inner.sort((a, b) => sizeOf(a) - sizeOf(b))],
    recorded_groups: parts.flatMap((part) => listOf(part, 'recorded_groups') as (readonly number[])[]),
    missing,
  };
}

/** The least simulated time between two samples of a shard, ms. */
const gapMs = 5000;

interface PastKind {
  readonly asset_type: string;
  readonly net_power_kw: readonly number[];
}

/** The samples of one shard. */
interface Samples {
  readonly part: ListPart;
  readonly ms: readonly number[];
}

/** Positions of the newest samples of a shard at the times of another one; -1: it has none that is not too old. */
function positionsAt(times: readonly number[], { ms }: Samples, holdMs: number): readonly number[] {
  let next = 0;
  return times.map((timeMs) => {
    while ((ms[next] ?? Infinity) <= timeMs) next += 1;
    return timeMs - (ms[next - 1] ?? -Infinity) <= holdMs ? next - 1 : -1;
  });
}

/** Samples that begin first, and of these the ones with most samples. */
const longest = (all: readonly Samples[]) =>
  all.reduce<Samples | undefined>((best, each) => {
    const [bestMs, eachMs] = [best?.ms[0] ?? Infinity, each.ms[0] ?? Infinity];
    return eachMs < bestMs || (eachMs === bestMs && each.ms.length > (best?.ms.length ?? 0)) ? each : best;
  }, undefined);

/** A limit in force, from the instant on at which it was set: what was in force before is not known. */
function limitAt(whole: Values, name: string): (timeMs: number) => unknown {
  const by = whole[`${name}_limit_by`] as { readonly changed_at?: string } | null | undefined;
  const sinceMs = Date.parse(by?.changed_at ?? '');
  return (timeMs) => (timeMs >= sinceMs ? (whole[`${name}_limit_kw`] ?? null) : null);
}

/**
 * Sums at the times of one shard. Of each other one the newest sample counts: shards that began at different times have
 * samples at different ticks.
 * @param whole the reply of `site`
 * @param parts replies of shards in the order of their devices, at least one
 */
export function joinHistory(whole: Values, parts: readonly ListPart[], missing: readonly MissingShard[]) {
  const all = parts.map((part) => ({ part, ms: listOf(part, 'timestamp').map((time) => Date.parse(String(time))) }));
  const base = longest(all) ?? all[0];
  const times = base?.ms ?? [];
  const spacings = times.slice(1).map((timeMs, at) => timeMs - (times[at] ?? 0));
  const holdMs = 2 * Math.max(gapMs, spacings.length > 0 ? Math.min(...spacings) : 0);
  const placed = all.map((samples) => ({ part: samples.part, positions: positionsAt(times, samples, holdMs) }));
  const sum = (columnOf: (part: ListPart) => readonly number[]) => {
    const columns = placed.map(({ part, positions }) => ({ positions, column: columnOf(part) }));
    return times.map((_, at) =>
      columns.reduce((total, { positions, column }) => total + (column[positions[at] ?? -1] ?? 0), 0),
    );
  };
  const numbersOf = (part: ListPart, name: string) => listOf(part, name) as readonly number[];
  const kindsOf = (part: ListPart) => listOf(part, 'kinds') as readonly PastKind[];
  const kinds = new Set(parts.flatMap((part) => kindsOf(part).map(({ asset_type: kind }) => kind)));
  const limit = (name: string) => times.map(limitAt(whole, name));
  const [first] = placed;
  const voltages = first === undefined ? [] : listOf(first.part, 'voltage_pct');
  return {
    tick: whole['tick'],
    sim_time: whole['sim_time'],
    timestamp: base === undefined ? [] : listOf(base.part, 'timestamp'),
    net_power_kw: sum((part) => numbersOf(part, 'net_power_kw')),
    possible_kw: sum((part) => numbersOf(part, 'possible_kw')),
    export_limit_kw: limit('export'),
    import_limit_kw: limit('import'),
    voltage_pct: times.map((_, at) => voltages[first?.positions[at] ?? -1] ?? null),
    kinds: [...kinds].map((kind) => ({
      asset_type: kind,
      net_power_kw: sum((part) => kindsOf(part).find(({ asset_type: each }) => each === kind)?.net_power_kw ?? []),
    })),
    missing,
  };
}
