/** The device behind its registers: inverter, power and source as participants of commits use them. */
import type { Inverter } from '../inverter/inverter.ts';
import type { CommandWriters } from './last-writers.ts';
import { admitWriter } from './local-control.ts';
import type { Power } from './power.ts';
import type { RegistersHost } from './registers.ts';

export interface HostParts extends Pick<RegistersHost, 'resetAlarms' | 'command'> {
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
