/**
 * The surroundings of the devices: one common grid and one common weather, each with local deviations per device.
 * All values are functions of simulated time; a change creates new layers that start at its instant.
 */
import { secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { SimError } from '../../core/errors.ts';
import { keptParts, keptRecord } from '../../core/kept.ts';
import type { Kept } from '../../core/kept.ts';
import type {
  GridChange,
  GridCommand,
  GridEventArguments,
  GridEventKind,
  GridPatch,
  GridSource,
  GridState,
  IrradianceSource,
  SurroundingsNow,
  SurroundingsPatch,
} from '../../contract/environment.ts';
import { AttachedGrids } from './grid/attached.ts';
import { gridEventLibrary } from './grid/events.ts';
import { GridScope } from './grid/grid-scope.ts';
import type { GridCourse } from './grid/grid-scope.ts';
import type { GridValues } from './grid/layers.ts';
import type { Motion } from './grid/trajectory.ts';
import type { Provenance } from '../../core/origin.ts';
import { ScopeWriters } from '../device/writers.ts';
import {
  irradianceSourceOf,
  isClearSky,
  layersFor,
  layersOf,
  overriddenAt,
  patchedLayers,
  setValue,
} from './layers.ts';
import type { SurroundingsLayers, WeatherCourse } from './layers.ts';
import type { Series } from './series.ts';
import type { SeriesTime } from './series-time.ts';
import type { Sky, Weather } from './weather.ts';

export type { GridValues } from './grid/layers.ts';
export type { WeatherCourse } from './layers.ts';

/** The weather of one device; `weatherAt` overwrites the object. */
export interface WeatherNow {
  irradianceWm2: number;
  ambientTemperatureC: number;
  cellTemperatureC: number | null;
  windSpeedMS: number;
  /**
   * irradiance in the plane of each PV input by number of the port; empty: all inputs have `irradianceWm2`, in the
   * plane of the site; absent: not needed
   */
  planesWm2?: number[];
}

export interface EnvironmentOptions {
  readonly nominalHz: number;
  /** null: no grid profile */
  readonly gridProfile: Series | null;
  /** the series holds irradiance in the plane of the array; the clear sky depends on the site of the device */
  readonly weather: {
    readonly csv: (deviceIndex: number) => Weather;
    readonly clear_sky: (deviceIndex: number) => Sky;
  };
  /** local load, column load_kw; null: no series, only a set load counts */
  readonly load?: (deviceIndex: number) => Series | null;
  readonly weatherSource: 'csv' | 'clear_sky';
  /** seconds since local midnight of the start date, the time base of series */
  readonly seriesTime: (t: SimTime) => number;
  /** the origin of that time, which a restart keeps; absent: it needs none */
  readonly seriesOrigin?: Pick<SeriesTime, 'kept'>;
}

export class Environment {
  readonly #options: EnvironmentOptions;
  #grid: GridScope;
  #commonLayers: SurroundingsLayers;
  readonly #localGrid = new Map<number, GridScope>();
  /** grids outside of the simulator, of the devices that are attached to one */
  readonly outside: AttachedGrids;
  readonly #localLayers = new Map<number, SurroundingsLayers>();
  /** last writers of grid and surroundings; the plant records them */
  readonly gridWriters = new ScopeWriters();
  /** told of each change of `changeGrid`; null: nobody is */
  onGridChange: ((change: GridChange) => void) | null = null;
  readonly surroundingsWriters = new ScopeWriters();

  constructor(options: EnvironmentOptions, start: SimTime) {
    this.#options = options;
    this.#grid = GridScope.initial(options, start);
    this.outside = new AttachedGrids({
      nominalHz: options.nominalHz,
      of: (deviceIndex) => this.#insideGridOf(deviceIndex),
    });
    this.#commonLayers = layersFor(options.weatherSource);
  }

  /** State that a restart keeps. Restoring needs the date, and thus the clock, restored before. */
  kept(): Kept {
    return keptParts({
      seriesOrigin: this.#options.seriesOrigin?.kept() ?? keptParts({}),
      grid: this.#keptGrid(),
      surroundings: this.#keptSurroundings(),
      gridWriters: this.gridWriters.kept(),
      surroundingsWriters: this.surroundingsWriters.kept(),
    });
  }

  #keptGrid(): Kept {
    return keptRecord(
      () => ({
        common: this.#grid.plain,
        local: Array.from(this.#localGrid, ([deviceIndex, scope]) => ({ deviceIndex, layers: scope.plain })),
      }),
      ({ common, local }) => {
        this.#grid = GridScope.of(this.#options, common);
        this.#localGrid.clear();
        for (const { deviceIndex, layers } of local)
          this.#localGrid.set(deviceIndex, GridScope.of(this.#options, layers));
      },
    );
  }

  #keptSurroundings(): Kept {
    return keptRecord(
      () => ({
        common: this.#commonLayers.plain,
        local: Array.from(this.#localLayers, ([deviceIndex, stack]) => ({ deviceIndex, layers: stack.plain })),
      }),
      ({ common, local }) => {
        this.#commonLayers = layersOf(common);
        this.#localLayers.clear();
        for (const { deviceIndex, layers } of local) this.#localLayers.set(deviceIndex, layersOf(layers));
      },
    );
  }

  /** The named events of `startGridEvent`. */
  get gridEvents(): readonly GridEventKind[] {
    return gridEventLibrary(this.#options.nominalHz);
  }

  /** Grid of a device before its feeder. The same object as long as nothing changes. */
  gridAt(deviceIndex: number, t: SimTime): GridValues {
    return this.#gridOf(deviceIndex).at(t);
  }

  /**
   * Course of grid values from `t` to the next event, which limits the length of sub-steps.
   * `fast`: a ramp or oscillation; `slow`: the grid profile alone.
   */
  gridMotion(deviceIndex: number, t: SimTime): Motion {
    return this.#gridOf(deviceIndex).motion(t);
  }

  gridSource(deviceIndex: number, t: SimTime): GridSource {
    return this.#gridOf(deviceIndex).source(t);
  }

  irradianceSource(deviceIndex: number, t: SimTime): IrradianceSource {
    return irradianceSourceOf(this.#layersOf(deviceIndex).segmentAt(t), t);
  }

  /** Local load beside a device, W. */
  loadW(deviceIndex: number, t: SimTime): number {
    return 1000 * this.#loadKw(deviceIndex, this.#layersOf(deviceIndex).segmentAt(t), t);
  }

  #loadKw(deviceIndex: number, segment: WeatherCourse, t: SimTime): number {
    const setKw = setValue(segment, 'loadKw', t);
    if (setKw !== null) return setKw;
    return this.#options.load?.(deviceIndex)?.at('load_kw', this.#options.seriesTime(t)) ?? 0;
  }

  /** The course of the weather from `t` on: the same object until a change begins or ends, when it may jump. */
  weatherCourse(deviceIndex: number, t: SimTime): WeatherCourse {
    return this.#layersOf(deviceIndex).segmentAt(t);
  }

  /**
   * Fills `out` with the weather at `t`.
   * @param course course of the weather; absent: the one at `t`. For the end of a sub-step, the course of its start
   *   excludes a jump at `t`.
   */
  weatherAt(deviceIndex: number, t: SimTime, out: WeatherNow, course?: WeatherCourse): void {
    const segment = course ?? this.weatherCourse(deviceIndex, t);
    const { csv, clear_sky: clearSky } = this.#options.weather;
    csv(deviceIndex).at(this.#options.seriesTime(t), t, out);
    if (out.planesWm2) out.planesWm2.length = 0;
    // the air follows the date as the sun does; only the wind is still that of the series
    if (isClearSky(segment, t)) {
      const sky = clearSky(deviceIndex);
      out.irradianceWm2 = sky.irradianceAt(t);
      out.ambientTemperatureC = sky.airTemperatureAt(t);
      // a set irradiance is one number without values for other planes
      if (out.planesWm2 && !segment.tracks.irradiance) sky.planesAt?.(t, out.planesWm2);
    }
    out.irradianceWm2 = setValue(segment, 'irradiance', t) ?? out.irradianceWm2;
    out.ambientTemperatureC = setValue(segment, 'ambientC', t) ?? out.ambientTemperatureC;
    out.cellTemperatureC = setValue(segment, 'cellC', t);
  }

  /** The next instant after `t` at which a trajectory of a device starts, bends or ends: a sub-step must end there. */
  nextEvent(deviceIndex: number, t: SimTime): number {
    return Math.min(this.#gridOf(deviceIndex).nextBreak(t), this.#layersOf(deviceIndex).segmentAt(t).until);
  }

  /** The next instant after `t` at which the grid bends or jumps, apart from a grid profile; Infinity without one. */
  nextGridChange(t: SimTime, deviceIndex?: number): number {
    const scope: GridCourse = deviceIndex === undefined ? this.#grid : this.#gridOf(deviceIndex);
    return scope.source(t) === 'csv' ? Infinity : scope.nextBreak(t);
  }

  /**
   * Carries a command out and records its writer.
   * @throws SimError as the methods below, COMMAND_CONFLICT while a grid outside gives the values
   */
  changeGrid(command: GridCommand, by: Provenance, deviceIndex?: number): void {
    this.outside.checkNone(deviceIndex);
    const before = this.onGridChange && this.grid(by.at, deviceIndex);
    if (command.kind === 'set') this.setGrid(command.patch, by.at, deviceIndex);
    else if (command.kind === 'event') this.startGridEvent(command.name, command.args, by.at, deviceIndex);
    else this.stopGridEvent(by.at, deviceIndex);
    this.gridWriters.recordWriter(by, deviceIndex);
    if (before === null) return;
    this.onGridChange?.({
      command,
      deviceIndex: deviceIndex ?? null,
      before,
      after: this.grid(by.at, deviceIndex),
      by,
    });
  }

  /**
   * @throws SimError COMMAND_BAD_VALUE for a patch without a value or with contradicting values,
   *   COMMAND_CONFLICT for `csv` without a grid profile, or when too many changes are pending
   */
  setGrid(patch: GridPatch, instant: SimTime, deviceIndex?: number): void {
    checkPatch(patch, deviceIndex);
    if (deviceIndex !== undefined && patch.source === 'csv') this.#localGrid.delete(deviceIndex);
    else this.#changeGrid((scope) => scope.patched(patch, instant), deviceIndex);
  }

  /**
   * Starts a named event; it replaces a running one in the same scope.
   * @throws SimError COMMAND_BAD_VALUE for an unknown name or parameter, or a value out of range
   */
  startGridEvent(name: string, args: GridEventArguments, instant: SimTime, deviceIndex?: number): void {
    this.#changeGrid((scope) => scope.withEvent(name, args, instant), deviceIndex);
  }

  /** Ends the running event, if any; the layers below it are in force again. */
  stopGridEvent(instant: SimTime, deviceIndex?: number): void {
    this.#changeGrid((scope) => scope.withoutEvent(instant), deviceIndex);
  }

  /** Values in force, without volts: they need the nominal voltage of a device. */
  grid(t: SimTime, deviceIndex?: number): GridState {
    const gridNow = (deviceIndex === undefined ? this.#grid : this.#gridOf(deviceIndex)).now(t);
    return {
      ...gridNow,
      deviatingDevices: deviatingOf([...this.#localGrid.keys(), ...this.outside.indexes], deviceIndex),
      changedBy:
        deviceIndex !== undefined && this.outside.has(deviceIndex)
          ? this.outside.writer
          : this.gridWriters.of(deviceIndex),
    };
  }

  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT as `setGrid` */
  setSurroundings(patch: SurroundingsPatch, instant: SimTime, deviceIndex?: number): void {
    checkPatch(patch, deviceIndex);
    if (deviceIndex === undefined) {
      this.#commonLayers = this.#patchedLayers(this.#commonLayers, patch, instant, commonIndex);
      this.#localLayers.clear();
    } else if (patch.source === 'csv') {
      this.#localLayers.delete(deviceIndex);
    } else {
      this.#localLayers.set(deviceIndex, this.#patchedLayers(this.#layersOf(deviceIndex), patch, instant, deviceIndex));
    }
  }

  surroundings(t: SimTime, ofDevice?: number): SurroundingsNow {
    const deviceIndex = ofDevice ?? commonIndex;
    const stack = this.#layersOf(deviceIndex);
    const segment = stack.segmentAt(t);
    const timed = stack.timedAt(t);
    return {
      ...this.#weatherNow(deviceIndex, t),
      loadKw: this.#loadKw(deviceIndex, segment, t),
      dataset: this.#options.weather.csv(deviceIndex).dataset(this.#options.seriesTime(t)),
      source: irradianceSourceOf(segment, t),
      rampRemainingS: secondsBetween(t, stack.rampEnd(t)),
      durationRemainingS: timed ? secondsBetween(t, timed.end) : null,
      overridden: overriddenAt(segment, t),
      deviatingDevices: deviatingOf(this.#localLayers.keys(), ofDevice),
      changedBy: this.surroundingsWriters.of(ofDevice),
    };
  }

  /** Frees what no device needs that has reached `t`. */
  forgetBefore(t: SimTime): void {
    this.outside.forgetBefore(t);
  }

  /** Ends the local deviations of a device (reset). */
  clearLocal(deviceIndex: number): void {
    this.#localGrid.delete(deviceIndex);
    this.#localLayers.delete(deviceIndex);
    this.gridWriters.forget(deviceIndex);
    this.surroundingsWriters.forget(deviceIndex);
  }

  #gridOf(deviceIndex: number): GridCourse {
    return this.outside.courseOf(deviceIndex) ?? this.#insideGridOf(deviceIndex);
  }

  #insideGridOf(deviceIndex: number): GridScope {
    return (this.#localGrid.size > 0 ? this.#localGrid.get(deviceIndex) : undefined) ?? this.#grid;
  }

  #layersOf(deviceIndex: number): SurroundingsLayers {
    return (this.#localLayers.size > 0 ? this.#localLayers.get(deviceIndex) : undefined) ?? this.#commonLayers;
  }

  /** A common change ends every local deviation. A local change without an effect starts no deviation. */
  #changeGrid(change: (scope: GridScope) => GridScope, deviceIndex: number | undefined): void {
    if (deviceIndex === undefined) {
      this.#grid = change(this.#grid);
      this.#localGrid.clear();
      return;
    }
    const present = this.#insideGridOf(deviceIndex);
    const changed = change(present);
    if (changed !== present) this.#localGrid.set(deviceIndex, changed);
  }

  #weatherNow(deviceIndex: number, t: SimTime): WeatherNow {
    const out: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    this.weatherAt(deviceIndex, t, out);
    return out;
  }

  #patchedLayers(
    stack: SurroundingsLayers,
    patch: SurroundingsPatch,
    instant: SimTime,
    deviceIndex: number,
  ): SurroundingsLayers {
    const loadKw = this.#loadKw(deviceIndex, stack.segmentAt(instant), instant);
    return patchedLayers(stack, patch, instant, { ...this.#weatherNow(deviceIndex, instant), loadKw });
  }
}

/** Index for the common surroundings; their site is that of the first device. */
const commonIndex = -1;

/** Indexes of the devices with values of their own, ascending. @param deviceIndex undefined: of all devices */
function deviatingOf(indexes: Iterable<number>, deviceIndex: number | undefined): readonly number[] {
  return [...new Set(indexes)]
    .filter((index) => deviceIndex === undefined || index === deviceIndex)
    .sort((a, b) => a - b);
}

/** A patch must have a value; source csv, which ends a local deviation, has no other value. */
function checkPatch(patch: GridPatch | SurroundingsPatch, deviceIndex: number | undefined): void {
  const values = Object.entries(patch).filter(
    ([name, value]) => value !== undefined && name !== 'rampS' && name !== 'durationS',
  );
  if (values.length === 0)
    throw new SimError('COMMAND_BAD_VALUE', 'a ramp or duration alone changes nothing: give a value');
  if (deviceIndex !== undefined && patch.source === 'csv' && values.length > 1) {
    throw new SimError('COMMAND_BAD_VALUE', 'source csv ends the deviation of this device and allows no other value');
  }
}
