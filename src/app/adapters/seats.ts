/** The places of adapters, which settings switch on, restart and switch off while the simulator runs. */
import type { RestartableAdapter } from '../../contract/settings.ts';
import type { Adapter, Exposure } from '../../core/adapter.ts';
import { errorText } from '../../core/errors.ts';
import { isLoopback } from '../../core/http/http-guard.ts';
import type { Logger } from '../../core/log/log.ts';

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

interface Seat {
  readonly name: RestartableAdapter | null;
  readonly adapter: Adapter | null;
  readonly restartsLast: boolean;
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
  /** The settings in force stay: an adapter that they have switched off forgets what it would have continued with. */
  readonly settle: () => void;
}

export class AdapterSeats {
  readonly #seats: Seat[] = [];
  readonly #present: Adapter[] = [];
  /** closed by the restart under way, in this order */
  readonly #tried = new Set<Seat>();
  readonly #log: Pick<Logger, 'error' | 'info' | 'warning'>;

  constructor(log: Pick<Logger, 'error' | 'info' | 'warning'>) {
    this.#log = log;
  }

  /** Adapters that are switched on, in the order in which they start. The list is the same one after each change. */
  get adapters(): readonly Adapter[] {
    return this.#present;
  }

  /** Makes an adapter, which starts after those added before. @throws errors of `make` */
  add<A extends Adapter>({ name, make, restartsLast = false, placed }: SeatOptions<A>): void {
    let adapter: A | null = null;
    let closed: A | null = null;
    const place = (next: A | null) => {
      adapter = next;
      placed?.(next);
      this.#present.splice(0, Infinity, ...this.#seats.flatMap((seat) => seat.adapter ?? []));
    };
    this.#seats.push({
      name,
      get adapter() {
        return adapter;
      },
      restartsLast,
      async close() {
        closed = adapter ?? closed;
        await (adapter?.switchOff?.() ?? adapter?.stop());
        place(null);
      },
      async open() {
        const next = make();
        if (next === null) return;
        place(next);
        try {
          await next.start();
        } catch (error) {
          place(null);
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
   * Closes the named adapters, then makes and starts them by the settings in force, with the lines that a start of the
   * simulator has about them. `settle` or `putBack` follows.
   * @throws the error of the first one that does not start; it and closed ones after it are switched off then
   */
  restart(names: readonly RestartableAdapter[]): Promise<void> {
    this.#tried.clear();
    return this.#restart(this.#seats.filter(({ name }) => name !== null && names.includes(name)));
  }

  /** As `restart`, for the adapters that the failed one has closed. */
  putBack(): Promise<void> {
    return this.#restart([...this.#tried]);
  }

  /** Nothing can refuse the settings in force any more. */
  settle(): void {
    for (const seat of this.#seats) seat.settle();
  }

  async #restart(seats: readonly Seat[]): Promise<void> {
    for (const isLast of [false, true]) await this.#reopen(seats.filter(({ restartsLast }) => restartsLast === isLast));
    this.#report(seats.flatMap(({ adapter }) => adapter ?? []));
  }

  async #reopen(seats: readonly Seat[]): Promise<void> {
    for (const seat of seats) this.#tried.add(seat);
    await Promise.all(
      seats.map((seat) =>
        seat.close().catch((error: unknown) => {
          this.#log.error(`${seat.name} did not stop cleanly: ${errorText(error)}`);
        }),
      ),
    );
    for (const seat of seats) await seat.open();
  }

  #report(started: readonly Adapter[]): void {
    for (const warning of exposureWarnings(started.flatMap(({ exposure }) => exposure ?? [])))
      this.#log.warning(warning);
    for (const line of started.flatMap((adapter) => adapter.startLines?.() ?? []))
      this.#log.info(line.replace(/ +/g, ' '));
  }
}
