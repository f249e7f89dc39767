/**
 * What surrounds the devices: one common grid and one common weather, each with local deviations per device.
 * All values are functions of simulated time; a change makes new layers that start at its instant.
 */
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import { SimError } from '../../core/errors.ts';
import type {
  GridEventArguments,
  GridEventKind,
  GridNow,
  GridPatch,
  GridSource,
  IrradianceSource,
  SurroundingsNow,
  SurroundingsPatch,
} from '../../contract/environment.ts';
import { gridEventLibrary } from './grid/events.ts';
import { GridScope } from './grid/grid-scope.ts';
import { LayerStack } from './grid/layers.ts';
import type { Segment, Tracks } from './grid/layers.ts';
import { constant, ramp, valueAt } from './grid/trajectory.ts';
import type { Motion } from './grid/trajectory.ts';
import type { GridValues } from './grid/values.ts';
import { ScopeWriters } from '../device/last-writers.ts';
import type { Series } from './series.ts';
import type { Sky, Weather } from './weather.ts';

export type { GridValues } from './grid/values.ts';

/** The weather at the terminals of one device; filled anew by each call. */
export interface WeatherNow {
  irradianceWm2: number;
  ambientTemperatureC: number;
  cellTemperatureC: number | null;
  windSpeedMS: number;
}

/** `clearSky` is 1 where the irradiance comes from the clear sky; of the others null: from the weather, the thermal model, or nothing. */
type AroundQuantity = 'irradiance' | 'ambientC' | 'cellC' | 'loadKw' | 'clearSky';
type Around = LayerStack<AroundQuantity>;

export interface EnvironmentOptions {
  readonly nominalHz: number;
  /** null: no grid profile */
  readonly gridProfile: Series | null;
  /** the series holds irradiance in the plane of the array; the clear sky depends on the site of the device */
  readonly weather: {
    readonly csv: (deviceIndex: number) => Weather;
    readonly clear_sky: (deviceIndex: number) => Sky;
  };
  /** local load, column load_kw; null: none but what is set */
  readonly load?: (deviceIndex: number) => Series | null;
  readonly weatherSource: 'csv' | 'clear_sky';
  /** seconds since local midnight of the start date, the time base of series */
  readonly seriesTime: (t: SimTime) => number;
}

/** A value that somebody has set; null where nobody has. */
function setValue(segment: Segment<AroundQuantity>, name: AroundQuantity, t: SimTime): number | null {
  const track = segment.tracks[name];
  return track && valueAt(track, t);
}

function sunFrom(segment: Segment<AroundQuantity>, t: SimTime): IrradianceSource {
  if (segment.tracks.irradiance) return 'const';
  return setValue(segment, 'clearSky', t) === 1 ? 'clear_sky' : 'csv';
}

export class Environment {
  readonly #options: EnvironmentOptions;
  #grid: GridScope;
  #around: Around;
  readonly #localGrid = new Map<number, GridScope>();
  readonly #localAround = new Map<number, Around>();
  /** kept by whoever passes changes on */
  readonly gridWriters = new ScopeWriters();
  readonly surroundingsWriters = new ScopeWriters();

