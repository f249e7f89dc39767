/** The device behind its registers: inverter, power and source as participants of commits use them. */
import type { Inverter } from '../inverter/inverter.ts';
import { admitWriter } from './local-control.ts';
import type { Power } from './power.ts';
import type { RegistersHost } from './registers.ts';

export interface HostParts extends Pick<RegistersHost, 'resetAlarms' | 'command'> {
  /** made after the registers */
  readonly power: () => Power;
  readonly inverter: () => Inverter;
  readonly isLocal: () => boolean;
}

export function registersHost({ power, inverter, isLocal, resetAlarms, command }: HostParts): RegistersHost {
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
    rankOf: (name) => inverter().reactivePower.rankOf(name),
    resetAlarms,
    command,
  };
}
