import type { Device } from '../../contract/device.ts';
import { positionOf } from '../../contract/snapshot.ts';
import type { Published } from '../../contract/snapshot.ts';
import type { Adapter, ModbusTcpEndpoint } from '../../core/adapter.ts';
import { SimError } from '../../core/errors.ts';
import type { RouteContext } from '../http/context.ts';
import { JsonText } from '../http/route.ts';

const comma = Buffer.from(',');

/**
 * The device that a request selects.
 * @throws SimError UNKNOWN_DEVICE
 */
export function selectedDevice({ plant }: RouteContext, index: number | undefined): Device {
  return plant.device(index ?? plant.firstIndex);
}

/** The snapshot of a device from the last tick, shared by REST and the stream. */
export function latestOf(ctx: RouteContext, device: Device): Published {
  const { published } = ctx.plant.latest;
  const snapshot = published[positionOf(published, device.index)];
  if (!snapshot) throw new SimError('INTERNAL', `no snapshot of device ${device.index}`);
  return snapshot;
}

/**
 * A snapshot's JSON text with further members, without serialising the snapshot again.
 * @param members JSON text of an object with at least one member
 */
export function withMembers<T>(published: Published, members: Buffer): JsonText<T> {
  return new JsonText<T>(Buffer.concat([published.json.subarray(0, -1), comma, members.subarray(1)]));
}

/** The Modbus TCP address of a device; null without. */
export function modbusEndpoint(adapters: readonly Adapter[], index: number): ModbusTcpEndpoint | null {
  for (const adapter of adapters) {
    const endpoint = adapter.endpointOf?.(index);
    if (endpoint?.protocol === 'modbus_tcp') return endpoint;
  }
  return null;
}
