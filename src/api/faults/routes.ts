/** Operations on faults, of all protocols or one of them. */
import { chargePoint } from '../../contract/charge-point-ids.ts';
import { protocolFaults, switchedOff } from '../../fault-kinds/protocols.ts';
import type { FaultPath, FlatFault, ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { createFaultForms, faultForms, place, flatFaults } from '../../fault-kinds/request.ts';
import type { FaultForms } from '../../fault-kinds/request.ts';
import { stationParams } from '../evse/members.ts';
import type { RouteContext } from '../http/context.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  createFaultSchemas,
  faultDeviceQuery,
  faultSchemas,
  faultsPageQuery,
  faultsQuery,
  kinds,
  activeFaults,
} from './members.ts';
import type { Clearing, FaultSchemas, ProfileRequest } from './members.ts';
import { SimError } from '../../core/errors.ts';
import { meterIndex } from '../../core/faults/kinds.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { maxActiveFaults } from '../../core/faults/registry.ts';
import type { FaultFilter, FaultSet } from '../../core/faults/registry.ts';
import type { Origin } from '../../core/origin.ts';
import { HttpProblem, invalid, problemOf } from '../http/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { replyInPieces } from '../http/streaming.ts';

/** The catalogue that routes are made from. */
interface FaultCatalogue {
  readonly protocols: readonly ProtocolFaults[];
  readonly forms: FaultForms;
}

/** Faults that the address of a request selects. */
interface FaultScope {
  /** the protocol of the path; null: all */
  readonly only: ProtocolFaults | null;
  /** the device of path or query, which exists */
  readonly device: number | undefined;
  /** The path names the device, so that the body cannot name another. */
  readonly confined: boolean;
}

/** The faults to inject, and the pointer of each one in the body. */
interface Injection extends FaultSet {
  readonly placeOf: (request: number) => string;
}

/** A part of the faults in force; both members may be absent. */
interface Page {
  readonly limit?: number | undefined;
  /** only faults with a higher id */
  readonly after_id?: number | undefined;
}

/** Reply with the faults that a request concerns, in force and ended. */
function faultsReply(
  ctx: RouteContext,
  schemas: FaultSchemas,
  { only, device }: FaultScope,
  { limit = maxActiveFaults, after_id: afterId = 0 }: Page = {},
) {
  const concerned = (fault: ActiveFault) =>
    (only === null || fault.protocol === only.protocol) && (device === undefined || fault.concerns(device));
  const inForce = activeFaults(ctx, concerned);
  const page = inForce.filter(({ fault }) => fault.facts.id > afterId).slice(0, limit);
  const ended = ctx.faults.ended.filter(({ fault }) => concerned(fault));
  return replyInPieces(schemas.faults.reply({ inForce, page, ended }, ctx));
}

/** @throws HttpProblem `validation` for a device other than that of the path */
function checkDevice({ device, confined }: FaultScope, named: FlatFault['device'], at: string): void {
  if (!confined || named === undefined || named === null || named === device) return;
  throw invalid('body', at, 'must be absent: the path names the device');
}

/** @throws SimError UNKNOWN_DEVICE, UNKNOWN_RESOURCE; HttpProblem `validation` */
function clearFaults({ faults, plant }: RouteContext, clearing: Clearing, scope: FaultScope): void {
  faults.expire();
  const { device, ...filter } = clearing === true ? {} : clearing;
  checkDevice(scope, device, place('clear', 'device'));
  const target = device ?? scope.device;
  if (typeof target === 'number') plant.device(target);
  if (filter.id !== undefined && !faults.active.some(({ facts }) => facts.id === filter.id)) {
    throw new SimError('UNKNOWN_RESOURCE', `There is no active fault ${filter.id}.`);
  }
  const ofPath = scope.only?.protocol;
  // all members must match: no fault is of two protocols
  if (ofPath !== undefined && filter.protocol !== undefined && filter.protocol !== ofPath) return;
  const members = Object.entries({ ...filter, protocol: filter.protocol ?? ofPath }).filter(
    ([, value]) => value !== undefined,
  );
  faults.clear({
    ...(Object.fromEntries(members) as FaultFilter),
    ...(target !== undefined && { deviceIndex: target === 'meter' ? meterIndex : target === 'all' ? null : target }),
  });
}

/** @throws HttpProblem `disabled` when nothing carries out the faults of a protocol */
function refuseSwitchedOff(
  { adapters }: RouteContext,
  { protocols }: FaultCatalogue,
  needed: readonly ProtocolFaults['protocol'][],
): void {
  for (const protocol of new Set(needed)) {
    const off = switchedOff(protocols, protocol, adapters);
    if (off !== null) throw new HttpProblem('disabled', `${off.name} is switched off.`);
  }
}

