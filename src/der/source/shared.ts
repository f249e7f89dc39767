/** Shared by the kinds of source: constants, ports, curves and the checks of commands. */
import { SimError } from '../../core/errors.ts';
import type { DcPort, SourceCondition } from './source.ts';

export const secondsPerHour = 3600;
/** 0 C in kelvin */
export const zeroCelsiusK = 273.15;
/** gas constant, J/(mol K) */
export const gasConstantJMolK = 8.314462618;

export const noConditions: ReadonlySet<SourceCondition> = new Set();

/** Getters by which a live port reads its values. */
interface PortReadings {
  readonly voltageV: () => number;
  readonly currentA: () => number;
  readonly powerW: () => number;
  /** default: the port never has any */
  readonly conditions?: () => ReadonlySet<SourceCondition>;
}

/** A port that reads its values at each access. */
export class LivePort implements DcPort {
  readonly type: DcPort['type'];
  readonly name: string;
  readonly #readings: PortReadings;

  constructor(type: DcPort['type'], name: string, readings: PortReadings) {
    this.type = type;
    this.name = name;
    this.#readings = readings;
  }

  get voltageV(): number {
    return this.#readings.voltageV();
  }

  get currentA(): number {
    return this.#readings.currentA();
  }

  get powerW(): number {
    return this.#readings.powerW();
  }

  get conditions(): ReadonlySet<SourceCondition> {
    return this.#readings.conditions?.() ?? noConditions;
  }
}

/** @throws SimError UNKNOWN_RESOURCE for any port but 0, the only one of a source with a curve */
export function checkCurvePort(port: number | undefined): void {
  if (port !== undefined && port !== 0) {
    throw new SimError('UNKNOWN_RESOURCE', `port ${port} has no DC curve; this device has port 0`);
  }
}

const minSamples = 3;
const maxSamples = 1000;

/** Index of the last of `points` samples of a curve; fewer than 3 count as 3, more than 1000 as 1000. */
export function lastSample(points: number): number {
  return Math.max(minSamples, Math.min(maxSamples, Math.floor(points) || 0)) - 1;
}

/** The given value and the allowed ones, for the message of a refusal. */
export function givenAllowed(given: unknown, allowed: string): string {
  const text = given === undefined ? 'nothing' : typeof given === 'number' ? String(given) : JSON.stringify(given);
  return `given ${text}; allowed: ${allowed}`;
}

/** A refused value of a command. */
export function badValue(name: string, given: unknown, allowed: string): SimError {
  return new SimError('COMMAND_BAD_VALUE', `${name}: ${givenAllowed(given, allowed)}`);
}

/**
 * Value after `dtS` seconds of a quantity that follows its target with a first-order lag, while the target moves on a
 * straight line from `fromTarget` to `toTarget`: the exact solution, so that the length of sub-steps does not matter.
 */
export function lagged(
  value: number,
  fromTarget: number,
  toTarget: number,
  dtS: number,
  timeConstantS: number,
): number {
  const x = dtS / timeConstantS;
  // at rest, as most sub-steps are, there is nothing to solve
  if (!(x > 0) || (value === fromTarget && value === toTarget)) return value;
  const reached = -Math.expm1(-x);
  return value + (fromTarget - value) * reached + (toTarget - fromTarget) * (1 - reached / x);
}
