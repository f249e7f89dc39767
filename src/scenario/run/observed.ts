/** Conditions as flows see them, and what they are observed with. */
import type { SimTime } from '../../core/time/clock.ts';
import type { ScenarioHost } from './host.ts';
import type { Journal } from './journal.ts';
import type { Signals } from './signals.ts';

/** A condition under observation. */
export interface Observed {
  /** Looks again. @returns whether it is met now */
  look(now: SimTime): boolean | Promise<boolean>;
  /** Whether it holds, however long; what has come does not: it is over at once. */
  holds(): boolean | Promise<boolean>;
  /** the next instant at which it may come true although nothing changes; Infinity: none */
  readonly due: number;
  /** position in the journal behind the events that met it; null: it was met without one */
  readonly position: number | null;
  /** It was waited for: what met it counts as used. */
  take?(): void;
  /** What was seen, for the message of a step that waited in vain. */
  seen(): string;
  end(): void;
}

/** What conditions are observed with. */
export interface Observation {
  readonly host: ScenarioHost;
  readonly signals: Signals;
  readonly journal: Journal;
  /** looks again soon: something has happened between two ticks */
  readonly wake: () => void;
}
