/** Devices of the workers of a gateway, and their first ports. */

/** Devices of one worker. */
export interface WorkerRange {
  readonly name: string;
  readonly first: number;
  readonly count: number;
  /** number of devices of the workers before it */
  readonly before: number;
}

/** Splits devices over workers, which differ by at most one device; the first ones have more. */
export function rangesOf(devices: number, workers: number, firstDevice = 0): readonly WorkerRange[] {
  const share = Math.floor(devices / workers);
  const larger = devices % workers;
  return Array.from({ length: workers }, (_, at) => {
    const before = at * share + Math.min(at, larger);
    return { name: `w${at}`, first: firstDevice + before, count: share + (at < larger ? 1 : 0), before };
  });
}

/** Ports of one protocol: a row with one for each device, or one for each worker. */
export interface PortUse {
  /** 0: any free ports */
  readonly base: number;
  readonly isShared: boolean;
}

/** The first port of a worker; no two workers have a port in common. */
export function firstPortOf({ base, isShared }: PortUse, ranges: readonly WorkerRange[], at: number): number {
  return base === 0 ? 0 : base + (isShared ? at : (ranges[at]?.before ?? 0));
}

/** The last port of all workers. */
export function lastPortOf(use: PortUse, ranges: readonly WorkerRange[]): number {
  const last = ranges.length - 1;
  const further = use.isShared ? 0 : (ranges[last]?.count ?? 1) - 1;
  return use.base === 0 ? 0 : firstPortOf(use, ranges, last) + further;
}
