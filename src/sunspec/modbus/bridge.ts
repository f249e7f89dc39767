import type { Buffer } from 'node:buffer';
import type { Adapter, AdapterStatus, CommState, DeviceEndpoint } from '../../core/adapter.ts';
import { systemClock } from '../../core/clock.ts';
import { SimError } from '../../core/errors.ts';
import { hostAndPort } from '../../core/listen.ts';
import { silentLogger } from '../../core/log.ts';
import type { Bank } from '../map/bank.ts';
import type { ModbusContext, ModbusCounters } from './context.ts';
import { createModbusContext, createModbusTcpServer } from './server.ts';
import type { ModbusClientInfo, ModbusContextOptions, ModbusTcpServer } from './server.ts';
import type { ModbusUnit } from './unit.ts';

export interface ModbusDevice {
  readonly index: number;
  readonly bank: Bank;
}

export interface ModbusAdapterOptions extends ModbusContextOptions {
  readonly devices: readonly ModbusDevice[];
  readonly host: string;
  /** port of device 0, or the shared port; 0 = any free port */
  readonly port: number;
  /** one port for all, unit id 1 + index; otherwise one port per device, base + index */
  readonly sharedPort: boolean;
}

export interface ModbusAdapter extends Adapter {
  endpointOf(deviceIndex: number): DeviceEndpoint | null;
  readonly counters: Readonly<ModbusCounters>;
  clients(): readonly ModbusClientInfo[];
}

/** Unit ids of Modbus end here; those above are reserved. */
const maxUnitId = 247;
const maxPort = 65_535;
/** the unit id of a device that has a port of its own */
const ownUnitId = 1;
/** ports that are being bound at one time */
const parallelListens = 64;

/** A bank as a Modbus unit: this file alone knows both. */
class BankUnit implements ModbusUnit {
  readonly #bank: Bank;

  constructor(bank: Bank) {
    this.#bank = bank;
  }

  read(address: number, count: number): Buffer {
    return this.#bank.read(address, count);
  }

  write(address: number, words: Buffer, peer: string): void {
    this.#bank.write(address, words, { source: 'modbus', peer });
  }
}

/** A listener and whose it is; one per device in the order of the devices, or the shared one alone. */
interface Port {
  readonly server: ModbusTcpServer;
  /** undefined: shared */
  readonly deviceIndex: number | undefined;
}

/**
 * Serves every device over Modbus TCP, on a port of its own or together on one.
 * @throws SimError CONFIG_INVALID when the devices do not fit the ports or the unit ids
 */
export function createModbusAdapter(options: ModbusAdapterOptions): ModbusAdapter {
  checkRoom(options);
  const { devices, host, sharedPort } = options;
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  const context = createModbusContext(options);
  const { counters } = context;
  const byIndex = new Map<number, Port>();
  let ports: readonly Port[] = [];
  let state: CommState = 'stopped';
  let lastError: string | null = null;
  let stopping: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    byIndex.clear();
    await Promise.all(ports.map(({ server }) => server.close()));
    ports = [];
  }

  async function start(): Promise<void> {
    if (state !== 'stopped' && state !== 'error') return;
    state = 'starting';
    stopping = undefined;
    ports = sharedPort ? [sharedListener(options, context)] : ownListeners(options, context);
    try {
      await listenAll(ports);
    } catch (error) {
      await closeAll();
      state = 'error';
      lastError = error instanceof Error ? error.message : String(error);
      throw error;
    }
    for (const [at, { index }] of devices.entries()) {
      const port = ports[sharedPort ? 0 : at];
      if (port !== undefined) byIndex.set(index, port);
    }
    state = 'listening';
    lastError = null;
    logger.info(listeningLine(host, ports, devices.length));
  }

  async function stop(): Promise<void> {
    stopping ??= closeAll().then(() => { state = 'stopped'; });
    await stopping;
  }

  function status(): AdapterStatus {
    const first = ports[0];
    const { lastActivityMs } = counters;
    return {
      enabled: true,
      state,
      detail: lastError ?? (ports.length > 1 ? portsInWords(ports) : null),
      endpoint: state === 'listening' && first !== undefined ? `tcp://${hostAndPort(host, first.server.port)}` : null,
      peers: ports.reduce((sum, { server }) => sum + server.connectionCount, 0),
      lastActivityMs: lastActivityMs === null ? null : clock.nowMs() - (clock.monotonicMs() - lastActivityMs),
      rxCount: counters.requests,
      txCount: counters.answers,
      errorCount: counters.exceptions + counters.violations + counters.timeouts,
    };
  }

  function endpointOf(deviceIndex: number): DeviceEndpoint | null {
    const port = byIndex.get(deviceIndex);
    if (port === undefined) return null;
    return { host, port: port.server.port, unitId: sharedPort ? 1 + deviceIndex : ownUnitId, tls: false };
  }

  return {
    module: 'Modbus',
    comm: 'modbus_tcp',
    start,
    stop,
    status,
    endpointOf,
    counters,
    clients: () => ports.flatMap(({ server }) => server.clients()),
  };
}

