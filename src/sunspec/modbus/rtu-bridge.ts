/** Modbus RTU: all devices on one serial line, each at its address. */
import { AdapterLifecycle, startLine } from '../../core/adapter.ts';
import type { Adapter, AdapterStatus, ModbusRtuEndpoint } from '../../core/adapter.ts';
import type { CommAlarmSwitch } from '../../core/comm-alarms.ts';
import { SimError } from '../../core/errors.ts';
import { Recovery } from '../../core/net/recovery.ts';
import { silentLogger } from '../../core/log/log.ts';
import { maxUnitId } from '../../contract/modbus-report.ts';
import type { ModbusReport, ModbusReporter, RegisterWindow } from '../../contract/modbus-report.ts';
import type { FaultyMaps } from '../faults/faulty-map.ts';
import type { DeviceServer } from '../../contract/plant.ts';
import type { PointBank } from '../map/bank.ts';
import type { ModbusDevice } from './bridge.ts';
import { countsStatus } from './server/context.ts';
import type { ModbusCounters } from './server/context.ts';
import type { Service } from './server/exchange.ts';
import { createModbusContext } from './server/server.ts';
import type { ModbusClientInfo, ModbusContextOptions } from './server/server.ts';
import { SerialLine, createSerialOpener } from './serial-line.ts';
import type { SerialChannel, SerialOpener, SerialSettings } from './serial-line.ts';
import { BankUnit, basesInWords, LineUnits, MeterUnit, unitsInWords } from './unit-bridge.ts';

export interface ModbusRtuOptions extends Omit<ModbusContextOptions, 'limits' | 'foreignUnit' | 'sweeper' | 'tls'> {
  /** the devices at the start; each needs its address (1.DA) */
  readonly devices: readonly ModbusDevice[];
  readonly line: SerialSettings;
  /** the meter of the connection point, at its address; absent: not on the line */
  readonly meter?: { readonly bank: PointBank; readonly unitId: number };
  /** faults between registers and masters; absent: no fault injection */
  readonly faultyMaps?: FaultyMaps;
  /** shows the loss of the port as an alarm of every device; absent: no alarm */
  readonly commAlarms?: CommAlarmSwitch;
  /** default: the package `serialport` */
  readonly open?: SerialOpener;
}

/**
 * Serves every device on a serial line. A port that disappears is opened again when it is back.
 * @throws SimError CONFIG_INVALID for more devices than addresses
 */
export function createModbusRtuAdapter(options: ModbusRtuOptions): ModbusRtuAdapter {
  const highest = options.devices.reduce((max, { index }) => Math.max(max, index), 0);
  const lack = lackOfRoom(highest, undefined);
  if (lack !== null)
    throw new SimError('CONFIG_INVALID', lack, [{ name: 'rtu_enable', detail: lack, allowed: [maxUnitId] }]);
  return new ModbusRtuAdapter(options);
}

function lackOfRoom(index: number, meter: ModbusRtuOptions['meter']): string | null {
  if (1 + index === meter?.unitId) return `device ${index} would have unit id ${1 + index}, which the meter has`;
  if (1 + index <= maxUnitId) return null;
  return `a serial line serves at most ${maxUnitId} devices (unit ids 1 to ${maxUnitId}); device ${index} would have unit id ${1 + index}`;
}

export class ModbusRtuAdapter implements Adapter, DeviceServer, ModbusReporter {
  readonly module = 'Modbus';
  readonly comm = 'modbus_rtu';
  readonly counters: ModbusCounters;
  readonly #options: ModbusRtuOptions;
  readonly #service: Service;
  /** by device index */
  readonly #units: Map<number, BankUnit>;
  /** null: no meter */
  readonly #meter: MeterUnit | null;
  readonly #open: SerialOpener;
  readonly #lifecycle = new AdapterLifecycle();
  #port: SerialChannel | undefined;
  #line: SerialLine | undefined;
  readonly #recovery: Recovery;
  /** pending first attempt to open the port */
  #opening: Promise<void> | undefined;

