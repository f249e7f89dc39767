import { systemClock } from '../../src/core/clock.ts';
import { createLogBook } from '../../src/core/log.ts';
import type { LogBook } from '../../src/core/log.ts';
import type { Adapter } from '../../src/core/adapter.ts';
import { apiVersion, defaultApiLimits } from '../../src/api/context.ts';
import type { ApiConfig, ApiContext, ApiLimits } from '../../src/api/context.ts';
import type { Plant } from '../../src/sunspec/map/device.ts';

export interface ContextOptions {
  readonly plant: Plant;
  readonly adapters?: readonly Adapter[];
  readonly logBook?: LogBook;
  readonly config?: Partial<Omit<ApiConfig, 'limits'>>;
  readonly limits?: Partial<ApiLimits>;
  readonly requestStop?: (reason: string, delayS: number) => void;
}

/** A context on a free loopback port whose log goes nowhere. */
export function apiContext(options: ContextOptions): ApiContext {
  return {
    plant: options.plant,
    adapters: options.adapters ?? [],
    logBook: options.logBook ?? createLogBook({ write: () => undefined }),
    info: { version: '0.1.0', apiVersion, buildId: 'test', startedAtMs: systemClock.nowMs() },
    config: {
      host: '127.0.0.1', port: 0, allowedHosts: [], corsOrigins: [],
      ...options.config,
      limits: { ...defaultApiLimits, ...options.limits },
    },
    clock: systemClock,
    requestStop: options.requestStop ?? (() => undefined),
  };
}
