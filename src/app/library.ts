/** Starts a simulator for `createSimulator`: configuration, log, device addresses, errors for scripts. */
import { createApp } from './build.ts';
import type { App, Endpoints } from './start-stop.ts';
import { configOfOptions } from '../config/layers/load.ts';
import { formatIssues } from '../config/issues/issues.ts';
import { SimError } from '../core/errors.ts';
import { createLogBook } from '../core/log/log.ts';
import type { DeviceEndpoint } from '../core/adapter.ts';
import { DerbenchError } from '../library/error.ts';
import type { Dnp3Address, ModbusAddress, SimulatorOptions } from '../library/options.ts';

interface Started {
  readonly endpoints: Endpoints;
  readonly modbus: readonly ModbusAddress[];
  readonly dnp3: readonly Dnp3Address[];
  readonly stop: () => Promise<void>;
}

function errorForScripts(error: unknown): unknown {
  if (!(error instanceof SimError)) return error;
  const code = error.code.toLowerCase().replaceAll('_', '-');
  const detail = error.code === 'CONFIG_INVALID' ? formatIssues(error) : error.message;
  const issues = error.issues.map(({ name, detail: about, allowed }) => ({
    name,
    detail: about,
    ...(allowed !== undefined && { allowed }),
  }));
  return new DerbenchError({ code, detail, issues, cause: error });
}

function printing(log: SimulatorOptions['log']): { write?: (line: string) => void } {
  if (log === true) return {};
  return { write: typeof log === 'function' ? log : () => undefined };
}

/** Every address of the devices, by protocol. */
function addressesOf({ plant, adapters }: App): Pick<Started, 'modbus' | 'dnp3'> {
  const endpoints: [number, DeviceEndpoint][] = plant.devices.flatMap(({ index }) =>
    adapters.flatMap((adapter): [number, DeviceEndpoint][] => {
      const endpoint = adapter.endpointOf?.(index) ?? null;
      return endpoint === null ? [] : [[index, endpoint]];
    }),
  );
  return {
    modbus: endpoints.flatMap(([device, endpoint]) =>
      endpoint.protocol === 'modbus_tcp'
        ? { device, host: endpoint.host, port: endpoint.port, unitId: endpoint.unitId, tls: endpoint.tls }
        : [],
    ),
    dnp3: endpoints.flatMap(([device, endpoint]) =>
      endpoint.protocol === 'dnp3'
        ? { device, host: endpoint.host, port: endpoint.port, outstation: endpoint.outstation, tls: endpoint.tls }
        : [],
    ),
  };
}

/** @throws DerbenchError */
export async function startSimulator({ log, ...options }: SimulatorOptions): Promise<Started> {
  try {
    const config = configOfOptions(options);
    let stop: () => Promise<void> = () => Promise.resolve();
    const app = createApp(config, {
      logBook: createLogBook({ ...config.log, ...printing(log) }),
      onStopRequest: () => void stop(),
    });
    stop = () => app.stop();
    const endpoints = await app.start();
    return { endpoints, ...addressesOf(app), stop };
  } catch (error) {
    throw errorForScripts(error);
  }
}
