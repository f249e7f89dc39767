/** The plant as its devices use it. */
import type { SimTime } from '../../core/time/clock.ts';
import type { CommAlarms } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { filteredLogger } from '../../core/log/log.ts';
import type { Logger } from '../../core/log/log.ts';
import type { CommitClock } from '../../sunspec/map/register-bank.ts';
import type { TerminalsContext } from './terminals.ts';
import type { VisitPlan } from '../surroundings/visits.ts';
import { errorText } from '../../core/errors.ts';
import type { Disturbance, PowerEvent } from '../../contract/plant.ts';

/** The parts of a plant that a device uses. */
export interface DeviceContext extends TerminalsContext {
  readonly clock: CommitClock;
  readonly seed: number;
  /** plan of vehicles that come and go; null: none */
  readonly visits?: VisitPlan | null;
  readonly seriesTime?: (t: SimTime) => number;
  /** true: charging stations authorise tokens at a central system from their start; default: they do not */
  readonly centralAuthority?: () => boolean;
  /** the faults in force, notified of resets; absent: no fault injection */
  readonly faults?: Pick<FaultRegistry, 'active' | 'deviceReset'>;
  /** devices that are off; each device adds and removes itself; absent: not recorded */
  readonly dark?: DarkDevices;
  /** told of thresholds, trips and alarms; absent: nobody is */
  readonly disturbed?: (disturbance: Disturbance) => void;
  /** alarms raised by adapters; absent: none */
  readonly commAlarms?: Pick<CommAlarms, 'of' | 'forget'>;
  readonly log: Logger;
  /** log of the source and the DC side; default `log` */
  readonly dcLog?: Logger;
  /** log of charging sessions, numerous in a large fleet; absent: none */
  readonly sessionLog?: Pick<Logger, 'info'>;
}

/** A context that tells and logs nothing while `isMuted`. */
export function mutedContext(context: DeviceContext, isMuted: () => boolean): DeviceContext {
  const { log, dcLog, sessionLog, disturbed } = context;
  const admits = () => !isMuted();
  return {
    ...context,
    log: filteredLogger(log, admits),
    ...(disturbed && {
      disturbed: (disturbance) => {
        if (admits()) disturbed(disturbance);
      },
    }),
    ...(dcLog && { dcLog: filteredLogger(dcLog, admits) }),
    ...(sessionLog && {
      sessionLog: {
        info: (message, device, at) => {
          if (admits()) sessionLog.info(message, device, at);
        },
      },
    }),
  };
}

/** Devices that are off and do not answer. */
export class DarkDevices {
  readonly #indexes = new Set<number>();
  readonly #listeners = new Set<(event: PowerEvent) => void>();
  readonly #log: Pick<Logger, 'error'>;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** One object for the life of the plant, changed in place. */
  get indexes(): ReadonlySet<number> {
    return this.#indexes;
  }

  /** Records that a device goes off or returns; notifies listeners of changes. */
  set(index: number, down: boolean, at: SimTime): void {
    if (this.#indexes.has(index) === down) return;
    if (down) this.#indexes.add(index);
    else this.#indexes.delete(index);
    for (const listener of this.#listeners) {
      try {
        listener({ index, down, at });
      } catch (error) {
        this.#log.error(`a listener of the power of devices failed: ${errorText(error)}`, index);
      }
    }
  }

  /** Drops a removed device, without an event. */
  forget(index: number): void {
    this.#indexes.delete(index);
  }

  /** Calls listeners synchronously; the returned function unsubscribes. */
  onChange(listener: (event: PowerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
