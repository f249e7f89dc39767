/** A bucket of keys in JetStream, which is created anew where the server has lost it. */
import { StorageType, jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { KV, KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection, QueuedIterator } from '@nats-io/transport-node';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { BackOff, doubling } from '../../core/net/back-off.ts';
import { callLater } from '../../core/time/timers.ts';
import { FleetError } from '../link.ts';
import type { BucketEntry, FleetBucket, LinkState, Stop } from '../link.ts';
import { fleetErrorOf } from './errors.ts';

export interface BucketForm {
  readonly name: string;
  /** 0: entries stay */
  readonly ttlMs: number;
  readonly storage: 'file' | 'memory';
}

/** limit of one operation */
const operationMs = 2000;
/** attempts to open a bucket on a connection that is new: JetStream may begin later than the server */
const openWaits = { firstMs: 100, maxMs: 2000 };
const watchWaits = { firstMs: 1000, maxMs: 30_000 };

type WatchListener = Parameters<FleetBucket['watch']>[1];

interface Watch {
  readonly keys: string;
  readonly listener: WatchListener;
  readonly backOff: BackOff;
  iterator: QueuedIterator<KvWatchEntry> | null;
  cancel: Stop;
  isStopped: boolean;
}

export interface BucketOptions {
  readonly connection: NatsConnection;
  readonly form: BucketForm;
  readonly state: () => LinkState;
  readonly log: Pick<Logger, 'warning'>;
}

export class NatsBucket implements FleetBucket {
  readonly #options: BucketOptions;
  readonly #watches = new Set<Watch>();
  #opening: Promise<KV> | null = null;
  /** number of connections so far; tells late work of a former one */
  #generation = 0;
  /** ends of the operations that wait for an answer */
  readonly #waiting = new Set<(error: FleetError) => void>();

  constructor(options: BucketOptions) {
    this.#options = options;
  }

  /** Opens the bucket on a new connection, creates it where it is missing, and starts all watches again. */
  reopen(): void {
    this.#generation += 1;
    this.#opening = null;
    for (const watch of this.#watches) {
      watch.backOff.reset();
      void this.#start(watch);
    }
  }

  /** Ends what waits for an answer on a connection that is gone: it would only end by its time limit. */
  fail(error: FleetError): void {
    for (const end of this.#waiting) end(error);
  }

  /** Opens the bucket for the first time. @throws FleetError */
  async open(): Promise<void> {
    await this.#use('open', () => Promise.resolve());
  }

  stop(): void {
    this.#generation += 1;
    for (const watch of this.#watches) this.#end(watch);
  }

  get(key: string): Promise<BucketEntry | null> {
    return this.#use(`get "${key}"`, async (bucket) => {
      const entry = await bucket.get(key);
      return entry?.operation === 'PUT' ? { key, value: entry.value, revision: entry.revision } : null;
    });
  }

  create(key: string, value: Uint8Array): Promise<number> {
    return this.#use(`create "${key}"`, (bucket) => bucket.create(key, value));
  }

  update(key: string, value: Uint8Array, revision: number): Promise<number> {
    return this.#use(`update "${key}"`, (bucket) => bucket.update(key, value, revision, operationMs));
  }

  delete(key: string): Promise<void> {
    return this.#use(`delete "${key}"`, (bucket) => bucket.delete(key));
  }

  ageMs(): Promise<number> {
    return this.#use('age', async (bucket) => {
      const { created } = (await bucket.status()).streamInfo;
      // an entry has the time of the server, whose clock may differ
      const key = `shard.probe.${Math.random().toString(36).slice(2)}`;
      await bucket.put(key, new Uint8Array(0));
      const serverMs = (await bucket.get(key))?.created.getTime() ?? Date.now();
      return serverMs - Date.parse(created);
    });
  }

  watch(keys: string, listener: WatchListener): Stop {
    const backOff = new BackOff(doubling(watchWaits));
    const watch: Watch = { keys, listener, backOff, iterator: null, cancel: () => undefined, isStopped: false };
    this.#watches.add(watch);
    void this.#start(watch);
    return () => {
      this.#watches.delete(watch);
      this.#end(watch);
    };
  }

  #end(watch: Watch): void {
    watch.isStopped = true;
    watch.cancel();
    watch.iterator?.stop();
  }

  /** Starts a watch, the former run of which is ended first. Without a connection the next one starts it. */
  async #start(watch: Watch): Promise<void> {
    watch.cancel();
    watch.iterator?.stop();
    watch.iterator = null;
    const generation = this.#generation;
    const isOver = () => watch.isStopped || generation !== this.#generation;
    if (this.#options.state() !== 'connected') return;
    try {
      const bucket = await this.#opened();
      if (isOver()) return;
      const iterator = await bucket.watch({ key: watch.keys });
      if (isOver()) {
        iterator.stop();
        return;
      }
      watch.iterator = iterator;
      for await (const entry of iterator) {
        watch.backOff.reset();
        if (isOver()) return;
        this.#tell(watch, entry);
      }
    } catch (error) {
      if (isOver() || this.#options.state() !== 'connected') return;
      this.#options.log.warning(`watch of "${watch.keys}" in ${this.#options.form.name}: ${errorText(error)}`);
    }
    if (isOver()) return;
    watch.cancel = callLater(watch.backOff.nextMs(), () => void this.#start(watch));
  }

  #tell({ listener, keys }: Watch, { key, operation, value, revision }: KvWatchEntry): void {
    try {
      listener(operation === 'PUT' ? { key, value, revision } : { key, value: null });
    } catch (error) {
      this.#options.log.warning(`a listener of "${keys}" failed: ${errorText(error)}`);
    }
  }

  /** @throws FleetError */
  async #use<T>(what: string, work: (bucket: KV) => Promise<T>): Promise<T> {
    const { form, state } = this.#options;
    const words = `${form.name}: ${what}`;
    if (state() !== 'connected') throw new FleetError('offline', `${words}: no connection`);
    let end: (error: FleetError) => void = () => undefined;
    const ended = new Promise<never>((_, reject) => {
      end = reject;
    });
    this.#waiting.add(end);
    try {
      return await Promise.race([this.#opened().then(work), ended]);
    } catch (error) {
      if (state() !== 'connected') throw new FleetError('offline', `${words}: no connection`, { cause: error });
      throw fleetErrorOf(words, error);
    } finally {
      this.#waiting.delete(end);
    }
  }

  #opened(): Promise<KV> {
    const opening = (this.#opening ??= this.#openOrCreate());
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = null;
    });
    return opening;
  }

  /** JetStream of a server that has just begun answers nothing, or that it is not available. */
  async #openOrCreate(): Promise<KV> {
    const generation = this.#generation;
    const backOff = new BackOff(doubling(openWaits));
    for (let leftMs = operationMs; ; ) {
      try {
        return await this.#create();
      } catch (error) {
        const waitMs = backOff.nextMs();
        leftMs -= waitMs;
        const isOver = generation !== this.#generation || this.#options.state() !== 'connected';
        if (isOver || leftMs < 0 || fleetErrorOf('', error).code !== 'timeout') throw error;
        await new Promise<void>((resolve) => {
          callLater(waitMs, resolve);
        });
      }
    }
  }

  /** A bucket keeps its first time limit, whatever a later creation asks for. */
  async #create(): Promise<KV> {
    const { connection, form } = this.#options;
    const bucket = await new Kvm(jetstream(connection, { timeout: operationMs })).create(form.name, {
      history: 1,
      ttl: form.ttlMs,
      storage: form.storage === 'file' ? StorageType.File : StorageType.Memory,
    });
    const { ttl } = await bucket.status();
    if (ttl !== form.ttlMs) {
      const text = `the bucket ${form.name} of the server has a time limit of ${ttl} ms, not ${form.ttlMs} ms: delete it`;
      throw new FleetError('refused', text);
    }
    return bucket;
  }
}
