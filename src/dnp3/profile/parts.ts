/** Everything that the points of an outstation come from. One more part is one more entry. */
import { commandParts } from './commands/parts.ts';
import { curvePoints } from './curves/part.ts';
import { meterPart } from './monitoring/meter.ts';
import { nameplatePart } from './monitoring/nameplate.ts';
import { statusPart } from './monitoring/status.ts';
import { schedulePoints } from './schedules/part.ts';
import type { ProfilePart } from './types.ts';

/** Schedules put curves into force, and keep those that they name from being changed. */
const curvesAndSchedules: ProfilePart = (context) => {
  const { points, namings } = curvePoints(context);
  const schedules = schedulePoints(context, namings);
  return {
    inputs: new Map([...points.inputs, ...schedules.inputs]),
    outputs: new Map([...points.outputs, ...schedules.outputs]),
  };
};

export const profileParts: readonly ProfilePart[] = [
  meterPart,
  nameplatePart,
  statusPart,
  ...commandParts,
  curvesAndSchedules,
];
