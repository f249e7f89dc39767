import type { Adapter, AdapterStatus, CommState, DeviceEndpoint } from '../../core/adapter.ts';
import { systemClock } from '../../core/time/clock.ts';
import { errorText, SimError } from '../../core/errors.ts';
import { hostAndPort } from '../../core/net/listen.ts';
import { silentLogger } from '../../core/log/log.ts';
import { highestUnitId } from '../../contract/modbus-report.ts';
import type { ModbusReport, ModbusReporter } from '../../contract/modbus-report.ts';
import type { FaultyMaps } from '../faults/faulty-maps.ts';
import type { Bank } from '../map/bank.ts';
import type { DeviceServer } from '../../contract/plant.ts';
import type { ModbusContext, ModbusCounters } from './server/context.ts';
import type { FramingName } from './framing/framing.ts';
import { createModbusContext, createModbusTcpServer } from './server/server.ts';
import type { ModbusClientInfo, ModbusContextOptions, ModbusTcpServer } from './server/server.ts';
import type { TlsFiles } from './tls/tls-files.ts';
import { BankUnit, LineUnits } from './unit-bridge.ts';

export interface ModbusDevice {
  readonly index: number;
  readonly bank: Bank;
}

export interface ModbusAdapterOptions extends ModbusContextOptions {
  /** those at the start */
  readonly devices: readonly ModbusDevice[];
  readonly host: string;
  /** port of device 0, or the shared port; 0 = any free port */
  readonly port: number;
  /** one port for all, unit id 1 + index; otherwise one port per device, base + index */
  readonly sharedPort: boolean;
  /**
   * Default `mbap`. With `rtu` each port is a line: devices answer at their address (1.DA), and unit ids that nobody has
   * get no answer.
   */
  readonly framing?: FramingName;
  /** faults in what the devices show and take; absent: there are none */
  readonly faultyMaps?: FaultyMaps;
  /** TLS on every port, and none in clear; default: all in clear */
  readonly tlsFiles?: TlsFiles;
}

export interface ModbusAdapter extends Adapter, DeviceServer, ModbusReporter {
  readonly comm: 'modbus_tcp';
  endpointOf(deviceIndex: number): DeviceEndpoint | null;
  addDevice(device: ModbusDevice): Promise<void>;
  readonly counters: Readonly<ModbusCounters>;
  clients(): readonly ModbusClientInfo[];
}

const maxPort = 65_535;
/** the unit id of a device that has a port of its own */
const ownUnitId = 1;
/** ports that are being bound at one time */
const parallelListens = 64;

