/** The parts of commands and of modes with set-points. */
import type { ProfilePart } from '../types.ts';
import { unsupportedPart } from './mode.ts';
import { droopPart, limitPart, setPointPart } from './power.ts';
import { constantVarPart, powerFactorPart } from './reactive.ts';
import { servicePart } from './service.ts';

export const commandParts: readonly ProfilePart[] = [
  servicePart,
  limitPart,
  setPointPart,
  droopPart,
  constantVarPart,
  powerFactorPart,
  unsupportedPart,
];
