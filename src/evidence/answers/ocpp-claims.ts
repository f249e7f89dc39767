/**
 * Claims of calls of a central system: charging profiles, installed and in force as a limit, and DER controls of OCPP
 * 2.1 with the registers that they have written.
 */
import type { Device } from '../../contract/device.ts';
import type { EvseConnectorDetail } from '../../contract/kinds/evse.ts';
import type { OcppStation, OcppDerControlEntry, OcppDerControlState, OcppProfileEntry } from '../../contract/ocpp.ts';
import { registerPlace } from './model.ts';
import type { Claim, Exchange, ActualValue, Value } from './model.ts';

/** A call with its positive answer. */
export interface OcppCall {
  readonly device: Device;
  readonly station: OcppStation;
  readonly request: unknown;
  readonly answer: unknown;
  readonly exchange: Exchange;
}

/** The claims that follow from a call. */
export type ClaimsOf = (call: OcppCall) => readonly Claim[];

export const place = (name: string, value: Value, writer: ActualValue['writer'] = null): ActualValue => ({
  place: name,
  holder: 'the station',
  value,
  writer,
});

/** A value that a station must show under a name; a later command with the same name supersedes the claim. */
export function stationClaim(name: string, value: Value, current: ActualValue | Value, did: string): Claim {
  const actual = typeof current === 'object' && current !== null ? current : place(name, current);
  return { name, value, unit: null, did, subject: name, actual };
}

/** The present on the clock that profiles and reservations follow, ms since the epoch. */
export const nowOf = (station: OcppStation): number => station.functions.compositeSchedule(0, 1, 'W').startMs;

// payloads come from the network: their members may have any form

/** undefined: there is no such member */
export function memberOf(payload: unknown, ...path: readonly string[]): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

export function connectorsOf({ detail }: Device): readonly EvseConnectorDetail[] {
  return detail.kind === 'evse' ? detail.connectors : [];
}

/** Meaning of the states of a control for its positive answer. */
const states: Readonly<Record<OcppDerControlState, 'holds' | 'later' | 'gone' | 'broken'>> = {
  applied: 'holds',
  scheduled: 'later',
  standby: 'later',
  superseded: 'gone',
  outweighed: 'gone',
  waiting: 'broken',
  refused: 'broken',
};

const subjectOf = (controlId: string, type: string) => `DER control ${controlId} of ${type}`;

/** A register that the control has written without an effect on the device; null: none. */
function withheld(device: Device, controlId: string): ActualValue | null {
  const { bank } = device;
  const slot = bank.layout.slots.find((each) => {
    const writer = bank.provenance(each);
    return writer?.source === 'ocpp' && writer.peer === controlId && device.heldValue(each) !== undefined;
  });
  return slot === undefined ? null : registerPlace(device, slot);
}

/** Reason why a control may have ended: its request has a duration, and usually a start. */
function controlEnd(request: unknown, station: OcppStation): Pick<Claim, 'ended' | 'reason'> {
  const members = typeof request === 'object' && request !== null ? Object.values(request) : [];
  const values: unknown = members.find((each) => numberOf(memberOf(each, 'duration')) !== null);
  const durationS = numberOf(memberOf(values, 'duration'));
  const startMs = Date.parse(textOf(memberOf(values, 'startTime')) ?? '');
  if (durationS === null) return {};
  if (Number.isNaN(startMs)) return { reason: 'the control had a duration and no start, so that it may be over' };
  return startMs + 1000 * durationS <= nowOf(station) ? { ended: 'its duration is over' } : {};
}

function stateClaim(device: Device, entry: OcppDerControlEntry, name: string) {
  const state = place(name, entry.state);
  if (entry.overwritten) return { actual: state, holds: false, ended: 'another writer has changed its points' };
  switch (states[entry.state]) {
    case 'later':
      return { actual: null, reason: `the control is ${entry.state}` };
    case 'gone':
      return { actual: state, holds: false, ended: 'another control comes before it' };
    case 'broken':
      return { actual: state, holds: false };
    case 'holds': {
      const heldBack = withheld(device, entry.controlId);
      return heldBack === null ? { actual: state, holds: true } : { actual: heldBack, value: heldBack.value };
    }
  }
}