  constructor(options: EnvironmentOptions, start: SimTime) {
    this.#options = options;
    this.#grid = GridScope.initial(options, start);
    const clearSky = constant(options.weatherSource === 'clear_sky' ? 1 : 0);
    this.#around = new LayerStack<AroundQuantity>({
      irradiance: null,
      ambientC: null,
      cellC: null,
      loadKw: null,
      clearSky,
    });
  }

  /** The named events of `startGridEvent`. */
  get gridEvents(): readonly GridEventKind[] {
    return gridEventLibrary(this.#options.nominalHz);
  }

  /** Grid at the terminals of a device. The same object as long as nothing changes. */
  gridAt(deviceIndex: number, t: SimTime): GridValues {
    return this.#gridOf(deviceIndex).at(t);
  }

  /**
   * How grid values move by themselves from `t` to the next event: sub-steps must be as short as that asks for.
   * `fast`: a ramp or oscillation; `slow`: the grid profile alone.
   */
  gridMotion(deviceIndex: number, t: SimTime): Motion {
    return this.#gridOf(deviceIndex).motion(t);
  }

  gridSource(deviceIndex: number, t: SimTime): GridSource {
    return this.#gridOf(deviceIndex).source(t);
  }

  irradianceSource(deviceIndex: number, t: SimTime): IrradianceSource {
    return sunFrom(this.#aroundOf(deviceIndex).segmentAt(t), t);
  }

  /** Local load beside a device, W. */
  loadW(deviceIndex: number, t: SimTime): number {
    return 1000 * this.#loadKw(deviceIndex, this.#aroundOf(deviceIndex).segmentAt(t), t);
  }

  #loadKw(deviceIndex: number, segment: Segment<AroundQuantity>, t: SimTime): number {
    const set = setValue(segment, 'loadKw', t);
    if (set !== null) return set;
    return this.#options.load?.(deviceIndex)?.at('load_kw', this.#options.seriesTime(t)) ?? 0;
  }

  weatherAt(deviceIndex: number, t: SimTime, out: WeatherNow): void {
    const segment = this.#aroundOf(deviceIndex).segmentAt(t);
    const { csv, clear_sky: clearSky } = this.#options.weather;
    csv(deviceIndex).at(this.#options.seriesTime(t), t, out);
    // the sky gives the sun alone: air and wind stay those of the series
    if (setValue(segment, 'clearSky', t) === 1) out.irradianceWm2 = clearSky(deviceIndex).irradianceAt(t);
    out.irradianceWm2 = setValue(segment, 'irradiance', t) ?? out.irradianceWm2;
    out.ambientTemperatureC = setValue(segment, 'ambientC', t) ?? out.ambientTemperatureC;
    out.cellTemperatureC = setValue(segment, 'cellC', t);
  }

  /** The next instant after `t` at which something starts, bends or ends for a device: a sub-step must end there. */
  nextEvent(deviceIndex: number, t: SimTime): number {
    return Math.min(this.#gridOf(deviceIndex).nextBreak(t), this.#aroundOf(deviceIndex).segmentAt(t).until);
  }

  /**
   * @throws SimError COMMAND_BAD_VALUE for a patch that says nothing or says two things,
   *   COMMAND_CONFLICT when `csv` is asked for and there is no grid profile, or too many changes are pending
   */
  setGrid(patch: GridPatch, now: SimTime, deviceIndex?: number): void {
    checkPatch(patch, deviceIndex);
    if (deviceIndex !== undefined && patch.source === 'csv') this.#localGrid.delete(deviceIndex);
    else this.#changeGrid((scope) => scope.patched(patch, now), deviceIndex);
  }

  /**
   * Starts a named event, in place of one under way in the same scope.
   * @throws SimError COMMAND_BAD_VALUE for a name, parameter or value that the library does not have
   */
  startGridEvent(name: string, args: GridEventArguments, now: SimTime, deviceIndex?: number): void {
    this.#changeGrid((scope) => scope.withEvent(name, args, now), deviceIndex);
  }

  /** Ends the event under way, if any: what it covered is in force again. */
  stopGridEvent(now: SimTime, deviceIndex?: number): void {
    this.#changeGrid((scope) => scope.withoutEvent(now), deviceIndex);
  }

  /** Values in force; volts are for who knows the nominal voltage. */
  grid(t: SimTime, deviceIndex?: number): Omit<GridNow, 'voltageLnV' | 'voltageLlV'> {
    const now = (deviceIndex === undefined ? this.#grid : this.#gridOf(deviceIndex)).now(t);
    return { ...now, changedBy: this.gridWriters.of(deviceIndex) };
  }

  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT as `setGrid` */
  setSurroundings(patch: SurroundingsPatch, now: SimTime, deviceIndex?: number): void {
    checkPatch(patch, deviceIndex);
    if (deviceIndex === undefined) {
      this.#around = this.#patchedAround(this.#around, patch, now, commonIndex);
      this.#localAround.clear();
    } else if (patch.source === 'csv') {
      this.#localAround.delete(deviceIndex);
    } else {
      this.#localAround.set(deviceIndex, this.#patchedAround(this.#aroundOf(deviceIndex), patch, now, deviceIndex));
    }
  }

  surroundings(t: SimTime, ofDevice?: number): SurroundingsNow {
    const deviceIndex = ofDevice ?? commonIndex;
    const stack = this.#aroundOf(deviceIndex);
    const segment = stack.segmentAt(t);
    const timed = stack.timedAt(t);
    return {
      ...this.#weatherNow(deviceIndex, t),
      loadKw: this.#loadKw(deviceIndex, segment, t),
      dataset: this.#options.weather.csv(deviceIndex).dataset(this.#options.seriesTime(t)),
      source: sunFrom(segment, t),
      rampRemainingS: secondsBetween(t, stack.rampEnd(t)),
      durationRemainingS: timed ? secondsBetween(t, timed.end) : null,
      changedBy: this.surroundingsWriters.of(ofDevice),
    };
  }

  /** Ends the local deviations of a device (reset). */
  clearLocal(deviceIndex: number): void {
    this.#localGrid.delete(deviceIndex);
    this.#localAround.delete(deviceIndex);
    this.gridWriters.forget(deviceIndex);
    this.surroundingsWriters.forget(deviceIndex);
  }

  #gridOf(deviceIndex: number): GridScope {
    return (this.#localGrid.size > 0 ? this.#localGrid.get(deviceIndex) : undefined) ?? this.#grid;
  }

  #aroundOf(deviceIndex: number): Around {
    return (this.#localAround.size > 0 ? this.#localAround.get(deviceIndex) : undefined) ?? this.#around;
  }

  /** A common change ends every local deviation; one that changes nothing for a device begins none. */
  #changeGrid(change: (scope: GridScope) => GridScope, deviceIndex: number | undefined): void {
    if (deviceIndex === undefined) {
      this.#grid = change(this.#grid);
      this.#localGrid.clear();
      return;
    }
    const present = this.#gridOf(deviceIndex);
    const changed = change(present);
    if (changed !== present) this.#localGrid.set(deviceIndex, changed);
  }

  #weatherNow(deviceIndex: number, t: SimTime): WeatherNow {
    const out: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    this.weatherAt(deviceIndex, t, out);
    return out;
  }

  #patchedAround(stack: Around, patch: SurroundingsPatch, now: SimTime, deviceIndex: number): Around {
    const segment = stack.segmentAt(now);
    const present = this.#weatherNow(deviceIndex, now);
    const released = patch.source === 'csv' || patch.source === 'clear_sky';
    const held = patch.source === 'const' && !segment.tracks.irradiance ? present.irradianceWm2 : undefined;
    const wanted: Readonly<
      Partial<Record<AroundQuantity, readonly [to: number | null | undefined, from: number | null]>>
    > = {
      irradiance: [
        patch.irradianceWm2 === undefined ? (released ? null : held) : patch.irradianceWm2,
        present.irradianceWm2,
      ],
      ambientC: [patch.ambientTemperatureC, present.ambientTemperatureC],
      cellC: [patch.cellTemperatureC, present.cellTemperatureC],
      loadKw: [patch.loadKw, this.#loadKw(deviceIndex, segment, now)],
    };
    const tracks: Tracks<AroundQuantity> = {
      ...Object.fromEntries(
        Object.entries(wanted)
          .filter(([, [to]]) => to !== undefined)
          .map(([name, [to, from]]) =>
            // a value that did not exist before has nothing to ramp from
            [name, to == null ? null : ramp(from ?? to, to, now, patch.rampS ?? 0)],
          ),
      ),
      ...(released && { clearSky: constant(patch.source === 'clear_sky' ? 1 : 0) }),
    };
    return patch.durationS == null
      ? stack.withBase(tracks, now)
      : stack.withOverlay(tracks, now, addSeconds(now, patch.durationS));
  }
}

/** Stands for no device in particular: the common surroundings, at the site of the first device. */
const commonIndex = -1;

/** A patch must say something, and ending a local deviation says everything. */
function checkPatch(patch: GridPatch | SurroundingsPatch, deviceIndex: number | undefined): void {
  const values = Object.entries(patch).filter(
    ([name, value]) => value !== undefined && name !== 'rampS' && name !== 'durationS',
  );
  if (values.length === 0)
    throw new SimError('COMMAND_BAD_VALUE', 'a ramp or duration alone changes nothing: give a value');
  if (deviceIndex !== undefined && patch.source === 'csv' && values.length > 1) {
    throw new SimError(
      'COMMAND_BAD_VALUE',
      'source csv ends the deviation of this device and goes with no other value',
    );
  }
}
