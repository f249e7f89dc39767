/**
 * Conditions other than time that schedules follow at each EVSE: grid frequency, signals of the grid operator, state of
 * charge, and permission to discharge. They are read when limits are evaluated: each second while a schedule follows
 * them. Meters show the frequency at the end of a tick, so that a tick of more than a second gives one set-point. A new
 * frequency is used once it differs by LocalFrequencyUpdateThreshold.
 */
import type { Conditions } from '../../charging/model.ts';
import type { StationParts } from '../parts.ts';

export interface V2xConditions {
  /** Conditions by EVSE. @param read false: no schedule follows them; all but `mayDischarge` are null */
  at(read: boolean): ReadonlyMap<number, Conditions>;
  /** True if the EVSE is bidirectional and its V2XChargingCtrlr is enabled. */
  enabled(evseId: number): boolean;
  /** Sets the signal of the grid operator, in force until the next one. */
  setSignal(evseId: number, signal: number): void;
  /** Permits or forbids the discharge in the transaction at an EVSE (NotifyAllowedEnergyTransfer). */
  permitDischarge(evseId: number, permitted: boolean): void;
  /** Resets the conditions of an EVSE after the end of its transaction. */
  forget(evseId: number): void;
}

export function createConditions({ device, variables }: Pick<StationParts, 'device' | 'variables'>): V2xConditions {
  /** frequency in use, by EVSE */
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
