/** The models of inverters before the 700 series, 101 to 199, and the rule for writes that they came with. */
import type { PointSlot } from './layout.ts';

/** Whether a model is one of the classic ones. */
export function isClassicModel(modelId: number): boolean {
  return modelId >= 101 && modelId <= 199;
}

/**
 * Whether a write that also reaches points that can be written leaves this one as it is. The SunSpec Information Model
 * Specification 1.9, which the classic models are written to, has writes of read-only and of unimplemented registers
 * ignored, so that a master may write a model whole. The Device Information Model Specification 1.1 of the 700 series
 * wants an exception instead (the difference is told in sunspec/models issue 235).
 */
export function ignoresWrites({ modelId, writable }: PointSlot): boolean {
  return !writable && isClassicModel(modelId);
}
