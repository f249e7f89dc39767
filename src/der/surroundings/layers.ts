/** Layers of the surroundings apart from the grid: values that a change has set over weather, cell and load. */
import { addSeconds } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { IrradianceSource, SettableMember, SurroundingsPatch } from '../../contract/environment.ts';
import { settableMembers } from '../../contract/environment.ts';
import { LayerStack } from './grid/layers.ts';
import type { PlainLayers, Segment, Tracks } from './grid/layers.ts';
import { constant, ramp, valueAt } from './grid/trajectory.ts';

/**
 * `clearSky` is 1 while the irradiance comes from the clear sky. The others are null unless set by a change; while
 * null, the weather (irradiance, air), the thermal model (cell) or the load series decides.
 */
export type SurroundingsQuantity = 'irradiance' | 'ambientC' | 'cellC' | 'loadKw' | 'clearSky';
export type SurroundingsLayers = LayerStack<SurroundingsQuantity>;
export type WeatherCourse = Segment<SurroundingsQuantity>;
export type PlainSurroundings = PlainLayers<SurroundingsQuantity>;

/** Layers without any set value. */
export const layersFor = (source: 'csv' | 'clear_sky'): SurroundingsLayers =>
  new LayerStack<SurroundingsQuantity>({
    irradiance: null,
    ambientC: null,
    cellC: null,
    loadKw: null,
    clearSky: constant(source === 'clear_sky' ? 1 : 0),
  });

export const layersOf = (plain: PlainSurroundings): SurroundingsLayers => LayerStack.of(plain, () => null);

/** Value set by a change; null: not set. */
export function setValue(course: WeatherCourse, name: SurroundingsQuantity, t: SimTime): number | null {
  const track = course.tracks[name];
  return track && valueAt(track, t);
}

export const isClearSky = (course: WeatherCourse, t: SimTime) => setValue(course, 'clearSky', t) === 1;

export function irradianceSourceOf(course: WeatherCourse, t: SimTime): IrradianceSource {
  if (course.tracks.irradiance) return 'const';
  return isClearSky(course, t) ? 'clear_sky' : 'csv';
}

const quantityOf: Readonly<Record<SettableMember, SurroundingsQuantity>> = {
  irradiance_w_m2: 'irradiance',
  ambient_temperature_c: 'ambientC',
  cell_temperature_c: 'cellC',
  load_kw: 'loadKw',
};

/** The members that a change has set. */
export const overriddenAt = (course: WeatherCourse, t: SimTime): readonly SettableMember[] =>
  settableMembers.filter((name) => setValue(course, quantityOf[name], t) !== null);

/** Values in force, from which ramps begin. */
interface PresentValues {
  readonly irradianceWm2: number;
  readonly ambientTemperatureC: number;
  readonly cellTemperatureC: number | null;
  readonly loadKw: number;
}

/** The layers with those of a patch, which begin at `instant`. */
export function patchedLayers(
  stack: SurroundingsLayers,
  patch: SurroundingsPatch,
  instant: SimTime,
  present: PresentValues,
): SurroundingsLayers {
  const followsSource = patch.source === 'csv' || patch.source === 'clear_sky';
  const isHeld = patch.source === 'const' && !stack.segmentAt(instant).tracks.irradiance;
  const heldWm2 = isHeld ? present.irradianceWm2 : undefined;
  const changes: Readonly<
    Partial<Record<SurroundingsQuantity, readonly [to: number | null | undefined, from: number | null]>>
  > = {
    irradiance: [
      patch.irradianceWm2 === undefined ? (followsSource ? null : heldWm2) : patch.irradianceWm2,
      present.irradianceWm2,
    ],
    ambientC: [patch.ambientTemperatureC, present.ambientTemperatureC],
    cellC: [patch.cellTemperatureC, present.cellTemperatureC],
    loadKw: [patch.loadKw, present.loadKw],
  };
  const tracks: Tracks<SurroundingsQuantity> = {
    ...Object.fromEntries(
      Object.entries(changes)
        .filter(([, [to]]) => to !== undefined)
        .map(([name, [to, from]]) =>
          // without a previous value there is no ramp
          [name, to == null ? null : ramp(from ?? to, to, instant, patch.rampS ?? 0)],
        ),
    ),
    ...(followsSource && { clearSky: constant(patch.source === 'clear_sky' ? 1 : 0) }),
  };
  return patch.durationS == null
    ? stack.withBase(tracks, instant)
    : stack.withOverlay(tracks, instant, addSeconds(instant, patch.durationS));
}
