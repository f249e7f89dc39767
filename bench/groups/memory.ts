/** Memory per device: heap after garbage collection, and growth of the process. */
import type { Group } from '../support/group.ts';
import { inCheckout, residentBytes, runJson, sleep } from '../support/processes.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

export interface Held {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly totalBytes: number;
  readonly registerBytes: number;
}

/** Bytes per device without its samples; a PV device has no array buffers but its registers and samples. */
export const withoutHistory = ({ totalBytes, bufferBytes, registerBytes }: Held): number =>
  totalBytes - bufferBytes + registerBytes;

const devices = 1000;
const kb = (bytes: number) => bytes / 1000;
const mb = (bytes: number) => bytes / 1e6;

/** Memory that PV devices without ports hold after garbage collection. */
export const held = (count: number): Promise<Held> =>
  runJson<Held>(process.execPath, ['--expose-gc', inCheckout('bench/workers/memory.mjs'), String(count)]);

async function resident(count: number, settleMs: number): Promise<number> {
  const simulator = await startSimulator(count);
  try {
    await sleep(settleMs);
    return (await residentBytes(simulator.pid)) ?? NaN;
  } finally {
    await simulator.stop();
  }
}

export const memoryGroup: Group = {
  name: 'memory',
  async run({ rounds, quick }, progress) {
    const settleMs = quick ? 2000 : 10_000;
    const inProcess: Held[] = [];
    const processes: { readonly one: number; readonly many: number }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      progress(`memory: round ${round} of ${rounds}`);
      inProcess.push(await held(devices));
      processes.push({ one: await resident(1, settleMs), many: await resident(devices, settleMs) });
    }
    const total = medianOf(inProcess, withoutHistory);
    return [
      {
        title: `memory: ${devices} devices`,
        head: ['', 'figure'],
        rows: [
          ['heap per device, kB', figure(kb(medianOf(inProcess, (m) => m.heapBytes)))],
          ['array buffers per device, kB', figure(kb(medianOf(inProcess, (m) => m.bufferBytes)))],
          ['heap and external per device, kB', figure(kb(medianOf(inProcess, (m) => m.totalBytes)))],
          ['the same without history, kB', figure(kb(total))],
          ['RSS of dist/main.js -N 1, MB', figure(mb(medianOf(processes, (m) => m.one)))],
          [`RSS of dist/main.js -N ${devices}, MB`, figure(mb(medianOf(processes, (m) => m.many)))],
          [
            'RSS per further device with its port, kB',
            figure(kb(medianOf(processes, (m) => (m.many - m.one) / (devices - 1)))),
          ],
        ],
        notes: [
          `RSS is read ${settleMs / 1000} s after the last device answers; it holds garbage not yet collected`,
          'no peer: the figures are absolute',
        ],
      },
      aimTable('memory', [aimRow('heap and external per device without history', kb(total), ' kB', { atMost: 25 })]),
    ];
  },
};