function checkRoom({ devices, port, sharedPort }: ModbusAdapterOptions): void {
  const highest = devices.reduce((max, { index }) => Math.max(max, index), 0);
  if (sharedPort && 1 + highest > maxUnitId) {
    const message = `a shared Modbus port serves at most ${maxUnitId} devices (unit ids 1 to ${maxUnitId}), not ${1 + highest}`;
    throw new SimError('CONFIG_INVALID', message, [{ name: 'mb_shared_port', detail: message, allowed: [maxUnitId] }]);
  }
  if (!sharedPort && port !== 0 && port + highest > maxPort) {
    const message = `Modbus ports from ${port} on are not enough: device ${highest} would need port ${port + highest}, the highest is ${maxPort}`;
    throw new SimError('CONFIG_INVALID', message, [{ name: 'mb_port', detail: message }]);
  }
}

function sharedListener({ devices, host, port }: ModbusAdapterOptions, context: ModbusContext): Port {
  const units = new Map(devices.map(({ index, bank }) => [1 + index, new BankUnit(bank)] as const));
  const server = createModbusTcpServer({ host, port, units: (unitId) => units.get(unitId), context });
  return { server, deviceIndex: undefined };
}

function ownListeners({ devices, host, port }: ModbusAdapterOptions, context: ModbusContext): Port[] {
  return devices.map(({ index, bank }) => {
    const unit = new BankUnit(bank);
    const server = createModbusTcpServer({
      host,
      port: port === 0 ? 0 : port + index,
      // 0 and 255 mean the device at the other end of the connection (Modbus Messaging on TCP/IP 1.0b, unit identifier)
      units: (unitId) => (unitId === ownUnitId || unitId === 0 || unitId === 255 ? unit : undefined),
      context,
      deviceIndex: index,
    });
    return { server, deviceIndex: index };
  });
}

/** Binds all, a bounded number at a time; the first failure ends it, named by its device. */
async function listenAll(ports: readonly Port[]): Promise<void> {
  const queue = ports.values();
  let failed = false;
  async function work(): Promise<void> {
    for (const { server, deviceIndex } of queue) {
      if (failed) return;
      try {
        await server.listen();
      } catch (error) {
        failed = true;
        throw named(error, deviceIndex);
      }
    }
  }
  const results = await Promise.allSettled(Array.from({ length: parallelListens }, work));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

function named(error: unknown, deviceIndex: number | undefined): unknown {
  if (!(error instanceof SimError)) return error;
  const whose = deviceIndex === undefined ? 'Modbus' : `Modbus of device ${deviceIndex}`;
  return new SimError(error.code, `${whose}: ${error.message}`, error.faults);
}

function portsInWords(ports: readonly Port[]): string {
  const numbers = ports.map(({ server }) => server.port);
  return `${ports.length} ports, ${Math.min(...numbers)} to ${Math.max(...numbers)}`;
}

function listeningLine(host: string, ports: readonly Port[], deviceCount: number): string {
  const first = ports[0];
  const where = first === undefined ? host : hostAndPort(host, first.server.port);
  const more = ports.length > 1 ? ` (${portsInWords(ports)})` : '';
  return `Modbus TCP on ${where}${more}, ${deviceCount} ${deviceCount === 1 ? 'device' : 'devices'}`;
}
