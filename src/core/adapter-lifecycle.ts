import type { AdapterStatus, CommState } from './adapter.ts';
import { errorText } from './errors.ts';

/** The lifecycle that all adapters share: one start or stop at a time, a state, and the last error. */
export class AdapterLifecycle {
  #state: CommState = 'stopped';
  #lastError: string | null = null;
  #stopping: Promise<void> | undefined;

  get state(): CommState {
    return this.#state;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** `stop` was called, and `start` not since. */
  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  /**
   * Opens everything and is `listening` then; does nothing while it is running already.
   * @param open leaves nothing open when it fails
   * @throws whatever `open` throws, kept as the last error
   */
  async start(open: () => Promise<void> | void): Promise<void> {
    if (this.#state !== 'stopped' && this.#state !== 'error') return;
    this.#state = 'starting';
    this.#stopping = undefined;
    try {
      await open();
    } catch (error) {
      this.#state = 'error';
      this.#lastError = errorText(error);
      throw error;
    }
    // `stop` or `retrying` may have been called meanwhile
    if (this.state === 'starting') this.listening();
  }

  /** Closes everything; a second call resolves with the first. */
  stop(close: () => Promise<void> | void): Promise<void> {
    this.#stopping ??= this.#stop(close);
    return this.#stopping;
  }

  async #stop(close: () => Promise<void> | void): Promise<void> {
    await close();
    this.#state = 'stopped';
  }

  /** Serves, again or for the first time. */
  listening(): void {
    if (this.stopping) return;
    this.#state = 'listening';
    this.#lastError = null;
  }

  /** The adapter has lost its peer and tries to reach it again. */
  retrying(reason: string): void {
    if (this.stopping) return;
    this.#state = 'retrying';
    this.#lastError = reason;
  }

  /** @param parts members of the adapter; an error replaces `detail` */
  status({ detail = null, ...parts }: Partial<AdapterStatus>): AdapterStatus {
    return {
      enabled: true,
      state: this.#state,
      detail: this.#lastError ?? detail,
      endpoint: null,
      peers: 0,
      lastActivityMs: null,
      rxCount: 0,
      txCount: 0,
      errorCount: 0,
      ...parts,
    };
  }
}
