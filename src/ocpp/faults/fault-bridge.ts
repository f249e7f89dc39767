/** The faults of charge points over the register maps of the devices, whose points conditions name. */
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { holds } from '../../sunspec/faults/condition.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import type { FrameDisturber } from '../rpc/disturber.ts';
import { createOcppDisturber } from './disturber.ts';

export interface FrameDisturberOptions {
  readonly registry: Pick<FaultRegistry, 'active' | 'onChange'>;
  /** the devices there are now */
  readonly devices: () => readonly { readonly index: number; readonly bank: Bank }[];
}

export function createFrameDisturber({ registry, devices }: FrameDisturberOptions): FrameDisturber {
  return createOcppDisturber({
    registry,
    holds(fault, deviceIndex) {
      const bank = devices().find(({ index }) => index === deviceIndex)?.bank;
      return bank !== undefined && holds(bank, fault.facts.when);
    },
  });
}
