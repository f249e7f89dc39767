/** The simulation models: 64413 shows the DC curve, 64414 shows the surroundings of a device and sets them. */
import { keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { Origin, Provenance } from '../../core/origin.ts';
import { gridSources, irradianceSources } from '../../sunspec/map/rules.ts';
import type { GridPatch, SurroundingsPatch } from '../../contract/environment.ts';
import type { CommitClock } from '../../sunspec/map/register-bank.ts';
import type { Commit, CommitParticipant, FollowUp } from '../../sunspec/map/commit.ts';
import type { ModelChoice, PointSlot } from '../../sunspec/map/layout.ts';
import type { MeasurementView } from '../../sunspec/map/view.ts';
import { m64413 } from '../../sunspec/models/m64413.ts';
import { m64414 } from '../../sunspec/models/m64414.ts';
import type { Environment, WeatherNow } from '../surroundings/environment.ts';
import type { DcSource, PvArray } from '../source/source.ts';

/** Id of the model whose registers `updateCurve` writes at each read. */
export const curveModelId = m64413.id;

/** Samples of the curve in 64413: a master gets them with three reads. */
export const ivSamples = 50;

const curveChoice: ModelChoice = { def: m64413, counts: { IVLen: ivSamples }, scale: { Irr_SF: -1 } };

/** Simulation models, which follow the standard ones. @param withPv true: includes 64413, the curve of a PV array */
export function simModels(withPv: boolean): readonly ModelChoice[] {
  return [...(withPv ? [curveChoice] : []), { def: m64414 }];
}

type Values = Readonly<Record<string, number | string | null>>;

function numberOf(values: Values, name: string): number | undefined {
  const value = values[name];
  return typeof value === 'number' ? value : undefined;
}

/** The members with a value; null: no member has one. */
function definedMembers<T extends object>(members: { readonly [K in keyof T]?: T[K] | undefined }): T | null {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? null : (Object.fromEntries(entries) as T);
}

function gridPatch(values: Values): GridPatch | null {
  return definedMembers<GridPatch>({
    voltageAPu: numberOf(values, 'GridVoltageA'),
    voltageBPu: numberOf(values, 'GridVoltageB'),
    voltageCPu: numberOf(values, 'GridVoltageC'),
    frequencyHz: numberOf(values, 'GridFrequency'),
    source: gridSources.find((word) => word === values['GridModelSource']),
  });
}

function surroundingsPatch(values: Values): SurroundingsPatch | null {
  return definedMembers<SurroundingsPatch>({
    ambientTemperatureC: numberOf(values, 'Temperature'),
    irradianceWm2: numberOf(values, 'Irradiance'),
    source: irradianceSources.find((word) => word === values['IrradianceModelSource']),
  });
}

export interface SimModelsContext {
  readonly index: number;
  readonly map: MeasurementView;
  readonly environment: Environment;
  /** stamps changes by requests */
  readonly clock: CommitClock;
}

/** The simulation models of one device. A write acts on this device alone, as `controls/grid?device=` does. */
export class SimModels implements CommitParticipant {
  readonly #context: SimModelsContext;
  readonly #weather: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
  /** array at the end of the last tick; null: no array, or no tick since the start values */
  #array: PvArray | null = null;
  /** solution whose curve is in the registers; null: unknown */
  #publishedCurve: PvArray['solved'] | null = null;

  constructor(context: SimModelsContext) {
    this.#context = context;
  }

  prepare(commit: Commit): FollowUp | null {
    const points = commit.effective.filter(({ modelId }) => modelId === m64414.id);
    if (points.length === 0) return null;
    const values = Object.fromEntries(points.map((slot) => [slot.path, commit.value(slot)]));
    const [grid, surroundings] = [gridPatch(values), surroundingsPatch(values)];
    if (!grid && !surroundings) return null;
    return () => {
      this.#change(grid, surroundings, commit.by);
    };
  }

  /**
   * State that a restart keeps beside the registers, restored after the source: the array of the last tick, if the
   * source still has it.
   */
  kept(source: DcSource): Kept {
    return keptRecord(
      () => {
        const array = this.#array;
        return { irradianceWm2: array && array.solved === source.array?.solved ? array.irradianceWm2 : null };
      },
      ({ irradianceWm2 }) => {
        const solved = source.array?.solved;
        this.#array = irradianceWm2 === null || !solved ? null : { irradianceWm2, solved };
        this.#publishedCurve = null;
      },
    );
  }

  /** Writes the curve of an array that the source no longer has: only the registers keep it over a restart. */
  settleCurve(source: DcSource): void {
    if (this.#array && this.#array.solved !== source.array?.solved) this.updateCurve(this.#context.map);
  }

  /** Forgets the array: the registers of the curve stay empty until the next tick. */
  reloaded(): void {
    this.#array = null;
    this.#publishedCurve = null;
  }

  /** Changes the surroundings of this device, and shows those in force. */
  #change(grid: GridPatch | null, surroundings: SurroundingsPatch | null, by: Origin): void {
    const { environment, index, clock } = this.#context;
    const writer = { ...by, at: clock.sim(), wallMs: clock.wallMs() };
    if (grid) environment.changeGrid({ kind: 'set', patch: grid }, writer, index);
    if (surroundings) {
      environment.setSurroundings(surroundings, writer.at, index);
      environment.surroundingsWriters.recordWriter(writer, index);
    }
    this.show(writer.at);
  }

  /** Last writer of the value of a point of 64414; undefined: as started, or another model. */
  writerOf({ modelId, path, writable }: PointSlot): Provenance | undefined {
    if (modelId !== m64414.id || !writable) return undefined;
    const {
      environment: { gridWriters, surroundingsWriters },
      index,
    } = this.#context;
    return (path.startsWith('Grid') ? gridWriters : surroundingsWriters).of(index) ?? undefined;
  }

  /** Writes the surroundings in force at `t`. */
  show(t: SimTime): void {
    const {
      environment,
      index,
      map: { m64414: m },
    } = this.#context;
    if (!m) return;
    const grid = environment.gridAt(index, t);
    const weather = this.#weather;
    environment.weatherAt(index, t, weather);
    m.Temperature = weather.ambientTemperatureC;
    m.IrradianceModelSource = environment.irradianceSource(index, t);
    m.Irradiance = weather.irradianceWm2;
    m.GridModelSource = environment.gridSource(index, t);
    m.GridVoltageA = grid.aPu;
    m.GridVoltageB = grid.bPu;
    m.GridVoltageC = grid.cPu;
    m.GridFrequency = grid.hz;
  }

  /**
   * Writes 64414 at the end of a tick, and keeps the curve that 64413 shows when it is read.
   * @param clockTime `HH:MM:SS`
   */
  publish(t: SimTime, clockTime: string, source: DcSource): void {
    const { m64414: controls } = this.#context.map;
    if (controls) controls.Time = clockTime;
    this.show(t);
    const { array } = source;
    this.#array = array ? { irradianceWm2: array.irradianceWm2, solved: array.solved } : null;
  }

  /** Writes the curve of the last tick, on demand: it costs more than the rest of a tick. */
  updateCurve({ m64413: m }: MeasurementView): void {
    if (!m || !this.#array) return;
    const { irradianceWm2, solved } = this.#array;
    m.Irr = irradianceWm2;
    if (solved === this.#publishedCurve) return;
    this.#publishedCurve = solved;
    const { curve } = solved.curve(ivSamples);
    m.IV.forEach((sample, i) => {
      // in the dark the curve is a single point at zero
      const { p, i: amps, v } = curve[i] ?? { p: 0, i: 0, v: 0 };
      sample.P = p;
      sample.I = amps;
      sample.V = v;
    });
  }
}
