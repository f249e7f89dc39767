/** Settings of an outstation that no register holds. */
import type { InternalSettings, PointName } from './types.ts';

type Value = number | boolean;

export class OutstationSettings implements InternalSettings {
  readonly #starts = new Map<PointName, Value>();
  readonly #values = new Map<PointName, Value>();
  readonly #listeners: (() => void)[] = [];

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
  }

  onReset(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The device has been reset: the start values are back. */
  reset(): void {
    for (const [name, start] of this.#starts) this.#values.set(name, start);
    for (const listener of this.#listeners) listener();
  }
}
