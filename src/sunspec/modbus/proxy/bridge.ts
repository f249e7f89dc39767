import type { Adapter, AdapterStatus, CommState } from '../../../core/adapter.ts';
import { systemClock } from '../../../core/clock.ts';
import { SimError } from '../../../core/errors.ts';
import type { Fault } from '../../../core/errors.ts';
import { hostAndPort } from '../../../core/listen.ts';
import { silentLogger } from '../../../core/log.ts';
import type { ModbusReport, ModbusReporter } from '../../../core/modbus-report.ts';
import { issueFaults } from '../../../core/zod-issues.ts';
import type { DeviceServer } from '../../map/device.ts';
import { createModbusContext, createModbusTcpServer } from '../server.ts';
import type { ModbusContextOptions, ModbusTcpServer } from '../server.ts';
import { checkProxyMap } from './check.ts';
import { proxyMapSchema } from './schema.ts';
import type { ProxyMap } from './schema.ts';
import { imageOf, ProxyUnit } from './unit-bridge.ts';
import type { ProxyDevice } from './unit-bridge.ts';

export interface ProxyAdapterOptions extends ModbusContextOptions {
  /** the map file as it was read */
  readonly map: unknown;
  /** name of the file, for messages */
  readonly mapLabel: string;
  /** those at the start */
  readonly devices: readonly ProxyDevice[];
  readonly host: string;
  /** 0 = any free port; null: that of the map */
  readonly port: number | null;
}

export interface ProxyAdapter extends Adapter, DeviceServer, ModbusReporter {
  readonly comm: 'modbus_proxy';
  addDevice(device: ProxyDevice): Promise<void>;
  /** name of the map */
  readonly mapName: string;
  /** port in use; 0 while not listening */
  readonly port: number;
}

const maxUnitId = 247;
const defaultPort = 5020;

/** @throws SimError CONFIG_INVALID where the form is wrong, with every fault as a JSON pointer into the map */
function parseMap(raw: unknown, label: string): ProxyMap {
  const parsed = proxyMapSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw notValid(label, parsed.error.issues.flatMap((issue) => issueFaults(issue, 'a member of a proxy map')));
}

function notValid(label: string, faults: readonly Fault[]): SimError {
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`;
  return new SimError('CONFIG_INVALID', `The proxy map ${label} is not valid, ${count}:`, faults);
}

/** What does not fit the devices that are served: a point must be one of at least one of them. */
function deviceFaults(map: ProxyMap, devices: readonly ProxyDevice[], all: readonly ProxyDevice[]): Fault[] {
  if (devices.length === 0) return [{ name: '/device', detail: `there is no device ${map.device ?? ''}`, allowed: all.map(({ index }) => index) }];
  const layouts = [...new Set(devices.map(({ bank }) => bank.layout))];
  const bound = layouts.map((layout) => imageOf(map, layout).bound);
  const told = new Map(bound.flatMap(({ faults }) => faults).map((fault) => [`${fault.name} ${fault.detail}`, fault]));
  const present = new Set(bound.flatMap((each) => [...each.present]));
  const missing = new Set(bound.flatMap((each) => [...each.lacking]).filter((name) => !present.has(name)));
  const whose = devices.length === 1 ? 'the device does not have this point' : 'none of the devices has this point';
  return [...told.values(), ...Array.from(missing, (name) => ({ name, detail: whose }))];
}

/**
 * Serves a register map of another maker in front of the devices' own, over Modbus TCP.
 * @throws SimError CONFIG_INVALID when the map has faults or does not fit the devices
 */
export function createProxyAdapter(options: ProxyAdapterOptions): ProxyAdapter {
  const { host, mapLabel } = options;
  const map = parseMap(options.map, mapLabel);
  const { device: only, unit_id: onlyUnitId = 1 } = map;
  const isServed = ({ index }: ProxyDevice) => only === undefined || index === only;
  const served = options.devices.filter(isServed);
  const faults = [...checkProxyMap(map), ...deviceFaults(map, served, options.devices), ...served.flatMap(({ index }) => lackOfRoom(map, index))];
  if (faults.length > 0) throw notValid(mapLabel, faults);

  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const context = createModbusContext(options);
  const { counters } = context;
  const unitOf = (device: ProxyDevice) => new ProxyUnit(map, device, (name) => {
    logger.warning(`proxy: ${name} is beyond what its type can hold, and shows the edge of it`, device.index);
  });
  const units = new Map(served.map((device) => [device.index, unitOf(device)] as const));
  let server: ModbusTcpServer | null = null;
  let state: CommState = 'stopped';
  let lastError: string | null = null;

  function unit(unitId: number): ProxyUnit | undefined {
    if (only === undefined) return units.get(unitId - 1);
    // 0 and 255 mean the device at the other end of the connection (Modbus Messaging on TCP/IP 1.0b, unit identifier)
    return unitId === onlyUnitId || unitId === 0 || unitId === 255 ? units.get(only) : undefined;
  }

  async function start(): Promise<void> {
    if (state !== 'stopped' && state !== 'error') return;
    state = 'starting';
    server = createModbusTcpServer({ host, port: options.port ?? map.port ?? defaultPort, units: unit, context });
    try {
      const port = await server.listen();
      state = 'listening';
      lastError = null;
      logger.info(`Modbus proxy with map ${map.name} on ${hostAndPort(host, port)}, ${units.size} ${units.size === 1 ? 'device' : 'devices'}`);
    } catch (error) {
      server = null;
      state = 'error';
      lastError = error instanceof Error ? error.message : String(error);
      throw error instanceof SimError ? new SimError(error.code, `Modbus proxy: ${lastError}`, error.faults) : error;
    }
  }

  async function stop(): Promise<void> {
    await server?.close();
    server = null;
    state = 'stopped';
  }

  const endpointNow = () => (server !== null && state === 'listening' ? `tcp://${hostAndPort(host, server.port)}` : null);

  function report(): ModbusReport {
    const { foreignUnit, limits } = context;
    return {
      foreignUnit, limits, counters,
      listeners: [{ transport: 'tcp', endpoint: endpointNow(), deviceIndex: only ?? null, clients: server?.clients() ?? [] }],
    };
  }

  function status(): AdapterStatus {
    const { lastActivityMs } = counters;
    return {
      enabled: true,
      state,
      detail: lastError ?? `map ${map.name}`,
      endpoint: endpointNow(),
      peers: server?.connectionCount ?? 0,
      lastActivityMs: lastActivityMs === null ? null : clock.nowMs() - (clock.monotonicMs() - lastActivityMs),
      rxCount: counters.requests,
      txCount: counters.answers,
      errorCount: counters.exceptions + counters.violations + counters.timeouts,
    };
  }

  return {
    module: 'Modbus',
    comm: 'modbus_proxy',
    mapName: map.name,
    get port() { return server?.port ?? 0; },
    start,
    stop,
    status,
    report,
    addDevice(device) {
      if (!isServed(device)) return Promise.resolve();
      const [lack] = lackOfRoom(map, device.index);
      if (lack) return Promise.reject(new SimError('COMMAND_CONFLICT', `Modbus proxy: ${lack.detail}`));
      units.set(device.index, unitOf(device));
      return Promise.resolve();
    },
    removeDevice(index) {
      units.delete(index);
      return Promise.resolve();
    },
  };
}

/** Of all devices together, each has a unit id of its own. */
function lackOfRoom({ device }: ProxyMap, index: number): Fault[] {
  if (device !== undefined || 1 + index <= maxUnitId) return [];
  return [{ name: '/device', detail: `device ${index} would have unit id ${1 + index}; the highest is ${maxUnitId}: name the device that is served` }];
}
