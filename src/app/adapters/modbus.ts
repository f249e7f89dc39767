/** The adapters for Modbus masters that a configuration enables. */
import { microsPerSecond } from '../../core/time/clock.ts';
import type { AppConfig } from '../../config/settings/app-config.ts';
import type { AdapterParts } from '../../contract/adapter-parts.ts';
import type { CommName } from '../../core/adapter.ts';
import { LimitedLog } from '../../core/log/limited-log.ts';
import { TlsFiles } from '../../core/tls/watch.ts';
import type { TlsFilesOptions } from '../../core/tls/watch.ts';
import { ModbusTap } from '../../core/wire/modbus.ts';
import type { ModbusMessages } from '../../core/wire/modbus.ts';
import type { SimPlant } from '../../der/plant/plant.ts';
import { FaultyMaps } from '../../sunspec/faults/faulty-map.ts';
import { roleOfCertificate } from '../../sunspec/modbus/access/certificate-role.ts';
import type { RoleFinding } from '../../sunspec/modbus/access/certificate-role.ts';
import { createModbusAdapter } from '../../sunspec/modbus/bridge.ts';
import type { ModbusAdapter, ModbusAdapterOptions } from '../../sunspec/modbus/bridge.ts';
import { createBankDisturber } from '../../sunspec/modbus/faults/bridge.ts';
import type { SilentDevices } from '../../sunspec/modbus/faults/disturber.ts';
import { ModbusJudge } from '../../sunspec/modbus/findings/judge.ts';
import { createProxyAdapter } from '../../sunspec/modbus/proxy/bridge.ts';
import type { ProxyAdapter } from '../../sunspec/modbus/proxy/bridge.ts';
import { createModbusRtuAdapter } from '../../sunspec/modbus/rtu-bridge.ts';
import type { ModbusRtuAdapter } from '../../sunspec/modbus/rtu-bridge.ts';
import type { MasterJudge, ModbusLimits } from '../../sunspec/modbus/server/context.ts';
import { deviceTypeNames, deviceTypes } from '../../config/profile/device-types.ts';
import type { DeviceTypeName } from '../../config/profile/device-types.ts';
import { simTimeFromMs } from '../../core/time/clock.ts';
import { SimError } from '../../core/errors.ts';
import type { Kept } from '../../core/kept.ts';
import { createTemplate } from '../../der/device/template.ts';
import type { Layout } from '../../sunspec/map/layout.ts';
import type { AdapterSeats } from './seats.ts';

/**
 * Device types, without aliases, whose map passes a test. Takes up to a second, so only messages about a failed start
 * use it.
 */
function deviceTypesWhere(
  { deviceOf, grid, simModels }: AppConfig,
  passes: (layout: Layout) => boolean,
): DeviceTypeName[] {
  const types = deviceTypeNames.filter(
    (name, at) => deviceTypeNames.findIndex((other) => deviceTypes[other] === deviceTypes[name]) === at,
  );
  return types.filter((name) => {
    try {
      const { profile, phases } = deviceOf({ device_type: name, profile: deviceTypes[name].defaultProfile }, 0);
      return passes(
        createTemplate(profile, phases, grid.nominalFrequencyHz, simTimeFromMs(0), 0, { withSimModels: simModels })
          .layout,
      );
    } catch (error) {
      // the other settings do not fit this type
      if (error instanceof SimError) return false;
      throw error;
    }
  });
}

export interface ModbusContext extends AdapterParts {
  /** the configuration as requests have left it */
  readonly inForce: () => AppConfig;
  /** true: REST clients may connect the SunSpec client to pseudo terminals */
  readonly clientPty: boolean;
  /** true: the store survives the process */
  readonly isKept: boolean;
  readonly plant: SimPlant;
  /** the channel of Modbus, which several adapters share */
  readonly modbusMessages: ModbusMessages;
  /** Takes the state of a part that a restart keeps, and restores it at once where there is one; absent: nothing is kept. */
  readonly keep?: (name: string, kept: Kept) => void;
}

/** Fault injection between devices and masters, over TCP and on a serial line. */
type FaultInjection = Required<Pick<ModbusAdapterOptions, 'disturber' | 'faultyMaps'>>;

/**
 * @throws SimError CONFIG_INVALID for a proxy map or certificates that do not fit, and for devices without a port or
 * unit id
 */
export function composeModbus(seats: AdapterSeats, context: ModbusContext): void {
  const faultInjection = faultInjectionOf(context);
  // one for all adapters, since masters of any of them write the same set-points
  const judge = new ModbusJudge(context.findings, context.clock);
  seats.add({ name: 'modbus', make: () => composeTcp(context, faultInjection, judge) });
  seats.add({ name: 'modbus-rtu', make: () => composeRtu(context, faultInjection, judge) });
  // the servers have put the maps behind their faults
  context.keep?.('modbus-faults', faultInjection.faultyMaps.kept());
  seats.add({ name: 'proxy', make: () => composeProxy(context, judge) });
}

