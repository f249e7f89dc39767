/** Reasons for which state is not kept, and the alarm of the devices meanwhile. */
import type { CommAlarmSwitch } from '../core/comm-alarms.ts';
import type { SimPlant } from '../der/plant/plant.ts';

interface StateAlarm {
  readonly plant: Pick<SimPlant, 'devices' | 'onDevices'>;
  readonly commAlarms: CommAlarmSwitch;
}

/** Reasons for which the state, or parts of it, are not on disk. */
export interface StateTrouble {
  /** null: nothing does */
  readonly reason: string | null;
  /** @returns receives the reason of one cause, null at its end */
  of(cause: string): (reason: string | null) => void;
}

/** An alarm of each device while its state is not kept: a restart would lose what it does from then on. */
export function alarmOfState({ plant, commAlarms }: StateAlarm): StateTrouble {
  const reasons = new Map<string, string>();
  const words = () => (reasons.size === 0 ? null : [...reasons.values()].join('; '));
  const show = (index: number, why: string | null) => {
    if (why === null) commAlarms.end(index, 'state_not_kept');
    else commAlarms.raise(index, 'state_not_kept', `A restart would lose what happens from now on: ${why}`);
  };
  plant.onDevices(({ added }) => {
    if (added !== null) show(added.index, words());
  });
  return {
    get reason() {
      return words();
    },
    of: (cause) => (reason) => {
      if (reason === null) reasons.delete(cause);
      else reasons.set(cause, reason);
      const why = words();
      for (const { index } of plant.devices) show(index, why);
    },
  };
}
