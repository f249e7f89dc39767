/** Conditions under observation, and the objects needed to observe them. */
import type { SimTime } from '../../core/time/clock.ts';
import type { ScenarioHost } from './host.ts';
import type { Journal } from './journal.ts';
import type { Signals } from './signals.ts';

/** A condition under observation. */
export interface Observed {
  /** Looks again. @returns true if it is met now */
  look(now: SimTime): boolean | Promise<boolean>;
  /** True while the condition holds; always false for an event, which is momentary. */
  holds(): boolean | Promise<boolean>;
  /** next instant at which it may become true without an event; Infinity: none */
  readonly due: number;
  /** position in the journal after the events that met it; null: no events */
  readonly position: number | null;
  /** Marks the events that met it as used. */
  take?(): void;
  /** The last observation, for the message of a step that waited in vain. */
  seen(): string;
  end(): void;
}

/** Dependencies of the observation of conditions. */
export interface Observation {
  readonly host: ScenarioHost;
  readonly signals: Signals;
  readonly journal: Journal;
  /** requests another look, after an event between two ticks */
  readonly wake: () => void;
}