/** A listener and whose it is; one per device in index order, or the shared one alone. */
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
  const { host, sharedPort, tlsFiles, faultyMaps } = options;
  const clock = options.clock ?? systemClock;
  const logger = options.logger ?? silentLogger;
  // who shares a port stands behind it as behind a gateway
  const context = createModbusContext({
    foreignUnit: sharedPort ? 'gateway' : 'silent',
    ...options,
    ...(tlsFiles !== undefined && { tls: tlsFiles.gate }),
  });
  const { counters } = context;
  /** in index order */
  const units = new Map(
    options.devices.map(({ index, bank }) => [index, new BankUnit(index, bank, faultyMaps)] as const),
  );
  const byIndex = new Map<number, Port>();
  let ports: readonly Port[] = [];
  let state: CommState = 'stopped';
  let lastError: string | null = null;
  let stopping: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    byIndex.clear();
    tlsFiles?.unwatch();
    await Promise.all(ports.map(({ server }) => server.close()));
    ports = [];
  }

  async function start(): Promise<void> {
    if (state !== 'stopped' && state !== 'error') return;
    state = 'starting';
    stopping = undefined;
    const present = [...units];
    ports = sharedPort
      ? [sharedListener(options, context, units)]
      : present.map(([index, unit]) => ownListener(options, context, index, unit));
    try {
      await listenAll(ports);
    } catch (error) {
      await closeAll();
      state = 'error';
      lastError = errorText(error);
      throw error;
    }
    for (const [at, [index]] of present.entries()) {
      const port = ports[sharedPort ? 0 : at];
      if (port !== undefined) byIndex.set(index, port);
    }
    tlsFiles?.watch();
    state = 'listening';
    lastError = null;
    logger.info(listeningLine(options, ports, units.size));
  }

  async function addDevice({ index, bank }: ModbusDevice): Promise<void> {
    const lack = lackOfRoom(options, index);
    if (lack !== null) throw new SimError('COMMAND_CONFLICT', lack.detail);
    const unit = new BankUnit(index, bank, faultyMaps);
    if (state === 'listening') {
      const [shared] = ports;
      const port =
        sharedPort && shared !== undefined
          ? shared
          : await bindLate(ownListener(options, context, index, unit)).catch((error: unknown) => {
              unit.release();
              throw error;
            });
      byIndex.set(index, port);
    }
    units.set(index, unit);
    const port = byIndex.get(index);
    if (port !== undefined)
      logger.info(`${protocolOf(options)} on ${hostAndPort(host, port.server.port)}, unit ${unitIdOf(index)}`, index);
  }

  /** Binds while others are served already. @throws SimError COMMAND_CONFLICT, STOPPING with nothing left open */
  async function bindLate(port: Port): Promise<Port> {
    refuseWhenStopping();
    // in the list from the start: a stop meanwhile closes it as well
    ports = [...ports, port];
    try {
      await listenAll([port]);
    } catch (error) {
      ports = ports.filter((each) => each !== port);
      throw error instanceof SimError && error.code === 'LISTEN_FAILED'
        ? new SimError('COMMAND_CONFLICT', error.message, error.issues)
        : error;
    }
    refuseWhenStopping();
    return port;
  }

  function refuseWhenStopping(): void {
    if (stopping !== undefined) throw new SimError('STOPPING', 'Modbus is stopping');
  }

  async function removeDevice(index: number): Promise<void> {
    const port = byIndex.get(index);
    units.get(index)?.release();
    units.delete(index);
    byIndex.delete(index);
    if (port?.deviceIndex === undefined) return;
    ports = ports.filter((each) => each !== port);
    await port.server.close();
  }

  function unitIdOf(index: number): number {
    const byPort = sharedPort ? 1 + index : ownUnitId;
    return options.framing === 'rtu' ? (units.get(index)?.address ?? byPort) : byPort;
  }

  async function stop(): Promise<void> {
    stopping ??= closeAll().then(() => {
      state = 'stopped';
    });
    await stopping;
  }

  function status(): AdapterStatus {
    const first = ports[0];
    const { lastActivityMs } = counters;
    return {
      enabled: true,
      state,
      detail: lastError ?? (ports.length > 1 ? portsInWords(ports) : null),
      endpoint:
        state === 'listening' && first !== undefined
          ? `${tlsFiles === undefined ? 'tcp' : 'tls'}://${hostAndPort(host, first.server.port)}`
          : null,
      peers: ports.reduce((sum, { server }) => sum + server.connectionCount, 0),
      lastActivityMs: lastActivityMs === null ? null : clock.nowMs() - (clock.monotonicMs() - lastActivityMs),
      rxCount: counters.requests,
      txCount: counters.answers,
      errorCount:
        counters.exceptions +
        counters.violations +
        counters.timeouts +
        counters.unreadable +
        counters.handshakeFailures,
    };
  }

  function endpointOf(deviceIndex: number): DeviceEndpoint | null {
    const port = byIndex.get(deviceIndex);
    if (port === undefined) return null;
    return { host, port: port.server.port, unitId: unitIdOf(deviceIndex), tls: tlsFiles !== undefined };
  }

  function report(): ModbusReport {
    const transport = tlsFiles !== undefined ? 'tls' : options.framing === 'rtu' ? 'rtu_over_tcp' : 'tcp';
    return {
      // nobody answers for others on a line
      foreignUnit: options.framing === 'rtu' ? 'silent' : context.foreignUnit,
      limits: context.limits,
      counters,
      listeners: ports.map(({ server, deviceIndex }) => ({
        transport,
        deviceIndex: deviceIndex ?? null,
        clients: server.clients(),
        endpoint:
          server.port === 0 ? null : `${transport === 'tls' ? 'tls' : 'tcp'}://${hostAndPort(host, server.port)}`,
      })),
    };
  }

  return {
    module: 'Modbus',
    comm: 'modbus_tcp',
    report,
    start,
    stop,
    status,
    endpointOf,
    addDevice,
    removeDevice,
    ...(tlsFiles !== undefined && {
      reload: () => {
        tlsFiles.reload();
      },
    }),
    counters,
    clients: () => ports.flatMap(({ server }) => server.clients()),
  };
}

