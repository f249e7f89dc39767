import type { AppConfig } from '../../config/settings/app-config.ts';
import type { ChargePointIdOf } from '../../contract/charge-point-ids.ts';
import type { CommAlarmSwitch } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { LogBook } from '../../core/log/log.ts';
import type { Store } from '../../core/store.ts';
import type { ModbusMessages } from '../../core/wire/modbus-messages.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import type { Later } from '../../core/time/timers.ts';
import type { RemoteClockFactory } from '../../core/time/remote-clock.ts';
import type { SimPlant } from '../../der/plant/plant.ts';
import type { Layout } from '../../sunspec/map/layout.ts';

/**
 * The parts of the simulator that adapters are composed from.
 */
export interface AdapterContext {
  readonly config: AppConfig;
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  /** alarms of devices whose line or peer is lost */
  readonly commAlarms: CommAlarmSwitch;
  readonly clock: WallClock;
  /** timers of `clock`, which a test replaces together with it */
  readonly later: Later;
  /** makes the clock of one peer, on the clock that `--remote_clock` chooses */
  readonly remoteClock: RemoteClockFactory;
  readonly logBook: Pick<LogBook, 'logger' | 'entries'>;
  /** what an adapter must not lose: queues, counters */
  readonly store: Store;
  readonly chargePointId: ChargePointIdOf;
  /** where a protocol makes the channel of its messages */
  readonly wireLog: WireLog;
  /** the channel of Modbus, which several adapters share */
  readonly modbusMessages: ModbusMessages;
  /**
   * device types whose maps pass a test; takes up to a second, so it is used only for messages about a start that fails
   */
  readonly typesWith: (passes: (layout: Layout) => boolean) => readonly string[];
}