const silentDevices = (plant: ModbusContext['plant']): SilentDevices => ({
  indexes: plant.silentDevices,
  onChange: (listener) => plant.onPower(listener),
});

function faultInjectionOf({ faults: { registry }, plant, clock, logBook }: ModbusContext): FaultInjection {
  const faultyMaps = new FaultyMaps({
    registry,
    log: new LimitedLog(logBook.logger('Modbus'), clock, 'writes that faults held back'),
    now: () => plant.latest.sim,
    onTick: (listener) => plant.onTick(listener),
    later: (deviceIndex, delayS, act) => plant.device(deviceIndex).later(delayS, act),
    again: (deviceIndex, timer, act) => plant.device(deviceIndex).again(timer, act),
  });
  const disturber = createBankDisturber({
    registry,
    monotonicMs: () => clock.monotonicMs(),
    maps: faultyMaps,
    silent: silentDevices(plant),
    devices: () => plant.devices,
    meter: plant.meter,
  });
  return { disturber, faultyMaps };
}

function tapOf({ modbusMessages, clock }: ModbusContext, comm: CommName): ModbusTap {
  return new ModbusTap(modbusMessages, comm, clock);
}

/** Limits that follow the settings in force. */
function limitsOf({ inForce }: ModbusContext): Partial<ModbusLimits> {
  return {
    get maxConnections() {
      return inForce().modbus.maxConnections;
    },
    get idleTimeoutMs() {
      return inForce().modbus.idleTimeoutS * 1000;
    },
    get frameTimeoutMs() {
      return inForce().modbus.frameTimeoutS * 1000;
    },
  };
}

/** TLS of Modbus; the role in the certificate identifies a client. @throws SimError CONFIG_INVALID */
export function modbusTlsFiles(
  options: Omit<TlsFilesOptions<RoleFinding>, 'protocol' | 'names' | 'identify'>,
): TlsFiles<RoleFinding> {
  return new TlsFiles({
    ...options,
    protocol: 'Modbus',
    names: { cert: 'mb_cert', key: 'mb_key', rootCert: 'mb_root_cert' },
    identify: roleOfCertificate,
  });
}

function composeTcp(context: ModbusContext, faultInjection: FaultInjection, judge: MasterJudge): ModbusAdapter | null {
  const { inForce, plant, commAlarms, clock, later, logBook, pem } = context;
  const {
    modbus: { enabled, host, advertisedHost, port, sharedPort, countsFrom, framing, tls },
    meter,
  } = inForce();
  if (!enabled) return null;
  const logger = logBook.logger('Modbus');
  return createModbusAdapter({
    devices: plant.devices,
    host,
    port,
    sharedPort,
    countsFrom,
    advertisedHost,
    ...(plant.meter && meter && { meter: { ...meter, bank: plant.meter.bank } }),
    ...faultInjection,
    commAlarms,
    clock,
    later,
    logger,
    framing: framing === 'rtu_over_tcp' ? 'rtu' : 'mbap',
    foreignUnit: () => inForce().modbus.foreignUnit ?? 'gateway',
    ...(tls !== null && { tlsFiles: modbusTlsFiles({ settings: tls, io: pem, clock, logger }) }),
    limits: limitsOf(context),
    tap: tapOf(context, 'modbus_tcp'),
    judge,
  });
}

function composeRtu(
  context: ModbusContext,
  faultInjection: FaultInjection,
  judge: MasterJudge,
): ModbusRtuAdapter | null {
  const { inForce, plant, commAlarms, clock, later, logBook } = context;
  const { rtu, meter } = inForce();
  if (rtu === null) return null;
  const { port: path, baud: baudRate, parity, stopBits } = rtu;
  const unitId = meter?.unitId ?? null;
  return createModbusRtuAdapter({
    devices: plant.devices,
    line: { path, baudRate, parity, stopBits },
    ...(plant.meter && unitId !== null && { meter: { bank: plant.meter.bank, unitId } }),
    ...faultInjection,
    commAlarms,
    clock,
    later,
    logger: logBook.logger('Modbus'),
    tap: tapOf(context, 'modbus_rtu'),
    judge,
  });
}

function composeProxy(context: ModbusContext, judge: MasterJudge): ProxyAdapter | null {
  const {
    inForce,
    plant,
    commAlarms,
    clock,
    later,
    logBook,
    faults: { registry },
  } = context;
  const config = inForce();
  if (config.proxy === null) return null;
  return createProxyAdapter({
    ...config.proxy,
    devices: plant.devices,
    timeOf: (index) => ({
      nowS: () => plant.now / microsPerSecond,
      afterS(delayS, act) {
        plant.device(index).later(delayS, act);
      },
    }),
    faults: { registry, silent: silentDevices(plant), monotonicMs: () => clock.monotonicMs() },
    commAlarms,
    clock,
    later,
    logger: logBook.logger('Modbus'),
    deviceTypesWhere: (passes) => deviceTypesWhere(config, passes),
    limits: limitsOf(context),
    tap: tapOf(context, 'modbus_proxy'),
    judge,
  });
}
