/** Answers to the calls of smart charging. */
import type { ChargingControl } from '../../charging/control.ts';
import { deciding } from '../../charging/limits.ts';
import type { ChargingProfile, RateUnit } from '../../charging/model.ts';
import type { Handler, Requests, StationParts, Transactions } from '../parts.ts';
import { purposes, replyOf } from './convert.ts';
import type { InstalledProfiles } from './installed.ts';
import { allowedUnits, brokenPlace, brokenRule } from './rules.ts';

interface Deps {
  readonly parts: Pick<StationParts, 'device' | 'keys' | 'finding'>;
  readonly control: ChargingControl;
  readonly installed: InstalledProfiles;
  readonly transactions: Pick<Transactions, 'at'>;
}

export function setChargingProfile({ parts, installed, transactions }: Deps): Handler<'SetChargingProfile'> {
  const { device, keys, finding } = parts;
  return ({ connectorId, csChargingProfiles: sent }) => {
    const place = { connectorIds: device.connectorIds, transaction: transactions.at(connectorId) };
    const rule = brokenPlace(connectorId, sent, place) ?? brokenRule(sent, keys) ?? installed.put(connectorId, sent);
    if (rule !== null) {
      finding(rule.clause, rule.text, 'SetChargingProfile');
      return { status: 'Rejected' };
    }
    if (sent.transactionId !== undefined && sent.chargingProfilePurpose !== 'TxProfile') {
      const text = `profile ${sent.chargingProfileId}: transactionId is only valid in a TxProfile, and is ignored`;
      finding('OCPP 1.6 7.8', text, 'SetChargingProfile');
    }
    return { status: 'Accepted' };
  };
}

/** An id names its profile alone; without one all given members must match (5.5). */
function matches(filter: Requests['ClearChargingProfile']): (profile: ChargingProfile) => boolean {
  const { id, connectorId, stackLevel, chargingProfilePurpose } = filter;
  if (id !== undefined) return ({ profileId }) => profileId === id;
  const purpose = chargingProfilePurpose && purposes[chargingProfilePurpose];
  return (profile) =>
    (connectorId === undefined || profile.connectorId === connectorId) &&
    (stackLevel === undefined || profile.stackLevel === stackLevel) &&
    (purpose === undefined || profile.purpose === purpose);
}

export function clearChargingProfile({ installed }: Deps): Handler<'ClearChargingProfile'> {
  return (request) => ({ status: installed.remove(matches(request)) > 0 ? 'Accepted' : 'Unknown' });
}

/** The unit of an answer when none is asked for: that of a profile in force, so that it reads back as it was set. */
function defaultUnit(connectorId: number, allowed: readonly RateUnit[], { state, nowMs }: ChargingControl): RateUnit {
  const units = [connectorId, 0].flatMap((id) => deciding(state, id, nowMs)).map(({ schedule }) => schedule.unit);
  return units.find((unit) => allowed.includes(unit)) ?? allowed[0] ?? 'W';
}

export function getCompositeSchedule({ parts, control }: Deps): Handler<'GetCompositeSchedule'> {
  const { device, keys, finding } = parts;
  return ({ connectorId, duration, chargingRateUnit }) => {
    if (duration <= 0) {
      finding('OCPP 1.6 5.7', `the duration ${duration} must be greater than 0`, 'GetCompositeSchedule');
      return { status: 'Rejected' };
    }
    const allowed = allowedUnits(keys);
    const unit = chargingRateUnit ?? defaultUnit(connectorId, allowed, control);
    if (!allowed.includes(unit)) return { status: 'Rejected' };
    const maxPeriods = keys.integer('ChargingScheduleMaxPeriods');
    const schedule = control.composite({ connectorId, durationS: duration, unit, maxPeriods });
    if (schedule === null) return { status: 'Rejected' };
    const rating = device.ratings.find((each) => each.connectorId === connectorId) ?? device.stationRating;
    return replyOf(connectorId, schedule, rating);
  };
}
