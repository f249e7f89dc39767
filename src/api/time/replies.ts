import type { Plant } from '../../contract/plant.ts';
import type { TimeReply } from './schemas.ts';
import { writerReply } from '../common/writer-replies.ts';

/** The time object of `controls/time`. */
export function timeReply(plant: Plant): TimeReply {
  const { time } = plant;
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
    changed_by: writerReply(plant, time.changedBy),
    stepped_by: writerReply(plant, time.steppedBy),
  };
}
