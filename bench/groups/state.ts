/** Cost of the state over a restart: processor time of saving, octets on disk, and the start with a state. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Group } from '../support/group.ts';
import { cpuSeconds, sleep } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const devices = 1000;

interface Run {
  readonly startMs: number;
  /** processor seconds per second */
  readonly load: number;
}

/** @param folder of the state; null: none */
async function run(folder: string | null, settleMs: number, measureMs: number): Promise<Run> {
  const flags = ['-N', String(devices), ...(folder === null ? [] : ['--state_dir', folder])];
  const simulator = await startSimulator(devices, flags);
  const startMs = performance.now() - simulator.spawnedMs;
  try {
    await sleep(settleMs);
    const [beforeS, beginMs] = [await cpuSeconds(simulator.pid), performance.now()];
    await sleep(measureMs);
    const [afterS, endMs] = [await cpuSeconds(simulator.pid), performance.now()];
    return { startMs, load: (((afterS ?? NaN) - (beforeS ?? NaN)) * 1000) / (endMs - beginMs) };
  } finally {
    await simulator.stop();
  }
}

interface Round {
  readonly without: Run;
  readonly first: Run;
  readonly again: Run;
  readonly journalMb: number;
}

async function round(settleMs: number, measureMs: number): Promise<Round> {
  const folder = await mkdtemp(join(tmpdir(), 'derbench-bench-'));
  try {
    const without = await run(null, settleMs, measureMs);
    const first = await run(folder, settleMs, measureMs);
    const { size } = await stat(join(folder, 'journal.jsonl'));
    const again = await run(folder, settleMs, measureMs);
    return { without, first, again, journalMb: size / 1e6 };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export const stateGroup: Group = {
  name: 'state',
  async run({ rounds, quick }, progress) {
    const [settleMs, measureMs] = quick ? [2000, 5000] : [5000, 20_000];
    const results: Round[] = [];
    for (let n = 1; n <= rounds; n += 1) {
      progress(`state: round ${n} of ${rounds}`);
      results.push(await round(settleMs, measureMs));
    }
    const load = (of: (r: Round) => Run) => 100 * medianOf(results, (r) => of(r).load);
    const start = (of: (r: Round) => Run) => medianOf(results, (r) => of(r).startMs);
    const saving = 100 * medianOf(results, (r) => r.again.load - r.without.load);
    const later = medianOf(results, (r) => r.again.startMs - r.without.startMs) / 1000;
    return [
      {
        title: `state: ${devices} devices that change with each tick`,
        head: ['', 'percent of a core', 'start, ms'],
        rows: [
          ['without a folder', figure(load((r) => r.without)), figure(start((r) => r.without))],
          ['with an empty folder', figure(load((r) => r.first)), figure(start((r) => r.first))],
          ['with the state of an earlier process', figure(load((r) => r.again)), figure(start((r) => r.again))],
        ],
        notes: [
          `journal at the end: ${figure(medianOf(results, (r) => r.journalMb))} MB`,
          'no peer: the figures are absolute',
        ],
      },
      aimTable('state', [
        aimRow('saving, of a core', saving, ' %', { atMost: 5 }),
        aimRow('start with a state, later by', later, ' s', { atMost: 1 }),
        aimRow(
          'journal',
          medianOf(results, (r) => r.journalMb),
          ' MB',
          { atMost: 256 },
        ),
      ]),
    ];
  },
};
