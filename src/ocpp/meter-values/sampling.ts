/** Samples of the meters of a station, from its detail and the measurements at its grid connection. */
import type { EvseConnectorDetail, EvseDetail } from '../../contract/kinds/evse.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { MeterSample } from '../station/port.ts';

/** Measurements at the grid connection (model 701), + absorbed; by phase, L1 first. */
export interface GridMeter {
  readonly reactivePowerVar: number;
  readonly frequencyHz: number;
  readonly voltageV: readonly number[];
  readonly currentA: readonly number[];
  readonly powerByPhaseW: readonly number[];
}

const allPhases: readonly number[] = [1, 2, 3];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Phases of the supply that are wired to an AC connector. */
function wiredPhases({ phases, supplyPhases, supplyVoltageV }: EvseConnectorDetail): readonly number[] {
  return phases === 3 && supplyVoltageV.length === 3 ? allPhases : supplyPhases;
}

/** Currents by wired phase, magnitudes; a connector with more or fewer conductors than the supply loads all evenly. */
function currentsOf(connector: EvseConnectorDetail, phases: readonly number[], voltageV: readonly number[]) {
  const { currentA } = connector;
  const phaseCurrents = currentA.map(Math.abs);
  return phaseCurrents.length === phases.length
    ? phaseCurrents
    : voltageV.map(() => sum(phaseCurrents) / phases.length);
}

interface Electrical {
  readonly phases: readonly number[];
  readonly voltageV: readonly number[];
  readonly currentA: readonly number[];
  readonly powerByPhaseW: readonly number[];
  readonly reactivePowerVar: number;
}

function dcValues(connector: EvseConnectorDetail, powerW: number): Electrical {
  const { voltageV } = connector;
  return {
    phases: [],
    voltageV: [voltageV],
    currentA: [voltageV > 0 ? Math.abs(powerW) / voltageV : 0],
    powerByPhaseW: [powerW],
    reactivePowerVar: 0,
  };
}

/** The values of the last sub-step in proportion to the power at this instant. */
function acValues(connector: EvseConnectorDetail, powerW: number): Electrical {
  const phases = wiredPhases(connector);
  const voltageV = phases.map((phase) => connector.supplyVoltageV[phase - 1] ?? 0);
  const used = (i: number) => phases.length === 1 || connector.supplyPhases.includes(phases[i] ?? 0);
  const usedV = voltageV.map((v, i) => (used(i) ? v : 0));
  const totalV = sum(usedV);
  const perVolt = totalV > 0 ? powerW / totalV : 0;
  const factor = connector.powerW === 0 ? 0 : Math.abs(powerW / connector.powerW);
  return {
    phases,
    voltageV,
    // without a power in the last sub-step the power factor is unknown
    currentA:
      connector.powerW === 0
        ? usedV.map((v) => (v > 0 ? Math.abs(perVolt) : 0))
        : currentsOf(connector, phases, voltageV).map((a) => a * factor),
    powerByPhaseW: usedV.map((v) => v * perVolt),
    reactivePowerVar: connector.reactivePowerVar * factor,
  };
}

function apparentVa({ voltageV, currentA }: Electrical): number {
  return voltageV.reduce((total, v, i) => total + v * (currentA[i] ?? 0), 0);
}

/**
 * The meter of a connector. |power| = power factor x sum of voltage x current, and the sum of the phases is the power.
 * @param powerW at the instant of the meter; default the mean of the last sub-step
 */
export function connectorSample(
  connector: EvseConnectorDetail,
  at: SimTime,
  frequencyHz: number,
  powerW: number = connector.powerW,
): MeterSample {
  const electrical = connector.type === 'dc' ? dcValues(connector, powerW) : acValues(connector, powerW);
  const apparentPowerVa = apparentVa(electrical);
  return {
    at,
    energyImportWh: connector.energyWh,
    energyExportWh: connector.energyExportWh,
    powerW,
    ...electrical,
    powerFactor: apparentPowerVa > 0 ? Math.min(1, Math.abs(powerW) / apparentPowerVa) : 1,
    frequencyHz,
    socPct: connector.ev?.socPct ?? null,
    offeredW: Math.max(0, connector.allocatedW),
    offeredA: Math.max(0, connector.allocatedA),
  };
}

/** The grid meter of the station; what it draws itself counts. */
export function stationSample(detail: EvseDetail, at: SimTime, grid: GridMeter): MeterSample {
  const powerW = detail.powerW + detail.standbyW;
  const apparentPowerVa = Math.hypot(powerW, grid.reactivePowerVar);
  return {
    at,
    energyImportWh: detail.energyWh,
    energyExportWh: detail.energyExportWh,
    powerW,
    reactivePowerVar: grid.reactivePowerVar,
    powerFactor: apparentPowerVa > 0 ? Math.abs(powerW) / apparentPowerVa : 1,
    currentA: grid.currentA,
    phases: grid.voltageV.map((_, i) => i + 1),
    voltageV: grid.voltageV,
    powerByPhaseW: grid.powerByPhaseW,
    frequencyHz: grid.frequencyHz,
    socPct: null,
    offeredW: sum(detail.connectors.map(({ allocatedW }) => Math.max(0, allocatedW))),
    offeredA: Math.max(0, ...offeredByPhase(detail)),
  };
}

/** Offered current by phase of the supply. */
function offeredByPhase({ connectors }: EvseDetail): readonly number[] {
  const totals = [0, 0, 0];
  for (const { type, supplyPhases, supplyVoltageV, allocatedW, allocatedA } of connectors) {
    if (allocatedW <= 0) continue;
    const phases = type === 'dc' ? supplyVoltageV.map((_, i) => i + 1) : supplyPhases;
    const totalV = sum(supplyVoltageV);
    const eachA = type === 'dc' ? (totalV > 0 ? allocatedW / totalV : 0) : allocatedA;
    for (const phase of phases) totals[phase - 1] = (totals[phase - 1] ?? 0) + eachA;
  }
  return totals;
}
