/** Shared by the replies of the kinds of devices. */
import type { AssetType, DeviceDetail } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import type { BatteryDetail } from '../../contract/kinds/battery.ts';
import { arrayIn, kindsWhere, storageIn } from '../../contract/kinds/table.ts';
import type { ArrayDetail } from '../../contract/kinds/table.ts';
import type { Device } from '../../contract/device.ts';
import type { Plant } from '../../contract/plant.ts';
import { z } from '../description/zod.ts';
import { nested } from './members.ts';

/** Context of replies about a device. */
export interface OfDevice {
  readonly device: Device;
  readonly plant: Plant;
}

/** Six decimals, and no negative zero. */
export function rounded(value: number): number {
  // large values have no room for decimals and must not overflow
  return Math.abs(value) < 1e9 ? Math.round(value * 1e6) / 1e6 + 0 : value;
}

/** W to kW, Wh to kWh, var to kvar. */
export function kilo(value: number): number {
  return rounded(value / 1000);
}

/** A quantity to six decimals. */
export const measured = nested({ schema: () => z.number(), reply: rounded });
/** A quantity in thousands of the unit of the source. */
export const inKilo = nested({ schema: () => z.number(), reply: kilo });

function wrongKind({ index, assetType }: Device, wanted: readonly AssetType[]): SimError {
  return new SimError(
    'COMMAND_NOT_APPLICABLE',
    `Device ${index} is of kind ${assetType}; this is for ${wanted.join(' and ')}.`,
  );
}

/**
 * State of a device that must be of one kind.
 * @throws SimError COMMAND_NOT_APPLICABLE
 */
export function detailOf<K extends AssetType>(device: Device, kind: K): DeviceDetail<K> {
  const { detail } = device;
  const isOfKind = (any: DeviceDetail): any is DeviceDetail<K> => any.kind === kind;
  if (!isOfKind(detail)) throw wrongKind(device, [kind]);
  return detail;
}

/**
 * The storage of a device whose kind has one.
 * @throws SimError COMMAND_NOT_APPLICABLE
 */
export function storageOf(device: Device): BatteryDetail {
  const storage = storageIn(device.detail);
  if (storage === null)
    throw wrongKind(
      device,
      kindsWhere((facts) => facts.storage !== null),
    );
  return storage;
}

/**
 * The PV array of a device whose kind has one.
 * @throws SimError COMMAND_NOT_APPLICABLE
 */
export function arrayOf(device: Device): ArrayDetail {
  const array = arrayIn(device.detail);
  if (array === null)
    throw wrongKind(
      device,
      kindsWhere((facts) => facts.array !== null),
    );
  return array;
}
