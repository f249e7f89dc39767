/** Masters that read a fleet while it runs. */
import { cpuSeconds, inCheckout, runJson } from './processes.ts';
import type { Server } from './processes.ts';

export const masters = 20;
export const ratePerS = 10;

interface Load {
  readonly asked: number;
  readonly answered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}
/** Latencies that the masters measured, and the share of one core that the server used. */
export interface FleetLoad extends Load {
  readonly cpuPct: number;
}

/** The port of every nth device, one per master. */
export function spreadOver(firstPort: number, devices: number): number[] {
  return Array.from({ length: masters }, (_, i) => firstPort + Math.floor((i * devices) / masters));
}

/** Each port has a master that reads 125 registers at `ratePerS`. */
export async function pollFleet(server: Server, ports: readonly number[], seconds: number): Promise<FleetLoad> {
  const begin = performance.now();
  const before = (await cpuSeconds(server.pid)) ?? NaN;
  const load = await runJson<Load>(process.execPath, [
    inCheckout('bench/workers/fleet-load.mjs'),
    ...[seconds, ratePerS, ...ports].map(String),
  ]);
  const after = (await cpuSeconds(server.pid)) ?? NaN;
  return { ...load, cpuPct: ((after - before) * 100) / ((performance.now() - begin) / 1000) };
}
