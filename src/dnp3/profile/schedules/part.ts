/** The part of schedules. They name curves, so that it is made with those. */
import type { Namings } from '../curves/naming.ts';
import type { PartContext, PointBindings } from '../types.ts';
import { ScheduleExecutor } from './executor.ts';
import { ScheduleStore } from './store.ts';
import { scheduleWindow } from './window.ts';

export function schedulePoints(context: PartContext, namings: Namings): PointBindings {
  const store = new ScheduleStore();
  const executor = new ScheduleExecutor(context, store, namings);
  context.settings.onReset(() => {
    store.clear();
    executor.forget();
  });
  context.onTick(executor.look);
  context.onClose(() => executor.close());
  return scheduleWindow(context, store, executor);
}
