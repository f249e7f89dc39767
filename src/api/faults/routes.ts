import { chargePoint } from '../../contract/charge-point-ids.ts';
import { protocolFaults } from '../../fault-kinds/protocols.ts';
import type { FaultPath, FlatFault, ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { createFaultForms, faultForms, place } from '../../fault-kinds/request.ts';
import { stationParams } from '../evse/members.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { clearFaults, injectFlat, injectProfile, refuseSwitchedOff, shownFaults } from './actions.ts';
import type { FaultCatalogue, FaultScope } from './actions.ts';
import { createFaultSchemas, faultDeviceQuery, faultSchemas, faultsPageQuery, faultsQuery, kinds } from './members.ts';
import type { Clearing, FaultSchemas, ProfileRequest } from './members.ts';

/** @throws SimError UNKNOWN_DEVICE */
function scopeOf({ plant }: RouteContext, device: number | undefined): FaultScope {
  return { only: null, device: device === undefined ? device : plant.device(device).index, confined: false };
}

/** Faults of all protocols together. */
function commonRoutes(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  const getFaults = route({
    method: 'get',
    path: '/faults',
    tag: 'Controls',
    operationId: 'get_faults',
    summary: 'Faults of all protocols: in force and ended',
    query: faultsQuery,
    reply: schemas.faults.schema,
    handle: (ctx, { query }) => shownFaults(ctx, schemas, scopeOf(ctx, query.device), query),
  });
  const setFaults = route({
    method: 'post',
    path: '/faults',
    tag: 'Controls',
    operationId: 'set_faults',
    summary: 'Injects or ends faults',
    description:
      'One of three: `clear` ends faults, `inject` injects some, `profile` injects a ready set. The request is applied as a whole ' +
      'or not at all. New faults are last in `faults`. A fault of all devices must fit at least one of them. Faults of the layer ' +
      '`reading` do not affect the registers shown by REST, so that both can be compared.',
    query: faultDeviceQuery(),
    body: schemas.body,
    reply: schemas.faults.schema,
    problems: ['unknown-device', 'unknown-resource', 'not-applicable', 'conflict', 'disabled'],
    handle(ctx, { query, body, by }) {
      const scope = scopeOf(ctx, query.device);
      if ('clear' in body) clearFaults(ctx, body.clear, scope);
      else if ('inject' in body)
        injectFlat(ctx, catalogue, body.inject, { scope, placeOf: (request) => place('inject', request), by });
      else injectProfile(ctx, catalogue, body, { scope, by });
      return shownFaults(ctx, schemas, scope);
    },
  });
  return [getFaults, setFaults];
}

function catalogueRoutes(schemas: FaultSchemas): Route[] {
  const listKinds = route({
    method: 'get',
    path: '/faults/kinds',
    tag: 'Controls',
    operationId: 'list_fault_kinds',
    summary: 'Catalogue of faults: kinds, targets and parameters',
    description: 'The example shows one.',
    reply: kinds.schema,
    handle: ({ faults }) => kinds.reply(faults.kinds),
  });
  const listProfiles = route({
    method: 'get',
    path: '/faults/profiles',
    tag: 'Controls',
    operationId: 'list_fault_profiles',
    summary: 'Ready sets of faults: broken devices as seen in the field',
    description: 'The example shows one.',
    reply: schemas.profiles.schema,
    handle: ({ faultProfiles }) => schemas.profiles.reply(faultProfiles?.() ?? []),
  });
  return [listKinds, listProfiles];
}

type FaultBody = FlatFault | { readonly clear: Clearing } | ProfileRequest;

const isFault = (body: FaultBody): body is FlatFault => 'kind' in body;

interface Address {
  readonly params: { readonly id: string } | undefined;
  readonly query: { readonly device?: number | undefined } | undefined;
}

/** @throws SimError UNKNOWN_DEVICE, UNKNOWN_RESOURCE for a device that does not exist */
function addressedScope(
  { plant, chargePointId }: RouteContext,
  only: ProtocolFaults,
  { params, query }: Address,
): FaultScope {
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
  const get = route({
    method: 'get',
    path,
    tag,
    operationId: `get_${protocol}_faults`,
    summary: `Faults of ${name}`,
    params,
    query: params === undefined ? faultsQuery : faultsPageQuery,
    reply: schemas.faults.schema,
    ...(unknown.length > 0 && { problems: unknown }),
    handle: (ctx, { params: station, query: { limit, after_id, ...query } }) =>
      shownFaults(ctx, schemas, addressedScope(ctx, row, { params: station, query }), { limit, after_id }),
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
    reply: schemas.faults.schema,
    problems: ['unknown-device', 'unknown-resource', 'not-applicable', 'conflict', 'disabled'],
    handle(ctx, { body, by, ...address }) {
      refuseSwitchedOff(ctx, catalogue, [protocol]);
      const scope = addressedScope(ctx, row, address);
      if (isFault(body)) injectFlat(ctx, catalogue, [{ ...body, protocol }], { scope, placeOf: () => '', by });
      else if ('clear' in body) clearFaults(ctx, body.clear, scope);
      else injectProfile(ctx, catalogue, body, { scope, by });
      return shownFaults(ctx, schemas, scope);
    },
  });
  return [get, set];
}

/** The operations of every protocol that has a path of its own. */
function protocolFaultRoutes(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  return catalogue.protocols.flatMap((row) => (row.rest === null ? [] : routesAt(row, row.rest, schemas, catalogue)));
}

function routesOf(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  return [...commonRoutes(catalogue, schemas), ...catalogueRoutes(schemas), ...protocolFaultRoutes(catalogue, schemas)];
}

/** The operations that these protocols have, with schemas, description and refusals of their own. */
export function createFaultRoutes(protocols: readonly ProtocolFaults[]): readonly Route[] {
  const forms = createFaultForms(protocols);
  return routesOf({ protocols, forms }, createFaultSchemas(protocols, forms));
}

export const faultRoutes: readonly Route[] = routesOf({ protocols: protocolFaults, forms: faultForms }, faultSchemas);
