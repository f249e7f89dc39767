/**
 * Bound TCP ports of one adapter: connections that cannot be accepted are reported once a minute, and a port whose
 * listener fails is bound again.
 */
import type { Server } from 'node:net';
import type { AdapterStatus } from '../adapter.ts';
import type { CommAlarmCode, CommAlarmSwitch } from '../comm-alarms.ts';
import { errorText, shortageTexts } from '../errors.ts';
import type { Logger } from '../log/log.ts';
import type { WallClock } from '../time/clock.ts';
import type { Later } from '../time/timers.ts';
import { hostAndPort, listen } from './listen.ts';
import { Recovery } from './recovery.ts';

/** Codes after which a listening socket accepts nothing more; after every other one (EMFILE, ECONNABORTED) it goes on. */
const lostCodes: ReadonlySet<unknown> = new Set(['EBADF', 'EINVAL', 'ENOTSOCK']);

/** Minimum time between two warnings with the same code, ms. */
const warningGapMs = 60_000;

/** Address of a bound server. */
export interface KeptPlace {
  readonly host: string;
  readonly port: number;
  /** the device that the port serves, for log and alarm; absent: several or none */
  readonly deviceIndex?: number | undefined;
  /** the port serves all devices of the adapter, which have the alarm while it is lost; default false */
  readonly isShared?: boolean;
}

/** Alarm of devices whose port is lost. */
export interface PortAlarm {
  readonly alarms: CommAlarmSwitch;
  readonly code: CommAlarmCode;
  /** devices of the adapter */
  readonly devices: () => Iterable<number>;
}

export interface KeptPortsOptions {
  readonly log: Pick<Logger, 'info' | 'warning'>;
  readonly clock: Pick<WallClock, 'monotonicMs'>;
  readonly later: Later;
  /** first in each line of the log and in each reason; absent: the module of the log says it */
  readonly name?: string;
  /** absent: no alarm */
  readonly alarm?: PortAlarm;
}

/** One port. Its server stays the same object, so that whatever listens to the server goes on with it. */
export class KeptPort {
  readonly place: KeptPlace;
  readonly #owner: KeptPorts;
  readonly #server: Server;
  #recovery: Recovery | undefined;
  /** true: the present reason is that of an attempt */
  #attempted = false;
  #released = false;

  constructor(owner: KeptPorts, server: Server, place: KeptPlace) {
    this.#owner = owner;
    this.#server = server;
    this.place = place;
    server.on('error', (error: NodeJS.ErrnoException) => {
      this.#onError(error);
    });
    server.on('close', () => {
      this.#lose(`the listener on ${this.where} was closed`);
    });
  }

  /** `127.0.0.1:8502` */
  get where(): string {
    return hostAndPort(this.place.host, this.place.port);
  }

  /** Why the port is lost; null: it is bound. */
  get reason(): string | null {
    return this.#recovery?.reason ?? null;
  }

  /** `reason` with the time to the next attempt; null: the port is bound. */
  get words(): string | null {
    return this.#recovery?.words ?? null;
  }

  /** The line of the log for the present reason. */
  get line(): string {
    return this.#attempted
      ? `the port cannot open again: ${this.reason}`
      : `${this.reason}; the port is opened again as soon as possible`;
  }

  /** Begins with a server that could not be bound. */
  recover(error: unknown): void {
    this.#attempted = true;
    this.#lose(errorText(error));
  }

  /** Ends watch and attempts before the owner closes the server; resolves when an attempt under way has ended. */
  release(): Promise<void> {
    this.#released = true;
    const ended = this.#recovery?.end();
    this.#owner.forget(this);
    return ended ?? Promise.resolve();
  }

  #onError(error: NodeJS.ErrnoException): void {
    // a failed attempt rejects by itself
    if (this.#released || this.reason !== null) return;
    if (!lostCodes.has(error.code)) {
      this.#owner.refused(error, this.place.deviceIndex);
      return;
    }
    this.#lose(`the listener on ${this.where} has failed: ${error.message}`);
    // without it the system would report the error again and again
    this.#server.close();
  }