export function derClaims({ device, station, request }: OcppCall): readonly Claim[] {
  const controlId = textOf(memberOf(request, 'controlId'));
  if (controlId === null) return [];
  const type = textOf(memberOf(request, 'controlType')) ?? 'control';
  const name = `${type} ${controlId}`;
  const entry = station.functions.derControls().find((each) => each.controlId === controlId);
  return [
    {
      name,
      value: 'applied',
      unit: null,
      did: `set the DER control ${name}`,
      subject: subjectOf(controlId, type),
      ...(entry === undefined
        ? { actual: place(name, null), holds: false, ...controlEnd(request, station) }
        : stateClaim(device, entry, name)),
    },
  ];
}

/** Claims after a clear: the named control, or all controls of the type, must not exist. */
export function clearedDerControls({ station, request }: OcppCall): readonly Claim[] {
  const id = textOf(memberOf(request, 'controlId'));
  const type = textOf(memberOf(request, 'controlType'));
  const isDefault = memberOf(request, 'isDefault') === true;
  const left = station.functions
    .derControls()
    .filter((each) =>
      id === null
        ? each.isDefault === isDefault && (type === null || each.controlType === type)
        : each.controlId === id,
    );
  const name = id === null ? `DER controls${type === null ? '' : ` of ${type}`}` : `DER control ${id}`;
  const takesOver = (subject: string) => {
    const [, ofId, ofType] = /^DER control (.*) of (\S+)$/.exec(subject) ?? [];
    return ofId !== undefined && (id === null ? type === null || ofType === type : ofId === id);
  };
  const common = { name, value: false, unit: null, did: `cleared ${name}`, subject: `${name} cleared`, takesOver };
  const again = 'they are there, perhaps set again since';
  return [
    left.length === 0 || id !== null
      ? { ...common, actual: place(name, left.length > 0) }
      : { ...common, actual: null, reason: again },
  ];
}

/** Tolerance above a limit in amperes, as a share: schedules assume the nominal voltage. */
const ampereTolerance = 0.12;
/** Tolerance above a limit in watts, as a share. */
const wattTolerance = 0.01;

const stationPurposes: ReadonlySet<string> = new Set(['ChargePointMaxProfile', 'ChargingStationMaxProfile']);

/** Present limit of the composite schedule of a connector, W; null: none. */
function limitNow(station: OcppStation, connectorId: number): number | null {
  // the first period begins now
  const [period] = station.functions.compositeSchedule(connectorId, 60, 'W').periods;
  return period?.limit ?? null;
}

/** Power that the device permits at a connector, W; connector 0: at all of them together. */
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
  const firstSchedule: unknown = Array.isArray(schedule) ? schedule[0] : schedule;
  return textOf(memberOf(firstSchedule, 'chargingRateUnit'));
}

/** Reason why an installed profile may have ended; undefined: it must exist. */
function profileEnd(profile: unknown, station: OcppStation, connectorId: number): string | undefined {
  const validTo = Date.parse(textOf(memberOf(profile, 'validTo')) ?? '');
  if (validTo <= nowOf(station)) return 'its validity is over';
  const isOfTransaction = textOf(memberOf(profile, 'chargingProfilePurpose')) === 'TxProfile';
  const isRunning = station.functions
    .transactions()
    .some((each) => each.connectorId === connectorId && each.endedMs === null);
  return isOfTransaction && !isRunning ? 'its transaction has ended' : undefined;
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
    // claims about the limit by other profiles are not superseded
    subject: `limit ${connectorId} by profile ${entry.profileId}`,
    actual: {
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
  const ended = profileEnd(profile, station, connectorId);
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

/** Claims after a clear: the named profile, or all profiles that match the criteria, must not exist. */
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
  const matches = (subject: string) => {
    const [, of, at, ofPurpose, atLevel] = /^charging profile (\d+) at (\d+) of (\w*) (\S+)$/.exec(subject) ?? [];
    if (of === undefined) return false;
    if (id !== null) return of === String(id);
    const isOf = (criterion: number | string | null, text = '') => criterion === null || String(criterion) === text;
    return isOf(connectorId, at) && isOf(purpose, ofPurpose) && isOf(level, atLevel);
  };
  const common = { name, unit: null, did: `cleared ${name}`, subject: name, takesOver: matches };
  // a profile that is set later takes over by its id
  if (id !== null)
    return [{ ...common, subject: `${name} at any of it`, value: false, actual: place(name, left.length > 0) }];
  const ids = left.map((each) => each.profileId).join(', ');
  return left.length === 0
    ? [{ ...common, value: 0, actual: place(name, 0) }]
    : [{ ...common, value: 0, actual: null, reason: `profiles ${ids} exist, perhaps set again since` }];
}
