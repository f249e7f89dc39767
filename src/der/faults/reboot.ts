/** The fault `reboot`: the device switches off and starts again. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { addSeconds } from '../../core/time/clock.ts';
import type { Timer } from '../../core/time/scheduler.ts';
import { holds } from '../../sunspec/faults/condition.ts';
import { originOf } from './effect.ts';
import type { Effect, EffectHost } from './effect.ts';

/** Reboots when the fault begins and each time its condition becomes true; once without a condition. */
export function reboot(fault: ActiveFault, offS: number, forget: boolean, host: EffectHost): Effect {
  let held = false;
  let off: Timer | null = null;

  function start(): void {
    host.powerDown(forget, originOf(fault));
    off = host.scheduler.at(addSeconds(host.now(), offS), () => {
      off = null;
      host.powerUp();
    });
  }

  return {
    fault,
    look() {
      // the condition does not apply to measurements while the device is off
      if (host.isDown()) return;
      const holdsNow = holds(host.bank, fault.facts.when);
      const begins = holdsNow && !held;
      held = holdsNow;
      if (begins && fault.strikes(host.deviceIndex)) start();
    },
    restart() {
      off = null;
    },
    end(spent) {
      if (spent || off === null) return;
      host.scheduler.cancel(off);
      off = null;
      host.powerUp();
    },
  };
}
