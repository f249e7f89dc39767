import { AdapterLifecycle, startLine } from '../../core/adapter.ts';
import type { Adapter, AdapterStatus, Exposure, ModbusTcpEndpoint } from '../../core/adapter.ts';
import type { CommAlarmSwitch } from '../../core/comm-alarms.ts';
import { SimError, shortageOf } from '../../core/errors.ts';
import { hostAndPort, shownHost } from '../../core/net/listen.ts';
import { silentLogger } from '../../core/log/log.ts';
import type { Logger } from '../../core/log/log.ts';
import { maxUnitId } from '../../contract/modbus-report.ts';
import type { ModbusReport, ModbusReporter, RegisterWindow } from '../../contract/modbus-report.ts';
import type { FaultyMaps } from '../faults/faulty-map.ts';
import type { PointBank } from '../map/bank.ts';
import type { DeviceServer } from '../../contract/plant.ts';
import { countsStatus } from './server/context.ts';
import type { ModbusContext, ModbusCounters } from './server/context.ts';
import type { FramingName } from './framing/framing.ts';
import { createModbusContext } from './server/server.ts';
import type { ModbusClientInfo, ModbusContextOptions } from './server/server.ts';
import type { TlsFiles } from '../../core/tls/watch.ts';
import type { RoleFinding } from './access/certificate-role.ts';
import {
  furtherPorts,
  listenAll,
  meterListener,
  ownListener,
  ownUnitId,
  portsInWords,
  sharedListener,
} from './listeners.ts';
import type { Port, Served } from './listeners.ts';
import { BankUnit, basesInWords, MeterUnit, unitsInWords } from './unit-bridge.ts';
import type { UnitDevice } from './unit-bridge.ts';
import { modbusPortOf, unitIdOf } from '../../contract/device-protocols.ts';

export type ModbusDevice = UnitDevice;

/** Unit id and port of the meter of the connection point. */
export interface ServedMeter {
  readonly bank: PointBank;
  /** null: 1, at a separate port */
  readonly unitId: number | null;
  /** separate port; 0: any free port; null: at the ports of the devices */
  readonly port: number | null;
}

export interface ModbusAdapterOptions extends Omit<ModbusContextOptions, 'portAlarm'> {
  /** the devices at the start */
  readonly devices: readonly ModbusDevice[];
  readonly host: string;
  /** port of the device `countsFrom`, or the shared port; 0: any free port */
  readonly port: number;
  /** true: one port for all, unit ids from 1 on; false: one port per device, in the order of the indexes */
  readonly sharedPort: boolean;
  /** index of the device with the first port or unit id; absent: 0 */
  readonly countsFrom?: number;
  /** host of the endpoints in place of a wildcard; absent: as bound */
  readonly advertisedHost?: string | null;
  /**
   * Default `mbap`. With `rtu` each port is a serial line: devices answer at their address (1.DA), other unit ids get
   * no answer.
   */
  readonly framing?: FramingName;
  /** absent: no meter */
  readonly meter?: ServedMeter;
  /** faults between registers and masters; absent: no fault injection */
  readonly faultyMaps?: FaultyMaps;
  /** shows a lost port as an alarm of its devices; absent: no alarm */
  readonly commAlarms?: CommAlarmSwitch;
  /** TLS of every port; default: no TLS */
  readonly tlsFiles?: TlsFiles<RoleFinding>;
}

const maxPort = 65_535;

/**
 * Serves every device over Modbus TCP, on one port each or on a shared port.
 * @throws SimError CONFIG_INVALID if ports or unit ids do not suffice for the devices
 */
export function createModbusAdapter(options: ModbusAdapterOptions): ModbusAdapter {
  checkRoom(options);
  return new ModbusAdapter(options);
}

export class ModbusAdapter implements Adapter, DeviceServer, ModbusReporter {
  readonly module = 'Modbus';
  readonly comm = 'modbus_tcp';
  readonly counters: ModbusCounters;
  readonly exposure?: Exposure;
  readonly reload?: () => void;
  readonly #options: ModbusAdapterOptions;
  readonly #context: ModbusContext;
  readonly #logger: Logger;
  readonly #lifecycle = new AdapterLifecycle();
  /** by device index, ascending */
  readonly #units = new Map<number, BankUnit>();
  readonly #byUnitId = new Map<number, BankUnit>();
  /** null: no meter */
  readonly #meter: MeterUnit | null;
  readonly #portOf = new Map<number, Port>();
  #ports: readonly Port[] = [];

