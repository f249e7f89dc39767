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
  /** called with each adapter, and with null when there is none any more */
  readonly placed?: (adapter: A | null) => void;
}

interface Seat {
  readonly name: RestartableAdapter | null;
  readonly adapter: Adapter | null;
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
}

export class AdapterSeats {
  readonly #seats: Seat[] = [];
  readonly #present: Adapter[] = [];
  readonly #log: Pick<Logger, 'error' | 'info' | 'warning'>;

  constructor(log: Pick<Logger, 'error' | 'info' | 'warning'>) {
    this.#log = log;
  }

  /** Adapters that are switched on, in the order in which they start. The list is the same one after each change. */
  get adapters(): readonly Adapter[] {
    return this.#present;
  }

  /** Makes an adapter, which starts after those added before. @throws errors of `make` */
  add<A extends Adapter>({ name, make, placed }: SeatOptions<A>): void {
    let adapter: A | null = null;
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
      async close() {
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
    });
    place(make());
  }

  /**
   * Closes the named adapters, then makes and starts them by the settings in force, with the lines that a start of the
   * simulator has about them.
   * @throws the error of the first one that does not start; it and those after it are switched off then
   */
  async restart(names: readonly RestartableAdapter[]): Promise<void> {
    const seats = this.#seats.filter(({ name }) => name !== null && names.includes(name));
    await Promise.all(
      seats.map((seat) =>
        seat.close().catch((error: unknown) => {
          this.#log.error(`${seat.name} did not stop cleanly: ${errorText(error)}`);
        }),
      ),
    );
    for (const seat of seats) await seat.open();
    const started = seats.flatMap(({ adapter }) => adapter ?? []);
    for (const warning of exposureWarnings(started.flatMap(({ exposure }) => exposure ?? [])))
      this.#log.warning(warning);
    for (const line of started.flatMap((adapter) => adapter.startLines?.() ?? []))
      this.#log.info(line.replace(/ +/g, ' '));
  }
}
