/** Faults of one protocol: the same two operations for each that has a path. */
import type { FaultPath, FlatFault, ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { chargePoint } from '../../contract/charge-point-ids.ts';
import { stationParams } from '../evse/schemas.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { clearFaults, injectFlat, injectProfile, refuseSwitchedOff, shownFaults } from './actions.ts';
import type { FaultCatalogue, FaultScope } from './actions.ts';
import { exampleFaultsOf } from './examples.ts';
import { faultDeviceQuery, faultsPageQuery, faultsQuery } from './schemas.ts';
import type { Clearing, FaultSchemas, ProfileRequest } from './schemas.ts';

type FaultBody = FlatFault | { readonly clear: Clearing } | ProfileRequest;

const isFault = (body: FaultBody): body is FlatFault => 'kind' in body;

interface Address {
  readonly params: { readonly id: string } | undefined;
  readonly query: { readonly device?: number | undefined } | undefined;
}

/** @throws SimError UNKNOWN_DEVICE, UNKNOWN_RESOURCE for a device that is not there */
function scopeOf({ plant, chargePointId }: RouteContext, only: ProtocolFaults, { params, query }: Address): FaultScope {
  if (params === undefined) {
    const device = query?.device;
    return { only, device: device === undefined ? device : plant.device(device).index, confined: false };
  }
  return { only, device: chargePoint(plant, chargePointId, params.id).index, confined: true };
}

/** The two operations at the path of a protocol. */
function routesAt(row: ProtocolFaults, rest: FaultPath, schemas: FaultSchemas, catalogue: FaultCatalogue): Route[] {
  const { protocol, name } = row;
  const { path, tag } = rest;
  const params = path.includes('{id}') ? stationParams : undefined;
  const unknown = params === undefined ? [] : (['unknown-resource'] as const);
  const reply = exampleFaultsOf(row, rest, catalogue.forms);
  const get = route({
    method: 'get',
    path,
    tag,
    operationId: `get_${protocol}_faults`,
    summary: `Faults of ${name}`,
    params,
    query: params === undefined ? faultsQuery : faultsPageQuery,
    reply: schemas.faults,
    ...(unknown.length > 0 && { problems: unknown }),
    examples: { reply },
    handle: (ctx, { params: station, query: { limit, after_id, ...query } }) =>
      shownFaults(ctx, scopeOf(ctx, row, { params: station, query }), { limit, after_id }),
  });
  const set = route({
    method: 'post',
    path,
    tag,
    operationId: `set_${protocol}_fault`,
    summary: `Injects or ends faults of ${name}`,
    description:
      'The body itself is the fault: its `kind`, the parameters of the kind, and its target, condition and duration. `clear` ends ' +
      `faults of ${name} only; \`profile\` injects a ready set, and the answer has its faults of ${name}.`,
    params,
    query: params === undefined ? faultDeviceQuery() : undefined,
    body: schemas.bodyOf(row),
    reply: schemas.faults,
    problems: ['unknown-device', 'unknown-resource', 'not-applicable', 'conflict', 'disabled'],
    examples: { body: rest.examples[0], reply },
    handle(ctx, { body, by, ...address }) {
      refuseSwitchedOff(ctx, catalogue, [protocol]);
      const scope = scopeOf(ctx, row, address);
      if (isFault(body)) injectFlat(ctx, catalogue, [{ ...body, protocol }], { scope, placeOf: () => '', by });
      else if ('clear' in body) clearFaults(ctx, body.clear, scope);
      else injectProfile(ctx, catalogue, body, { scope, by });
      return shownFaults(ctx, scope);
    },
  });
  return [get, set];
}

/** The operations of every protocol that has a path of its own. */
export function protocolFaultRoutes(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  return catalogue.protocols.flatMap((row) => (row.rest === null ? [] : routesAt(row, row.rest, schemas, catalogue)));
}
