import type { SimTime } from '../../core/time/clock.ts';
import type { CommAlarms } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { Logger } from '../../core/log/log.ts';
import type { CommitClock } from '../../sunspec/map/register-bank.ts';
import type { DarkDevices } from './dark-devices.ts';
import type { TerminalsContext } from './terminals.ts';
import type { VisitPlan } from '../surroundings/visits.ts';

/** The parts of a plant that a device uses. */
export interface DeviceContext extends TerminalsContext {
  readonly clock: CommitClock;
  readonly seed: number;
  /** plan of vehicles that come and go; null: none */
  readonly visits?: VisitPlan | null;
  readonly seriesTime?: (t: SimTime) => number;
  /** true: charging stations ask a central system about tokens from the start; default false */
  readonly centralAuthority?: boolean;
  /** notified of resets; absent: no fault injection */
  readonly faults?: Pick<FaultRegistry, 'deviceReset'>;
  /** each device enters itself while it is off */
  readonly dark?: DarkDevices;
  /** alarms raised by adapters; absent: none */
  readonly commAlarms?: Pick<CommAlarms, 'of' | 'forget'>;
  readonly log: Logger;
  /** log of the source and the DC side; default `log` */
  readonly dcLog?: Logger;
  /** log of charging sessions, numerous in a large fleet; absent: none */
  readonly sessionLog?: Pick<Logger, 'info'>;
}
