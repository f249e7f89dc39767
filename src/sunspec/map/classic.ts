/** The models of inverters before the 700 series, 101 to 199, and the rule for writes that they came with. */
import type { PointSlot } from './layout.ts';

/** True for models 101 to 199. */
export function isClassicModel(modelId: number): boolean {
  return modelId >= 101 && modelId <= 199;
}

/**
 * True if a write that also reaches writable points leaves this one unchanged. The SunSpec Information Model
 * Specification 1.9 of the classic models ignores writes to read-only and unimplemented registers, so that a master may
 * write a whole model. The Device Information Model Specification 1.1 of the 700 series requires an exception instead
 * (sunspec/models issue 235 describes the difference).
 */
export function ignoresWrites({ modelId, writable }: PointSlot): boolean {
  return !writable && isClassicModel(modelId);
}
