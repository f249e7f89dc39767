/** One process with ten thousand devices: waiting times of REST while its ticks are sliced, and memory. */
import type { Group } from '../support/group.ts';
import { untilHttpOk, within } from '../support/net.ts';
import { cpuSeconds, inCheckout, residentBytes, runJson } from '../support/processes.ts';
import { spawnSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';
import { held, withoutHistory } from './memory.ts';

const devices = 10_000;
const ratePerS = 20;
const ticksS = [1.5, 0.1];
/** every round takes long: a few are enough */
const maxRounds = 3;
const startS = 120;

interface RestLoad {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** real seconds from one tick to the next */
  readonly tickS: number;
}

interface LargeLoad extends RestLoad {
  readonly cpuPct: number;
  readonly residentKb: number;
}

async function load(tickS: number, seconds: number): Promise<LargeLoad> {
  const simulator = await spawnSimulator(1, ['-N', String(devices), '--mb_enable', 'no', '--tick', String(tickS)]);
  try {
    await within(startS, untilHttpOk(simulator.healthUrl), simulator.failed);
    const port = new URL(simulator.healthUrl).port;
    const cpuBefore = (await cpuSeconds(simulator.pid)) ?? NaN;
    const args = [inCheckout('bench/workers/rest-load.mjs'), port, ...[devices, seconds, ratePerS].map(String)];
    const answers = await runJson<RestLoad>(process.execPath, args);
    const cpuS = ((await cpuSeconds(simulator.pid)) ?? NaN) - cpuBefore;
    const resident = (await residentBytes(simulator.pid)) ?? NaN;
    return { ...answers, cpuPct: (100 * cpuS) / seconds, residentKb: resident / devices / 1000 };
  } finally {
    await simulator.stop();
  }
}

export const largeGroup: Group = {
  name: 'large',
  async run({ rounds, quick }, progress) {
    const seconds = quick ? 6 : 30;
    const count = Math.min(rounds, maxRounds);
    const ofTicks = ticksS.map((tickS) => ({ tickS, loads: [] as LargeLoad[] }));
    for (let round = 1; round <= count; round += 1) {
      progress(`large: round ${round} of ${count}`);
      for (const { tickS, loads } of ofTicks) loads.push(await load(tickS, seconds));
    }
    progress('large: memory');
    const heldKb = withoutHistory(await held(devices)) / 1000;
    return [
      {
        title: `large: -N ${devices} --mb_enable no, ${ratePerS} requests per second for ${seconds} s, ${count} rounds`,
        head: ['tick', 'p50 ms', 'p99 ms', 'max ms', 's per tick', 'CPU %', 'RSS per device, kB'],
        rows: ofTicks.map(({ tickS, loads }) => [
          `${tickS} s`,
          ...(['p50Ms', 'p99Ms', 'maxMs', 'tickS', 'cpuPct', 'residentKb'] as const).map((name) =>
            figure(medianOf(loads, (one) => one[name])),
          ),
        ]),
        notes: [
          'health and one device in turn; a request does not wait for the last answer',
          'a tick takes longer than 0.1 s: one tick follows the other, each of which covers the slots that it missed',
          'RSS has the process itself, the history and garbage not yet collected; the aim of memory has none of them',
        ],
      },
      aimTable('large', [
        ...ofTicks.map(({ tickS, loads }) =>
          aimRow(
            `p99 with a tick of ${tickS} s`,
            medianOf(loads, (one) => one.p99Ms),
            ' ms',
            { atMost: 50 },
          ),
        ),
        aimRow('memory held per device, without history', heldKb, ' kB', { atMost: 36 }),
      ]),
    ];
  },
};
