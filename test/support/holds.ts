/** Holds on a test bank, with points by name. */
import { Holds } from '../../src/sunspec/map/holds.ts';
import type { EndedHold, HoldValue } from '../../src/sunspec/map/holds.ts';
import type { Source } from '../../src/core/origin.ts';
import type { Bank } from '../../src/sunspec/map/bank.ts';
import type { AnyPointValue } from '../../src/sunspec/map/types.ts';
import { pointName } from '../../src/sunspec/map/view.ts';
import { named } from './map.ts';

export type Values = Readonly<Record<string, AnyPointValue>>;

/** Names of points and what became of them. */
export interface Ended {
  readonly id: string;
  readonly restored: readonly string[];
  readonly left: readonly string[];
  readonly handedOver: readonly string[];
}

/** One owner that speaks in names of points. */
export class Owner {
  readonly holds: Holds;
  readonly #bank: Bank;
  readonly #source: Source;

  constructor(bank: Bank, source: Source) {
    this.#bank = bank;
    this.#source = source;
    this.holds = new Holds(bank, source);
  }

  values(values: Values): HoldValue[] {
    return Object.entries(values).map(([name, value]) => ({ slot: named(this.#bank.layout, name), value }));
  }

  /** Begins a hold, in one commit with the end of others. */
  begin(id: string, values: Values, end: readonly string[] = []): readonly Ended[] {
    return this.holds.change({ end, begin: { id, source: this.#source, values: this.values(values) } }).map(inNames);
  }

  check(id: string, values: Values, end: readonly string[] = []): void {
    this.holds.check({ end, begin: { id, source: this.#source, values: this.values(values) } });
  }

  end(...ids: readonly string[]): readonly Ended[] {
    return this.holds.change({ end: ids }).map(inNames);
  }

  /** Names of the points of a hold that somebody else has written. */
  overwritten(id: string): readonly string[] {
    return this.holds.points(id).flatMap(({ slot, overwritten }) => (overwritten ? [pointName(slot)] : []));
  }
}

function inNames({ id, restored, left, handedOver }: EndedHold): Ended {
  return { id, restored: restored.map(pointName), left: left.map(pointName), handedOver: handedOver.map(pointName) };
}
