/** The device as its registers and its faults use it: inverter, power and source behind two narrow interfaces. */
import type { Inverter } from '../inverter/inverter.ts';
import type { CommandWriters } from './writers.ts';
import { admitWriter } from './writers.ts';
import type { Power } from './power.ts';
import type { RegistersHost, DeviceRegisters } from './registers.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Scheduler } from '../../core/time/scheduler.ts';
import { DeviceEffects } from '../faults/device-effects.ts';
import { EffectiveRegisters } from '../faults/effect.ts';

interface HostParts extends Pick<RegistersHost, 'resetAlarms' | 'command'> {
  /** created after the registers */
  readonly power: () => Power;
  readonly inverter: () => Inverter;
  readonly writers: () => CommandWriters;
  readonly isLocal: () => boolean;
}

export function registersHost({ power, inverter, writers, isLocal, resetAlarms, command }: HostParts): RegistersHost {
  return {
    admit(by) {
      power().admit(by);
      admitWriter(by, isLocal(), 'MAP_LOCAL_CONTROL');
    },
    applySettings(settings, former) {
      inverter().applySettings(settings, former);
    },
    isClosed: () => inverter().switchClosed,
    setSwitch(closed, by) {
      power().setSwitch(closed, by);
    },
    switchWriter: () => writers().of('switch'),
    gradientSet(by) {
      writers().recordWriter({ kind: 'gradient' }, by);
    },
    rankOf: (name) => inverter().reactivePower.rankOf(name),
    resetAlarms,
    command,
  };
}

/** Faults of layer `effect` at one device, and the device as they use it. */
interface EffectsOptions {
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
