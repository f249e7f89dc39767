/** The lease of a shard: its name belongs to one process, which renews it each second. */
import type { Every, Later } from '../../core/time/timers.ts';
import { FleetError } from '../link.ts';
import type { FleetBucket } from '../link.ts';

const renewMs = 1000;
const retryMs = 500;

export interface LeaseOptions {
  readonly bucket: FleetBucket;
  readonly shard: string;
  /** content as it is now */
  readonly content: () => object;
  readonly session: string;
  readonly waitMs: number;
  readonly every: Every;
  readonly later: Later;
  readonly monotonicMs: () => number;
  /** Called once when another process has the name. */
  readonly lost: (reason: string) => void;
}

interface Holder {
  readonly session?: unknown;
  readonly host?: unknown;
  readonly pid?: unknown;
}

function holderOf(value: Uint8Array): Holder {
  try {
    return (JSON.parse(Buffer.from(value).toString()) ?? {}) as Holder;
  } catch {
    return {};
  }
}

const isConflict = (error: unknown) => error instanceof FleetError && error.code === 'conflict';

export class Lease {
  readonly #options: LeaseOptions;
  readonly #key: string;
  #revision = 0;
  #stop: (() => void) | null = null;
  #isRenewing = false;
  /** revision of the first write */
  epoch = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#key = `shard.${options.shard}`;
  }

  /**
   * Takes the name, once an earlier process has let go of it.
   *
   * @throws FleetError `conflict` when another process still has it at the end of the wait
   */
  async take(): Promise<void> {
    const { waitMs, monotonicMs, every } = this.#options;
    const endMs = monotonicMs() + waitMs;
    for (;;) {
      try {
        this.epoch = this.#revision = await this.#create();
        break;
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (monotonicMs() >= endMs) throw new FleetError('conflict', await this.#taken(), { cause: error });
      }
      await new Promise<void>((resolve) => {
        this.#options.later(retryMs, resolve);
      });
    }
    this.#stop = every(renewMs, () => {
      void this.renew();
    });
  }

  async #taken(): Promise<string> {
    const entry = await this.#options.bucket.get(this.#key);
    const { host, pid } = entry === null ? {} : holderOf(entry.value);
    return `the name "${this.#options.shard}" belongs to another shard, on ${String(host)} (pid ${String(pid)})`;
  }

  /** Writes the lease anew; does nothing while it is being written, and while the server is away. */
  async renew(): Promise<void> {
    if (this.#isRenewing || this.#stop === null) return;
    this.#isRenewing = true;
    try {
      this.#revision = await this.#options.bucket.update(this.#key, this.#bytes, this.#revision);
    } catch (error) {
      if (isConflict(error)) await this.#recover().catch(() => undefined);
    } finally {
      this.#isRenewing = false;
    }
  }

  /** The entry has another revision: it has ended by its time limit, or another process has written it. */
  async #recover(): Promise<void> {
    const entry = await this.#options.bucket.get(this.#key);
    if (entry === null) {
      this.#revision = await this.#create();
    } else if (holderOf(entry.value).session === this.#options.session) {
      this.#revision = entry.revision;
    } else {
      this.#end();
      this.#options.lost(await this.#taken());
    }
  }

  /** Lets go of the name, unless another process has it. */
  async release(): Promise<void> {
    if (this.#stop === null) return;
    this.#end();
    await this.#options.bucket.delete(this.#key);
  }

  #end(): void {
    this.#stop?.();
    this.#stop = null;
  }

  get #bytes(): Buffer {
    return Buffer.from(JSON.stringify(this.#options.content()));
  }

  #create(): Promise<number> {
    return this.#options.bucket.create(this.#key, this.#bytes);
  }
}
