/** An outstation: its points, and one association for each of its masters. */
import { Association } from './association.ts';
import type { AssociationCounters } from './association.ts';
import type { OutstationOptions } from './types.ts';

export class Outstation {
  readonly associations: readonly Association[];
  readonly #options: OutstationOptions;
  readonly #endEvents: () => void;

  /** @param masters addresses, each once */
  constructor(options: OutstationOptions, masters: readonly number[]) {
    this.#options = options;
    this.associations = masters.map(
      (masterAddress) =>
        new Association({
          outstation: options,
          masterAddress,
          selectedByOther: (kind, index) =>
            this.associations.some((other) => other.masterAddress !== masterAddress && other.isSelected(kind, index)),
        }),
    );
    this.#endEvents = options.database.onEvent((event) => {
      for (const each of this.associations) each.take(event);
    });
  }

  association(masterAddress: number): Association | null {
    return this.associations.find((each) => each.masterAddress === masterAddress) ?? null;
  }

  /** Reports a restart to all masters: the device was off. Classes and deadbands are those of the configuration again. */
  restart(): void {
    this.#options.database.restart();
    for (const each of this.associations) each.restart();
  }

  get counters(): AssociationCounters & { readonly events: number; readonly eventsLost: number } {
    const sum = (value: (each: Association) => number) =>
      this.associations.reduce((total, each) => total + value(each), 0);
    return {
      requests: sum(({ counters }) => counters.requests),
      responses: sum(({ counters }) => counters.responses),
      unsolicited: sum(({ counters }) => counters.unsolicited),
      refusals: sum(({ counters }) => counters.refusals),
      confirmTimeouts: sum(({ counters }) => counters.confirmTimeouts),
      events: sum(({ events }) => events.added),
      eventsLost: sum(({ events }) => events.lost),
    };
  }

  /** Ends timers and sessions; the server closes the connections. */
  close(): void {
    this.#endEvents();
    for (const each of this.associations) if (each.session !== null) each.close(each.session);
  }
}