  constructor(options: ModbusRtuOptions) {
    const context = createModbusContext(options);
    this.#options = options;
    this.#open = options.open ?? createSerialOpener();
    this.#units = new Map(
      options.devices.map((device) => [device.index, new BankUnit(device, options.faultyMaps)] as const),
    );
    const { meter, faultyMaps } = options;
    const meterUnit = meter === undefined ? null : new MeterUnit(meter.unitId, meter.bank, faultyMaps);
    this.#meter = meterUnit;
    const line = new LineUnits(this.#units, context.log, meterUnit);
    this.#service = {
      context,
      deviceIndex: undefined,
      units: (address) => line.at(address),
      unitOf: (index) => (index === meterUnit?.faultIndex ? meterUnit : this.#units.get(index)),
    };
    this.counters = context.counters;
    this.#recovery = new Recovery({
      clock: context.clock,
      later: context.later,
      attempt: () => this.#openLine(),
      onChange: (reason) => {
        this.#showState(reason);
      },
    });
  }

  start(): Promise<void> {
    return this.#lifecycle.start(() => this.#connect());
  }

  stop(): Promise<void> {
    return this.#lifecycle.stop(() => this.#close());
  }

  async switchOff(): Promise<void> {
    await this.stop();
    for (const index of [...this.#units.keys()]) await this.removeDevice(index);
    this.#meter?.release();
  }

  status(): AdapterStatus {
    const status = this.#lifecycle.status({
      ...countsStatus(this.#service.context),
      detail: charactersInWords(this.#options.line),
      endpoint: this.#endpoint,
      peers: this.clients().length,
    });
    return { ...status, detail: this.#recovery.words ?? status.detail };
  }

  startLines(): readonly string[] {
    const endpoints = Array.from(this.#units.keys()).flatMap((index) => this.endpointOf(index) ?? []);
    if (endpoints.length === 0) return [];
    const { line } = this.#options;
    const meter = this.#options.meter === undefined ? '' : `, meter ${this.#options.meter.unitId}`;
    const units = unitsInWords(endpoints.map(({ unitId }) => unitId)) + meter;
    return [
      startLine('RTU', `${line.path} (${charactersInWords(line)}, ${units}, ${basesInWords(this.#units.values())})`),
    ];
  }

  endpointOf(deviceIndex: number): ModbusRtuEndpoint | null {
    const address = this.#units.get(deviceIndex)?.address ?? null;
    return address === null ? null : { protocol: 'modbus_rtu', path: this.#options.line.path, unitId: address };
  }

  addDevice(device: ModbusDevice): Promise<void> {
    const { index } = device;
    const lack = lackOfRoom(index, this.#options.meter);
    if (lack !== null) return Promise.reject(new SimError('COMMAND_CONFLICT', lack));
    this.#units.set(index, new BankUnit(device, this.#options.faultyMaps));
    this.#showLoss([index]);
    return Promise.resolve();
  }

  removeDevice(index: number): Promise<void> {
    this.#units.get(index)?.release();
    this.#units.delete(index);
    this.#options.commAlarms?.end(index, 'rtu_port_lost');
    return Promise.resolve();
  }

  /** The line as a client, after the first request. */
  clients(): readonly ModbusClientInfo[] {
    const line = this.#line;
    if (line === undefined || line.requests === 0) return [];
    return [
      {
        peer: line.peer,
        port: 0,
        connectedAtMs: line.connectedAtMs,
        idleMs: this.#service.context.clock.monotonicMs() - line.lastMs,
        requests: line.requests,
        unsentBytes: line.unsentBytes,
        heldBytes: line.heldBytes,
        paused: line.paused,
      },
    ];
  }

  registersOf(deviceIndex: number): RegisterWindow | null {
    return this.#units.get(deviceIndex) ?? null;
  }

  report(): ModbusReport {
    const {
      context: { foreignUnit, limits },
    } = this.#service;
    return {
      foreignUnit,
      limits,
      counters: this.counters,
      listeners: [{ transport: 'rtu', endpoint: this.#endpoint, deviceIndex: null, clients: this.clients() }],
    };
  }

  get #endpoint(): string | null {
    return this.#lifecycle.state === 'listening' ? this.#options.line.path : null;
  }

  /** @throws SimError LISTEN_FAILED, SHORTAGE */
  #connect(): Promise<void> {
    const connecting = this.#openLine();
    this.#opening = connecting.catch(() => undefined);
    return connecting;
  }

  async #openLine(): Promise<void> {
    const { line } = this.#options;
    const port = await this.#open(line);
    if (this.#lifecycle.stopping) {
      await closed(port);
      return;
    }
    this.#port = port;
    this.#line = new SerialLine(this.#service, port, line);
    port.on('error', (error) => {
      // errors of a closing port are not failures
      if (this.#port === port) this.#service.context.log.warning(`serial port ${line.path}: ${error.message}`);
    });
    port.on('close', () => {
      this.#lost(port);
    });
    // a terminal reports end of input when its other side has closed
    port.on('end', () => {
      this.#lost(port);
    });
    this.#log.info(
      `Modbus RTU on ${line.path} (${charactersInWords(line)}), ${this.#units.size} ${this.#units.size === 1 ? 'device' : 'devices'}`,
    );
  }

  get #log() {
    return this.#options.logger ?? silentLogger;
  }

  /** Handles the loss of the port. */
  #lost(port: SerialChannel): void {
    if (this.#port !== port) return;
    this.#drop();
    if (port.isOpen) port.close(() => undefined);
    const reason = `the serial port ${this.#options.line.path} has disappeared`;
    this.#log.warning(`${reason}; it is opened again when it is back`);
    this.#recovery.begin(reason);
  }

  /** @param reason why the port is lost; null: it is open again */
  #showState(reason: string | null): void {
    if (reason === null) this.#lifecycle.listening();
    else this.#lifecycle.retrying(reason);
    this.#showLoss(this.#units.keys());
  }

  /** Sets the alarm of devices while the port is lost, and clears it otherwise. */
  #showLoss(indexes: Iterable<number>): void {
    const { commAlarms } = this.#options;
    if (commAlarms === undefined) return;
    const { state, lastError } = this.#lifecycle;
    for (const index of indexes) {
      if (state === 'retrying') commAlarms.raise(index, 'rtu_port_lost', lastError ?? 'the serial port is lost');
      else commAlarms.end(index, 'rtu_port_lost');
    }
  }

  #drop(): void {
    this.#line?.close();
    this.#line = undefined;
    this.#port = undefined;
  }

  async #close(): Promise<void> {
    await this.#recovery.end();
    await this.#opening;
    const port = this.#port;
    this.#drop();
    for (const index of this.#units.keys()) this.#options.commAlarms?.end(index, 'rtu_port_lost');
    if (port !== undefined) await closed(port);
    const { log, report } = this.#service.context;
    log.flush();
    report.flush();
  }
}

function closed(port: SerialChannel): Promise<void> {
  return new Promise((resolve) => {
    port.close(() => {
      resolve();
    });
  });
}

/** `9600 8N1` */
function charactersInWords({ baudRate, parity, stopBits }: SerialSettings): string {
  return `${baudRate} 8${parity.charAt(0).toUpperCase()}${stopBits}`;
}
