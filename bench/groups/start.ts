/** From the spawn to the first right answer. */
import type { Group } from '../support/group.ts';
import { freePorts, untilHttpOk, untilModbus, within } from '../support/net.ts';
import { inCheckout, startServer } from '../support/processes.ts';
import { spawnSimulator, startLimitS } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const many = 1000;

interface Started {
  readonly modbusMs: number;
  readonly healthMs: number;
}
interface Round {
  readonly bareMs: number;
  readonly one: Started;
  readonly many: Started;
}

async function bare(): Promise<number> {
  const port = await freePorts();
  const begin = performance.now();
  const server = startServer(process.execPath, [inCheckout('bench/peers/minimal-responder.mjs'), String(port)]);
  try {
    await within(startLimitS, untilModbus(port), server.failed);
    return performance.now() - begin;
  } finally {
    await server.stop();
  }
}

async function started(devices: number): Promise<Started> {
  const simulator = await spawnSimulator(devices);
  const begin = simulator.spawnedMs;
  const elapsed = async (answer: Promise<void>) => {
    await within(startLimitS, answer, simulator.failed);
    return performance.now() - begin;
  };
  try {
    const [modbusMs, healthMs] = await Promise.all([
      elapsed(untilModbus(simulator.port + devices - 1, 'SunS')),
      elapsed(untilHttpOk(simulator.healthUrl)),
    ]);
    return { modbusMs, healthMs };
  } finally {
    await simulator.stop();
  }
}

export const startGroup: Group = {
  name: 'start',
  async run({ rounds }, progress) {
    const results: Round[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      progress(`start: round ${round} of ${rounds}`);
      results.push({ bareMs: await bare(), one: await started(1), many: await started(many) });
    }
    const row = (name: string, value: (round: Round) => number) => [
      name,
      figure(medianOf(results, value)),
      figure(medianOf(results, (round) => value(round) / round.bareMs)),
    ];
    const ready = medianOf(results, (r) => Math.max(r.many.modbusMs, r.many.healthMs));
    return [
      {
        title: 'start: from spawn to the first right answer',
        head: ['', 'ms', 'over the bare server'],
        rows: [
          row('bare Node TCP server', (r) => r.bareMs),
          row('-N 1, Modbus', (r) => r.one.modbusMs),
          row('-N 1, health', (r) => r.one.healthMs),
          row(`-N ${many}, Modbus of the last device`, (r) => r.many.modbusMs),
          row(`-N ${many}, health`, (r) => r.many.healthMs),
        ],
      },
      aimTable('start', [aimRow(`-N ${many}, Modbus and health`, ready / 1000, ' s', { atMost: 3 })]),
    ];
  },
};