/** Injects faults, all or none; names of issues are pointers into the body. */
function inject(ctx: RouteContext, catalogue: FaultCatalogue, injection: Injection, by: Origin): void {
  refuseSwitchedOff(
    ctx,
    catalogue,
    injection.requests.map(({ protocol }) => protocol),
  );
  ctx.faults.expire();
  try {
    ctx.faults.inject(injection.requests, by, injection.profile);
  } catch (error) {
    if (!(error instanceof SimError) || problemOf[error.code] !== 'validation') throw error;
    const issues = flatFaults(error.issues, injection.placeOf);
    if (injection.profile === null) throw new SimError(error.code, error.message, issues);
    // the wrong members are in the profile, not in the body
    const words = error.issues
      .map(({ name, detail }) => `${name}: ${detail}`)
      .slice(0, 5)
      .join('; ');
    throw invalid('body', '/profile', `does not fit this device: ${words}`);
  }
}

/** The device of faults that name none. @throws SimError UNKNOWN_DEVICE */
function fallbackOf({ plant }: RouteContext, { device }: FaultScope): number {
  return plant.device(device ?? plant.firstIndex).index;
}

/**
 * Injects flat faults, all or none.
 * @param placeOf pointer of a fault in the body
 * @throws HttpProblem `validation`, `disabled`; SimError UNKNOWN_DEVICE, COMMAND_*
 */
function injectFlat(
  ctx: RouteContext,
  catalogue: FaultCatalogue,
  flat: readonly FlatFault[],
  { scope, placeOf, by }: { scope: FaultScope; placeOf: Injection['placeOf']; by: Origin },
): void {
  flat.forEach(({ device }, at) => {
    checkDevice(scope, device, `${placeOf(at)}/device`);
  });
  const needed = flat.some(({ device }) => device === undefined || device === null);
  const fallback = needed ? fallbackOf(ctx, scope) : null;
  const requests = flat.map((fault) => catalogue.forms.request(fault, fallback));
  inject(ctx, catalogue, { requests, profile: null, placeOf }, by);
}

/** Injects the faults of a profile, all or none. @throws as `injectFlat` does */
function injectProfile(
  ctx: RouteContext,
  catalogue: FaultCatalogue,
  { profile: name, device: named }: ProfileRequest,
  { scope, by }: { scope: FaultScope; by: Origin },
): void {
  checkDevice(scope, named, place('device'));
  const device = named ?? fallbackOf(ctx, scope);
  const profiles = ctx.faultProfiles?.() ?? [];
  const profile = profiles.find((each) => each.name === name);
  if (profile === undefined) {
    const names = profiles.map((each) => each.name);
    throw invalid('body', '/profile', `there is no such profile${didYouMean(name, names)}`, names);
  }
  const requests = profile.faults.map((fault) => catalogue.forms.request({ ...fault, device }, null));
  inject(ctx, catalogue, { requests, profile: name, placeOf: () => '/profile' }, by);
}

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
    handle: (ctx, { query }) => faultsReply(ctx, schemas, scopeOf(ctx, query.device), query),
  });
  const setFaults = route({
    method: 'post',
    path: '/faults',
    tag: 'Controls',
    operationId: 'set_faults',
    summary: 'Injects or ends faults',
    description:
      'One of three: `clear` ends faults, `inject` injects the faults listed, `profile` those of a profile. The request is applied whole ' +
      'or not at all. New faults are last in `faults`. A fault of all devices must fit at least one device. Faults of the layer ' +
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
      return faultsReply(ctx, schemas, scope);
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
      faultsReply(ctx, schemas, addressedScope(ctx, row, { params: station, query }), { limit, after_id }),
  });
  const set = route({
    method: 'post',
    path,
    tag,
    operationId: `set_${protocol}_fault`,
    summary: `Injects or ends faults of ${name}`,
    description:
      'The body itself is the fault: its `kind`, the parameters of the kind, and its target, condition and duration. `clear` ends ' +
      `faults of ${name} only; \`profile\` injects the faults of a profile, and the answer has its faults of ${name}.`,
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
      return faultsReply(ctx, schemas, scope);
    },
  });
  return [get, set];
}

/** The operations of every protocol that has a separate path. */
function protocolFaultRoutes(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  return catalogue.protocols.flatMap((row) => (row.rest === null ? [] : routesAt(row, row.rest, schemas, catalogue)));
}

function routesOf(catalogue: FaultCatalogue, schemas: FaultSchemas): Route[] {
  return [...commonRoutes(catalogue, schemas), ...catalogueRoutes(schemas), ...protocolFaultRoutes(catalogue, schemas)];
}

/** The operations on faults, with schemas and descriptions, of a catalogue of these protocols alone. */
export function createFaultRoutes(protocols: readonly ProtocolFaults[]): readonly Route[] {
  const forms = createFaultForms(protocols);
  return routesOf({ protocols, forms }, createFaultSchemas(protocols, forms));
}

export const faultRoutes: readonly Route[] = routesOf({ protocols: protocolFaults, forms: faultForms() }, faultSchemas);
