/**
 * A protocol client as a remote clock serves it, in the way of IEEE 2030.5: it polls the server's time and carries out
 * the server's events from their start for their duration.
 */
import type { WallClock } from '../../src/core/time/clock.ts';
import type { RemoteClock } from '../../src/core/time/remote-clock.ts';
import type { Later } from '../../src/core/time/timers.ts';

/** An event in whole seconds of the server's time; it is in force in `[start, start + duration)`. */
export interface RemoteEvent {
  readonly mRID: string;
  readonly start: number;
  readonly duration: number;
}

export interface RemoteServer {
  /** `Time.currentTime`: whole seconds since the epoch */
  currentTime(): number;
}

export interface RemotePeerOptions {
  readonly clock: RemoteClock;
  readonly server: RemoteServer;
  readonly wall: WallClock;
  readonly later: Later;
  /** what a started or ended event does to the device */
  readonly apply?: (event: RemoteEvent, active: boolean) => void;
  readonly pollS?: number;
}

export class RemotePeer {
  readonly #options: RemotePeerOptions;
  readonly #cancels = new Map<string, () => void>();
  #endPolls: (() => void) | null = null;
  /** each start and end, with the remote time at which it was carried out, s */
  readonly done: (readonly [mRID: string, what: 'starts' | 'ends', atS: number])[] = [];

  constructor(options: RemotePeerOptions) {
    this.#options = options;
  }

  get clock(): RemoteClock {
    return this.#options.clock;
  }

  /** Reads the server's time now, and again every `pollS`. */
  poll(): void {
    const { clock, server, wall, later, pollS = 900 } = this.#options;
    clock.sync(server.currentTime() * 1000, wall.monotonicMs());
    this.#endPolls?.();
    this.#endPolls = later(pollS * 1000, () => {
      this.poll();
    });
  }

  /** Schedules an event; one that has begun runs for its remainder, one that is over does not run. */
  receive(event: RemoteEvent): void {
    const { mRID, start, duration } = event;
    const { clock } = this.#options;
    const endMs = (start + duration) * 1000;
    if (clock.nowMs() >= endMs) return;
    this.#cancels.set(
      mRID,
      clock.at(start * 1000, () => {
        this.#carryOut(event, true);
        this.#cancels.set(
          mRID,
          clock.at(endMs, () => {
            this.#cancels.delete(mRID);
            this.#carryOut(event, false);
          }),
        );
      }),
    );
  }

  /** The server has cancelled an event. */
  cancel(mRID: string): void {
    this.#cancels.get(mRID)?.();
    this.#cancels.delete(mRID);
  }

  stop(): void {
    this.#endPolls?.();
    this.clock.clear();
  }

  #carryOut(event: RemoteEvent, active: boolean): void {
    this.done.push([event.mRID, active ? 'starts' : 'ends', this.clock.nowMs() / 1000]);
    this.#options.apply?.(event, active);
  }
}
