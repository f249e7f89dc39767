import type { Plant } from '../../contract/plant.ts';
import type { GridReply } from '../controls/schemas.ts';
import { writerReply } from '../common/writer-replies.ts';

/** Nine decimals: further ones are rounding errors of interpolation. */
const rounded = (value: number) => Math.round(value * 1e9) / 1e9;

function toMillivolts(volts: number | null): number | null {
  return volts === null ? null : Math.round(volts * 1000) / 1000;
}

/** The grid object of a device, or of the common grid. */
export function gridReply(plant: Plant, deviceIndex: number | undefined): GridReply {
  const grid = plant.grid(deviceIndex);
  return {
    device_index: deviceIndex ?? null,
    voltage_a_pu: rounded(grid.voltageAPu),
    voltage_b_pu: rounded(grid.voltageBPu),
    voltage_c_pu: rounded(grid.voltageCPu),
    voltage_ln_v: toMillivolts(grid.voltageLnV),
    voltage_ll_v: toMillivolts(grid.voltageLlV),
    frequency_hz: rounded(grid.frequencyHz),
    phase_angle_deg: rounded(grid.phaseAngleDeg),
    source: grid.source,
    profile_loaded: grid.profileLoaded,
    outage: grid.outage,
    ramp_remaining_s: grid.rampRemainingS,
    duration_remaining_s: grid.durationRemainingS,
    island: grid.island,
    event: grid.event && { name: grid.event.name, elapsed_s: grid.event.elapsedS, remaining_s: grid.event.remainingS },
    changed_by: writerReply(plant, grid.changedBy),
  };
}

/** The index of a request, once its device is known to exist. @throws SimError UNKNOWN_DEVICE */
export function checkedIndex(plant: Plant, index: number | undefined): number | undefined {
  return index === undefined ? undefined : plant.device(index).index;
}
