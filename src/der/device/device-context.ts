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
  /** vehicles that come and go by themselves, and the time in their plan; null: none */
  readonly visits?: VisitPlan | null;
  readonly seriesTime?: (t: SimTime) => number;
  /** charging stations ask a central system about tokens from the start; default false */
  readonly centralAuthority?: boolean;
  /** notified of resets; absent: there is no fault injection */
  readonly faults?: Pick<FaultRegistry, 'deviceReset'>;
  /** each device enters itself while it is off */
  readonly dark?: DarkDevices;
  /** alarms that adapters raise; absent: none */
  readonly commAlarms?: Pick<CommAlarms, 'of' | 'forget'>;
  readonly log: Logger;
  /** for the source and all else behind the DC terminals; default `log` */
  readonly dcLog?: Logger;
  /** for charging sessions, which in a large fleet are many; absent: no lines */
  readonly sessionLog?: Pick<Logger, 'info'>;
}
