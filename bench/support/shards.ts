/** A fleet on this machine: a NATS server, shards and a gateway. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNatsServer } from '../../src/fleet/workers/nats-program.ts';
import { installedPath } from '../../test/interop/support/peers.ts';
import { freePorts, untilHttpOk, untilListening, within } from './net.ts';
import { mainPath, startServer } from './processes.ts';
import type { Server } from './processes.ts';
import { spawnSimulator } from './simulator.ts';

const startS = 120;
/** devices that one process may have */
const maxPerShard = 10_000;
const minShards = 2;

export interface ShardFleet {
  readonly shards: readonly Server[];
  readonly nats: Server;
  readonly gateway: Server;
  /** of the HTTP interface of the gateway */
  readonly port: number;
  stop(): Promise<void>;
}

/** Devices of each shard of a fleet. */
export function shardSizes(devices: number): readonly number[] {
  const shards = Math.max(minShards, Math.ceil(devices / maxPerShard));
  return Array.from({ length: shards }, (_, i) => Math.floor((devices + i) / shards));
}

/** The program of the NATS server: `NATS_SERVER`, that of `npm run peers`, or that of the path; null: there is none. */
export const natsProgram = (): string | null =>
  (process.env['NATS_SERVER'] ?? installedPath('nats')) || findNatsServer(process.env['PATH']);

export const plainFlags = (devices: number, tickS: number): readonly string[] => [
  ...['-N', String(devices), '--mb_enable', 'no', '--tick', String(tickS)],
];

async function startNats(program: string, directory: string): Promise<Server & { readonly url: string }> {
  const port = await freePorts();
  const file = join(directory, 'nats.conf');
  const store = JSON.stringify(join(directory, 'store'));
  const limits = 'max_mem: 64M, max_file: 64M';
  await writeFile(
    file,
    `listen: 127.0.0.1:${port}\nmax_pending: 256MB\njetstream { store_dir: ${store}, ${limits} }\n`,
  );
  const server = startServer(program, ['-c', file]);
  await within(startS, untilListening(port), server.failed);
  return { ...server, url: `nats://127.0.0.1:${port}` };
}

/** Starts a fleet and waits until the gateway has all its shards. */
export async function startFleet(program: string, devices: number, tickS: number): Promise<ShardFleet> {
  const directory = await mkdtemp(join(tmpdir(), 'derbench-bench-'));
  const running: Server[] = [];
  const stop = async () => {
    // in turn: the shards let go of their names while their server is there
    for (const server of running.reverse()) await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const nats = await startNats(program, directory);
    running.push(nats);
    const shards: Server[] = [];
    let first = 0;
    for (const [i, size] of shardSizes(devices).entries()) {
      const names = ['--fleet', nats.url, '--shard', `s${i}`, '--first_device', String(first)];
      const shard = await spawnSimulator(1, [...plainFlags(size, tickS), ...names]);
      running.push(shard);
      shards.push(shard);
      await within(startS, untilHttpOk(shard.healthUrl), shard.failed);
      first += size;
    }
    const port = await freePorts();
    const gateway = startServer(process.execPath, [mainPath, 'gateway', '--fleet', nats.url, '-wp', String(port)]);
    running.push(gateway);
    await within(startS, untilWhole(port, devices), gateway.failed);
    return { shards, nats, gateway, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when ticks of all devices have come. */
async function untilWhole(port: number, devices: number): Promise<void> {
  await untilHttpOk(`http://127.0.0.1:${port}/api/sim/health`);
  while ((await fleetCounts(port)).devices !== devices) await new Promise(setImmediate);
}

export interface FleetCounts {
  readonly devices: number;
  readonly ticks_missed: number;
}

export const fleetCounts = (port: number) => answerOf<FleetCounts>(port, 'fleet');

/** Slots that shards have joined in one tick, since their starts. */
export async function lateSlots(port: number): Promise<number> {
  const { shards } = await answerOf<{ readonly shards: readonly { readonly late_slots: number | null }[] }>(
    port,
    'fleet/shards',
  );
  return shards.reduce((sum, { late_slots: late }) => sum + (late ?? 0), 0);
}

/** @throws Error for a status other than 200 */
export async function answerOf<T>(port: number, path: string, body?: object): Promise<T> {
  const request = body && {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  };
  const answer = await fetch(`http://127.0.0.1:${port}/api/sim/${path}`, request);
  if (answer.status !== 200) throw new Error(`${path}: status ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
