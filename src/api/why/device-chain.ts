/** The chain of limits at the terminals of a device, and the sentence about its power. */
import { tripCauseText } from '../../contract/grid-trace.ts';
import type { Device, DeviceDetail } from '../../contract/device.ts';
import type { EvseDetail } from '../../contract/kinds/evse.ts';
import { storageIn } from '../../contract/kinds/table.ts';
import { lastingTrip, limitAtTerminals } from '../../contract/condition.ts';
import { deviceLimits } from '../../contract/limit-chain.ts';
import type { DeviceLimit, LimitChain } from '../../contract/limit-chain.ts';
import type { Plant } from '../../contract/plant.ts';
import { powerText } from '../../contract/power-text.ts';
import { pointNumber } from '../../sunspec/map/bank.ts';
import { overrideOf } from '../common/writers.ts';
import { deviceLimitFacts } from './limit-facts.ts';
import { limitOf } from './model.ts';
import type { Basis, Why } from './model.ts';
import { reactiveWhy } from './reactive-chain.ts';
import { byText, capitalized, shownWriter, spanText, timeText } from './words.ts';

const negligibleW = 0.5;

/** Everything that the source of a kind has, as the end of a sentence. */
const wholeText: Readonly<Record<DeviceDetail['kind'], readonly [delivers: string, absorbs: string]>> = {
  pv: ['all that the sun gives', 'all that the array takes'],
  wind: ['all that the wind gives', 'all that the turbine takes'],
  battery: ['all that the battery can give', 'all that the battery can take'],
  fuelcell: ['all that the fuel cell can give', 'all that the electrolyser can take'],
  'hybrid-dc': ['all that array and battery can give', 'all that the battery can take'],
  evse: ['all that the vehicles can give', 'all that the vehicles ask for'],
};

/** Limits of a device that its kind can never have. */
function isPossible({ detail, bank }: Device, key: DeviceLimit): boolean {
  if (key === 'charge_limit') return (pointNumber(bank, 702, 'WChaRteMaxRtg') ?? 0) > 0;
  return key !== 'discharge_limit' || storageIn(detail) !== null;
}

function forcedBasis(device: Device, plant: Plant, powerW: number): Basis | null {
  const storage = storageIn(device.detail);
  if (storage?.control !== 'forced') return null;
  const left = storage.remainingS === null ? '' : `, ${spanText(storage.remainingS)} left`;
  const by = byText(plant, 'forced', shownWriter(overrideOf(device, 'battery_mode'))).slice(2) || 'forced';
  return { key: 'forced', powerW, text: `${by}${left}` };
}

/** The power at which the source runs by itself. */
function chosenBasis(device: Device, plant: Plant, powerW: number): Basis {
  const { detail } = device;
  if (detail.kind === 'hybrid-dc')
    return { key: 'dispatch', powerW, text: `the policy ${detail.policy.replaceAll('_', ' ')} of the hybrid` };
  const forced = forcedBasis(device, plant, powerW);
  if (forced) return forced;
  if (detail.kind === 'pv' || detail.kind === 'wind')
    return {
      key: 'rest',
      powerW,
      text: `own consumption, since the ${detail.kind === 'pv' ? 'sun' : 'wind'} gives nothing`,
    };
  return {
    key: 'rest',
    powerW,
    text: powerW < negligibleW ? 'nothing asks for power' : 'what the source runs at by itself',
  };
}

function basisOf(device: Device, plant: Plant, { basis, direction }: LimitChain): Basis {
  const { kind } = device.detail;
  const { powerW } = basis;
  if (kind === 'evse' && direction === 'absorbs') return { key: 'asked', powerW, text: wholeText.evse[1] };
  if (basis.kind === 'chosen' || (kind !== 'pv' && kind !== 'wind' && powerW < negligibleW))
    return chosenBasis(device, plant, powerW);
  return { key: 'available', powerW, text: wholeText[kind][direction === 'delivers' ? 0 : 1] };
}

