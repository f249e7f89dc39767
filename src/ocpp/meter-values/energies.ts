/** Energy registers as messages show them: whole Wh, through the faults of a meter, with the energy of each interval. */
import type { MeterDistortion } from '../rpc/disturber.ts';
import type { MeterSample } from '../station/port.ts';
import type { ShownEnergy } from './measurands.ts';

interface Known {
  readonly importWh: number;
  readonly exportWh: number;
}

/** @typeParam Series samples whose intervals follow each other */
export interface Energies<Series extends string> {
  /** Of a sample of a series; what has flown counts from the one before it. */
  shown(series: Series, connectorId: number, sample: MeterSample, distortion: MeterDistortion | null): ShownEnergy;
  /** What `shown` would give; the intervals of the series go on. */
  peek(series: Series, connectorId: number, sample: MeterSample, distortion: MeterDistortion | null): ShownEnergy;
  /** A series begins: its first interval counts from here. */
  begin(series: Series, connectorId: number, sample: MeterSample): void;
}

function known({ energyImportWh, energyExportWh }: MeterSample): Known {
  return { importWh: Math.round(energyImportWh), exportWh: Math.round(energyExportWh) };
}

/** A register as a faulty meter shows it, whole Wh. */
export function distorted(wh: number, distortion: MeterDistortion | null): number {
  return distortion === null ? wh : Math.max(0, Math.round(wh * distortion.factor + distortion.offsetWh));
}

export function createEnergies<Series extends string>(): Energies<Series> {
  const last = new Map<string, Known>();
  const keyOf = (series: Series, connectorId: number) => `${series} ${connectorId}`;
  const energyOf = (before: Known, now: Known, distortion: MeterDistortion | null): ShownEnergy => ({
    importWh: distorted(now.importWh, distortion),
    exportWh: distorted(now.exportWh, distortion),
    // a register that was set back shows no energy that flows backwards
    intervalImportWh: Math.max(0, now.importWh - before.importWh),
    intervalExportWh: Math.max(0, now.exportWh - before.exportWh),
  });
  return {
    shown(series, connectorId, sample, distortion) {
      const key = keyOf(series, connectorId);
      const now = known(sample);
      const before = last.get(key) ?? now;
      last.set(key, now);
      return energyOf(before, now, distortion);
    },
    peek(series, connectorId, sample, distortion) {
      const now = known(sample);
      return energyOf(last.get(keyOf(series, connectorId)) ?? now, now, distortion);
    },
    begin(series, connectorId, sample) {
      last.set(keyOf(series, connectorId), known(sample));
    },
  };
}
