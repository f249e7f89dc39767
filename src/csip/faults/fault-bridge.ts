/** The faults of the client over the register maps of the devices, whose points conditions name. */
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { holds } from '../../sunspec/faults/condition.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import type { ExchangeDisturber } from '../transport/disturber.ts';
import { createCsipDisturber } from './disturber.ts';

export interface DeviceDisturberOptions {
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  /** the devices there are now */
  readonly devices: () => readonly { readonly index: number; readonly bank: Bank }[];
}

export function createDeviceDisturber({ registry, devices }: DeviceDisturberOptions): ExchangeDisturber {
  return createCsipDisturber({
    registry,
    holds(fault, deviceIndex) {
      const bank = devices().find(({ index }) => index === deviceIndex)?.bank;
      return bank !== undefined && holds(bank, fault.facts.when);
    },
  });
}
