/** Faults that a request injects or ends, by the shards whose devices they concern. */
import { invalid } from '../../api/http/errors.ts';
import type { ShardPlace } from './forward.ts';

type Members = Readonly<Record<string, unknown>>;

/** A part of a request, for some shards. */
export interface FaultPart {
  readonly shards: readonly ShardPlace[];
  readonly body: Members;
  /** true: one that fits no device of a shard is refused there, and fits where it fits */
  readonly isForAll: boolean;
  /** position in the request of each fault that the part injects; null: places in refusals are those of the request */
  readonly positions: readonly number[] | null;
}

export interface FaultedFleet {
  readonly shards: readonly ShardPlace[];
  /** @throws HttpProblem `unknown-device` */
  readonly holding: (index: number) => ShardPlace;
}

interface FaultRequest {
  /** the parameter `device`; undefined: none */
  readonly device: number | undefined;
  /** of the form that one process takes */
  readonly body: Members;
}

const isOne = (device: unknown): device is number => typeof device === 'number';

/** The device of a fault: an index, or `all`. @throws HttpProblem `validation` for a meter */
function deviceOf(named: unknown, { device }: FaultRequest, { shards }: FaultedFleet, at: string): number | 'all' {
  if (named === 'meter') throw invalid('body', at, 'each shard has a meter of its own: give shard too');
  if (named === 'all' || isOne(named)) return named;
  return device ?? shards[0]?.first ?? 0;
}

/** Ends faults. @throws HttpProblem `validation` for an id */
function clearing(request: FaultRequest, { shards, holding }: FaultedFleet): readonly FaultPart[] {
  const { clear } = request.body;
  const { id, device } = (clear === true ? {} : clear) as Members;
  if (id !== undefined) throw invalid('body', '/clear/id', 'ids count in each shard: give shard too');
  const index = isOne(device) ? device : request.device;
  const concerned = index === undefined ? shards : [holding(index)];
  return [{ shards: concerned, body: request.body, isForAll: false, positions: null }];
}

/** Injects faults of a list, those of single devices first: each shard takes over all of them or none. */
function injection(list: readonly Members[], request: FaultRequest, fleet: FaultedFleet): readonly FaultPart[] {
  const placed = list.map((fault, position) => {
    const device = deviceOf(fault['device'], request, fleet, `/inject/${position}/device`);
    return { fault: { ...fault, device }, device, position };
  });
  const named = placed.filter(({ device }) => isOne(device));
  const holders = new Map(
    named.map(({ device }) => {
      const shard = fleet.holding(Number(device));
      return [shard.name, shard];
    }),
  );
  const ofOne = [...holders.values()].map((shard) => {
    const faults = named.filter(({ device }) => fleet.holding(Number(device)).name === shard.name);
    return {
      shards: [shard],
      body: { inject: faults.map(({ fault }) => fault) },
      isForAll: false,
      positions: faults.map(({ position }) => position),
    };
  });
  const ofAll = placed
    .filter(({ device }) => device === 'all')
    .map(({ fault, position }) => ({
      shards: fleet.shards,
      body: { inject: [fault] },
      isForAll: true,
      positions: [position],
    }));
  return [...ofOne, ...ofAll];
}

/**
 * The parts of a request, in the order in which they are sent.
 *
 * @throws HttpProblem `validation` where one shard must be named, `unknown-device`
 */
export function faultParts(request: FaultRequest, fleet: FaultedFleet): readonly FaultPart[] {
  const { body } = request;
  if ('clear' in body) return clearing(request, fleet);
  if (Array.isArray(body['inject'])) return injection(body['inject'] as readonly Members[], request, fleet);
  const device = deviceOf(body['device'], request, fleet, '/device');
  const isForAll = device === 'all';
  const shards = isForAll ? fleet.shards : [fleet.holding(device)];
  return [{ shards, body: { ...body, device }, isForAll, positions: null }];
}

/** The text of a refusal, with the places of the faults in the request of the client. */
export const inRequest = (text: string, positions: FaultPart['positions']) =>
  positions === null
    ? text
    : text.replaceAll(/\/inject\/(\d+)/g, (place, at: string) => {
        const position = positions[Number(at)];
        return position === undefined ? place : `/inject/${position}`;
      });

/** The operation whose list is the reply to a change of faults. */
export const listOfFaults = (operationId: string) =>
  operationId === 'set_faults' ? 'get_faults' : `${operationId.replace(/^set_/, 'get_')}s`;
