/** Devices of requests, their snapshots and details. */
import type { Device, AssetType, DeviceDetail } from '../../contract/device.ts';
import { positionOf } from '../../contract/snapshot.ts';
import type { Published } from '../../contract/snapshot.ts';
import type { Adapter, ModbusTcpEndpoint } from '../../core/adapter.ts';
import { SimError } from '../../core/errors.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import type { RouteContext } from '../http/context.ts';
import type { Origin } from '../../core/origin.ts';
import type { z } from '../description/zod.ts';
import { JsonText, route } from '../http/route.ts';
import type { Late, Route, RouteBase } from '../http/route.ts';
import { deviceQuery } from './schemas.ts';
import type { BatteryDetail } from '../../contract/kinds/battery.ts';
import { arrayIn, kindsWhere, storageIn } from '../../contract/kinds/table.ts';
import type { PvArrayDetail } from '../../contract/kinds/table.ts';
import type { Plant } from '../../contract/plant.ts';

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
 * @param members JSON texts of objects with at least one member
 */
export function withMembers<T>(published: Published, ...members: readonly Buffer[]): JsonText<T> {
  const parts = members.flatMap((each) => [comma, each.subarray(1, -1)]);
  return new JsonText<T>(Buffer.concat([published.json.subarray(0, -1), ...parts, published.json.subarray(-1)]));
}

/** The Modbus TCP address of a device; null if it has none. */
export function modbusEndpoint(adapters: readonly Adapter[], index: number): ModbusTcpEndpoint | null {
  for (const adapter of adapters) {
    const endpoint = adapter.endpointOf?.(index);
    if (endpoint?.protocol === 'modbus_tcp') return endpoint;
  }
  return null;
}

/** Context of replies about a device. */
export interface OfDevice {
  readonly device: Device;
  readonly plant: Plant;
}

function wrongKind({ index, assetType }: Device, kinds: readonly AssetType[]): SimError {
  return new SimError(
    'COMMAND_NOT_APPLICABLE',
    `Device ${index} is of kind ${assetType}; the operation is for ${kinds.join(' and ')} only.`,
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
 * The storage of a device whose kind has a storage.
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
 * The PV array of a device whose kind has a PV array.
 * @throws SimError COMMAND_NOT_APPLICABLE
 */
export function arrayOf(device: Device): PvArrayDetail {
  const array = arrayIn(device.detail);
  if (array === null)
    throw wrongKind(
      device,
      kindsWhere((facts) => facts.array !== null),
    );
  return array;
}

type Facts = Omit<RouteBase, 'method' | 'tag'>;

/** A table of replies about a device. */
interface StateTable<S, R> {
  readonly schema: () => z.ZodType<R>;
  readonly reply: (state: S, context: OfDevice) => R;
}

/** An operation that changes something of a device. `S`: the state of the device in its replies. */
interface Change<S, B extends z.ZodType> extends Facts {
  readonly body: Late<B>;
  readonly change: (device: Device, body: z.output<B>, by: Origin, state: S) => void;
}

/**
 * Operations on one device, each answered with the same state of the device, after any change.
 * @param stateOf throws if the device has no such state
 * @param problems of each operation
 */
export function stateOperations<S, R>(
  tag: RouteBase['tag'],
  { schema, reply }: StateTable<S, R>,
  stateOf: (device: Device) => S,
  problems: readonly ProblemCode[] = [],
) {
  const common = { tag, query: deviceQuery, reply: schema };
  const answer = (device: Device, { plant }: RouteContext) => reply(stateOf(device), { device, plant });
  return {
    get: (facts: Facts): Route =>
      route({
        ...common,
        problems,
        ...facts,
        method: 'get',
        handle: (ctx, { query }) => answer(selectedDevice(ctx, query.device), ctx),
      }),
    post: <B extends z.ZodType>({ change, problems: further = [], ...facts }: Change<S, B>): Route =>
      route({
        ...common,
        ...facts,
        problems: [...problems, ...further],
        method: 'post',
        handle(ctx, { query, body, by }) {
          const device = selectedDevice(ctx, query.device);
          change(device, body as z.output<B>, by, stateOf(device));
          return answer(device, ctx);
        },
      }),
  };
}
