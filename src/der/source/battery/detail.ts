import type { BatteryDetail, BatteryEvent, BatteryParameters } from '../../../contract/kinds/battery.ts';
import type { CellSpec } from './cell-spec.ts';
import { batteryEvents } from './faults.ts';
import type { BatterySystem } from './system.ts';
import { cellRange, positionOf, shownPct } from './view.ts';
import type { CellRange } from './view.ts';

/** Limits of the inverter on its storage, W DC; Infinity: none below the ratings. */
export interface StorageLimits {
  readonly dischargeLimitDcW: number;
  readonly chargeLimitDcW: number;
}

/** Present state of a battery for REST and history. Runs once per tick, so it reads all cells in one pass. */
export function batteryDetail(
  system: BatterySystem,
  p: BatteryParameters,
  spec: CellSpec,
  { dischargeLimitDcW, chargeLimitDcW }: StorageLimits,
): BatteryDetail {
  const { bank, forced } = system;
  const cells = cellRange(bank);
  const powers = system.powersNow();
  const dischargeW = Math.min(powers.dischargeW, dischargeLimitDcW);
  const chargeW = Math.min(powers.chargeW, chargeLimitDcW);
  const { voltageV, powerW } = system;
  const requestedW = forced.mode === 'auto' ? null : system.requestedW;
  const maxW = forced.mode === 'charge' ? chargeW : dischargeW;
  return {
    kind: 'battery',
    chemistry: p.chemistry,
    capacityWh: p.capacityWh,
    ratedPowerW: p.powerW,
    ampHourRating: bank.nominalAh,
    socPct: shownPct(system.gauge.reported(bank.meanSoc)),
    trueSocPct: 100 * bank.meanSoc,
    sohPct: shownPct(bank.soh),
    energyAvailableWh: system.energyWh,
    socMinPct: p.socMinPct,
    socMaxPct: p.socMaxPct,
    socReserveMinPct: system.reserveMinPct,
    socReserveMaxPct: system.reserveMaxPct,
    mode: powerW > 0 ? 'discharge' : powerW < 0 ? 'charge' : 'idle',
    control: requestedW === null ? 'auto' : 'forced',
    powerW,
    dcVoltageV: voltageV,
    dcCurrentA: system.currentA,
    maxChargeW: chargeW,
    maxDischargeW: dischargeW,
    maxChargeA: voltageV > 0 ? chargeW / voltageV : 0,
    maxDischargeA: voltageV > 0 ? dischargeW / voltageV : 0,
    temperatureC: bank.meanTemperatureC,
    cellVoltageMinV: cells.minV,
    cellVoltageMaxV: cells.maxV,
    cellVoltageAvgV: cells.avgV,
    cellVoltageMinAt: positionOf(p, cells.minAt),
    cellVoltageMaxAt: positionOf(p, cells.maxAt),
    cycleCount: system.cycles,
    energyChargedWh: system.chargedWh,
    energyDischargedWh: system.dischargedWh,
    state: system.state,
    inhibit: system.inhibit,
    requestedMode: forced.mode,
    requestedPowerW: requestedW,
    clampedPowerW: requestedW === null ? null : Math.min(requestedW, maxW),
    remainingS: forced.remainingS === Infinity ? null : forced.remainingS,
    events: eventsNow(system, p, spec, cells),
    contactorsClosed: bank.closedCount,
    stringCount: bank.stringCount,
  };
}

function eventsNow(
  { bank, faults, window, contactors }: BatterySystem,
  p: BatteryParameters,
  spec: CellSpec,
  cells: CellRange,
): BatteryEvent[] {
  return batteryEvents({
    bank,
    spec,
    faults,
    minV: cells.minV,
    maxV: cells.maxV,
    lowSoc: p.socMinPct / 100,
    highSoc: p.socMaxPct / 100,
    lowBlocked: window.lowBlocked,
    highBlocked: window.highBlocked,
    contactorStuck: contactors.stuck,
  });
}
