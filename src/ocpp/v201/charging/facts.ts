/** What profiles are checked against at a place of the station, and the local time that schedules may use. */
import type { StationParts } from '../parts.ts';
import type { V2xConditions } from '../v2x/conditions.ts';
import { modesOf } from '../v2x/modes.ts';
import type { EvseFacts, RuleFacts, SentProfile } from './rules/issue.ts';
import { externalProfileId } from './bounds.ts';

type FactParts = Pick<StationParts, 'device' | 'variables' | 'version'>;

/** Of an EVSE, of all (0), or of the grid connection, which a ChargingStationMaxProfile is about. */
function evsesOf({ device }: FactParts, conditions: V2xConditions, evseId: number, ofStation: boolean) {
  if (ofStation) return [{ ...device.stationRating, modes: modesOf(false) }] satisfies EvseFacts[];
  return device.ratings
    .filter(({ connectorId }) => evseId === 0 || connectorId === evseId)
    .map(({ connectorId, type, phases }) => ({ type, phases, modes: modesOf(conditions.enabled(connectorId)) }));
}

export function ruleFacts(
  parts: FactParts,
  conditions: V2xConditions,
  evseId: number,
  { chargingProfilePurpose: purpose }: Pick<SentProfile, 'chargingProfilePurpose'>,
): RuleFacts {
  const { variables, version } = parts;
  const ofStation = purpose === 'ChargingStationMaxProfile' || purpose === 'LocalGeneration';
  return {
    version,
    maxStackLevel: variables.integer('SmartChargingCtrlr', 'ProfileStackLevel'),
    maxPeriods: variables.integer('SmartChargingCtrlr', 'PeriodsPerSchedule'),
    rateUnits: variables.list('SmartChargingCtrlr', 'RateUnit'),
    maxExternalId: externalProfileId,
    evses: evsesOf(parts, conditions, evseId, ofStation),
  };
}

/** Local time minus UTC by ClockCtrlr.TimeOffset (`+01:00`), ms; 0 where the station has none. */
export function localOffsetMs({ variables }: Pick<StationParts, 'variables'>): number {
  if (!variables.has('ClockCtrlr', 'TimeOffset')) return 0;
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(variables.text('ClockCtrlr', 'TimeOffset')) ?? [];
  const ms = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
  return sign === '-' ? -ms : ms;
}
