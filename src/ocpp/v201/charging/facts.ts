/** What profiles are checked against at a place of the station. */
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
