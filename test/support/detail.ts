import { expect } from 'chai';
import type { DeviceDetail } from '../../src/contract/device.ts';
import type { Device } from '../../src/contract/device.ts';

type OfKind<K extends DeviceDetail['kind']> = Extract<DeviceDetail, { readonly kind: K }>;

const isOf = <K extends DeviceDetail['kind']>(detail: DeviceDetail, kind: K): detail is OfKind<K> =>
  detail.kind === kind;

/** The detail of a device; fails unless it is of this kind. */
export function detailOf<K extends DeviceDetail['kind']>(device: Pick<Device, 'detail'>, kind: K): OfKind<K> {
  const { detail } = device;
  if (!isOf(detail, kind)) expect.fail(`the detail is that of a ${detail.kind}, not of a ${kind}`);
  return detail;
}
