/** The change of a device while the simulator runs, as REST reports it. */
import type { CommName } from '../core/adapter.ts';

export interface DeviceChanged {
  /** true: another device has taken the place; its settings and counters begin anew */
  readonly hasRestarted: boolean;
  /** protocols whose services of the device have begun anew */
  readonly protocols: readonly CommName[];
}
