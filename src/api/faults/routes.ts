import type { z } from 'zod';
import type { Origin } from '../../core/origin.ts';
import { SimError } from '../../core/errors.ts';
import type { FaultFilter, FaultSet } from '../../core/faults/registry.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { faultRequest, flatFaults, place } from '../../fault-kinds/request.ts';
import type { FlatFault } from '../../fault-kinds/request.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid, problemOf } from '../http/errors.ts';
import { route } from '../http/route.ts';
import type { Route } from '../http/route.ts';
import {
  anyDeviceQuery,
  exampleFaultKinds,
  exampleFaultProfiles,
  exampleFaults,
  exampleModbusFault,
  faultDeviceQuery,
  faultKindsSchema,
  faultProfilesSchema,
  faultsBodySchema,
  faultsSchema,
  modbusFaultBodySchema,
} from './schemas.ts';
import { faultsReply, kindsReply } from './replies.ts';
import { hasModbusFaults } from '../modbus/replies.ts';

type Clearing = Extract<z.output<typeof faultsBodySchema>, { clear: unknown }>['clear'];

/** The faults to inject, and the pointer of each one in the body. */
interface Injection extends FaultSet {
  readonly placeOf: (request: number) => string;
}

/** Predicate: faults that concern a device; all faults without one. @throws SimError UNKNOWN_DEVICE */
function concerning({ plant }: RouteContext, device: number | undefined): (fault: ActiveFault) => boolean {
  if (device === undefined) return () => true;
  const { index } = plant.device(device);
  return (fault) => fault.concerns(index);
}

/** @throws SimError UNKNOWN_DEVICE, UNKNOWN_RESOURCE */
function clear(
  { faults, plant }: RouteContext,
  clearing: Clearing,
  device: number | undefined,
  only: FaultFilter,
): void {
  faults.expire();
  const { device: named = device, ...rest } = clearing === true ? {} : clearing;
  if (typeof named === 'number') plant.device(named);
  if (rest.id !== undefined && !faults.active.some(({ facts }) => facts.id === rest.id)) {
    throw new SimError('UNKNOWN_RESOURCE', `There is no active fault ${rest.id}.`);
  }
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as FaultFilter;
  faults.clear({ ...only, ...given, ...(named !== undefined && { deviceIndex: named === 'all' ? null : named }) });
}

function profileInjection(ctx: RouteContext, name: string, device: number | 'all' | null): Injection {
  const profiles = ctx.faultProfiles ?? [];
  const profile = profiles.find((each) => each.name === name);
  if (profile === undefined) {
    throw invalid(
      'body',
      '/profile',
      'there is no such profile',
      profiles.map((each) => each.name),
    );
  }
  const requests = profile.faults.map((fault) => faultRequest({ ...fault, device }, null));
  return { requests, profile: name, placeOf: () => '/profile' };
}

/** @throws HttpProblem `disabled` when the protocol of a fault is switched off */
function refuseDisabled(ctx: RouteContext, { requests }: FaultSet): void {
  if (requests.some(({ protocol }) => protocol === 'modbus') && !hasModbusFaults(ctx)) {
    throw new HttpProblem('disabled', 'Modbus is switched off.');
  }
}

/** Injects faults, all or none; names of issues are pointers into the body. */
function inject(ctx: RouteContext, injection: Injection, by: Origin): void {
  refuseDisabled(ctx, injection);
  ctx.faults.expire();
  try {
    ctx.faults.inject(injection.requests, by, injection.profile);
  } catch (error) {
    if (!(error instanceof SimError) || problemOf[error.code] !== 'validation') throw error;
    const named = flatFaults(error.issues, injection.placeOf);
    if (injection.profile === null) throw new SimError(error.code, error.message, named);
    // the wrong members are in the profile, not in the body
    const words = error.issues
      .map(({ name, detail }) => `${name}: ${detail}`)
      .slice(0, 5)
      .join('; ');
    throw invalid('body', '/profile', `does not fit this device: ${words}`);
  }
}

/** The device of faults that name none. @throws SimError UNKNOWN_DEVICE */
function fallbackOf({ plant }: RouteContext, device: number | undefined): number {
  return plant.device(device ?? plant.firstIndex).index;
}

