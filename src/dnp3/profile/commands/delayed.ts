/** Commands that begin within a time window, and settings that go back by themselves: simulated time. */
import { addSeconds } from '../../../core/time/clock.ts';
import type { RandomStream } from '../../../core/random.ts';
import type { DevicePort } from '../../device-port.ts';
import { controlStatus } from '../../stack/outstation/types.ts';
import type { ControlStatus } from '../../stack/outstation/types.ts';
import { attempted, statusOf } from '../status.ts';
import type { PartContext, PointName } from '../types.ts';

const { success } = controlStatus;

export interface Delayed {
  /**
   * Does something after a random part of the window, once for each command; a newer command takes its place.
   * @returns the status of what is done at once, or success for what waits
   */
  run(windowS: number, act: () => ControlStatus): ControlStatus;
  cancel(): void;
}

/** The delays of one output. */
export function delayed({ port, random, log }: PartContext, name: PointName): Delayed {
  let stream: RandomStream | undefined;
  let cancel: () => void = () => undefined;
  return {
    run(windowS, act) {
      cancel();
      cancel = () => undefined;
      stream ??= random(`window ${name}`);
      const delayS = windowS > 0 ? stream.next() * windowS : 0;
      if (delayS === 0) return act();
      cancel = port.at(addSeconds(port.now, delayS), () => {
        const status = attempted(act);
        if (status !== success) log.warning(`${name}: refused with status ${status} at the end of its time window`);
      });
      return success;
    },
    cancel() {
      cancel();
    },
  };
}

/** Calls `act` once after some seconds unless it is cancelled or begun anew; 0: never. */
export function reversion(port: DevicePort): { begin(afterS: number, act: () => void): void; cancel(): void } {
  let cancel: () => void = () => undefined;
  return {
    begin(afterS, act) {
      cancel();
      cancel = afterS > 0 ? port.at(addSeconds(port.now, afterS), act) : () => undefined;
    },
    cancel() {
      cancel();
    },
  };
}

/** Does what may be refused, and logs a refusal. */
export function orLog({ log }: Pick<PartContext, 'log'>, name: PointName, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.warning(`${name}: its reversion was refused with status ${statusOf(error)}`);
  }
}
