/** Metric families in the text format of Prometheus. */
import { createRequire } from 'node:module';
import type PromClient from 'prom-client';
import { lazily } from '../../core/lazy.ts';
import { checkDescriptorsToRequire } from '../../core/errors.ts';
import type { Family } from './family.ts';

/** Media type of the text exposition format. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

const require = createRequire(import.meta.url);

/** The values of one scrape at a time. */
export class Exposition<View> {
  readonly #registry: PromClient.Registry;
  readonly #metrics: readonly {
    readonly family: Family<View>;
    readonly metric: PromClient.Gauge | PromClient.Counter;
  }[];

  /** Makes a separate registry, so that simulators in one process do not mix. */
  constructor({ Counter, Gauge, Registry }: typeof PromClient, families: readonly Family<View>[]) {
    const registry = new Registry();
    this.#registry = registry;
    this.#metrics = families.map((family) => {
      const { name, help, labels } = family;
      const options = { name, help, labelNames: [...labels], registers: [registry] };
      return { family, metric: family.type === 'counter' ? new Counter(options) : new Gauge(options) };
    });
  }

  /** Reads all values. Series of devices and peers that were removed since the last scrape end. */
  read(view: View): void {
    for (const { family, metric } of this.#metrics) {
      metric.reset();
      for (const [value, ...labels] of family.samples(view)) {
        if (value !== null) metric.labels(...labels).inc(value);
      }
    }
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** The exposition of some families; its library is loaded by the first scrape, because most runs have none. */
export function lateExposition<View>(families: readonly Family<View>[]): () => Promise<Exposition<View>> {
  return lazily(() => new Exposition(require('prom-client') as typeof PromClient, families), checkDescriptorsToRequire);
}
