import type { Plant } from '../../src/contract/plant.ts';
import { remoteClocks } from '../../src/core/time/remote-clock.ts';
import type { RemoteClock } from '../../src/core/time/remote-clock.ts';
import { silentLogger } from '../../src/core/log/log.ts';

/** A clock of remote systems that runs with the simulated one of a plant. */
export function simulatedRemoteClock(plant: Pick<Plant, 'at' | 'dateMs' | 'time'>): RemoteClock {
  return remoteClocks({
    mode: 'simulated',
    wall: { nowMs: () => plant.dateMs(plant.time.sim), monotonicMs: () => plant.time.sim / 1000 },
    later: () => () => undefined,
    timeline: {
      sim: () => plant.time.sim,
      dateMs: (t) => plant.dateMs(t),
      rate: () => 1,
      paused: () => true,
      at: (t, act) => plant.at(t, act),
    },
    log: silentLogger,
  })(silentLogger);
}
