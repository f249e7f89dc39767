/** The part of commands and of modes with set-points. */
import type { PartContext, PointBindings } from '../types.ts';
import { merged } from '../bind.ts';
import { unsupportedPart } from './mode.ts';
import { droopPart, limitPart, setPointPart } from './power.ts';
import { Ramps } from './ramps.ts';
import { constantVarPart, powerFactorPart } from './reactive.ts';
import { servicePart } from './service.ts';

export function commandPart(context: PartContext): PointBindings {
  const ramps = new Ramps(context);
  return merged([
    servicePart(context, ramps),
    limitPart(context, ramps),
    setPointPart(context, ramps),
    droopPart(context),
    constantVarPart(context, ramps),
    powerFactorPart(context),
    unsupportedPart(context),
  ]);
}
