/** Views of the single cells of a bank. */
import type {
  BatteryCell,
  BatteryModulePosition,
  BatteryContactor,
  BatteryModule,
  BatteryString,
  BatteryTree,
} from '../../../contract/kinds/battery.ts';
import type { BatteryBank } from './bank.ts';
import type { BankShape } from './cells.ts';
import { ocvAt } from './cell-spec.ts';

/** Lowest, highest and mean voltage of a range of cells. */
export interface CellRange {
  readonly minV: number;
  readonly maxV: number;
  readonly avgV: number;
  /** index in `BankCells` of the cell with the lowest voltage */
  readonly minAt: number;
  /** index in `BankCells` of the cell with the highest voltage */
  readonly maxAt: number;
}

/** A share of 0..1 in per cent, rounded to tenths. */
export function shownPct(share: number): number {
  return Math.round(share * 1000) / 10;
}

/** State of charge of a cell now, 0..1. @param k string of the cell */
function socOf(bank: BatteryBank, k: number, at: number): number {
  return (bank.cells.soc[at] ?? 0) - bank.chargeSinceRefreshAh(k) / bank.soh / (bank.cells.capacityAh[at] ?? 1);
}

/** Voltage drop of the mean cell of string `k` under current, V. */
function meanDropV(bank: BatteryBank, k: number): number {
  return ((bank.currentA[k] ?? 0) * (bank.r0Ohm[k] ?? 0) + (bank.rcV[k] ?? 0)) / bank.cells.series;
}

/** @param dropV voltage drop of the mean cell; scales with the resistance of the cell */
function voltageOf(bank: BatteryBank, k: number, at: number, dropV: number): number {
  return ocvAt(bank.ocv, socOf(bank, k, at)) - (bank.cells.resistance[at] ?? 1) * dropV;
}

/**
 * Terminal voltage of the cell of string `k` with the lowest or highest open-circuit voltage at the last refresh, V.
 */
export function extremeCellV(bank: BatteryBank, k: number, which: 'low' | 'high'): number {
  const extremes = bank.extremes[k];
  if (!extremes) return 0;
  const dropV = meanDropV(bank, k);
  return which === 'low'
    ? extremes.lowV - extremes.lowResistance * dropV
    : extremes.highV - extremes.highResistance * dropV;
}

/** Voltages of all cells in one pass, for every tick; bit for bit equal to `voltageOf`. */
export function cellRange(bank: BatteryBank): CellRange {
  const { ocv } = bank;
  const { series, soc, capacityAh, resistance } = bank.cells;
  let minV = Infinity;
  let maxV = -Infinity;
  let sum = 0;
  let minAt = 0;
  let maxAt = 0;
  for (let k = 0; k < bank.stringCount; k += 1) {
    const dropV = meanDropV(bank, k);
    const sinceAh = bank.chargeSinceRefreshAh(k) / bank.soh;
    const end = (k + 1) * series;
    for (let at = k * series; at < end; at += 1) {
      const v = ocvAt(ocv, (soc[at] ?? 0) - sinceAh / (capacityAh[at] ?? 1)) - (resistance[at] ?? 1) * dropV;
      sum += v;
      if (v < minV) {
        minV = v;
        minAt = at;
      }
      if (v > maxV) {
        maxV = v;
        maxAt = at;
      }
    }
  }
  return { minV, maxV, avgV: sum / (bank.stringCount * series), minAt, maxAt };
}

export function positionOf(shape: BankShape, at: number): BatteryModulePosition {
  const module = Math.floor(at / shape.cells);
  return { string: Math.floor(module / shape.modules), module: module % shape.modules };
}

function moduleView(bank: BatteryBank, shape: BankShape, k: number, index: number): BatteryModule {
  const from = (k * shape.modules + index) * shape.cells;
  const dropV = meanDropV(bank, k);
  const cells: BatteryCell[] = [];
  let soc = 0;
  for (let c = 0; c < shape.cells; c += 1) {
    const at = from + c;
    soc += socOf(bank, k, at);
    cells.push({
      index: c,
      voltageV: voltageOf(bank, k, at, dropV),
      temperatureC: (bank.temperatureC[k] ?? 0) + (bank.cells.temperatureOffsetK[at] ?? 0),
      balancing: bank.cells.balancing[at] === 1,
    });
  }
  const voltages = cells.map((cell) => cell.voltageV);
  const temperatures = cells.map((cell) => cell.temperatureC);
  return {
    index,
    socPct: shownPct(soc / shape.cells),
    sohPct: shownPct(bank.soh),
    voltageV: voltages.reduce((a, b) => a + b, 0),
    cellVoltageMinV: Math.min(...voltages),
    cellVoltageMaxV: Math.max(...voltages),
    temperatureMinC: Math.min(...temperatures),
    temperatureMaxC: Math.max(...temperatures),
    cells,
  };
}

/** Strings, modules and cells now. */
export function batteryTree(
  bank: BatteryBank,
  shape: BankShape,
  contactor: (k: number) => BatteryContactor,
): BatteryTree {
  const strings = Array.from({ length: shape.strings }, (_, k): BatteryString => {
    const modules = Array.from({ length: shape.modules }, (_, index) => moduleView(bank, shape, k, index));
    const voltageV = modules.reduce((sum, module) => sum + module.voltageV, 0);
    return {
      index: k,
      contactor: contactor(k),
      socPct: shownPct(bank.soc[k] ?? 0),
      sohPct: shownPct(bank.soh),
      voltageV,
      currentA: bank.currentA[k] ?? 0,
      cellVoltageAvgV: voltageV / bank.cells.series,
      cellVoltageMinV: Math.min(...modules.map((module) => module.cellVoltageMinV)),
      cellVoltageMaxV: Math.max(...modules.map((module) => module.cellVoltageMaxV)),
      temperatureC: bank.temperatureC[k] ?? 0,
      modules,
    };
  });
  return { strings };
}
