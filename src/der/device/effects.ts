/** Faults of layer `effect` at one device, and the device as they use it. */
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import { DeviceEffects } from '../faults/device-effects.ts';
import { EffectiveRegisters } from '../faults/effective-registers.ts';
import type { Power } from './power.ts';
import type { DeviceRegisters } from './registers.ts';

export interface EffectsOptions {
  readonly index: number;
  readonly registers: DeviceRegisters;
  readonly scheduler: Scheduler;
  readonly power: Power;
  readonly now: () => SimTime;
  /** true if the device is under local control */
  readonly isLocal: () => boolean;
}

/** Created when the first such fault concerns the device. */
export function createEffects({ index, registers, scheduler, power, now, isLocal }: EffectsOptions): DeviceEffects {
  return new DeviceEffects({
    deviceIndex: index,
    bank: registers.bank,
    scheduler,
    effective: new EffectiveRegisters(registers.bank),
    isDown: () => power.down,
    now,
    refresh: () => {
      registers.refresh();
    },
    powerDown: (forget, by) => {
      power.goDown(forget, { by, local: isLocal(), now: now() });
    },
    powerUp: () => {
      power.comeUp(now());
    },
  });
}
