import type { GridNow } from '../core/environment.ts';
import type { Plant } from '../sunspec/map/device.ts';
import type { Bank } from '../sunspec/map/bank.ts';
import { pointNumber, pointText } from './points.ts';
import type { GridReply } from './schemas/controls.ts';

/** Nominal voltages of a connection, volts; line-to-line is null on single phase. */
export interface Nominal {
  readonly lnV: number;
  readonly llV: number | null;
  /** a; a and b; a, b and c */
  readonly phases: 1 | 2 | 3;
}

/** 702.VNom is line to neutral on single phase and line to line otherwise. */
export function nominalOf(bank: Bank): Nominal | null {
  const vNom = pointNumber(bank, 702, 'VNom') ?? pointNumber(bank, 702, 'VNomRtg');
  if (vNom === null || vNom <= 0) return null;
  switch (pointText(bank, 701, 'ACType')) {
    case 'SINGLE_PHASE': return { lnV: vNom, llV: null, phases: 1 };
    case 'SPLIT_PHASE': return { lnV: vNom / 2, llV: vNom, phases: 2 };
    default: return { lnV: vNom / Math.sqrt(3), llV: vNom, phases: 3 };
  }
}

/** Nominal of one device, or the one that all devices share; null when they differ. */
export function gridNominal(plant: Plant, deviceIndex: number | undefined): Nominal | null {
  if (deviceIndex !== undefined) return nominalOf(plant.device(deviceIndex).bank);
  const [first, ...others] = plant.devices.map((device) => nominalOf(device.bank));
  if (!first) return null;
  return others.every((other) => other?.lnV === first.lnV && other.llV === first.llV) ? first : null;
}

const toMillivolts = (volts: number) => Math.round(volts * 1000) / 1000;

/** Line-to-line magnitude of two phases 120 degrees apart. */
const chord = (a: number, b: number) => Math.sqrt(a * a + a * b + b * b);

/** Mean voltages of the phases in use, as 701.LNV and 701.LLV mean them. */
function terminalVolts({ lnV, phases }: Nominal, grid: GridNow): { readonly lnV: number; readonly llV: number | null } {
  const [a, b, c] = [grid.voltageAPu * lnV, grid.voltageBPu * lnV, grid.voltageCPu * lnV];
  switch (phases) {
    case 1: return { lnV: a, llV: null };
    case 2: return { lnV: (a + b) / 2, llV: a + b };
    case 3: return { lnV: (a + b + c) / 3, llV: (chord(a, b) + chord(b, c) + chord(c, a)) / 3 };
  }
}

/** The grid object of a device, or of the common grid. */
export function gridReply(plant: Plant, deviceIndex: number | undefined): GridReply {
  const grid = plant.grid(deviceIndex);
  const nominal = gridNominal(plant, deviceIndex);
  const volts = nominal && terminalVolts(nominal, grid);
  return {
    device_index: deviceIndex ?? null,
    voltage_a_pu: grid.voltageAPu,
    voltage_b_pu: grid.voltageBPu,
    voltage_c_pu: grid.voltageCPu,
    voltage_ln_v: volts && toMillivolts(volts.lnV),
    voltage_ll_v: volts?.llV == null ? null : toMillivolts(volts.llV),
    frequency_hz: grid.frequencyHz,
    phase_angle_deg: grid.phaseAngleDeg,
    source: grid.source,
    outage: grid.outage,
    ramp_remaining_s: grid.rampRemainingS,
    duration_remaining_s: grid.durationRemainingS,
  };
}
