/** Conditions and subjects of assertions under observation, and the objects needed to observe them. */
import type { Cell } from '../../core/findings/peer.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { ScenarioDevice, ScenarioHost } from './host.ts';
import type { Journal } from './journal.ts';
import type { Signals } from './signals.ts';

/** A condition under observation. */
export interface ObservedCondition {
  /** True if the condition is met at this instant. */
  isMet(now: SimTime): boolean | Promise<boolean>;
  /** True while the condition holds; always false for an event, which is momentary. */
  holds(): boolean | Promise<boolean>;
  /** next instant at which the condition may become true without an event; Infinity: none */
  readonly due: number;
  /** position in the journal after the events that met the condition; null: no events */
  readonly position: number | null;
  /** Marks the events that met the condition as used. */
  take?(): void;
  /** The last observation in words, for the message of a step that waited in vain. */
  lastObservation(): string;
  end(): void;
}

/** Parts of a run that observers of conditions and subjects read. */
export interface RunSources {
  readonly host: ScenarioHost;
  readonly signals: Signals;
  readonly journal: Journal;
  /** requests another observation, after an event between two ticks */
  readonly wake: () => void;
}

/** The result of one observation. */
export interface Observation {
  readonly holds: boolean;
  /** Value in words: `it was 3990 W`. */
  readonly text: () => string;
}

/** Observes one subject repeatedly. */
export interface SubjectObserver {
  observe(now: SimTime): Observation | Promise<Observation>;
  /** observations over the whole window, for a failure; empty: none */
  history(): string;
  end(): void;
}

/** Counts of each cell of findings at an instant; a cell that is emptied later begins at 0. */
export type FindingMarks = ReadonlyMap<Cell, { readonly exercised: number; readonly offences: number }>;

/** Start of the messages and commands that count for an assertion. */
export interface Since {
  /** position in the journal */
  readonly events: number;
  /** wall time, ms since the epoch */
  readonly wallMs: number;
  readonly findings: FindingMarks;
}

/** The devices of an assertion. null: the named device does not exist. */
export function devicesOf({ plant }: ScenarioHost, device: number | null): readonly ScenarioDevice[] | null {
  const devices = plant.devices.filter(({ index }) => device === null || index === device);
  return device !== null && devices.length === 0 ? null : devices;
}

/** True if a device was removed during the check and was not named by the assertion. */
export function isGone({ plant }: ScenarioHost, index: number, named: number | null): boolean {
  return named === null && plant.devices.every((device) => device.index !== index);
}

export const withoutDevice = (device: number | null): Observation => ({
  holds: false,
  text: () => `there is no device ${device}`,
});
