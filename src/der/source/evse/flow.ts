/** Counts what has flowed through a connector in a sub-step. */
import type { Connector } from './connector.ts';

/** Tolerance (W) below which a vehicle counts as unrestricted. */
const unrestrictedToleranceW = 1e-6;
/** Less than this counts as nothing, Wh: sub-steps end at whole microseconds, and no meter shows it. */
export const negligibleWh = 1e-4;

function countEnergy(c: Connector, energyWh: number): void {
  if (energyWh > 0) c.energyWh += energyWh;
  else c.energyExportWh -= energyWh;
  if (c.session === null) return;
  if (energyWh < 0) {
    c.session.energyDischargedWh -= energyWh;
    return;
  }
  c.session.energyWh += energyWh;
  c.energyLeftWh -= energyWh;
  if (c.energyLeftWh >= negligibleWh) return;
  c.energyLeftWh = 0;
  c.flowW = 0;
}

/** The planned power has flowed for this time. */
export function flow(c: Connector, hours: number): void {
  const { vehicle, planW } = c;
  // a reading is never -0
  c.powerW = planW === 0 ? 0 : planW;
  c.heldByDer = Math.abs(planW - c.unrestrictedW) > unrestrictedToleranceW;
  if (c.heldByDer) c.ramping = false;
  c.flowW = c.heldByDer ? planW : c.unrestrictedEndW;
  if (vehicle === null || planW === 0) return;
  const perJ = planW > 0 ? vehicle.socPerJ : vehicle.drainPerJ;
  vehicle.soc = Math.max(0, Math.min(1, vehicle.soc + planW * perJ * hours * 3600));
  countEnergy(c, planW * hours);
}