  constructor(options: ModbusAdapterOptions) {
    const { devices, host, tlsFiles, faultyMaps, commAlarms: alarms, logger = silentLogger } = options;
    this.#options = options;
    this.#logger = logger;
    this.#context = createModbusContext({
      // a master that probes unit ids continues at once; RTU framing stays silent
      foreignUnit: 'gateway',
      ...options,
      ...(tlsFiles !== undefined && { tls: tlsFiles.gate }),
      ...(alarms && { portAlarm: { alarms, code: 'modbus_port_lost', devices: () => this.#units.keys() } }),
    });
    this.counters = this.#context.counters;
    for (const device of devices) this.#enter(new BankUnit(device, faultyMaps, this.#options));
    const { meter } = options;
    this.#meter = meter === undefined ? null : new MeterUnit(meter.unitId ?? ownUnitId, meter.bank, faultyMaps);
    if (tlsFiles === undefined) {
      this.exposure = { what: 'Modbus', host };
    } else {
      this.reload = () => {
        tlsFiles.reload();
      };
    }
  }

  start(): Promise<void> {
    return this.#lifecycle.start(() => this.#open());
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(() => this.#close());
  }

  async switchOff(): Promise<void> {
    await this.stop();
    for (const [index, unit] of this.#units) {
      unit.release();
      this.#options.commAlarms?.end(index, 'modbus_port_lost');
    }
    this.#meter?.release();
  }

  async addDevice(device: ModbusDevice): Promise<void> {
    const { index } = device;
    const others = [...this.#units.values()].map((each) => each.device);
    const lack = lackOfRoom(this.#options, device) ?? sharedPlace(this.#options, [...others, device]);
    if (lack !== null) throw new SimError('COMMAND_CONFLICT', lack.detail);
    const unit = new BankUnit(device, this.#options.faultyMaps, this.#options);
    if (this.#lifecycle.state === 'listening') this.#portOf.set(index, await this.#portFor(unit));
    this.#enter(unit);
    this.#context.ports.joined(index);
    const port = this.#portOf.get(index)?.server.port;
    if (port === undefined) return;
    const where = hostAndPort(this.#options.host, port);
    this.#logger.info(`${protocolOf(this.#options)} on ${where}, unit ${this.#unitIdOf(index)}`, index);
  }

  async removeDevice(index: number): Promise<void> {
    const port = this.#portOf.get(index);
    const unit = this.#units.get(index);
    unit?.release();
    this.#units.delete(index);
    if (unit) this.#byUnitId.delete(unit.unitId);
    this.#portOf.delete(index);
    if (port?.deviceIndex === undefined) return;
    this.#ports = this.#ports.filter((each) => each !== port);
    await port.server.close();
  }

  #enter(unit: BankUnit): void {
    this.#units.set(unit.device.index, unit);
    this.#byUnitId.set(unit.unitId, unit);
  }

  status(): AdapterStatus {
    const [first] = this.#ports;
    return this.#lifecycle.status({
      ...countsStatus(this.#context),
      detail: this.#ports.length > 1 ? portsInWords(this.#ports) : null,
      endpoint:
        this.#lifecycle.state === 'listening' && first !== undefined
          ? `${this.#scheme}://${hostAndPort(this.#options.host, first.server.port)}`
          : null,
      peers: this.#ports.reduce((sum, { server }) => sum + server.connectionCount, 0),
      ...this.#context.ports.trouble,
    });
  }

  startLines(): readonly string[] {
    const endpoints = Array.from(this.#portOf.keys()).flatMap((index) => this.endpointOf(index) ?? []);
    const [first] = endpoints;
    if (first === undefined) return [];
    const where = hostAndPort(first.host, first.port) + furtherPorts(endpoints.map(({ port }) => port));
    const units = unitsInWords(endpoints.map(({ unitId }) => unitId));
    const tls = first.tls ? 'TLS, ' : '';
    return [
      startLine('Modbus', `${where} (${tls}${units}, ${basesInWords(this.#units.values())})`),
      ...this.#meterLines(tls),
    ];
  }

  #meterLines(tls: string): readonly string[] {
    if (this.#meter === null) return [];
    const meterPort = this.#ports.find(({ isMeter }) => isMeter)?.server.port;
    const where = meterPort === undefined ? 'every Modbus port' : hostAndPort(this.#options.host, meterPort);
    return [startLine('Meter', `${where} (${tls}unit ${this.#meter.address}, SunSpec base 40000)`)];
  }

  endpointOf(deviceIndex: number): ModbusTcpEndpoint | null {
    const port = this.#portOf.get(deviceIndex);
    if (port === undefined) return null;
    const { host, advertisedHost, tlsFiles } = this.#options;
    return {
      protocol: 'modbus_tcp',
      host: shownHost(host, advertisedHost),
      port: port.server.port,
      unitId: this.#unitIdOf(deviceIndex),
      tls: tlsFiles !== undefined,
    };
  }

  clients(): readonly ModbusClientInfo[] {
    return this.#ports.flatMap(({ server }) => server.clients());
  }

  registersOf(deviceIndex: number): RegisterWindow | null {
    return this.#units.get(deviceIndex) ?? null;
  }

  report(): ModbusReport {
    const { framing, host, tlsFiles } = this.#options;
    const transport = tlsFiles !== undefined ? 'tls' : framing === 'rtu' ? 'rtu_over_tcp' : 'tcp';
    return {
      // on a serial line nothing answers at an unused address
      foreignUnit: framing === 'rtu' ? 'silent' : this.#context.foreignUnit,
      limits: this.#context.limits,
      counters: this.counters,
      listeners: this.#ports.map(({ server, deviceIndex, isMeter }) => ({
        transport,
        deviceIndex: deviceIndex ?? null,
        ...(isMeter && { isMeter }),
        accepting: server.isAccepting,
        clients: server.clients(),
        endpoint: server.port === 0 ? null : `${this.#scheme}://${hostAndPort(host, server.port)}`,
      })),
    };
  }

  get #scheme(): string {
    return this.#options.tlsFiles === undefined ? 'tcp' : 'tls';
  }

  async #open(): Promise<void> {
    const { sharedPort, tlsFiles } = this.#options;
    const present = [...this.#units];
    const ofDevices = sharedPort
      ? [sharedListener(this.#options, this.#context, this.#served)]
      : present.map(([, unit]) => this.#ownListener(unit));
    this.#ports = [...ofDevices, ...this.#meterListeners()];
    try {
      await listenAll(this.#ports, true);
    } catch (error) {
      await this.#close();
      throw error;
    }
    // a stop meanwhile has closed the listeners: do not watch the files after it
    if (this.#lifecycle.stopping) return;
    for (const [at, [index]] of present.entries()) {
      const port = this.#ports[sharedPort ? 0 : at];
      if (port !== undefined) this.#portOf.set(index, port);
    }
    tlsFiles?.watch();
    this.#logger.info(listeningLine(this.#options, this.#ports, this.#units.size));
  }

  async #close(): Promise<void> {
    this.#portOf.clear();
    this.#options.tlsFiles?.unwatch();
    await Promise.all(this.#ports.map(({ server }) => server.close()));
    this.#ports = [];
  }

  /** The port for a device added while running. */
  async #portFor(unit: BankUnit): Promise<Port> {
    const [shared] = this.#ports;
    if (this.#options.sharedPort && shared !== undefined) return shared;
    try {
      return await this.#bindLate(this.#ownListener(unit));
    } catch (error) {
      unit.release();
      throw error;
    }
  }

  /** Binds a port of a running adapter. @throws SimError COMMAND_CONFLICT, SHORTAGE, STOPPING with nothing left open */
  async #bindLate(port: Port): Promise<Port> {
    this.#refuseWhenStopping();
    // in the list from the start, so that a stop meanwhile closes it too
    this.#ports = [...this.#ports, port];
    try {
      await listenAll([port]);
    } catch (error) {
      this.#ports = this.#ports.filter((each) => each !== port);
      if (!(error instanceof SimError) || error.code !== 'LISTEN_FAILED') throw error;
      const code = shortageOf(error) === null ? 'COMMAND_CONFLICT' : 'SHORTAGE';
      throw new SimError(code, error.message, error.issues);
    }
    this.#refuseWhenStopping();
    return port;
  }

  get #served(): Served {
    return {
      units: this.#units,
      byUnitId: this.#byUnitId,
      meter: this.#options.meter?.port == null ? this.#meter : null,
    };
  }

  #ownListener(unit: BankUnit): Port {
    return ownListener(this.#options, this.#context, this.#served.meter, unit);
  }

  #meterListeners(): readonly Port[] {
    const port = this.#options.meter?.port ?? null;
    return this.#meter === null || port === null
      ? []
      : [meterListener(this.#options, this.#context, this.#meter, port)];
  }

  #refuseWhenStopping(): void {
    if (this.#lifecycle.stopping) throw new SimError('STOPPING', 'Modbus is stopping');
  }

  #unitIdOf(index: number): number {
    const { framing, sharedPort } = this.#options;
    const unit = this.#units.get(index);
    const byPort = sharedPort ? (unit?.unitId ?? unitIdOf(this.#options, { index })) : ownUnitId;
    return framing === 'rtu' ? (unit?.address ?? byPort) : byPort;
  }
}

/** The reason why devices cannot be served, and the setting that decides. */
interface Lack {
  readonly name: string;
  readonly detail: string;
}

/** null: the device can be served */
function lackOfRoom(options: ModbusAdapterOptions, device: ModbusDevice): Lack | null {
  const { port, sharedPort, meter } = options;
  const { index } = device;
  const unitId = unitIdOf(options, device);
  if (sharedPort && meter?.port === null && unitId === meter.unitId) {
    return { name: 'meter_unit', detail: `device ${index} would have unit id ${unitId}, which the meter has` };
  }
  if (sharedPort && unitId > maxUnitId) {
    return {
      name: 'mb_shared_port',
      detail:
        `a shared Modbus port serves at most ${maxUnitId} devices (unit ids 1 to ${maxUnitId}); device ` +
        `${index} would have unit id ${unitId}`,
    };
  }
  const devicePort = modbusPortOf(options, device);
  if (!sharedPort && devicePort > maxPort) {
    return {
      name: 'mb_port',
      detail: `Modbus ports from ${port} on are not enough: device ${index} would need port ${devicePort}, the highest is ${maxPort}`,
    };
  }
  return null;
}

/** The lack of two devices in one place; null: each has a place of its own. */
function sharedPlace(options: ModbusAdapterOptions, devices: readonly ModbusDevice[]): Lack | null {
  const { sharedPort } = options;
  const indexes = new Map<number, number>();
  for (const device of devices) {
    const { index } = device;
    const place = sharedPort ? unitIdOf(options, device) : modbusPortOf(options, device);
    const other = indexes.get(place);
    if (other !== undefined && place !== 0)
      return {
        name: sharedPort ? 'mb_shared_port' : 'mb_port',
        detail: `devices ${other} and ${index} would have the same ${sharedPort ? 'unit id' : 'Modbus port'} ${place}`,
      };
    indexes.set(place, index);
  }
  return null;
}

function checkRoom(options: ModbusAdapterOptions): void {
  const { devices, sharedPort } = options;
  const byIndex = devices.toSorted((a, b) => b.index - a.index);
  const lack = byIndex.map((device) => lackOfRoom(options, device)).find(Boolean) ?? sharedPlace(options, devices);
  if (lack !== null)
    throw new SimError('CONFIG_INVALID', lack.detail, [
      { ...lack, ...(sharedPort && lack.name === 'mb_shared_port' && { allowed: [maxUnitId] }) },
    ]);
}

const protocolOf = ({ framing, tlsFiles }: ModbusAdapterOptions) =>
  framing === 'rtu' ? 'Modbus RTU over TCP' : tlsFiles === undefined ? 'Modbus TCP' : 'Modbus over TLS';

function listeningLine(options: ModbusAdapterOptions, ports: readonly Port[], deviceCount: number): string {
  const first = ports[0];
  const where = first === undefined ? options.host : hostAndPort(options.host, first.server.port);
  const more = ports.length > 1 ? ` (${portsInWords(ports)})` : '';
  return `${protocolOf(options)} on ${where}${more}, ${deviceCount} ${deviceCount === 1 ? 'device' : 'devices'}`;
}
