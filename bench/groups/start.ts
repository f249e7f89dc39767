/** From the spawn to the first right answer, to the end of `--version`, and the memory of one device. */
import type { Group } from '../support/group.ts';
import { freePorts, untilHttpOk, untilModbus, within } from '../support/net.ts';
import { inCheckout, mainPath, residentBytes, runToEnd, sleep, startServer } from '../support/processes.ts';
import { spawnSimulator, startLimitS } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const many = 1000;

interface Started {
  readonly modbusMs: number;
  readonly healthMs: number;
  /** before REST is loaded */
  readonly residentMb: number;
  /** time of the request that loads REST */
  readonly firstRequestMs: number;
  /** after that request */
  readonly loadedMb: number;
}
interface Round {
  readonly bareMs: number;
  readonly versionMs: number;
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

async function versionMs(): Promise<number> {
  const begin = performance.now();
  await runToEnd(process.execPath, [mainPath, '--version'], startLimitS);
  return performance.now() - begin;
}

async function started(devices: number, settleMs: number): Promise<Started> {
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
    const residentMb = async () => {
      await sleep(settleMs);
      return ((await residentBytes(simulator.pid)) ?? NaN) / 1e6;
    };
    const idleMb = await residentMb();
    const asked = performance.now();
    await within(startLimitS, untilHttpOk(simulator.healthUrl.replace('health', 'server-info')), simulator.failed);
    const firstRequestMs = performance.now() - asked;
    return { modbusMs, healthMs, residentMb: idleMb, firstRequestMs, loadedMb: await residentMb() };
  } finally {
    await simulator.stop();
  }
}

export const startGroup: Group = {
  name: 'start',
  async run({ rounds, quick }, progress) {
    // one start takes less than a second, and varies
    const repeats = quick ? 5 * rounds : rounds;
    const settleMs = quick ? 1000 : 5000;
    const results: Round[] = [];
    for (let round = 1; round <= repeats; round += 1) {
      progress(`start: round ${round} of ${repeats}`);
      results.push({
        bareMs: await bare(),
        versionMs: await versionMs(),
        one: await started(1, settleMs),
        many: await started(many, 0),
      });
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
          row('--version, to its end', (r) => r.versionMs),
          row('-N 1, Modbus', (r) => r.one.modbusMs),
          row('-N 1, health', (r) => r.one.healthMs),
          row('-N 1, first request beyond health', (r) => r.one.firstRequestMs),
          row(`-N ${many}, Modbus of the last device`, (r) => r.many.modbusMs),
          row(`-N ${many}, health`, (r) => r.many.healthMs),
        ],
        notes: [`RSS of -N 1 with REST loaded: ${figure(medianOf(results, (r) => r.one.loadedMb))} MB`],
      },
      aimTable('start', [
        aimRow(
          '-N 1, Modbus, over the bare server',
          medianOf(results, (r) => r.one.modbusMs / r.bareMs),
          '',
          { atMost: 6 },
        ),
        aimRow('--version', medianOf(results, (r) => r.versionMs) / 1000, ' s', { atMost: 0.2 }),
        aimRow(
          `RSS of -N 1, ${settleMs / 1000} s after its answer`,
          medianOf(results, (r) => r.one.residentMb),
          ' MB',
          {
            atMost: 95,
          },
        ),
        aimRow(`-N ${many}, Modbus and health`, ready / 1000, ' s', { atMost: 3 }),
      ]),
    ];
  },
};
