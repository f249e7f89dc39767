/** Everything that the points of an outstation come from. One more part is one more entry. */
import { merged } from './bind.ts';
import { commandPart } from './commands/parts.ts';
import { curvePoints } from './curves/part.ts';
import { meterPart } from './monitoring/meter.ts';
import { nameplatePart } from './monitoring/nameplate.ts';
import { statusPart } from './monitoring/status.ts';
import { schedulePoints } from './schedules/part.ts';
import type { ProfilePart } from './types.ts';

/** Schedules put curves into force, and keep those that they name from being changed. */
const curvesAndSchedules: ProfilePart = (context) => {
  const { points, namings } = curvePoints(context);
  return merged([points, schedulePoints(context, namings)]);
};

export const profileParts: readonly ProfilePart[] = [
  meterPart,
  nameplatePart,
  statusPart,
  commandPart,
  curvesAndSchedules,
];
