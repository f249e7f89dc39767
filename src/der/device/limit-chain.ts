/** The limits on the active power of an inverter as a chain, derived from its last sub-step. */
import { deviceLimits } from '../../contract/limit-chain.ts';
import type { DeviceLimit, LimitChain, PowerLimit } from '../../contract/limit-chain.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Inverter } from '../inverter/inverter.ts';
import { activeDecider } from './trace.ts';

const negligibleW = 1e-3;

/** 1: the power flows into the grid, or would without the limits; -1: out of it. */
type Side = 1 | -1;

type Limits = Record<DeviceLimit, number | null>;

const limitNames: ReadonlySet<string> = new Set(deviceLimits);

function isDeviceLimit(decider: string): decider is DeviceLimit {
  return limitNames.has(decider);
}

const flows = (watts: number) => Math.abs(watts) > negligibleW;

/** The direction of the power, or of the power that a limit holds at zero. @param isLoad the source only takes power */
function sideOf({ pW, activePower, ratings }: Inverter, isLoad: boolean): Side {
  if (flows(pW)) return pW > 0 ? 1 : -1;
  const { requestedW, freeW, setPointTargetW } = activePower;
  if (flows(requestedW)) return requestedW > 0 ? 1 : -1;
  if (flows(freeW)) return freeW > 0 ? 1 : -1;
  if (ratings.generator) return 1;
  if (flows(setPointTargetW)) return setPointTargetW > 0 ? 1 : -1;
  return isLoad ? -1 : 1;
}

/** True if the device only takes the consumption of its own electronics: its source has nothing. */
function sleeps({ ratings, pW }: Inverter): boolean {
  return ratings.generator && pW < 0;
}

const finite = (watts: number) => (Number.isFinite(watts) ? watts : null);

/** Limits on injection that do not act on absorption. */
function injectionLimits({ settings, activePower: p }: Inverter): Partial<Limits> {
  const { wMaxW, dischargeMaxW, dischargeMaxVa, maxPowerPct, voltWatt, secondLimitPct } = settings;
  return {
    w_max: wMaxW,
    discharge_limit: finite(Math.min(dischargeMaxW, dischargeMaxVa)),
    max_power: maxPowerPct === null || p.raised ? null : p.limitW,
    volt_watt: voltWatt.enabled || p.voltWattPct < 100 ? (p.voltWattPct / 100) * p.voltWattBaseW : null,
    second_limiter: secondLimitPct === undefined ? null : (wMaxW * secondLimitPct) / 100,
  };
}

/** True if droop takes the place of the set-point, and may absorb more than it. */
function isReplaced({ activePower: { raised, decidedBy } }: Inverter, side: Side): boolean {
  return raised || (side < 0 && decidedBy === 'freq_droop');
}

const noLimits = Object.fromEntries(deviceLimits.map((key) => [key, null])) as Limits;

function limitsOf(inverter: Inverter, side: Side, at: SimTime): Limits {
  const { settings, activePower: p, circleVa } = inverter;
  const ahead = (watts: number) => Math.max(0, side * watts);
  return {
    ...noLimits,
    ...(side > 0 ? injectionLimits(inverter) : { charge_limit: settings.chargeMaxW }),
    active_power: settings.setPointW === null || isReplaced(inverter, side) ? null : ahead(p.setPointW),
    freq_droop: p.droop.side === null ? null : ahead(p.droop.outputW),
    enter_service: inverter.enterRamp(at),
    site: finite(side > 0 ? p.site.ceilingW : -p.site.floorW),
    apparent_power: circleVa,
  };
}

/** The lowest limit below the minimum power of the source, which pauses; null: none. */
function pausingLimit(inverter: Inverter, side: Side, at: SimTime): DeviceLimit | null {
  const { link, pW } = inverter;
  const minW = side > 0 ? link.minInjectW : link.minAbsorbW;
  if (side * pW >= minW) return null;
  const limits = limitsOf(inverter, side, at);
  const below = deviceLimits.filter((key) => (limits[key] ?? Infinity) < minW);
  return below.reduce<DeviceLimit | null>(
    (lowest, key) => (lowest === null || (limits[key] ?? 0) < (limits[lowest] ?? 0) ? key : lowest),
    null,
  );
}

/** True if the setting of 702 bounds the absorbed power, and not the source, which may choose its power by itself. */
function isAtChargeLimit({ settings, link, pW }: Inverter): boolean {
  return settings.chargeMaxW < link.absorbableW && -pW >= settings.chargeMaxW - negligibleW;
}

function winnerOf(inverter: Inverter, side: Side, at: SimTime): DeviceLimit | null {
  if (sleeps(inverter)) return null;
  const decider = activeDecider(inverter);
  if (decider === 'charge_limit' || decider === 'source') {
    // the decision does not tell the setting from the source
    if (side < 0 && isAtChargeLimit(inverter)) return 'charge_limit';
    return pausingLimit(inverter, side, at);
  }
  return isDeviceLimit(decider) ? decider : pausingLimit(inverter, side, at);
}

/** Limits under which the choice of the source is unknown: it is made within them, or not at all. */
const choosesNothing: ReadonlySet<DeviceLimit> = new Set([
  'w_max',
  'charge_limit',
  'discharge_limit',
  'freq_droop',
  'out_of_service',
]);

function basisOf(inverter: Inverter, side: Side, winner: DeviceLimit | null): PowerLimit['basis'] {
  const { link, ratings, settings, activePower, pW } = inverter;
  const sourceW = side > 0 ? Math.max(link.availableW, link.potentialW) : link.potentialAbsorbableW;
  if (winner === null) {
    const isAll = side * pW >= (side > 0 ? link.availableW : link.absorbableW) - negligibleW;
    return { kind: isAll && !sleeps(inverter) ? 'available' : 'chosen', powerW: Math.abs(pW) };
  }
  // within 702, since the choice of the source without a set-point is computed within it
  const chosenW = side * activePower.setPointTargetW;
  const isChosen = !ratings.generator && settings.setPointW === null && !choosesNothing.has(winner) && chosenW > 0;
  return isChosen && chosenW < sourceW ? { kind: 'chosen', powerW: chosenW } : { kind: 'available', powerW: sourceW };
}

/** Limits that are no active power: their value is the power that they leave. */
const withoutPower: ReadonlySet<DeviceLimit> = new Set(['ramp', 'apparent_power', 'cessation', 'out_of_service']);

/** Values of limits that depend on the power that they leave. */
function ofWinner(winner: DeviceLimit | null, deliveredW: number): Partial<Limits> {
  return winner !== null && withoutPower.has(winner) ? { [winner]: deliveredW } : {};
}

/**
 * @param at end of the last sub-step
 * @param isLoad the source only takes power unless it is told otherwise, as a charging station
 */
export function powerLimit(inverter: Inverter, at: SimTime, isLoad: boolean): PowerLimit {
  const side = sideOf(inverter, isLoad);
  const winner = winnerOf(inverter, side, at);
  return {
    direction: side > 0 ? 'delivers' : 'absorbs',
    basis: basisOf(inverter, side, winner),
    winner,
    deliveredW: Math.abs(inverter.pW),
  };
}

/** @param at end of the last sub-step @param limit of the same sub-step */
export function limitChain(inverter: Inverter, at: SimTime, limit: PowerLimit): LimitChain {
  const limitsW = limitsOf(inverter, limit.direction === 'delivers' ? 1 : -1, at);
  return { ...limit, limitsW: { ...limitsW, ...ofWinner(limit.winner, limit.deliveredW) } };
}
