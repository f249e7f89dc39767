/** The fleet as a gateway sees it: its shards by the registry, and their newest ticks. */
import type { Logger } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { errorText } from '../../core/errors.ts';
import { Listeners } from '../../core/listeners.ts';
import { FleetError } from '../link.ts';
import type { FleetLink, Stop } from '../link.ts';
import { requestHeaders, tickMethod } from '../operation.ts';
import { Observer } from '../registry/observer.ts';
import type { ObservedShard, ShardEvent } from '../registry/observer.ts';
import { placesOf } from './places.ts';
import type { ShardPlace } from './forward.ts';
import { FleetSource } from './source.ts';
import { TickBook } from './tick-book.ts';
import type { ShardTick } from './tick-book.ts';

/** Time limit of the request for the last tick, ms. */
const tickLimitMs = 5000;
const eventWords: Readonly<Record<ShardEvent['kind'], string>> = {
  joined: 'has joined',
  lost: 'is lost',
  returned: 'is back',
  left: 'has left',
};

export interface FleetViewOptions {
  readonly link: FleetLink;
  readonly prefix: string;
  readonly clock: WallClock;
  readonly later: Later;
  readonly log: Pick<Logger, 'info' | 'warning'>;
}

export class FleetView {
  readonly link: FleetLink;
  readonly prefix: string;
  readonly source: FleetSource;
  readonly ticks: TickBook;
  readonly #options: FleetViewOptions;
  readonly #observer: Observer;
  /** connections to a server that came back */
  reconnects = 0;
  readonly #tickListeners: Listeners<[ShardTick]>;
  #stops: readonly Stop[] = [];

  constructor(options: FleetViewOptions) {
    const { link, prefix, clock, later, log } = options;
    this.#options = options;
    this.link = link;
    this.prefix = prefix;
    const onFailure = (error: unknown) => {
      log.warning(`news of the fleet: ${errorText(error)}`);
    };
    this.source = new FleetSource(onFailure);
    this.#tickListeners = new Listeners(onFailure);
    this.ticks = new TickBook({
      nowMs: () => clock.monotonicMs(),
      onTick: (tick) => {
        // a shard that is lost, and stands still, must not come back by a late message: its lease comes first
        if (this.shards.get(tick.shard)?.isLive !== false) this.source.take(tick);
        this.#tickListeners.notify(tick);
      },
    });
    this.#observer = new Observer({
      link,
      clock,
      later,
      onFailure,
    });
  }

  start(): void {
    const subject = `${this.prefix}.tick.`;
    this.#stops = [
      this.link.onState((state) => {
        if (state === 'connected') this.reconnects += 1;
      }),
      this.#observer.onEvent((event) => {
        this.#follow(event);
      }),
      this.link.subscribe(`${subject}*`, (body, from) => {
        this.ticks.take(from.slice(subject.length), body);
      }),
      () => {
        this.#observer.stop();
      },
    ];
    this.#observer.start();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
  }

  get shards(): ReadonlyMap<string, ObservedShard> {
    return this.#observer.shards;
  }

  /** Calls the listener with each whole tick of a shard. */
  onTick(listener: (tick: ShardTick) => void): Stop {
    return this.#tickListeners.add(listener);
  }

  /** Calls the listener with each shard that joins, is lost, returns or leaves. */
  onShard(listener: (event: ShardEvent) => void): Stop {
    return this.#observer.onEvent(listener);
  }

  get nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Shards in the order of their devices. */
  places(): readonly ShardPlace[] {
    return placesOf(this.shards, this.nowMs);
  }

  /** A request to a shard found nobody. */
  noResponder(shard: string): void {
    this.#observer.noResponder(shard);
  }

  #follow({ kind, shard, lease }: ShardEvent): void {
    const { log } = this.#options;
    const text = `the shard "${shard}" (devices ${lease.first}..${lease.first + lease.room - 1}) ${eventWords[kind]}`;
    if (kind === 'lost') log.warning(text);
    else log.info(text);
    if (kind === 'lost' || kind === 'left') {
      this.source.lose(shard);
      return;
    }
    this.ticks.fence(shard, lease.epoch);
    if (this.ticks.newest(shard)?.head.session === lease.session) this.source.restore(shard);
    void this.#askForTick(shard);
  }

  /** A paused shard sends no tick by itself. */
  async #askForTick(shard: string): Promise<void> {
    const request = { headers: { [requestHeaders.method]: tickMethod }, body: new Uint8Array(0) };
    try {
      await this.link.request(`${this.prefix}.op.${shard}`, request, tickLimitMs);
    } catch (error) {
      // a process that joins begins to serve after its lease, and then sends a tick by itself
      if (error instanceof FleetError && error.code === 'no-responder') return;
      this.#options.log.info(`the shard "${shard}" did not send its last tick: ${errorText(error)}`);
    }
  }
}
