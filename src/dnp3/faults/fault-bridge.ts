/** The faults of outstations over the register maps of the devices, whose points conditions name. */
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { holds } from '../../sunspec/faults/condition.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { dnp3Disturbers } from './disturber.ts';
import type { DeviceDisturber } from './disturber.ts';

export interface DisturberOptions {
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  /** the devices there are now */
  readonly devices: () => readonly { readonly index: number; readonly bank: Bank }[];
}

export function createDisturbers({ registry, devices }: DisturberOptions): (deviceIndex: number) => DeviceDisturber {
  return dnp3Disturbers({
    registry,
    holds(fault, deviceIndex) {
      const bank = devices().find(({ index }) => index === deviceIndex)?.bank;
      return bank !== undefined && holds(bank, fault.facts.when);
    },
  });
}
