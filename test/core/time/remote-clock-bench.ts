import { remoteClocks } from '../../../src/core/time/remote-clock.ts';
import type { RemoteClock, RemoteClockMode } from '../../../src/core/time/remote-clock.ts';
import type { SimPlant } from '../../../src/der/plant/plant.ts';
import { testPlant } from '../../support/plant.ts';
import type { TestPlantOptions } from '../../support/plant.ts';
import { RemotePeer } from '../../support/remote-peer.ts';
import type { RemoteEvent } from '../../support/remote-peer.ts';
import { HandTimers } from '../../support/timers.ts';
import { HandWall } from '../../support/wall.ts';

/** A machine whose system clock can jump; its monotonic clock cannot. */
class JumpyWall extends HandWall {
  jumpMs = 0;

  override nowMs(): number {
    return super.nowMs() + this.jumpMs;
  }
}

/** Real time, a plant without ticks of its own, and clocks of peers. */
export class Bench {
  readonly wall = new JumpyWall(Date.UTC(2026, 5, 21, 8));
  readonly timers = new HandTimers(this.wall);
  readonly plant: SimPlant;
  readonly warnings: string[] = [];
  readonly errors: string[] = [];
  readonly clock: () => RemoteClock;

  constructor(mode: RemoteClockMode, options: TestPlantOptions = {}) {
    const plant = testPlant({ mode: 'accelerated', wall: this.wall, types: ['Batt'], ...options });
    this.plant = plant;
    const make = remoteClocks({
      mode,
      wall: this.wall,
      later: this.timers.later,
      log: { warning: (message) => this.warnings.push(message) },
      timeline: {
        sim: () => plant.time.sim,
        dateMs: (t) => plant.dateMs(t),
        rate: () => plant.time.rate,
        paused: () => plant.time.mode === 'paused',
        at: (t, act) => plant.at(t, act),
      },
    });
    this.clock = () => make({ error: (message) => this.errors.push(message) });
  }

  get mono(): number {
    return this.wall.monotonicMs();
  }

  /** Real seconds with their ticks of 1.5 s; timers fire between them. */
  async pass(seconds: number): Promise<void> {
    for (let left = seconds * 1000; left > 0; left -= 1500) {
      this.timers.pass(Math.min(1500, left));
      if (left >= 1500) await this.plant.tick();
    }
  }

  /** A client of a server whose clock is `offsetS` ahead of the wall, or of the simulated date. */
  peer(mode: RemoteClockMode, offsetS: number, apply?: (event: RemoteEvent, active: boolean) => void) {
    const at = { offsetS };
    const localMs = () => (mode === 'wall' ? this.wall.ms : this.plant.time.dateMs);
    const server = { currentTime: () => Math.floor(localMs() / 1000 + at.offsetS) };
    const { wall } = this;
    const peer = new RemotePeer({
      clock: this.clock(),
      server,
      wall,
      later: this.timers.later,
      ...(apply && { apply }),
    });
    return { peer, server, at };
  }
}
