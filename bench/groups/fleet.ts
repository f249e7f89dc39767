/** A thousand devices at the default tick, polled by twenty masters. */
import type { Group } from '../support/group.ts';
import { masters, pollFleet, ratePerS, spreadOver } from '../support/masters.ts';
import type { FleetLoad } from '../support/masters.ts';
import { minimal } from '../support/peers.ts';
import { startSimulator } from '../support/simulator.ts';
import { medianOf } from '../support/stats.ts';
import { aimRow, aimTable, figure } from '../support/table.ts';

const devices = 1000;
/** every round takes long: a few are enough */
const mostRounds = 3;

export const fleetGroup: Group = {
  name: 'fleet',
  async run({ rounds, quick }, progress) {
    const seconds = quick ? 4 : 20;
    const count = Math.min(rounds, mostRounds);
    const fleet = await startSimulator(devices);
    const ours: FleetLoad[] = [];
    const floor: FleetLoad[] = [];
    try {
      const peer = await minimal.start();
      try {
        const spread = spreadOver(fleet.port, devices);
        for (let round = 1; round <= count; round += 1) {
          progress(`fleet: round ${round} of ${count}`);
          ours.push(await pollFleet(fleet, spread, seconds));
          floor.push(
            await pollFleet(
              peer,
              spread.map(() => peer.port),
              seconds,
            ),
          );
        }
      } finally {
        await peer.stop();
      }
    } finally {
      await fleet.stop();
    }
    const row = (name: string, results: readonly FleetLoad[]) => [
      name,
      ...[
        (m: FleetLoad) => m.p50Ms,
        (m: FleetLoad) => m.p99Ms,
        (m: FleetLoad) => m.maxMs,
        (m: FleetLoad) => m.cpuPct,
      ].map((value) => figure(medianOf(results, value))),
      `${Math.min(...results.map((m) => m.answered))} of ${Math.max(...results.map((m) => m.asked))}`,
    ];
    return [
      {
        title:
          `fleet: -N ${devices}, default tick, ${masters} masters on ${masters} devices at ${ratePerS} Hz for ` +
          `${seconds} s, ${count} rounds`,
        head: ['server', 'p50 ms', 'p99 ms', 'max ms', 'CPU %', 'answered'],
        rows: [row(`derbench -N ${devices}`, ours), row(`${minimal.name}, no devices`, floor)],
        notes: [
          'the second row is what the machine and the masters add by themselves',
          'CPU %: of one core, over the whole run',
        ],
      },
      aimTable('fleet', [
        aimRow(
          'p99',
          medianOf(ours, (m) => m.p99Ms),
          ' ms',
          { atMost: 10 },
        ),
      ]),
    ];
  },
};
