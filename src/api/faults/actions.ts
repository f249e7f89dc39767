/** Operations on faults, of all protocols or one of them. */
import { SimError } from '../../core/errors.ts';
import { meterIndex } from '../../core/faults/kinds.ts';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { maxActiveFaults } from '../../core/faults/registry.ts';
import type { FaultFilter, FaultSet } from '../../core/faults/registry.ts';
import type { Origin } from '../../core/origin.ts';
import { switchedOff } from '../../fault-kinds/protocols.ts';
import type { FlatFault, ProtocolFaults } from '../../fault-kinds/protocols.ts';
import { flatFaults, place } from '../../fault-kinds/request.ts';
import type { FaultForms } from '../../fault-kinds/request.ts';
import type { RouteContext } from '../http/context.ts';
import { HttpProblem, invalid, problemOf } from '../http/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import { replyInPieces } from '../http/pieces.ts';
import { activeFaults } from './members.ts';
import type { Clearing, FaultSchemas, ProfileRequest } from './members.ts';

/** The catalogue that routes are made from. */
export interface FaultCatalogue {
  readonly protocols: readonly ProtocolFaults[];
  readonly forms: FaultForms;
}

/** Faults that the address of a request selects. */
export interface FaultScope {
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

/** The faults that a request concerns: in force and ended. */
export function shownFaults(
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
export function clearFaults({ faults, plant }: RouteContext, clearing: Clearing, scope: FaultScope): void {
  faults.expire();
  const { device, ...filter } = clearing === true ? {} : clearing;
  checkDevice(scope, device, place('clear', 'device'));
  const named = device ?? scope.device;
  if (typeof named === 'number') plant.device(named);
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
    ...(named !== undefined && { deviceIndex: named === 'meter' ? meterIndex : named === 'all' ? null : named }),
  });
}

/** @throws HttpProblem `disabled` when nothing carries out the faults of a protocol */
export function refuseSwitchedOff(
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
function fallbackOf({ plant }: RouteContext, { device }: FaultScope): number {
  return plant.device(device ?? plant.firstIndex).index;
}

/**
 * Injects flat faults, all or none.
 * @param placeOf pointer of a fault in the body
 * @throws HttpProblem `validation`, `disabled`; SimError UNKNOWN_DEVICE, COMMAND_*
 */
export function injectFlat(
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

/** Injects a ready set, all of it or nothing. @throws as `injectFlat` does */
export function injectProfile(
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
