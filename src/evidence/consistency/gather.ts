/** Reads every quantity of a device through each protocol, and compares the values. */
import type { Device } from '../../contract/device.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { SimError } from '../../core/errors.ts';
import type { Sources } from '../sources.ts';
import { compared, changesValues, faultProtocolOf } from './compare.ts';
import type { Compared } from './compare.ts';
import { CsipReader, Dnp3Reader, OcppReader, RestReader, StreamReader } from './readers.ts';
import { causes, momentOf, presenters } from './model.ts';
import type { Cause, Presented, Presenter, QuantityRow } from './model.ts';
import type { QuantityName } from './names.ts';
import { quantityTable } from './quantities.ts';
import { ModbusReader, slotOf, trueRegister } from './registers.ts';

export interface ComparedQuantity {
  readonly name: QuantityName;
  readonly row: QuantityRow;
  /** the first one is the reference */
  readonly presentations: readonly Compared[];
}

/** How a protocol takes part. */
export interface Participation {
  readonly presenter: Presenter;
  /** reason why it presents nothing of the device; null: it presents values */
  readonly absent: string | null;
  readonly faults: readonly { readonly fault: ActiveFault; readonly changesValues: boolean }[];
}

export interface Comparison {
  readonly quantities: readonly ComparedQuantity[];
  readonly protocols: readonly Participation[];
  readonly counts: Readonly<Record<Cause, number>>;
}

type Read = (row: QuantityRow) => readonly Presented[];
/** The reader of a protocol, or why it presents nothing of the device. */
type Source = Read | string;

const one =
  (read: (row: QuantityRow) => Presented | null): Read =>
  (row) => {
    const presented = read(row);
    return presented === null ? [] : [presented];
  };

const off = 'switched off';
const dark = 'the device is off and does not answer';

function ocppSource(from: Sources, device: Device): Source {
  if (!from.ocpp.enabled) return off;
  const station = from.ocpp.ofDevice(device.index);
  if (station === null) return 'the device is no charging station';
  const reader = new OcppReader(station, device, from.plant);
  return one((row) => reader.read(row));
}

function csipSource({ csipClient, plant }: Sources, device: Device): Source {
  if (!csipClient.enabled) return off;
  try {
    const isOne = csipClient.config(device.index)?.identity !== 'site' || plant.devices.length === 1;
    if (!isOne) return 'the server receives the sum of all devices';
    const reader = new CsipReader(csipClient, device.index);
    return one((row) => reader.read(row));
  } catch (error) {
    if (error instanceof SimError && error.code === 'UNKNOWN_DEVICE') return 'no client stands for the device';
    throw error;
  }
}

function sourcesOf(from: Sources, device: Device, rows: readonly QuantityRow[]): Readonly<Record<Presenter, Source>> {
  const { plant, dnp3 } = from;
  const moment = momentOf(plant);
  const rest = new RestReader(from, device, moment);
  const isDark = plant.silentDevices.has(device.index);
  const modbus = (): Source => {
    const window = from.window(device.index);
    if (window === null) return off;
    const reader = new ModbusReader(device, window, moment);
    return (row) => reader.read(row);
  };
  const outstation = (): Source => {
    if (!dnp3.enabled) return off;
    if (dnp3.outstation(device.index) === null) return 'the device has no outstation';
    const reader = new Dnp3Reader(dnp3, device, moment, rows);
    return one((row) => reader.read(row));
  };
  const stream = (): Source => {
    const message = from.message(device);
    if (message === null) return off;
    const reader = new StreamReader(message, moment);
    return one((row) => reader.read(row));
  };
  return {
    registers: one((row) => trueRegister(device, row, moment)),
    rest: one((row) => rest.read(row)),
    stream: stream(),
    modbus: isDark ? dark : modbus(),
    dnp3: isDark ? dark : outstation(),
    ocpp: isDark ? dark : ocppSource(from, device),
    // a server keeps the values that it received last
    csip: csipSource(from, device),
  };
}

function isOf({ bank, assetType }: Device, { needs, kind }: QuantityRow): boolean {
  if (kind !== undefined && kind !== assetType) return false;
  return needs === undefined || slotOf(bank.layout, needs) !== undefined;
}

/** True if enough power flows for a quantity to mean something. */
function isMeaningful({ bank }: Device, { least }: QuantityRow): boolean {
  if (least === undefined) return true;
  const [flows, rated] = [least.point, least.of].map((name) => {
    const slot = slotOf(bank.layout, name);
    return slot === undefined ? null : bank.value(slot);
  });
  return typeof flows !== 'number' || typeof rated !== 'number' || flows >= least.share * rated;
}

function quantityOf(
  device: Device,
  name: QuantityName,
  row: QuantityRow,
  sources: Readonly<Record<Presenter, Source>>,
  faults: readonly ActiveFault[],
): readonly ComparedQuantity[] {
  const presented = presenters.flatMap((presenter) => {
    const source = sources[presenter];
    return typeof source === 'string' ? [] : source(row);
  });
  const first = row.hasCoarseResolution ? (['rest', 'registers'] as const) : (['registers', 'rest'] as const);
  const [reference] = first.flatMap((presenter) => presented.find((each) => each.presenter === presenter) ?? []);
  if (reference === undefined) return [];
  const others = presented.filter((each) => each !== reference);
  const presentations = [reference, ...others].map((each) =>
    compared(each, reference, row.unit, faults, isMeaningful(device, row)),
  );
  return [{ name, row, presentations }];
}

/** @param names null: all */
export function compareDevice(from: Sources, device: Device, names: readonly QuantityName[] | null): Comparison {
  from.faults.expire();
  const faults = from.faults.active.filter((fault) => fault.concerns(device.index));
  const chosen = quantityTable.filter(([name, row]) => (names === null || names.includes(name)) && isOf(device, row));
  const rows = chosen.map(([, row]) => row);
  const sources = sourcesOf(from, device, rows);
  const quantities = chosen.flatMap(([name, row]) => quantityOf(device, name, row, sources, faults));
  const all = quantities.flatMap(({ presentations }) => presentations);
  const count = (cause: Cause) => all.filter((each) => each.cause === cause).length;
  return {
    quantities,
    protocols: presenters.map((presenter) => {
      const source = sources[presenter];
      return {
        presenter,
        absent: typeof source === 'string' ? source : null,
        faults: faults
          .filter(({ protocol }) => protocol === faultProtocolOf[presenter])
          .map((fault) => ({ fault, changesValues: changesValues(fault) })),
      };
    }),
    counts: Object.fromEntries(causes.map((cause) => [cause, count(cause)])) as Record<Cause, number>,
  };
}
