/**
 * Shares the limits of a fleet among the devices of all its processes, as `Site` shares those of one: the claims of the
 * processes stand one after the other, in the order of their indexes.
 */
import type { ClaimColumn, FleetClaims, FleetLimits, FleetShares, SideShares } from '../../contract/fleet-site.ts';
import { siteLimitNames } from '../../contract/site.ts';
import type { SiteLimitName, SiteLimitsW } from '../../contract/site.ts';
import { Allocation } from './allocation.ts';

/** Rounding of sums, W. */
const negligibleW = 1e-3;

type LimitsW = Readonly<Record<SiteLimitName, number>>;

interface PlacedScope {
  /** position of its process; -1: the fleet */
  readonly part: number;
  /** position among the scopes of its process */
  readonly at: number;
  readonly members: readonly number[];
  readonly limitsW: LimitsW;
}

interface Bound {
  readonly key: string;
  readonly scopes: readonly PlacedScope[];
  readonly allocation: Allocation;
  /** positions of the scopes whose limits depend on local loads */
  readonly loaded: readonly number[];
}

const orInfinity = (limitsW: SiteLimitsW): LimitsW => ({
  export: limitsW.export ?? Infinity,
  import: limitsW.import ?? Infinity,
  generation: limitsW.generation ?? Infinity,
  load: limitsW.load ?? Infinity,
});

const range = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

/** All scopes, inner ones before outer ones. */
function scopesOf(parts: readonly FleetClaims[], limits: FleetLimits): readonly PlacedScope[] {
  let first = 0;
  const inner = parts.flatMap(({ indexes, scopes }, part) => {
    const positions = new Map(indexes.map((index, at) => [index, first + at]));
    const all = range(first, indexes.length);
    first += indexes.length;
    return scopes.map(({ devices, limitsW }, at) => ({
      part,
      at,
      members: devices?.flatMap((index) => positions.get(index) ?? []) ?? all,
      limitsW: orInfinity(limitsW),
    }));
  });
  inner.sort((a, b) => a.members.length - b.members.length);
  const limitW = (name: SiteLimitName) => limits[name]?.limitW ?? null;
  const limitsW = orInfinity({
    export: limitW('export'),
    import: limitW('import'),
    generation: limitW('generation'),
    load: limitW('load'),
  });
  return [...inner, { part: -1, at: -1, members: range(0, first), limitsW }];
}

/** One column of all processes. */
function joined(parts: readonly FleetClaims[], name: ClaimColumn): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { indexes }) => sum + indexes.length, 0));
  let at = 0;
  for (const { columns, indexes } of parts) {
    all.set(columns[name], at);
    at += indexes.length;
  }
  return all;
}

function sumOf(column: Float64Array, members: readonly number[]): number {
  let sum = 0;
  for (const position of members) sum += column[position] ?? 0;
  return sum;
}

/** Everything for which the allocation is made anew. */
const keyOf = (parts: readonly FleetClaims[], limits: FleetLimits, revision: number) =>
  JSON.stringify([
    revision,
    siteLimitNames.map((name) => limits[name]?.limitW ?? null),
    parts.map(({ indexes, revision: ofPart }) => [ofPart, indexes]),
  ]);

export class FleetAllocation {
  #bound: Bound | null = null;
  /** end of the present shares, microseconds */
  #end = 0;

  /**
   * Shares a piece of time, by the rules of one process.
   * @param parts claims of the processes in the order of their devices, at least one device
   * @param revision of the limits
   * @param end of the piece, microseconds
   * @returns the shares of each process; null: the present ones stay
   */
  share(
    parts: readonly FleetClaims[],
    limits: FleetLimits,
    revision: number,
    end: number,
  ): readonly FleetShares[] | null {
    const key = keyOf(parts, limits, revision);
    if (this.#bound?.key !== key) {
      this.#bound = boundOf(key, scopesOf(parts, limits));
      this.#end = 0;
    }
    const bound = this.#bound;
    const loads = [joined(parts, 'loadAtStartW'), joined(parts, 'loadAtEndW')];
    if (end === this.#end && areExpected(bound, loads)) return null;
    gather(bound, parts, loads);
    bound.allocation.allocate();
    this.#end = end;
    let first = 0;
    return parts.map(({ indexes, scopes }, part) => {
      const shares = sharesOf(bound, part, scopes.length, first, indexes.length);
      first += indexes.length;
      return shares;
    });
  }
}

function boundOf(key: string, scopes: readonly PlacedScope[]): Bound {
  return {
    key,
    scopes,
    allocation: new Allocation(scopes, scopes.at(-1)?.members.length ?? 0),
    loaded: [...scopes.keys()].filter((s) => {
      const { export: exportW = Infinity, import: importW = Infinity } = scopes[s]?.limitsW ?? {};
      return Math.min(exportW, importW) < Infinity;
    }),
  };
}

function areExpected({ allocation, loaded, scopes }: Bound, loads: readonly Float64Array[]): boolean {
  return loaded.every((s) =>
    loads.every((column) => {
      const loadW = sumOf(column, scopes[s]?.members ?? []);
      const [lowestW, highestW] = [allocation.minLoadW[s] ?? 0, allocation.maxLoadW[s] ?? 0];
      return loadW >= lowestW - negligibleW && loadW <= highestW + negligibleW;
    }),
  );
}

function gather({ allocation, loaded, scopes }: Bound, parts: readonly FleetClaims[], loads: readonly Float64Array[]) {
  const { injecting, absorbing, reachW, minLoadW, maxLoadW, sleepW } = allocation;
  joined(parts, 'demandW').forEach((demandW, i) => {
    injecting.demandW[i] = Math.max(0, demandW);
    absorbing.demandW[i] = Math.max(0, -demandW);
  });
  injecting.weightW.set(joined(parts, 'maxInjectW'));
  injecting.minW.set(joined(parts, 'minInjectW'));
  absorbing.weightW.set(joined(parts, 'maxAbsorbW'));
  absorbing.minW.set(joined(parts, 'minAbsorbW'));
  reachW.set(joined(parts, 'reachW'));
  const asleepW = joined(parts, 'sleepW');
  scopes.forEach(({ members }, s) => {
    sleepW[s] = sumOf(asleepW, members);
  });
  for (const s of loaded) {
    const sums = loads.map((column) => sumOf(column, scopes[s]?.members ?? []));
    minLoadW[s] = Math.min(...sums);
    maxLoadW[s] = Math.max(...sums);
  }
}

/** The shares of one process, with positions of its own scopes. @param count scopes of the process */
function sharesOf({ allocation, scopes }: Bound, part: number, count: number, first: number, length: number) {
  const places = Int32Array.from(scopes, (scope) => (scope.part < 0 ? count : scope.part === part ? scope.at : -1));
  const placed = (of: Int32Array) => of.slice(first, first + length).map((s) => (s < 0 ? -1 : (places[s] ?? -1)));
  const bySpot = (of: readonly boolean[]) => range(0, count + 1).map((spot) => of[places.indexOf(spot)] ?? false);
  const side = ({ shareW, cutBy, endedBy, binds, netTighter }: SideShares): SideShares => ({
    shareW: shareW.slice(first, first + length),
    cutBy: placed(cutBy),
    endedBy: placed(endedBy),
    binds: bySpot(binds),
    netTighter: bySpot(netTighter),
  });
  const { injecting, absorbing } = allocation.shares;
  return { injecting: side(injecting), absorbing: side(absorbing) };
}