/** A trip whose consequences last; null: the device is out of service for another reason. */
function tripText({ trace, bank, enterService }: Device, plant: Plant): string | null {
  const trip = lastingTrip(trace);
  if (!trip) return null;
  const delayS = pointNumber(bank, 703, 'ESDlyTms') ?? 0;
  const { delayRemainingS } = enterService;
  const back = delayRemainingS > 0 ? `in ${spanText(delayRemainingS)} (${delayS} s` : `${delayS} s`;
  const end = delayRemainingS > 0 ? ')' : '';
  return (
    `Tripped on ${tripCauseText(trip.cause)} at ${timeText(plant, trip.at, 12)}; ` +
    `returns ${back} after the grid is back${end}.`
  );
}

function outText(device: Device, plant: Plant, clause: string): string {
  const trip = tripText(device, plant);
  if (trip !== null) return trip;
  const { service } = device.trace;
  const by = clause.slice('out of service'.length);
  if (!device.switchClosed) return `Out of service: the switch is open${by}.`;
  return service === 'waiting' ? 'Waits to enter service.' : `Out of service: ${service.replaceAll('_', ' ')}${by}.`;
}

/** The power without a limit that holds it. */
function freeText({ basis, direction, deliveredW }: Pick<Why, 'basis' | 'direction' | 'deliveredW'>): string {
  const power = powerText(deliveredW);
  if (deliveredW < negligibleW && basis.key !== 'available') return `Rests: ${basis.text}.`;
  if (basis.key === 'available' || basis.key === 'asked') return `${power}, ${basis.text}.`;
  const verbs = basis.key === 'forced' ? ['Discharges with', 'Charges with'] : ['Gives', 'Takes'];
  return `${verbs[direction === 'delivers' ? 0 : 1]} ${power}: ${basis.text}.`;
}

/** A station takes the sum of its connectors, which have chains of their own. */
function stationText({ connectors }: EvseDetail, deliveredW: number): string {
  const plugged = connectors.filter(({ ev }) => ev !== null).length;
  if (plugged === 0) return 'No vehicle is plugged in.';
  const vehicles = plugged === 1 ? '1 vehicle' : `${plugged} vehicles`;
  return `${powerText(deliveredW)}, all that ${vehicles} may take: the connectors have the limits.`;
}

function sentenceOf(
  device: Device,
  plant: Plant,
  why: Omit<Why, 'reactive' | 'sentence'>,
  winner: DeviceLimit | null,
): string {
  const { detail } = device;
  if (winner === null)
    return detail.kind === 'evse' && why.direction === 'absorbs'
      ? stationText(detail, why.deliveredW)
      : capitalized(freeText(why));
  const { clause } = deviceLimitFacts(device, plant, winner);
  if (winner === 'out_of_service') return outText(device, plant, clause);
  const asked = why.basis.key === 'asked' ? ' that the vehicles ask for' : '';
  return `${powerText(why.deliveredW)} of ${powerText(why.basis.powerW)}${asked}: ${clause}.`;
}

/** Why a device has its power, at its terminals. */
export function deviceWhy(device: Device, plant: Plant): Why {
  const chain = { ...device.limitChain, ...limitAtTerminals(device) };
  const { direction, winner, deliveredW } = chain;
  const fullW = pointNumber(device.bank, 702, direction === 'delivers' ? 'WMax' : 'WChaRteMax') ?? 0;
  const why = {
    deviceIndex: device.index,
    connectorId: null,
    direction,
    basis: basisOf(device, plant, chain),
    chain: deviceLimits
      .filter((key) => isPossible(device, key))
      .map((key) => limitOf(key, deviceLimitFacts(device, plant, key), chain.limitsW[key], key === winner, fullW)),
    deliveredW,
  };
  return { ...why, sentence: sentenceOf(device, plant, why, winner), reactive: reactiveWhy(device, plant) };
}
