/** Settings of an outstation that no register holds. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { Keep } from '../memory/memory.ts';
import type { InternalSettings, PointName } from './types.ts';

type Value = number | boolean;

export class OutstationSettings implements InternalSettings {
  readonly #starts = new Map<PointName, Value>();
  readonly #values = new Map<PointName, Value>();
  readonly #listeners: (() => void)[] = [];
  readonly #changed: () => void;

  constructor(keep: Keep) {
    this.#changed = keep('settings', this.kept());
  }

  declare(name: PointName, start: Value): void {
    this.#starts.set(name, start);
    this.#values.set(name, start);
  }

  number(name: PointName): number {
    const value = this.#values.get(name);
    return typeof value === 'number' ? value : 0;
  }

  flag(name: PointName): boolean {
    return this.#values.get(name) === true;
  }

  set(name: PointName, value: Value): void {
    this.#values.set(name, value);
    this.#changed();
  }

  onReset(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Restores the start values after a reset of the device. */
  reset(): void {
    for (const [name, start] of this.#starts) this.#values.set(name, start);
    this.#changed();
    for (const listener of this.#listeners) listener();
  }

  /** Settings that differ from their start values, as state that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => Object.fromEntries([...this.#values].filter(([name, value]) => value !== this.#starts.get(name))),
      (values) => {
        for (const [name, start] of this.#starts) {
          const value: unknown = values[name];
          if (typeof value === typeof start) this.#values.set(name, value as Value);
        }
      },
    );
  }
}
