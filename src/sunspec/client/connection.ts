/** The connection to one device: connects for requests, counts them and their answers, and limits operations. */
import { errorText, SimError } from '../../core/errors.ts';
import type { ModbusTap } from '../../core/wire/modbus.ts';
import type { ClientCounters, ClientTarget } from '../../contract/sunspec-client.ts';
import { exceptionIn, peerTimeout, endpointOf } from './peer.ts';
import { openLink } from './link.ts';
import type { Link } from './link.ts';

/** Maximum registers of one read and of one write (Modbus application protocol). */
export const maxRead = 125;
export const maxWritten = 123;

/** Exceptions after which a read is repeated once: acknowledge (5) and server device busy (6). */
const transientExceptions = new Set([5, 6]);
/** Time limit of an operation, ms; at least `minTimeouts` times the time limit of one answer. */
const operationMs = 30_000;
const minTimeouts = 4;

export type Counters = { -readonly [K in keyof ClientCounters]: ClientCounters[K] };

export interface ConnectionOptions {
  readonly target: ClientTarget;
  readonly counters: Counters;
  readonly monotonicMs: () => number;
  /** called when the link has opened (null) or ended (the reason) */
  readonly onLink: (reason: string | null) => void;
  readonly onActivity: () => void;
  /** the wire log; absent: no observer */
  readonly tap?: ModbusTap;
}

/** Limits of one device, learnt from its answers. */
export interface LearntLimits {
  /** maximum number of registers of one read */
  span: number;
  /** true: the device refuses function 6 */
  refuses6: boolean;
  /** true: the device refuses function 16 */
  refuses16: boolean;
}

export class Connection {
  readonly target: ClientTarget;
  readonly learnt: LearntLimits = { span: maxRead, refuses6: false, refuses16: false };
  readonly #options: ConnectionOptions;
  readonly #abort = new AbortController();
  #link: Link | null = null;
  #deadlineMs = Infinity;
  /** true: the last request had no answer */
  #silent = false;
  /** why the last attempt to connect failed */
  #linkError: unknown = null;

  constructor(options: ConnectionOptions) {
    this.target = options.target;
    this.#options = options;
  }

  get open(): boolean {
    return this.#link?.open === true;
  }

  /** Starts the time limit of an operation. */
  beginOperation(): void {
    this.#deadlineMs = this.#options.monotonicMs() + Math.max(operationMs, minTimeouts * this.target.timeoutMs);
  }

  /** Connects unless connected. @throws SimError PEER_ERROR, PEER_TIMEOUT, COMMAND_CONFLICT after `close` */
  async ensureLink(): Promise<Link> {
    this.#checkUse();
    if (this.#link?.open === true) return this.#link;
    const { counters, onLink, tap } = this.#options;
    try {
      const link = await openLink({
        target: this.target,
        ...(tap && { tap }),
        signal: this.#abort.signal,
        onEnd: (reason) => {
          onLink(reason);
        },
      });
      this.#link = link;
      if (this.#abort.signal.aborted) link.close('closed');
      this.#checkUse();
      counters.connections += 1;
      onLink(null);
      return link;
    } catch (error) {
      this.#checkUse();
      this.#count(error);
      this.#linkError = error;
      throw error;
    }
  }

  async read(address: number, count: number): Promise<Buffer> {
    try {
      return await this.#once((link) => link.read(address, count));
    } catch (error) {
      const code = exceptionIn(error);
      if (code !== null && !transientExceptions.has(code)) throw error;
      // an immediate second attempt to connect would only add load to a device that cannot answer
      if (error === this.#linkError) throw error;
      this.#checkUse();
    }
    return this.#once((link) => link.read(address, count));
  }

  /**
   * Repeats only a write that the device certainly did not carry out.
   * @throws SimError PEER_ERROR, PEER_TIMEOUT, COMMAND_CONFLICT
   */
  async write(functionCode: 6 | 16, address: number, registers: readonly number[]): Promise<void> {
    const work = (link: Link) => link.write(functionCode, address, registers);
    try {
      await this.#once(work);
    } catch (error) {
      // exception 6 (busy): not carried out; 5 (acknowledge): will be carried out
      if (exceptionIn(error) !== 6) throw error;
      this.#checkUse();
      await this.#once(work);
    }
  }

  /** Closes the link; the next request opens a new one. */
  drop(reason: string): void {
    this.#link?.close(reason);
  }

  /** Closes for good; a request under way fails. */
  close(): void {
    this.#abort.abort();
    this.#link?.close('closed');
  }

  async #once<T>(work: (link: Link) => Promise<T>): Promise<T> {
    this.#checkTime();
    const link = await this.ensureLink();
    const { counters, onActivity } = this.#options;
    counters.requests += 1;
    onActivity();
    try {
      const result = await work(link);
      counters.answers += 1;
      this.#silent = false;
      return result;
    } catch (error) {
      this.#checkUse();
      this.#count(error);
      if (exceptionIn(error) === null) this.#distrust(link, error);
      throw error;
    }
  }

  /**
   * Octets after an unusable answer may belong to it, so the link is closed. After a request without an answer the link
   * is kept once: the device may have been asleep, and some devices handle a new connection badly.
   */
  #distrust(link: Link, error: unknown): void {
    const isSilent = error instanceof SimError && error.code === 'PEER_TIMEOUT' && !link.suspect;
    const wasSilent = this.#silent;
    this.#silent = isSilent;
    if ((isSilent && !wasSilent) || !link.open) return;
    link.close(errorText(error));
    this.#options.onLink(errorText(error));
  }

  #count(error: unknown): void {
    const { counters } = this.#options;
    counters.errors += 1;
    if (exceptionIn(error) !== null) {
      counters.exceptions += 1;
      counters.answers += 1;
    }
    if (error instanceof SimError && error.code === 'PEER_TIMEOUT') counters.timeouts += 1;
  }

  #checkUse(): void {
    if (this.#abort.signal.aborted)
      throw new SimError('COMMAND_CONFLICT', `the connection to ${endpointOf(this.target)} was given up meanwhile`);
  }

  #checkTime(): void {
    if (this.#options.monotonicMs() < this.#deadlineMs) return;
    throw peerTimeout(`${endpointOf(this.target)} answers so slowly that the operation was ended`);
  }
}
