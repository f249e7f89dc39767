import { protocolFaults } from '../../fault-kinds/protocols.ts';
import type { ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { createFaultForms, faultForms, place } from '../../fault-kinds/request.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import { clearFaults, injectFlat, injectProfile, shownFaults } from './actions.ts';
import type { FaultCatalogue, FaultScope } from './actions.ts';
import { exampleFaultKinds, exampleFaultProfiles, exampleFaultsOfAll } from './examples.ts';
import { protocolFaultRoutes } from './protocol-routes.ts';
import { kindsReply } from './replies.ts';
import { createFaultSchemas, faultDeviceQuery, faultKindsSchema, faultSchemas, faultsQuery } from './schemas.ts';
import type { FaultSchemas } from './schemas.ts';

/** @throws SimError UNKNOWN_DEVICE */
function scopeOf({ plant }: RouteContext, device: number | undefined): FaultScope {
  return { only: null, device: device === undefined ? device : plant.device(device).index, confined: false };
}

/** Faults of all protocols together. */
function commonRoutes(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  const example = exampleFaultsOfAll(catalogue.protocols, catalogue.forms);
  const getFaults = route({
    method: 'get',
    path: '/faults',
    tag: 'Controls',
    operationId: 'get_faults',
    summary: 'Faults of all protocols: in force and ended',
    query: faultsQuery,
    reply: schemas.faults,
    examples: { reply: example.reply },
    handle: (ctx, { query }) => shownFaults(ctx, scopeOf(ctx, query.device), query),
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
    reply: schemas.faults,
    problems: ['unknown-device', 'unknown-resource', 'not-applicable', 'conflict', 'disabled'],
    examples: { body: { inject: [example.request] }, reply: example.reply },
    handle(ctx, { query, body, by }) {
      const scope = scopeOf(ctx, query.device);
      if ('clear' in body) clearFaults(ctx, body.clear, scope);
      else if ('inject' in body)
        injectFlat(ctx, catalogue, body.inject, { scope, placeOf: (request) => place('inject', request), by });
      else injectProfile(ctx, catalogue, body, { scope, by });
      return shownFaults(ctx, scope);
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
    reply: faultKindsSchema,
    examples: { reply: exampleFaultKinds },
    handle: ({ faults }) => kindsReply(faults.kinds),
  });
  const listProfiles = route({
    method: 'get',
    path: '/faults/profiles',
    tag: 'Controls',
    operationId: 'list_fault_profiles',
    summary: 'Ready sets of faults: broken devices as seen in the field',
    description: 'The example shows one.',
    reply: schemas.profiles,
    examples: { reply: exampleFaultProfiles },
    handle({ faultProfiles }) {
      const bundled = faultProfiles?.() ?? [];
      return {
        profiles: bundled.map((profile) => ({ ...profile, faults: [...profile.faults] })),
        count: bundled.length,
      };
    },
  });
  return [listKinds, listProfiles];
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