function flatInjection(
  ctx: RouteContext,
  flat: readonly FlatFault[],
  device: number | undefined,
  placeOf: Injection['placeOf'],
): Injection {
  const needed = flat.some((fault) => fault.device === undefined || fault.device === null);
  const fallback = needed ? fallbackOf(ctx, device) : null;
  return { requests: flat.map((fault) => faultRequest(fault, fallback)), profile: null, placeOf };
}

const byProfile = (
  ctx: RouteContext,
  { profile, device }: { profile: string; device?: number | 'all' | null | undefined },
  queried: number | undefined,
) => profileInjection(ctx, profile, device ?? fallbackOf(ctx, queried));

const getFaults = route({
  method: 'get',
  path: '/faults',
  tag: 'Controls',
  operationId: 'get_faults',
  summary: 'Faults of all protocols: in force and ended',
  query: anyDeviceQuery,
  reply: faultsSchema,
  examples: { reply: exampleFaults },
  handle: (ctx, { query }) => faultsReply(ctx.faults, concerning(ctx, query.device)),
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
  query: faultDeviceQuery,
  body: faultsBodySchema,
  reply: faultsSchema,
  problems: ['unknown-device', 'unknown-resource', 'not-applicable', 'conflict', 'disabled'],
  examples: { body: { inject: [exampleModbusFault] }, reply: exampleFaults },
  handle(ctx, { query, body, by }) {
    const concerns = concerning(ctx, query.device);
    if ('clear' in body) clear(ctx, body.clear, query.device, {});
    else if ('inject' in body)
      inject(
        ctx,
        flatInjection(ctx, body.inject, query.device, (request) => place('inject', request)),
        by,
      );
    else inject(ctx, byProfile(ctx, body, query.device), by);
    return faultsReply(ctx.faults, concerns);
  },
});

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
  reply: faultProfilesSchema,
  examples: { reply: exampleFaultProfiles },
  handle({ faultProfiles = [] }) {
    return {
      profiles: faultProfiles.map((profile) => ({ ...profile, faults: [...profile.faults] })),
      count: faultProfiles.length,
    };
  },
});

type ModbusFaultBody = z.output<typeof modbusFaultBodySchema>;
const isFault = (body: ModbusFaultBody): body is FlatFault => 'kind' in body;

const getModbusFaults = route({
  method: 'get',
  path: '/modbus/fault',
  tag: 'Controls',
  operationId: 'get_modbus_faults',
  summary: 'Faults of Modbus',
  query: anyDeviceQuery,
  reply: faultsSchema,
  examples: { reply: exampleFaults },
  handle: (ctx, { query }) => modbusFaultsReply(ctx, query.device),
});

function modbusFaultsReply(ctx: RouteContext, device: number | undefined) {
  const concerns = concerning(ctx, device);
  return faultsReply(ctx.faults, (fault) => fault.protocol === 'modbus' && concerns(fault));
}

const setModbusFault = route({
  method: 'post',
  path: '/modbus/fault',
  tag: 'Controls',
  operationId: 'set_modbus_fault',
  summary: 'Injects or ends faults of Modbus',
  description:
    'The body itself is the fault: its `kind`, the parameters of the kind, and its target, condition and duration. `clear` ends ' +
    'faults of Modbus only; `profile` injects a ready set, and the answer has its faults of Modbus.',
  query: faultDeviceQuery,
  body: modbusFaultBodySchema,
  reply: faultsSchema,
  problems: ['unknown-device', 'unknown-resource', 'not-applicable', 'conflict', 'disabled'],
  examples: { body: exampleModbusFault, reply: exampleFaults },
  handle(ctx, { query, body, by }) {
    if (!hasModbusFaults(ctx)) throw new HttpProblem('disabled', 'Modbus is switched off.');
    if (isFault(body))
      inject(
        ctx,
        flatInjection(ctx, [body], query.device, () => ''),
        by,
      );
    else if ('clear' in body) clear(ctx, body.clear, query.device, { protocol: 'modbus' });
    else inject(ctx, byProfile(ctx, body, query.device), by);
    return modbusFaultsReply(ctx, query.device);
  },
});

export const faultRoutes: readonly Route[] = [
  getFaults,
  setFaults,
  listKinds,
  listProfiles,
  getModbusFaults,
  setModbusFault,
];
