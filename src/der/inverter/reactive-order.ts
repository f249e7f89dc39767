/** Order in which functions of reactive power were enabled: the last enabled one acts. */
import type { Settings } from './settings.ts';

/** The order at start; the last one has priority. */
export const reactiveFunctions = ['pf_absorb', 'pf_inject', 'constant_var', 'watt_var', 'volt_var'] as const;
export type ReactiveFunction = (typeof reactiveFunctions)[number];

/** Ranks that functions regain, because a change restores their enables. */
export type FormerRanks = ReadonlyMap<ReactiveFunction, number>;
export const noFormerRanks: FormerRanks = new Map();

export function reactiveEnabled(settings: Settings, name: ReactiveFunction): boolean {
  switch (name) {
    case 'pf_inject':
      return settings.pfInject.enabled;
    case 'pf_absorb':
      return settings.pfAbsorb.enabled;
    case 'constant_var':
      return settings.constantVar.enabled;
    case 'watt_var':
      return settings.wattVar.enabled;
    case 'volt_var':
      return settings.voltVar.enabled;
  }
}

const startRanks = () => new Map(reactiveFunctions.map((name, position) => [name, position]));

export class ReactiveOrder {
  /** a function enabled later has a higher rank */
  #ranks = startRanks();
  #highest = reactiveFunctions.length - 1;
  /** ascending */
  order: readonly ReactiveFunction[] = reactiveFunctions;

  /** The rank of a function, for `FormerRanks`. */
  rankOf(name: ReactiveFunction): number {
    return this.#ranks.get(name) ?? 0;
  }

  /** Applies a change of settings: newly enabled functions move to the end, in their present order. */
  follow(before: Settings, after: Settings, former: FormerRanks): void {
    const enabled = this.order.filter(
      (name) => reactiveEnabled(after, name) && !reactiveEnabled(before, name) && !former.has(name),
    );
    if (enabled.length === 0 && former.size === 0) return;
    for (const name of enabled) this.#ranks.set(name, (this.#highest += 1));
    for (const [name, rank] of former) this.#ranks.set(name, rank);
    this.order = [...reactiveFunctions].sort((a, b) => this.rankOf(a) - this.rankOf(b));
  }

  /** Restores the order at start. */
  forget(): void {
    this.#ranks = startRanks();
    this.order = reactiveFunctions;
  }
}
