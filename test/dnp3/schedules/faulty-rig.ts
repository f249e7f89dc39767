/** A device that can be turned off. */
import type { FaultRegistry } from '../../../src/core/faults/registry.ts';
import { silentLogger } from '../../../src/core/log/log.ts';
import { rebootFault } from '../../../src/fault-kinds/device-effect.ts';
import { createFaultRegistry, followPlant } from '../../../src/app/faults.ts';
import { HandWall } from '../../support/wall.ts';
import { PointRig } from '../rig/points.ts';
import type { PointRigOptions } from '../rig/points.ts';

/** A rig whose device can be turned off for some seconds, and forget its registers. */
export function faultyRig(options: PointRigOptions = {}): {
  readonly rig: PointRig;
  readonly turnOff: (parameters: { readonly off_s: number; readonly forget: boolean }) => void;
} {
  let registry: FaultRegistry | undefined;
  const rig: PointRig = new PointRig('PV-3Phase', {
    ...options,
    faults: (clock) => {
      registry = createFaultRegistry({
        wall: new HandWall(),
        sim: () => clock.sim(),
        seed: 1,
        log: silentLogger,
        plant: () => rig.plant,
        later: () => () => undefined,
      });
      return registry;
    },
  });
  if (registry === undefined) throw new Error('there are no faults');
  const faults = registry;
  followPlant(faults, rig.plant);
  const { protocol, kind } = rebootFault;
  return { rig, turnOff: (parameters) => void faults.inject([{ protocol, kind, parameters }], { source: 'rest' }) };
}
