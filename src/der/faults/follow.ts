/** Connects the devices of a plant to the faults that concern them. */
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultCheck, ProposedFault } from '../../core/faults/kinds.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import { SimError } from '../../core/errors.ts';
import {
  adoptionFault,
  deviceEffectFaults,
  enableEdgeFault,
  ignoreEffectFault,
  lateEffectFault,
  silentRevertFault,
} from '../../fault-kinds/device-effect.ts';
import { targetSlots } from '../../sunspec/faults/targets.ts';
import { adoptionPoints } from '../../sunspec/map/layout.ts';
import type { Layout } from '../../sunspec/map/layout.ts';
import type { SimPlant } from '../plant/plant.ts';
import { canBeWritten, functionsOf, targetedPoints } from './function-points.ts';
import { revertedFunctions } from './effect-kinds.ts';

const isEffect = ({ protocol, layer }: ActiveFault) => protocol === 'device' && layer === 'effect';

/** The reason why a fault can strike none of its points; null: it can. */
function targetIssue({ kind, request: { target = {} } }: ProposedFault, layout: Layout): string | null {
  const slots = targetedPoints(layout, targetSlots(layout, target));
  if (slots === null) return null;
  switch (kind.kind) {
    case ignoreEffectFault.kind:
    case lateEffectFault.kind:
      return canBeWritten(slots) ? null : 'the device follows none of these: they cannot be written';
    case enableEdgeFault.kind: {
      const switched = functionsOf(layout).some(({ enable, setPoints }) =>
        [enable, ...setPoints].some((slot) => slots.has(slot)),
      );
      return switched ? null : 'none of these belongs to a function with an enable point';
    }
    case silentRevertFault.kind:
      return revertedFunctions(layout, slots).length > 0
        ? null
        : 'none of these belongs to a function with an enable point';
    case adoptionFault.kind: {
      const adopts = [...slots].some(({ modelId }) => adoptionPoints(layout, modelId) !== null);
      return adopts ? null : 'none of these belongs to a model with sets to adopt';
    }
    default:
      return null;
  }
}

/** The check of faults of layer `effect`. */
export function effectCheck(layoutOf: (deviceIndex: number) => Layout): FaultCheck {
  return (fault, deviceIndex) => {
    const detail = targetIssue(fault, layoutOf(deviceIndex));
    if (detail !== null)
      throw new SimError('COMMAND_BAD_VALUE', `${fault.kind.kind}: ${detail}`, [{ name: '/target/points', detail }]);
  };
}

/** Makes all devices, present and future, carry out the faults of layer `effect`. */
export function followFaults(plant: SimPlant, registry: FaultRegistry): void {
  registry.define(
    deviceEffectFaults,
    effectCheck((index) => plant.device(index).bank.layout),
  );
  registry.onChange(({ begun, ended }) => {
    const [begunEffects, endedEffects] = [begun.filter(isEffect), ended.filter(isEffect)];
    if (begunEffects.length + endedEffects.length === 0) return;
    for (const { index, effects } of plant.devices) {
      effects.begin(begunEffects.filter((fault) => fault.concerns(index)));
      effects.end(endedEffects.filter((fault) => fault.concerns(index)));
    }
  });
  plant.onDevices(({ added }) => {
    if (added === null) return;
    added.effects.begin(registry.active.filter((fault) => isEffect(fault) && fault.concerns(added.index)));
  });
}
