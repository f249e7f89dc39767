/**
 * Conditions beside the time that schedules follow at each EVSE: grid frequency, signals of the grid operator, state of charge, and
 * true: its vehicle may discharge. They are read when limits are evaluated: each second while a schedule follows them.
 * Meters show a frequency at the end of a tick, so that longer ticks give one set-point each.
 * A frequency counts once it has moved by LocalFrequencyUpdateThreshold.
 */
import type { Conditions } from '../../charging/model.ts';
import type { StationParts } from '../parts.ts';

export interface V2xConditions {
  /** by EVSE @param read false: no schedule follows frequency or state of charge, which are left out then */
  at(read: boolean): ReadonlyMap<number, Conditions>;
  /** V2XChargingCtrlr: the EVSE is bidirectional and the central system has not switched it off */
  enabled(evseId: number): boolean;
  /** A signal of the grid operator, in force until the next one. */
  setSignal(evseId: number, signal: number): void;
  /** True if the transaction at an EVSE may discharge (NotifyAllowedEnergyTransfer). */
  permitDischarge(evseId: number, permitted: boolean): void;
  /** The transaction at an EVSE has ended, with what was in force for it. */
  forget(evseId: number): void;
}

export function createConditions({ device, variables }: Pick<StationParts, 'device' | 'variables'>): V2xConditions {
  /** by EVSE */
  const heldHz = new Map<number, number>();
  const signals = new Map<number, number>();
  const forbidden = new Set<number>();

  const enabled = (evseId: number): boolean =>
    variables.has('V2XChargingCtrlr', 'Enabled', { evseId }) &&
    variables.boolean('V2XChargingCtrlr', 'Enabled', { evseId });

  const frequencyAt = (evseId: number, hz: number): number => {
    const held = heldHz.get(evseId);
    const thresholdHz = variables.has('V2XChargingCtrlr', 'LocalFrequencyUpdateThreshold', { evseId })
      ? variables.integer('V2XChargingCtrlr', 'LocalFrequencyUpdateThreshold', { evseId }) / 1000
      : 0;
    if (held !== undefined && Math.abs(hz - held) < thresholdHz) return held;
    heldHz.set(evseId, hz);
    return hz;
  };

  const conditionsAt = (evseId: number, read: boolean): Conditions => {
    const mayDischarge = enabled(evseId) && !forbidden.has(evseId);
    if (!read) return { frequencyHz: null, signal: null, socPct: null, mayDischarge };
    const { frequencyHz, socPct } = device.sample(evseId);
    return {
      frequencyHz: frequencyAt(evseId, frequencyHz),
      signal: signals.get(evseId) ?? null,
      socPct,
      mayDischarge,
    };
  };

  return {
    at: (read) => new Map(device.connectorIds.map((evseId) => [evseId, conditionsAt(evseId, read)])),
    enabled,
    setSignal(evseId, signal) {
      signals.set(evseId, signal);
    },
    permitDischarge(evseId, permitted) {
      if (permitted) forbidden.delete(evseId);
      else forbidden.add(evseId);
    },
    forget(evseId) {
      signals.delete(evseId);
      heldHz.delete(evseId);
      forbidden.delete(evseId);
    },
  };
}
