/** The listeners of Modbus TCP: per device or shared, and the meter's. */
import { modbusPortOf } from '../../contract/device-protocols.ts';
import { SimError } from '../../core/errors.ts';
import { withRemedy } from '../../core/net/listen.ts';
import type { ModbusContext } from './server/context.ts';
import type { FramingName } from './framing/framing.ts';
import { createModbusTcpServer } from './server/server.ts';
import type { ModbusTcpServer } from './server/server.ts';
import { LineUnits } from './unit-bridge.ts';
import type { BankUnit, MeterUnit } from './unit-bridge.ts';

/** Address and ports of the listeners. */
interface Place {
  readonly host: string;
  /** port of device 0, or the shared port; 0: any free port */
  readonly port: number;
  readonly framing?: FramingName;
}

/** unit id of a device or meter at a separate port */
export const ownUnitId = 1;
/** maximum number of ports bound at the same time */
const parallelListens = 64;

/** A listener. Lists have one per device, or the shared one, then the meter's, and then those of added devices. */
export interface Port {
  readonly server: ModbusTcpServer;
  /** undefined: shared, or the meter's */
  readonly deviceIndex: number | undefined;
  /** true: the meter's */
  readonly isMeter?: true;
}

/** Units served by the listeners. */
export interface Served {
  readonly units: ReadonlyMap<number, BankUnit>;
  /** by unit id on a port for several devices */
  readonly byUnitId: ReadonlyMap<number, BankUnit>;
  /** the meter at the ports of devices; null: no meter there */
  readonly meter: MeterUnit | null;
}

export function sharedListener(options: Place, context: ModbusContext, { units, byUnitId, meter }: Served): Port {
  const { host, port, framing = 'mbap' } = options;
  const line = new LineUnits(units, context.log, meter);
  const server = createModbusTcpServer({
    host,
    port,
    framing,
    context,
    units:
      framing === 'rtu'
        ? (address) => line.at(address)
        : (unitId) => (unitId === meter?.address ? meter : byUnitId.get(unitId)),
    unitOf: (index) => (index === meter?.faultIndex ? meter : units.get(index)),
  });
  return { server, deviceIndex: undefined };
}

export function ownListener(options: Place, context: ModbusContext, meter: MeterUnit | null, unit: BankUnit): Port {
  const { host, framing = 'mbap' } = options;
  const { index } = unit.device;
  const units = new Map([[index, unit]]);
  const line = framing === 'rtu' ? new LineUnits(units, context.log, meter) : undefined;
  const server = createModbusTcpServer({
    host,
    port: modbusPortOf(options, unit.device),
    framing,
    units:
      line !== undefined
        ? (address) => line.at(address)
        : (unitId) => (isOwn(unitId, ownUnitId) ? unit : unitId === meter?.address ? meter : undefined),
    unitOf: (of) => (of === meter?.faultIndex ? meter : units.get(of)),
    context,
    deviceIndex: index,
  });
  return { server, deviceIndex: index };
}

/** 0 and 255 mean the unit at the other end of the connection (Modbus Messaging on TCP/IP 1.0b, unit identifier). */
const isOwn = (unitId: number, servedId: number) => unitId === servedId || unitId === 0 || unitId === 255;

export function meterListener(
  { host, framing = 'mbap' }: Place,
  context: ModbusContext,
  meter: MeterUnit,
  port: number,
): Port {
  const line = framing === 'rtu' ? new LineUnits(new Map(), context.log, meter) : undefined;
  const server = createModbusTcpServer({
    host,
    port,
    framing,
    units: (unitId) => (line === undefined ? (isOwn(unitId, meter.address) ? meter : undefined) : line.at(unitId)),
    unitOf: (of) => (of === meter.faultIndex ? meter : undefined),
    context,
    faultIndex: meter.faultIndex,
  });
  return { server, deviceIndex: undefined, isMeter: true };
}

/**
 * Binds all ports, at most `parallelListens` at a time. Rejects with the first failure, which names its device.
 * @param withFlag true: the failure names the flag that chooses another port
 */
export async function listenAll(ports: readonly Port[], withFlag = false): Promise<void> {
  const queue = ports.values();
  let failed = false;
  async function work(): Promise<void> {
    for (const port of queue) {
      if (failed) return;
      try {
        await port.server.listen();
      } catch (error) {
        failed = true;
        const failure = named(error, port);
        throw withFlag ? withRemedy(failure, port.isMeter ? '--meter_port' : '--mb_port') : failure;
      }
    }
  }
  const results = await Promise.allSettled(Array.from({ length: parallelListens }, work));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

function named(error: unknown, { deviceIndex, isMeter }: Port): unknown {
  if (!(error instanceof SimError)) return error;
  const whose = isMeter
    ? 'Modbus of the meter'
    : deviceIndex === undefined
      ? 'Modbus'
      : `Modbus of device ${deviceIndex}`;
  const { code, message, issues, cause } = error;
  return Object.assign(new SimError(code, `${whose}: ${message}`, issues), { cause });
}

/** Text after the first port: empty, `..last` for consecutive ports, or a list. */
export function furtherPorts(ports: readonly number[]): string {
  const [first = 0] = ports;
  const last = ports.at(-1) ?? first;
  if (ports.every((port) => port === first)) return '';
  if (ports.every((port, i) => port === first + i)) return `..${last}`;
  const listedPorts = ports.slice(1, 20).join(', ');
  return `, ${listedPorts}${ports.length > 20 ? `, ... (${ports.length} ports, see GET /api/sim/devices)` : ''}`;
}

export function portsInWords(ports: readonly Port[]): string {
  const numbers = ports.map(({ server }) => server.port);
  return `${ports.length} ports, ${Math.min(...numbers)} to ${Math.max(...numbers)}`;
}
