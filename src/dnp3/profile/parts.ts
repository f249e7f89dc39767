/** Everything that the points of an outstation come from. One more part is one more entry. */
import { commandParts } from './commands/parts.ts';
import { curvePart } from './curves/part.ts';
import { meterPart } from './monitoring/meter.ts';
import { nameplatePart } from './monitoring/nameplate.ts';
import { statusPart } from './monitoring/status.ts';
import type { ProfilePart } from './types.ts';

export const profileParts: readonly ProfilePart[] = [meterPart, nameplatePart, statusPart, ...commandParts, curvePart];
