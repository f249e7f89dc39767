import { createApp } from '../../src/app/build.ts';
import type { App, AppOptions } from '../../src/app/start-stop.ts';
import type { ModbusTcpEndpoint } from '../../src/core/adapter.ts';
import { createLogBook } from '../../src/core/log/log.ts';
import { configOf } from './configured.ts';

export interface RunningApp {
  readonly app: App;
  readonly port: number;
}

export interface RunningOptions extends AppOptions {
  /** default: simulated time passes only in steps of the test */
  readonly paused?: boolean;
  /** default: any free one */
  readonly webPort?: number;
  /** makes the OpenAPI document before the start: its first request blocks the event loop for some 0.3 s */
  readonly described?: boolean;
  /** default: a small one of 64 samples, unless a flag asks for a size; `real`: as in the product */
  readonly history?: 'small' | 'real';
  /** flags from which each device is made; default: none */
  readonly deviceFlags?: readonly string[];
}

const smallHistory = 64;

/** The whole simulator on free ports. @param types one device of each; null: those of the flags */
export async function startApp(
  types: readonly string[] | null = ['PV-3Phase'],
  flags: readonly string[] = [],
  {
    paused = true,
    webPort = 0,
    described = false,
    history = 'small',
    deviceFlags = [],
    ...options
  }: RunningOptions = {},
): Promise<RunningApp> {
  const config = configOf('-wp', String(webPort), '-p', '0', ...(paused ? ['--start_paused', 'yes'] : []), ...flags);
  const devices = types?.flatMap((type) => configOf('--device_type', type, ...deviceFlags).devices) ?? config.devices;
  const isSmall = history === 'small' && !flags.includes('--history_samples');
  const app = createApp(
    { ...config, devices, ...(isSmall && { historySamples: smallHistory }) },
    { logBook: createLogBook({ write: () => undefined }), checkReplies: true, ...options },
  );
  if (described) await (await app.api.operations()).document();
  const { http } = await app.start();
  return { app, port: http.port };
}

/** The Modbus TCP address of a device of a running simulator. */
export function modbusEndpoint({ adapters }: App, index: number): ModbusTcpEndpoint {
  for (const adapter of adapters) {
    const endpoint = adapter.endpointOf?.(index);
    if (endpoint?.protocol === 'modbus_tcp') return endpoint;
  }
  throw new Error(`device ${index} is not served over Modbus TCP`);
}

/** All that a request could have changed, as text: registers, state behind them, commands, surroundings, clock. */
export function stateOf({ plant }: App): string {
  const devices = plant.devices.map(({ index, bank, detail }) => ({
    index,
    detail,
    registers: bank.read(bank.layout.base, bank.layout.size).toString('hex'),
  }));
  const { mode, rate, dateMs, tick, timezone } = plant.time;
  return JSON.stringify({
    devices,
    time: { mode, rate, dateMs, tick, timezone },
    commands: plant.commands.list(),
    grid: plant.grid(),
    surroundings: plant.surroundings(),
    site: plant.site,
  });
}
