/** Devices whose registers a test sets, beside the real ones of the plant. */
import type { Device } from '../../../src/contract/device.ts';
import { createMapView, readPoint } from '../../../src/sunspec/map/view.ts';
import type { WritableMapView } from '../../../src/sunspec/map/view.ts';

/** The device with a copy of its registers that `change` may assign, measurements included. */
export function withRegisters(device: Device, change: (map: WritableMapView) => void): Device {
  const { layout } = device.bank;
  const image = Buffer.concat(
    Array.from({ length: Math.ceil(layout.size / 100) }, (_, i) =>
      Buffer.from(device.bank.read(layout.base + 100 * i, Math.min(100, layout.size - 100 * i))),
    ),
  );
  const map = createMapView(layout, image);
  change(map);
  const bank = Object.create(device.bank, {
    map: { value: map },
    layout: { value: layout },
    value: { value: (slot: Parameters<Device['bank']['value']>[0]) => readPoint(layout, image, slot) },
  }) as Device['bank'];
  return Object.create(device, {
    bank: { value: bank },
    detail: { value: device.detail },
    assetType: { value: device.assetType },
    localControl: { value: device.localControl },
    gradient: { value: device.gradient },
    available: { value: device.available },
    index: { value: device.index },
    overrides: { value: device.overrides },
  }) as Device;
}
