/** A gateway's side of the registry: which shards live, by their renewals and by a clock of its own. */
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import { Listeners } from '../../core/listeners.ts';
import type { FleetLink, Stop } from '../link.ts';
import { decodedLease } from './roster.ts';
import type { Lease } from './roster.ts';

const lostMs = 4000;
const betweenNoRespondersMs = 500;

export type ShardEventKind = 'joined' | 'lost' | 'returned' | 'left';

export interface ObservedShard {
  readonly lease: Lease;
  readonly isLive: boolean;
  /** monotonic ms of the last renewal */
  readonly seenMs: number;
}

export interface ShardEvent {
  readonly kind: ShardEventKind;
  readonly shard: string;
  readonly lease: Lease;
}

interface Entry {
  lease: Lease;
  revision: number;
  isLive: boolean;
  seenMs: number;
  noResponderMs: number | null;
  cancel: Stop;
}

export interface ObserverOptions {
  readonly link: FleetLink;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly later: Later;
  /** Called with the error of a listener, and for a lease that cannot be read. */
  readonly onFailure: (error: unknown) => void;
}

export class Observer {
  readonly #options: ObserverOptions;
  readonly #shards = new Map<string, Entry>();
  readonly #events: Listeners<[ShardEvent]>;
  #stops: readonly Stop[] = [];

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#events = new Listeners(options.onFailure);
  }

  start(): void {
    const { link } = this.#options;
    this.#stops = [
      link.leases.watch('shard.*', (entry) => {
        const shard = entry.key.slice('shard.'.length);
        if (entry.value === null) this.#left(shard);
        else this.#renewed(shard, entry.value, entry.revision);
      }),
      link.onState((state) => {
        // nobody can renew a lease without a server: the time begins again with it
        for (const [shard, entry] of this.#shards) {
          entry.cancel();
          if (state === 'connected' && entry.isLive) this.#watch(shard, entry);
        }
      }),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    for (const { cancel } of this.#shards.values()) cancel();
    this.#stops = [];
  }

  onEvent(listener: (event: ShardEvent) => void): Stop {
    return this.#events.add(listener);
  }

  get shards(): ReadonlyMap<string, ObservedShard> {
    return this.#shards;
  }

  /** A request to a shard found nobody. Two of them, half a second apart, are a loss. */
  noResponder(shard: string): void {
    const entry = this.#shards.get(shard);
    if (!entry?.isLive) return;
    const nowMs = this.#options.clock.monotonicMs();
    entry.noResponderMs ??= nowMs;
    if (nowMs - entry.noResponderMs >= betweenNoRespondersMs) this.#lost(shard, entry);
  }

  #renewed(shard: string, value: Uint8Array, revision: number): void {
    const lease = this.#read(value);
    if (!lease) return;
    const former = this.#shards.get(shard);
    // present leases are told again after the server was away
    if (former?.revision === revision && former.lease.session === lease.session) return;
    if (former && lease.epoch < former.lease.epoch) return;
    const entry: Entry = former ?? {
      lease,
      revision,
      isLive: false,
      seenMs: 0,
      noResponderMs: null,
      cancel: () => undefined,
    };
    const isNewProcess = entry.lease.session !== lease.session;
    this.#shards.set(shard, entry);
    if (isNewProcess && entry.isLive) this.#lost(shard, entry);
    const kind = former ? 'returned' : 'joined';
    const wasLive = entry.isLive;
    entry.lease = lease;
    entry.revision = revision;
    entry.isLive = true;
    entry.noResponderMs = null;
    this.#watch(shard, entry);
    if (!wasLive) this.#events.notify({ kind, shard, lease });
  }

  #watch(shard: string, entry: Entry): void {
    entry.cancel();
    entry.seenMs = this.#options.clock.monotonicMs();
    entry.cancel = this.#options.later(lostMs, () => {
      this.#lost(shard, entry);
    });
  }

  #lost(shard: string, entry: Entry): void {
    if (!entry.isLive) return;
    entry.cancel();
    entry.isLive = false;
    this.#events.notify({ kind: 'lost', shard, lease: entry.lease });
  }

  #left(shard: string): void {
    const entry = this.#shards.get(shard);
    if (!entry) return;
    entry.cancel();
    this.#shards.delete(shard);
    this.#events.notify({ kind: 'left', shard, lease: entry.lease });
  }

  #read(value: Uint8Array): Lease | null {
    try {
      return decodedLease(value);
    } catch (error) {
      this.#options.onFailure(error);
      return null;
    }
  }
}
