import type { Kept } from '../core/kept.ts';
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { FaultSource } from '../core/faults/registry.ts';
import type { Findings } from '../core/findings/rule.ts';
import type { LogBook } from '../core/log/log.ts';
import type { Store } from '../core/store.ts';
import type { TlsIo } from '../core/tls/watch.ts';
import type { WallClock } from '../core/time/clock.ts';
import type { RemoteClockFactory } from '../core/time/remote-clock.ts';
import type { Later } from '../core/time/timers.ts';
import type { WireLog } from '../core/wire/wire-log.ts';
import type { ChargePointIdOf } from './charge-point-ids.ts';
import type { Keeping } from './keeping.ts';
import type { Plant } from './plant.ts';

/**
 * Keeps a part of an adapter together with the registers of the devices, so that both are of one instant. The first
 * call for a name restores at once what an earlier process has left.
 * @param deviceIndices devices whose registers belong to the part; default: none in particular
 * @returns ends the keeping: the part is not saved any more
 */
export type KeepPart = (name: string, part: Kept, deviceIndices?: readonly number[]) => () => void;

/** The parts of the simulator that the adapter of a protocol is made from. */
export interface AdapterParts {
  readonly seed: number;
  readonly plant: Plant;
  readonly faults: FaultSource;
  /** alarms of devices whose line or peer is lost */
  readonly commAlarms: CommAlarmSwitch;
  readonly clock: WallClock;
  /** timers of `clock`, which a test replaces together with it */
  readonly later: Later;
  /** makes the clock of one peer, on the clock that `--remote_clock` chooses */
  readonly remoteClock: RemoteClockFactory;
  readonly logBook: Pick<LogBook, 'logger' | 'entries'>;
  /** store of data that an adapter must not lose: queues, counters */
  readonly store: Store;
  /** PEM texts of the settings: files, and certificates of the simulator */
  readonly pem: TlsIo;
  /** state of the devices that survives the process; absent: nothing survives */
  readonly keeping?: Keeping;
  /** absent: registers and controls end with the process */
  readonly keepPart?: KeepPart;
  readonly chargePointId: ChargePointIdOf;
  /** registry in which judges put what peers do wrong and right */
  readonly findings: Findings;
  /** log in which each protocol has a channel for its messages */
  readonly wireLog: WireLog;
}