  #lose(reason: string): void {
    if (this.#released || this.reason !== null) return;
    this.#recovery ??= this.#owner.recoveryOf(this, () => this.#open());
    this.#recovery.begin(reason);
  }

  async #open(): Promise<void> {
    this.#attempted = true;
    await listen(this.#server, this.place.host, this.place.port, this.#owner.name);
    this.#attempted = false;
    if (this.#released) this.#server.close();
  }
}

export class KeptPorts {
  readonly name: string | undefined;
  readonly #options: KeptPortsOptions;
  readonly #lost = new Set<KeptPort>();
  /** by code of the error: monotonic ms of the last warning, and the number of errors since */
  readonly #warned = new Map<string, { readonly atMs: number; more: number }>();

  constructor(options: KeptPortsOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** Watches a server that is bound, until `release`. */
  keep(server: Server, place: KeptPlace): KeptPort {
    return new KeptPort(this, server, place);
  }

  /** Binds a server for which that has just failed with `error`. */
  recover(server: Server, place: KeptPlace, error: unknown): KeptPort {
    const port = new KeptPort(this, server, place);
    port.recover(error);
    return port;
  }

  /** State and detail of an adapter with a lost port; empty: every port is bound. */
  get trouble(): Partial<Pick<AdapterStatus, 'state' | 'detail'>> {
    const [first] = this.#lost;
    if (first === undefined) return {};
    const more = this.#lost.size === 1 ? '' : `; ${this.#lost.size} ports are closed`;
    return { state: 'retrying', detail: `${first.words}${more}` };
  }

  /** Shows the alarm of a device that joins while a port of all devices is lost. */
  joined(deviceIndex: number): void {
    this.#showAlarm(deviceIndex);
  }

  /** @param port called by the port itself, at its first failure */
  recoveryOf(port: KeptPort, attempt: () => Promise<void>): Recovery {
    const { clock, later, log } = this.#options;
    return new Recovery({
      attempt,
      clock,
      later,
      onChange: (reason) => {
        const { deviceIndex } = port.place;
        if (reason === null) {
          log.info(`${this.#prefix}listens on ${port.where} again`, deviceIndex);
          this.forget(port);
          return;
        }
        this.#lost.add(port);
        log.warning(this.#prefix + port.line, deviceIndex);
        this.#showAlarms(port);
      },
    });
  }

  /** Reports a connection that cannot be accepted; the port stays bound. */
  refused(error: NodeJS.ErrnoException, deviceIndex: number | undefined): void {
    const { log, clock } = this.#options;
    const { code = 'unknown' } = error;
    const nowMs = clock.monotonicMs();
    const last = this.#warned.get(code);
    if (last !== undefined && nowMs - last.atMs < warningGapMs) {
      last.more += 1;
      return;
    }
    const before = last === undefined || last.more === 0 ? '' : ` (and ${last.more} more since the last such line)`;
    this.#warned.set(code, { atMs: nowMs, more: 0 });
    log.warning(
      `${this.#prefix}cannot accept a connection: ${shortageTexts[code] ?? error.message}${before}`,
      deviceIndex,
    );
  }

  /** Drops a port that is no longer lost, or whose owner closes it. */
  forget(port: KeptPort): void {
    if (this.#lost.delete(port)) this.#showAlarms(port);
  }

  get #prefix(): string {
    return this.name === undefined ? '' : `${this.name}: `;
  }

  /** Updates the alarms of all devices that a port serves. */
  #showAlarms({ place: { deviceIndex, isShared = false } }: KeptPort): void {
    if (deviceIndex !== undefined) this.#showAlarm(deviceIndex);
    else if (isShared) for (const index of this.#options.alarm?.devices() ?? []) this.#showAlarm(index);
  }

  #showAlarm(index: number): void {
    const { alarm } = this.#options;
    if (alarm === undefined) return;
    for (const { place, reason } of this.#lost) {
      if (place.deviceIndex !== index && place.isShared !== true) continue;
      alarm.alarms.raise(index, alarm.code, reason ?? 'the port is lost');
      return;
    }
    alarm.alarms.end(index, alarm.code);
  }
}
