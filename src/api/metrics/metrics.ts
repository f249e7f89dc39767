/** The exposition of all metric families for Prometheus. */
import { Turns } from '../../core/turns.ts';
import type { RouteContext } from '../http/context.ts';
import { latestOf } from '../common/device-replies.ts';
import { commStatus } from '../devices.ts';
import { deviceFamilies, maxDevicesWithSeries } from './device-families.ts';
import { expositionType, lateExposition } from './exposition.ts';
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
  readonly #exposition = lateExposition(metricFamilies);
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
    const exposition = await this.#exposition().finally(() => {
      this.#next = null;
    });
    const { share } = this.#ctx;
    await share.run(() => {
      exposition.read(viewOf(this.#ctx));
    });
    return share.run(() => exposition.text());
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
