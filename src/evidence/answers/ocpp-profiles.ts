/** Charging profiles: installed, and in force at the device as a limit. */
import type { Device } from '../../contract/device.ts';
import type { OcppProfileEntry, OcppStation } from '../../contract/ocpp.ts';
import type { OcppCall } from './ocpp-call.ts';
import { connectorsOf, memberOf, nowOf, numberOf, place, stationClaim, textOf } from './ocpp-call.ts';
import type { Claim } from './model.ts';

/** The share that a station may let through above its limit: the current follows the voltage, the schedule has the nominal one. */
const ampereTolerance = 0.12;
const wattTolerance = 0.01;

const stationPurposes: ReadonlySet<string> = new Set(['ChargePointMaxProfile', 'ChargingStationMaxProfile']);

/** Limit of a profile at the places where it acts, W; null: it limits nothing now. */
function limitNow(station: OcppStation, connectorId: number): number | null {
  // the first period begins now
  const [period] = station.functions.compositeSchedule(connectorId, 60, 'W').periods;
  return period?.limit ?? null;
}

/** W that the device lets through at a connector, or (0) at all of them. */
function allowedW(device: Device, connectorId: number): number | null {
  const connectors = connectorsOf(device);
  if (connectorId === 0) return connectors.reduce((sum, { allocatedW }) => sum + Math.max(0, allocatedW), 0);
  return connectors.find((each) => each.connectorId === connectorId)?.limitW ?? null;
}

function profileOf(request: unknown): unknown {
  return memberOf(request, 'csChargingProfiles') ?? memberOf(request, 'chargingProfile');
}

const idOf = (profile: unknown) => numberOf(memberOf(profile, 'chargingProfileId') ?? memberOf(profile, 'id'));

/** The unit of the schedules of a profile: one in 1.6, a list in 2.x. */
function unitOf(profile: unknown): string | null {
  const schedule = memberOf(profile, 'chargingSchedule');
  const first: unknown = Array.isArray(schedule) ? schedule[0] : schedule;
  return textOf(memberOf(first, 'chargingRateUnit'));
}

/** Why an installed profile may be gone; undefined: it must be there. */
function endOf(profile: unknown, station: OcppStation, connectorId: number): string | undefined {
  const validTo = Date.parse(textOf(memberOf(profile, 'validTo')) ?? '');
  if (validTo <= nowOf(station)) return 'its validity is over';
  const isOfTransaction = textOf(memberOf(profile, 'chargingProfilePurpose')) === 'TxProfile';
  const runs = station.functions
    .transactions()
    .some((each) => each.connectorId === connectorId && each.endedMs === null);
  return isOfTransaction && !runs ? 'its transaction has ended' : undefined;
}

function limitClaim(call: OcppCall, entry: OcppProfileEntry, connectorId: number, profile: unknown): Claim | null {
  const { device, station } = call;
  const limitW = limitNow(station, connectorId);
  const allowed = allowedW(device, connectorId);
  if (limitW === null || allowed === null) return null;
  const where = connectorId === 0 ? 'of the station' : `of connector ${connectorId}`;
  const writer = device.overrides.find(
    (each) => each.name === 'evse_profile_limit' && each.connectorId === connectorId,
  );
  const tolerance = unitOf(profile) === 'A' ? ampereTolerance : wattTolerance;
  return {
    name: `limit ${where}`,
    value: limitW,
    unit: 'W',
    did: `set charging profile ${entry.profileId}, by which the limit ${where} is ${limitW} W now,`,
    // each profile has its part in the limit
    subject: `limit ${connectorId} by profile ${entry.profileId}`,
    found: {
      ...place(`limit ${where}`, Math.round(allowed * 10) / 10, writer ?? null),
      holder: `the limit in force ${where}`,
    },
    holds: allowed <= limitW * (1 + tolerance) + 1,
  };
}

export function profileClaims(call: OcppCall): readonly Claim[] {
  const { device, station, request } = call;
  const profile = profileOf(request);
  const id = idOf(profile);
  const connectorId = numberOf(memberOf(request, 'connectorId') ?? memberOf(request, 'evseId'));
  if (id === null || connectorId === null) return [];
  const name = `charging profile ${id}`;
  const entry = station.functions
    .chargingProfiles()
    .find((each) => each.profileId === id && each.connectorId === connectorId);
  const ended = endOf(profile, station, connectorId);
  const [level, purpose] = [memberOf(profile, 'stackLevel'), textOf(memberOf(profile, 'chargingProfilePurpose'))];
  const slot = ` at ${connectorId} of ${purpose ?? ''} ${String(level)}`;
  const installed: Claim = {
    ...stationClaim(name, true, entry !== undefined, `set ${name}`),
    subject: `${name}${slot}`,
    // an id is unique in a station, and so is a purpose with its stackLevel at a connector: OCPP 1.6 3.13.2
    takesOver: (subject) => subject.startsWith(`${name} at `) || subject.endsWith(slot),
    ...(ended !== undefined && { ended }),
  };
  if (entry === undefined || !entry.effective) return [installed];
  const isOfStation = connectorId !== 0 || stationPurposes.has(entry.purpose);
  const places = isOfStation ? [connectorId] : connectorsOf(device).map((each) => each.connectorId);
  return [installed, ...places.flatMap((each) => limitClaim(call, entry, each, profile) ?? [])];
}

/** A profile that was named must be gone; of a choice by other members none may be left. */
export function clearedProfiles({ station, request }: OcppCall): readonly Claim[] {
  const id = numberOf(memberOf(request, 'id') ?? memberOf(request, 'chargingProfileId'));
  const criteria = memberOf(request, 'chargingProfileCriteria') ?? request;
  const connectorId = numberOf(memberOf(criteria, 'connectorId') ?? memberOf(criteria, 'evseId'));
  const purpose = textOf(memberOf(criteria, 'chargingProfilePurpose'));
  const level = numberOf(memberOf(criteria, 'stackLevel'));
  const left = station.functions
    .chargingProfiles()
    .filter((each) =>
      id !== null
        ? each.profileId === id
        : (connectorId === null || each.connectorId === connectorId) &&
          (purpose === null || each.purpose === purpose) &&
          (level === null || each.stackLevel === level),
    );
  const name = id === null ? 'charging profiles' : `charging profile ${id}`;
  const chosen = (subject: string) => {
    const [, of, at, ofPurpose, atLevel] = /^charging profile (\d+) at (\d+) of (\w*) (\S+)$/.exec(subject) ?? [];
    if (of === undefined) return false;
    if (id !== null) return of === String(id);
    const isOf = (wanted: number | string | null, given = '') => wanted === null || String(wanted) === given;
    return isOf(connectorId, at) && isOf(purpose, ofPurpose) && isOf(level, atLevel);
  };
  const common = { name, unit: null, did: `cleared ${name}`, subject: name, takesOver: chosen };
  // a profile that was set since takes over by its id
  if (id !== null)
    return [{ ...common, subject: `${name} at any of it`, value: false, found: place(name, left.length > 0) }];
  const words = left.map((each) => each.profileId).join(', ');
  return left.length === 0
    ? [{ ...common, value: 0, found: place(name, 0) }]
    : [{ ...common, value: 0, found: null, reason: `profiles ${words} are there, perhaps set again since` }];
}
