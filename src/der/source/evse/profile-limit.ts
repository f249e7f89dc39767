/** The limits of a charging profile: the checks of its command, and the limits in W at present. */
import type { EvseProfileLimit } from '../../../contract/kinds/evse-commands.ts';
import type { Origin } from '../../../core/origin.ts';
import { badValue } from '../../../core/errors.ts';

/** One charging profile in force; Infinity: no such limit. */
export interface ProfileLimit {
  readonly limitW: number;
  /** limit per phase */
  readonly limitA: number;
  readonly dischargeLimitW: number;
  readonly dischargeLimitA: number;
  /** + into the vehicle; null: none */
  readonly setpointW: number | null;
  readonly setpointA: number | null;
  /** phases of an AC connector that may be used */
  readonly phases: 1 | 3;
  /** writer of the profile; null: never set */
  readonly by: Origin | null;
}

/** No charging profile. */
export const openLimit: ProfileLimit = {
  limitW: Infinity,
  limitA: Infinity,
  dischargeLimitW: Infinity,
  dischargeLimitA: Infinity,
  setpointW: null,
  setpointA: null,
  phases: 3,
  by: null,
};

const maxNumber = 1e9;

function checkMagnitude(name: string, value: number | null | undefined): number {
  if (value == null) return Infinity;
  if (!(value >= 0 && value <= maxNumber)) throw badValue(name, value, `0..${maxNumber}`);
  return value;
}

/** A set-point must lie between the limits in its own unit. */
function checkSetpoint(
  name: string,
  value: number | null | undefined,
  limit: number,
  dischargeLimit: number,
): number | null {
  if (value == null) return null;
  const [min, max] = [-Math.min(maxNumber, dischargeLimit), Math.min(maxNumber, limit)];
  if (!(value >= min && value <= max)) throw badValue(name, value, `${min}..${max}, between the limits beside it`);
  return value;
}

/**
 * The profile that a command sets.
 * @throws SimError COMMAND_BAD_VALUE
 */
export function profileOf(command: EvseProfileLimit, by: Origin): ProfileLimit {
  const limitW = checkMagnitude('limitW', command.limitW);
  const limitA = checkMagnitude('limitA', command.limitA);
  const dischargeLimitW = checkMagnitude('dischargeLimitW', command.dischargeLimitW);
  const dischargeLimitA = checkMagnitude('dischargeLimitA', command.dischargeLimitA);
  const setpointW = checkSetpoint('setpointW', command.setpointW, limitW, dischargeLimitW);
  const setpointA = checkSetpoint('setpointA', command.setpointA, limitA, dischargeLimitA);
  if (setpointW !== null && setpointA !== null)
    throw badValue('setpointA', setpointA, 'a set-point in watts or in amperes, not both');
  const phases: number = command.phases ?? 3;
  if (phases !== 1 && phases !== 3) throw badValue('phases', phases, '1 or 3');
  return { limitW, limitA, dischargeLimitW, dischargeLimitA, setpointW, setpointA, phases, by };
}

/** Power of a limit in amperes; no limit stays no limit, even at 0 V. */
function wattsOf(amperes: number, perA: number): number {
  return amperes === Infinity ? Infinity : amperes * perA;
}

/** The lowest limit on charging in amperes per phase, set-point included; Infinity: none. */
export function lowestA({ limitA, setpointA }: ProfileLimit): number {
  return setpointA === null || setpointA <= 0 ? limitA : Math.min(limitA, setpointA);
}

/** The set-point in W, + into the vehicle; null: none. @param perA watts of one ampere per phase */
export function setpointOf({ setpointW, setpointA }: ProfileLimit, perA: number): number | null {
  return setpointA === null ? setpointW : setpointA * perA;
}

/** Maximum charging power in W, set-point included. */
export function chargeCapW(profile: ProfileLimit, perA: number): number {
  const setpoint = setpointOf(profile, perA);
  const capW = Math.min(profile.limitW, wattsOf(profile.limitA, perA));
  return setpoint === null ? capW : Math.min(capW, Math.max(0, setpoint));
}

/** Maximum discharge in W. */
export function dischargeCapW({ dischargeLimitW, dischargeLimitA }: ProfileLimit, perA: number): number {
  return Math.min(dischargeLimitW, wattsOf(dischargeLimitA, perA));
}

/**
 * True if charging is below its minimum. Amperes are compared with amperes, so that a sagging voltage does not pause
 * charging. @param minA minimum per phase; 0 where the minimum is a power (DC)
 */
export function isBelowMinimum(
  { limitW, limitA, setpointW, setpointA }: ProfileLimit,
  minW: number,
  minA: number,
): boolean {
  const tolerance = 1e-9;
  const watts = Math.min(limitW, setpointW ?? Infinity);
  const amperes = Math.min(limitA, setpointA ?? Infinity);
  return watts < minW * (1 - tolerance) || amperes < minA;
}
