/** The exposition of all metric families for Prometheus. */
import { createRequire } from 'node:module';
import type PromClient from 'prom-client';
import { lazily } from '../../core/lazy.ts';
import { checkDescriptorsToRequire } from '../../core/errors.ts';
import { Turns } from '../../core/turns.ts';
import type { RouteContext } from '../http/context.ts';
import { latestOf } from '../common/device-replies.ts';
import { commStatus } from '../devices.ts';
import { deviceFamilies, maxDevicesWithSeries } from './device-families.ts';
import type { Family, MetricsView } from './family.ts';
import { dnp3Families, findingFamilies, ocppFamilies } from './protocol-families.ts';
import { processFamilies } from './process-families.ts';
import { route, TextReply } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { z } from '../description/zod.ts';

export const metricFamilies: readonly Family[] = [
  ...processFamilies,
  ...deviceFamilies,
  ...ocppFamilies,
  ...dnp3Families,
  ...findingFamilies,
];

/** Media type of the text exposition format. */
const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

interface Exposition {
  readonly registry: PromClient.Registry;
  readonly metrics: readonly { readonly family: Family; readonly metric: PromClient.Gauge | PromClient.Counter }[];
}

const require = createRequire(import.meta.url);

/**
 * Makes a separate registry, so that simulators in one process do not mix. The library is loaded by the first scrape,
 * because most runs have none.
 */
function createExposition(): Exposition {
  const { Counter, Gauge, Registry } = require('prom-client') as typeof PromClient;
  const registry = new Registry();
  const metrics = metricFamilies.map((family) => {
    const { name, help, labels } = family;
    const options = { name, help, labelNames: [...labels], registers: [registry] };
    return { family, metric: family.type === 'counter' ? new Counter(options) : new Gauge(options) };
  });
  return { registry, metrics };
}

function viewOf(ctx: RouteContext): MetricsView {
  return {
    ctx,
    devices: ctx.plant.devices.map((device) => ({ device, snapshot: latestOf(ctx, device).snapshot })),
    protocols: Object.entries(commStatus.reply(ctx.adapters)),
    answers: ctx.answers.list(),
    memory: process.memoryUsage(),
    cpu: process.cpuUsage(),
  };
}

/** The metrics of one interface. A scrape reads all values; ticks have no extra cost. */
class Metrics {
  readonly #ctx: RouteContext;
  readonly #exposition = lazily(createExposition, checkDescriptorsToRequire);
  /** one registry holds the values of one scrape */
  readonly #scrapes = new Turns();
  /** a scrape that has not read anything yet */
  #next: Promise<string> | null = null;

  constructor(ctx: RouteContext) {
    this.#ctx = ctx;
  }

  /** The current values in the text exposition format 0.0.4; calls that wait for the same scrape share its text. */
  text(): Promise<string> {
    this.#next ??= this.#scrapes.take(() => this.#scrape());
    return this.#next;
  }

  /** Reading and writing take several ms each: each begins only while the share of a turn lasts. */
  async #scrape(): Promise<string> {
    const { registry, metrics } = await this.#exposition().finally(() => {
      this.#next = null;
    });
    const { share } = this.#ctx;
    await share.run(() => {
      this.#read(metrics);
    });
    return share.run(() => registry.metrics());
  }

  #read(metrics: Exposition['metrics']): void {
    const view = viewOf(this.#ctx);
    for (const { family, metric } of metrics) {
      // drops the series of devices and peers that were removed since the last scrape
      metric.reset();
      for (const [value, ...labels] of family.samples(view)) {
        if (value !== null) metric.labels(...labels).inc(value);
      }
    }
  }
}

const metricsByContext = new WeakMap<RouteContext, Metrics>();

function metricsOf(ctx: RouteContext): Metrics {
  const metrics = metricsByContext.get(ctx) ?? new Metrics(ctx);
  metricsByContext.set(ctx, metrics);
  return metrics;
}

export const metricsRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/metrics',
    tag: 'Core',
    operationId: 'get_metrics',
    summary: 'Metrics for Prometheus',
    description:
      'Text exposition format 0.0.4, in base units (W, var, V, A, Hz, s, ratios from 0 to 1): process and event loop, ticks and ' +
      'clock, protocols, answers of this interface by operation and class of status, telemetry. Every device has series ' +
      `\`derbench_device_*\` labelled by its index while there are at most ${maxDevicesWithSeries} devices; series \`derbench_fleet_*\` ` +
      'by `asset_type` are always there. A quantity that does not exist has no sample.',
    media: 'text/plain',
    reply: z.string(),
    problems: ['shortage'],
    handle: async (ctx) => new TextReply(expositionType, await metricsOf(ctx).text()),
  }),
];
