/** Devices and ticks of all shards, as the telemetry stream uses them: one message for each device and tick. */
import { ListenersInParts } from '../../core/listeners-in-parts.ts';
import { LoopShare } from '../../core/turns.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import type { StreamDeviceChange, StreamPublished, StreamSource, StreamTick } from '../../ws/source.ts';
import type { ShardTick } from './tick-book.ts';

/** A snapshot whose text is parsed at the first use of its values. */
class LateSnapshot implements StreamPublished {
  readonly json: Buffer;
  readonly #index: number;
  #value: Snapshot | null = null;

  constructor(index: number, json: Buffer) {
    this.#index = index;
    this.json = json;
  }

  // its own members are the part of the snapshot that needs no parsing
  get snapshot(): this {
    return this;
  }

  get device_index(): number {
    return this.#index;
  }

  get metrics(): Snapshot['metrics'] {
    return (this.#value ??= JSON.parse(this.json.toString()) as Snapshot).metrics;
  }
}

interface Shown {
  published: readonly LateSnapshot[];
  isLost: boolean;
}

const byIndex = (a: { readonly device_index: number }, b: { readonly device_index: number }) =>
  a.device_index - b.device_index;

export class FleetSource implements StreamSource {
  readonly #share: LoopShare;
  readonly #shards = new Map<string, Shown>();
  /** newest tick of each shard that waits for its turn */
  readonly #waiting = new Map<string, ShardTick>();
  readonly #works: ListenersInParts<StreamTick>;
  readonly #listeners = new Set<(change: StreamDeviceChange) => void>();
  #devices: readonly { readonly index: number }[] = [];
  #latest: StreamTick | null = null;
  /** number of the last event: ticks of shards have numbers of their own */
  #events = 0;
  #isBusy = false;
  #dropped = 0;

  /** @param onFailure called with the error of a listener */
  constructor(onFailure: (error: unknown) => void, share: LoopShare = new LoopShare()) {
    this.#works = new ListenersInParts(onFailure);
    this.#share = share;
  }

  /** devices of all shards, also of those that are lost */
  get devices(): readonly { readonly index: number }[] {
    return this.#devices;
  }

  /** snapshots of all shards that are not lost */
  get latest(): StreamTick {
    return (this.#latest ??= { tick: this.#events, published: this.#union() });
  }

  /** ticks that a newer one of their shard has replaced before their turn */
  get dropped(): number {
    return this.#dropped;
  }

  onTickInParts(work: (event: StreamTick) => Iterable<undefined>): () => void {
    return this.#works.addInParts(work);
  }

  onDevices(listener: (change: StreamDeviceChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Sends a tick, now or behind the one that is being sent. */
  take(tick: ShardTick): void {
    if (this.#waiting.delete(tick.shard)) this.#dropped += 1;
    this.#waiting.set(tick.shard, tick);
    if (!this.#isBusy) void this.#run();
  }

  /** Leaves the snapshots of a shard out until its next tick. */
  lose(shard: string): void {
    this.#waiting.delete(shard);
    const shown = this.#shards.get(shard);
    if (shown === undefined) return;
    shown.isLost = true;
    this.#latest = null;
  }

  /** Shows the snapshots of a shard again: its process was only out of reach. */
  restore(shard: string): void {
    const shown = this.#shards.get(shard);
    if (shown === undefined) return;
    shown.isLost = false;
    this.#latest = null;
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    try {
      for (const tick of this.#ticksInTurn()) {
        await this.#share.runInParts(this.#works.notify(this.#show(tick)));
      }
    } finally {
      this.#isBusy = false;
    }
  }

  /** The map may change between two ticks. */
  *#ticksInTurn(): Generator<ShardTick> {
    for (;;) {
      const [tick] = this.#waiting.values();
      if (tick === undefined) return;
      this.#waiting.delete(tick.shard);
      yield tick;
    }
  }

  #show({ shard, parts }: ShardTick): StreamTick {
    const published = parts.flatMap(({ index, json }) =>
      json.map((text, at) => new LateSnapshot(index[at] ?? 0, text)),
    );
    const before = this.#shards.get(shard)?.published ?? [];
    this.#shards.set(shard, { published, isLost: false });
    this.#events += 1;
    this.#latest = null;
    this.#followDevices(before, published);
    return { tick: this.#events, published };
  }

  #followDevices(before: readonly LateSnapshot[], after: readonly LateSnapshot[]): void {
    if (
      before.length === after.length &&
      before.every(({ device_index: index }, at) => index === after[at]?.device_index)
    )
      return;
    const all = [...this.#shards.values()].flatMap(({ published }) => published).sort(byIndex);
    this.#devices = all.map(({ device_index: index }) => ({ index }));
    for (const change of changesBetween(before, after)) for (const listener of this.#listeners) listener(change);
  }

  #union(): readonly LateSnapshot[] {
    const live = [...this.#shards.values()].filter(({ isLost }) => !isLost);
    return live.flatMap(({ published }) => published).sort(byIndex);
  }
}

function* changesBetween(
  before: readonly LateSnapshot[],
  after: readonly LateSnapshot[],
): Generator<StreamDeviceChange> {
  const [old, present] = [before, after].map((all) => new Set(all.map(({ device_index: index }) => index)));
  for (const index of old ?? []) if (present?.has(index) !== true) yield { added: null, removed: { index } };
  for (const index of present ?? []) if (old?.has(index) !== true) yield { added: { index }, removed: null };
}
