import type { TimeNow } from '../sunspec/map/device.ts';
import type { TimeReply } from './schemas/controls.ts';

/** The time object of `controls/time`. */
export function timeReply(time: TimeNow): TimeReply {
  return {
    mode: time.mode,
    rate: time.rate,
    rate_effective: time.rateEffective,
    clock_time: time.clockTime,
    timezone: time.timezone,
    sim_time: new Date(time.dateMs).toISOString(),
    wall_time: new Date(time.wallMs).toISOString(),
    tick: time.tick,
    tick_interval_s: time.tickIntervalS,
    sim_step_s: time.simStepS,
  };
}
