/** The parts of the profile, which bind the points of an outstation. */
import { merged } from './bind.ts';
import { curvePoints } from './curves/points.ts';
import { meterPart, nameplatePart, statusPart } from './monitoring.ts';
import type { ProfilePart, PartContext, PointBindings } from './types.ts';
import { unsupportedPart, Ramps } from './commands/mode.ts';
import { droopPart, limitPart, setPointPart, constantVarPart, powerFactorPart } from './commands/setpoints.ts';
import { servicePart } from './commands/service.ts';
import type { CurveSettings } from './curves/curve.ts';
import { ScheduleExecutor } from './schedules/executor.ts';
import { ScheduleStore } from './schedules/schedule.ts';
import { scheduleWindow } from './schedules/window.ts';

/** Commands, and modes with set-points. */
function commandPart(context: PartContext): PointBindings {
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

/** The points of schedules, which use the settings of curves. */
function schedulePoints(context: PartContext, curveSettings: CurveSettings): PointBindings {
  const store = new ScheduleStore(context.keep);
  const executor = new ScheduleExecutor(context, store, curveSettings);
  context.settings.onReset(() => {
    store.clear();
    executor.forget();
  });
  context.onTick(executor.poll);
  context.onRestored(executor.restored);
  context.onClose((end) => executor.close(end));
  return scheduleWindow(context, store, executor);
}

/** One part, because schedules put curves into force and lock the curves that they name. */
const curvesAndSchedules: ProfilePart = (context) => {
  const { points, curveSettings } = curvePoints(context);
  return merged([points, schedulePoints(context, curveSettings)]);
};

export const profileParts: readonly ProfilePart[] = [
  meterPart,
  nameplatePart,
  statusPart,
  commandPart,
  curvesAndSchedules,
];