/** Why a device of this index cannot be served, under the setting that decides it; null: it can. */
function lackOfRoom(
  { port, sharedPort }: ModbusAdapterOptions,
  index: number,
): { readonly name: string; readonly detail: string } | null {
  if (sharedPort && 1 + index > highestUnitId) {
    return {
      name: 'mb_shared_port',
      detail: `a shared Modbus port serves at most ${highestUnitId} devices (unit ids 1 to ${highestUnitId}); device ${index} would have unit id ${1 + index}`,
    };
  }
  if (!sharedPort && port !== 0 && port + index > maxPort) {
    return {
      name: 'mb_port',
      detail: `Modbus ports from ${port} on are not enough: device ${index} would need port ${port + index}, the highest is ${maxPort}`,
    };
  }
  return null;
}

function checkRoom(options: ModbusAdapterOptions): void {
  const highest = options.devices.reduce((max, { index }) => Math.max(max, index), 0);
  const fault = lackOfRoom(options, highest);
  if (fault !== null)
    throw new SimError('CONFIG_INVALID', fault.detail, [
      { ...fault, ...(options.sharedPort && { allowed: [highestUnitId] }) },
    ]);
}

function sharedListener(
  options: ModbusAdapterOptions,
  context: ModbusContext,
  units: ReadonlyMap<number, BankUnit>,
): Port {
  const { host, port, framing = 'mbap' } = options;
  const line = new LineUnits(units, context.log);
  const server = createModbusTcpServer({
    host,
    port,
    framing,
    context,
    units: framing === 'rtu' ? (address) => line.at(address) : (unitId) => units.get(unitId - 1),
    unitOf: (index) => units.get(index),
  });
  return { server, deviceIndex: undefined };
}

function ownListener(options: ModbusAdapterOptions, context: ModbusContext, index: number, unit: BankUnit): Port {
  const { host, port, framing = 'mbap' } = options;
  const line = framing === 'rtu' ? new LineUnits(new Map([[index, unit]]), context.log) : undefined;
  const server = createModbusTcpServer({
    host,
    port: port === 0 ? 0 : port + index,
    framing,
    // 0 and 255 mean the device at the other end of the connection (Modbus Messaging on TCP/IP 1.0b, unit identifier)
    units:
      line !== undefined
        ? (address) => line.at(address)
        : (unitId) => (unitId === ownUnitId || unitId === 0 || unitId === 255 ? unit : undefined),
    unitOf: (of) => (of === index ? unit : undefined),
    context,
    deviceIndex: index,
  });
  return { server, deviceIndex: index };
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
  return new SimError(error.code, `${whose}: ${error.message}`, error.issues);
}

function portsInWords(ports: readonly Port[]): string {
  const numbers = ports.map(({ server }) => server.port);
  return `${ports.length} ports, ${Math.min(...numbers)} to ${Math.max(...numbers)}`;
}

const protocolOf = ({ framing, tlsFiles }: ModbusAdapterOptions) =>
  framing === 'rtu' ? 'Modbus RTU over TCP' : tlsFiles === undefined ? 'Modbus TCP' : 'Modbus over TLS';

function listeningLine(options: ModbusAdapterOptions, ports: readonly Port[], deviceCount: number): string {
  const first = ports[0];
  const where = first === undefined ? options.host : hostAndPort(options.host, first.server.port);
  const more = ports.length > 1 ? ` (${portsInWords(ports)})` : '';
  return `${protocolOf(options)} on ${where}${more}, ${deviceCount} ${deviceCount === 1 ? 'device' : 'devices'}`;
}
