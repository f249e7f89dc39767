/** The places of adapters, which settings switch on, restart and switch off while the simulator runs. */
import type { RestartableAdapter } from '../../contract/settings.ts';
import { disabledStatus } from '../../core/adapter.ts';
import type { Adapter, Exposure } from '../../core/adapter.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { isLoopback } from '../../core/http/http-guard.ts';
import type { Logger } from '../../core/log/log.ts';
import { withinLimit } from '../../core/time/timers.ts';
import type { Later } from '../../core/time/timers.ts';

/** Log lines about addresses that others than this machine reach without authentication. */
export function exposureWarnings(exposures: readonly Exposure[]): readonly string[] {
  return exposures
    .filter(({ host }) => !isLoopback(host))
    .map(
      ({ what, host }) =>
        `${what} listens on ${host} without authentication: anybody who can reach this address controls the simulator`,
    );
}

interface SeatOptions<A extends Adapter> {
  /** null: it never restarts */
  readonly name: RestartableAdapter | null;
  /** an adapter by the settings in force; null: they switch it off */
  readonly make: () => A | null;
  /** true: a restart closes it when those before it have started, so that their failure does not reach it */
  readonly restartsLast?: boolean;
  /** called with each adapter, and with null when there is none any more */
  readonly placed?: (adapter: A | null) => void;
}

/** Time in which an adapter closes, and in which it opens, ms; the last messages of OCPP have 3 s. */
const limitMs = 10_000;

/** Adapters that do not open, with their errors. */
export type NotOpened = ReadonlyMap<RestartableAdapter, unknown>;

export interface RestartOptions {
  /** false: the first adapter that does not open leaves those after it switched off */
  readonly goesOn: boolean;
  /** no adapter opens any more once it is aborted */
  readonly ending: AbortSignal;
}

/** Shows an adapter that did not open, with the reason. */
function notOpened({ module, comm, outbound = false }: Adapter, error: unknown): Adapter {
  const status = { ...disabledStatus, enabled: true, state: 'error', detail: errorText(error) } as const;
  const done = () => Promise.resolve();
  return { module, comm, outbound, start: done, stop: done, status: () => status };
}

interface Seat {
  readonly name: RestartableAdapter | null;
  readonly adapter: Adapter | null;
  /** the adapter, or what shows that it did not open */
  readonly shown: Adapter | null;
  readonly restartsLast: boolean;
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
  /** Shows why the adapter did not open, in its place. */
  readonly leaveOff: (error: unknown) => void;
  /** The settings in force stay: an adapter that they have switched off forgets what it would have continued with. */
  readonly settle: () => void;
}

export class AdapterSeats {
  readonly #seats: Seat[] = [];
  readonly #present: Adapter[] = [];
  /** closed by the last restart, in this order */
  readonly #tried = new Set<Seat>();
  readonly #log: Pick<Logger, 'error' | 'info' | 'warning'>;
  readonly #later: Later;

  constructor(log: Pick<Logger, 'error' | 'info' | 'warning'>, later: Later) {
    this.#log = log;
    this.#later = later;
  }

  /**
   * Adapters that are switched on, also those that did not open, in the order in which they start. The list is the same one
   * after each change.
   */
  get adapters(): readonly Adapter[] {
    return this.#present;
  }

  /** Makes an adapter, which starts after those added before. @throws errors of `make` */
  add<A extends Adapter>({ name, make, restartsLast = false, placed }: SeatOptions<A>): void {
    const later = this.#later;
    let adapter: A | null = null;
    let shown: Adapter | null = null;
    let closed: A | null = null;
    const place = (next: A | null, notice: Adapter | null = next) => {
      adapter = next;
      shown = notice;
      placed?.(next);
      this.#present.splice(0, Infinity, ...this.#seats.flatMap((seat) => seat.shown ?? []));
    };
    const leaveOff = (error: unknown) => {
      if (adapter !== null) place(null, notOpened(adapter, error));
    };
    this.#seats.push({
      name,
      get adapter() {
        return adapter;
      },
      get shown() {
        return shown;
      },
      restartsLast,
      leaveOff,
      async close() {
        if (adapter === null) {
          place(null);
          return;
        }
        closed = adapter;
        try {
          await withinLimit(adapter.switchOff?.() ?? adapter.stop(), limitMs, later);
        } finally {
          place(null);
        }
      },
      async open() {
        const next = make();
        if (next === null) return;
        place(next);
        const start = next.start();
        try {
          await withinLimit(start, limitMs, later);
        } catch (error) {
          leaveOff(error);
          // an adapter that opens too late closes again
          void start.then(() => next.stop()).catch(() => undefined);
          throw error;
        }
      },
      settle() {
        if (adapter === null) closed?.forget?.();
        closed = null;
      },
    });
    place(make());
  }

  /**
   * Starts all adapters.
   * @param leavesOff true: one that does not open is left switched off, if it can restart
   * @throws errors of their starts
   */
  async start(leavesOff: boolean): Promise<NotOpened> {
    const failures = new Map<RestartableAdapter, unknown>();
    for (const { name, adapter, leaveOff } of this.#seats)
      try {
        await adapter?.start();
      } catch (error) {
        if (!leavesOff || name === null) throw error;
        leaveOff(error);
        failures.set(name, error);
      }
    return failures;
  }

  /**
   * Closes the named adapters, then makes and starts them by the settings in force, with the lines that a start of the
   * simulator has about them. One that does not close in time counts as closed. After a failure a second restart, which goes
   * on, reaches those that the first one has closed, and `settle` follows once all have opened.
   * @throws SimError STOPPING
   */
  async restart(names: readonly RestartableAdapter[], how: RestartOptions): Promise<NotOpened> {
    const named = this.#seats.filter(({ name }) => name !== null && names.includes(name));
    const seats = how.goesOn ? named.filter((seat) => seat.adapter === null || this.#tried.has(seat)) : named;
    if (!how.goesOn) this.#tried.clear();
    const failures = new Map<RestartableAdapter, unknown>();
    for (const isLast of [false, true]) {
      await this.#reopen(
        seats.filter(({ restartsLast }) => restartsLast === isLast),
        how,
        failures,
      );
      if (failures.size > 0 && !how.goesOn) return failures;
    }
    this.#announce(seats);
    return failures;
  }

  /** Nothing can refuse the settings in force any more. */
  settle(): void {
    for (const seat of this.#seats) seat.settle();
  }

  async #reopen(
    seats: readonly Seat[],
    { goesOn, ending }: RestartOptions,
    failures: Map<RestartableAdapter, unknown>,
  ): Promise<void> {
    for (const seat of seats) this.#tried.add(seat);
    await Promise.all(
      seats.map((seat) =>
        seat.close().catch((error: unknown) => {
          this.#log.error(`${seat.name} did not stop cleanly: ${errorText(error)}`);
        }),
      ),
    );
    for (const { name, open } of seats) {
      if (ending.aborted) throw new SimError('STOPPING', 'the simulator is stopping');
      try {
        await open();
      } catch (error) {
        if (name !== null) failures.set(name, error);
        if (!goesOn) return;
      }
    }
  }

  /** The lines of a start about adapters. */
  #announce(seats: readonly Seat[]): void {
    const started = seats.flatMap(({ adapter }) => adapter ?? []);
    for (const warning of exposureWarnings(started.flatMap(({ exposure }) => exposure ?? [])))
      this.#log.warning(warning);
    for (const line of started.flatMap((adapter) => adapter.startLines?.() ?? []))
      this.#log.info(line.replace(/ +/g, ' '));
  }
}
