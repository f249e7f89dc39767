/**
 * What surrounds the devices: one common grid and one common weather, each with local deviations per device.
 * All values are functions of simulated time; a change is a new immutable setting that starts at its instant.
 */
import { addSeconds, secondsBetween } from '../core/clock.ts';
import type { SimTime } from '../core/clock.ts';
import { SimError } from '../core/errors.ts';
import type { GridNow, GridPatch, GridSource, SurroundingsNow, SurroundingsPatch } from '../core/environment.ts';
import type { Series } from './series.ts';
import type { Weather } from './weather.ts';

/** Phase voltages in per unit and frequency, as the terminals see them. */
export interface GridValues {
  readonly aPu: number;
  readonly bPu: number;
  readonly cPu: number;
  readonly hz: number;
  readonly angleDeg: number;
}

const never = Infinity;

/** A value that moves linearly from one end to the other. */
interface Transition<T> {
  readonly from: T;
  readonly to: T;
  readonly start: SimTime;
  readonly end: SimTime;
}

function fraction(start: SimTime, end: SimTime, t: SimTime): number {
  return t >= end ? 1 : Math.max(0, (t - start) / (end - start));
}

const lerp = (a: number, b: number, x: number) => a + (b - a) * x;

interface GridSetting extends Transition<GridValues> {
  readonly source: GridSource;
  readonly outage: boolean;
  readonly revertAt: number;
  /** what stood before, for a change with a duration */
  readonly before: GridSetting | null;
}

/**
 * When a change ends and what stands then: of the changes before it the first that outlives it, so that repeated
 * requests leave no chain of settings that can never come back.
 */
function lifetime<T extends { readonly revertAt: number; readonly before: T | null }>(
  active: T, now: SimTime, durationS: number | null | undefined,
): { readonly revertAt: number; readonly before: T | null } {
  if (durationS == null) return { revertAt: never, before: null };
  const revertAt = addSeconds(now, durationS);
  let before = active;
  while (before.before && before.revertAt <= revertAt) before = before.before;
  let pending = 1;
  for (let older = before; older.before; older = older.before) pending += 1;
  if (pending > maxPending) {
    throw new SimError('COMMAND_CONFLICT', `${maxPending} changes with a duration are already waiting for their end`);
  }
  return { revertAt, before };
}

const dead: GridValues = { aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0 };

/** A value that somebody has set, against the one that the weather gives. */
type Knob = Transition<number>;

const knobNames = ['irradiance', 'ambientC', 'cellC', 'loadKw'] as const;
type KnobName = (typeof knobNames)[number];

interface SurroundingsSetting {
  /** null: from the weather, the thermal model, or nothing (load) */
  readonly knobs: Readonly<Record<KnobName, Knob | null>>;
  readonly weather: 'csv' | 'clear_sky';
  readonly revertAt: number;
  readonly before: SurroundingsSetting | null;
}

function knobAt(knob: Knob | null, t: SimTime): number | null {
  if (!knob) return null;
  return t >= knob.end ? knob.to : lerp(knob.from, knob.to, fraction(knob.start, knob.end, t));
}

/** Changes that may wait behind one another for their end; each keeps what stood before it. */
const maxPending = 32;

/** What is in force at `t`: changes that have ended give way to what stood before. */
function inForce<T extends { readonly revertAt: number; readonly before: T | null }>(stored: T, t: SimTime): T {
  let setting = stored;
  while (t >= setting.revertAt && setting.before) setting = setting.before;
  return setting;
}

/** The weather at the terminals of one device; filled anew by each call. */
export interface WeatherNow {
  irradianceWm2: number;
  ambientTemperatureC: number;
  cellTemperatureC: number | null;
  windSpeedMS: number;
}

export interface EnvironmentOptions {
  readonly nominalHz: number;
  /** null: no grid profile */
  readonly gridProfile: Series | null;
  /** the series holds irradiance in the plane of the array; the clear sky depends on the site of the device */
  readonly weather: { readonly csv: Weather; readonly clear_sky: (deviceIndex: number) => Weather };
  readonly weatherSource: 'csv' | 'clear_sky';
  /** seconds since local midnight of the start date, the time base of series */
  readonly seriesTime: (t: SimTime) => number;
}

export class Environment {
  readonly #options: EnvironmentOptions;
  #grid: GridSetting;
  #surroundings: SurroundingsSetting;
  readonly #localGrid = new Map<number, GridSetting>();
  readonly #localSurroundings = new Map<number, SurroundingsSetting>();

  constructor(options: EnvironmentOptions, start: SimTime) {
    this.#options = options;
    const normal: GridValues = { aPu: 1, bPu: 1, cPu: 1, hz: options.nominalHz, angleDeg: 0 };
    this.#grid = {
      from: normal, to: normal, start, end: start, outage: false, revertAt: never, before: null,
      source: options.gridProfile ? 'csv' : 'const',
    };
    this.#surroundings = {
      knobs: { irradiance: null, ambientC: null, cellC: null, loadKw: null }, revertAt: never, before: null,
      weather: options.weatherSource,
    };
  }

  /** Grid at the terminals of a device. The same object as long as nothing changes. */
  gridAt(deviceIndex: number, t: SimTime): GridValues {
    return this.#gridValues(this.#localGrid.size > 0 ? this.#gridOf(deviceIndex) : this.#grid, t);
  }

  /** Whether grid values move by themselves at `t`: sub-steps must be short then. */
  gridMoves(deviceIndex: number, t: SimTime): boolean {
    const setting = inForce(this.#gridOf(deviceIndex), t);
    return setting.source === 'csv' || t < setting.end;
  }

  weatherAt(deviceIndex: number, t: SimTime, out: WeatherNow): void {
    const { knobs, weather } = inForce(this.#surroundingsOf(deviceIndex), t);
    const source = weather === 'csv' ? this.#options.weather.csv : this.#options.weather.clear_sky(deviceIndex);
    source.at(this.#options.seriesTime(t), t, out);
    out.irradianceWm2 = knobAt(knobs.irradiance, t) ?? out.irradianceWm2;
    out.ambientTemperatureC = knobAt(knobs.ambientC, t) ?? out.ambientTemperatureC;
    out.cellTemperatureC = knobAt(knobs.cellC, t);
  }

  /** The next instant after `t` at which something starts or ends for a device: a sub-step must end there. */
  nextEvent(deviceIndex: number, t: SimTime): number {
    const grid = inForce(this.#gridOf(deviceIndex), t);
    const around = inForce(this.#surroundingsOf(deviceIndex), t);
    let next = Math.min(grid.revertAt, around.revertAt);
    if (grid.end > t && grid.end < next) next = grid.end;
    for (const name of knobNames) {
      const knob = around.knobs[name];
      if (knob && knob.end > t && knob.end < next) next = knob.end;
    }
    return next;
  }

  /**
   * @throws SimError COMMAND_BAD_VALUE for a patch that says nothing or says two things,
   *   COMMAND_CONFLICT when `csv` is asked for and there is no grid profile, or too many changes are pending
   */
  setGrid(patch: GridPatch, now: SimTime, deviceIndex?: number): void {
    checkPatch(patch, deviceIndex);
    if (deviceIndex === undefined) {
      this.#grid = this.#patchedGrid(this.#grid, patch, now);
      this.#localGrid.clear();
    } else if (patch.source === 'csv') {
      this.#localGrid.delete(deviceIndex);
    } else {
      this.#localGrid.set(deviceIndex, this.#patchedGrid(this.#gridOf(deviceIndex), patch, now));
    }
  }

  /** Values in force; volts are for who knows the nominal voltage. */
  grid(t: SimTime, deviceIndex?: number): Omit<GridNow, 'voltageLnV' | 'voltageLlV'> {
    const setting = inForce(deviceIndex === undefined ? this.#grid : this.#gridOf(deviceIndex), t);
    const values = this.#gridValues(setting, t);
    return {
      voltageAPu: values.aPu, voltageBPu: values.bPu, voltageCPu: values.cPu, frequencyHz: values.hz,
      phaseAngleDeg: values.angleDeg, source: setting.source, outage: setting.outage,
      rampRemainingS: Math.max(0, secondsBetween(t, setting.end)),
      durationRemainingS: Number.isFinite(setting.revertAt) ? secondsBetween(t, setting.revertAt as SimTime) : null,
    };
  }

  /** @throws SimError COMMAND_BAD_VALUE, COMMAND_CONFLICT as `setGrid` */
  setSurroundings(patch: SurroundingsPatch, now: SimTime, deviceIndex?: number): void {
    checkPatch(patch, deviceIndex);
    if (deviceIndex === undefined) {
      this.#surroundings = this.#patchedSurroundings(this.#surroundings, patch, now, deviceIndex);
      this.#localSurroundings.clear();
    } else if (patch.source === 'csv') {
      this.#localSurroundings.delete(deviceIndex);
    } else {
      const present = this.#surroundingsOf(deviceIndex);
      this.#localSurroundings.set(deviceIndex, this.#patchedSurroundings(present, patch, now, deviceIndex));
    }
  }

  surroundings(t: SimTime, deviceIndex?: number): SurroundingsNow {
    const around = inForce(deviceIndex === undefined ? this.#surroundings : this.#surroundingsOf(deviceIndex), t);
    const out: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    this.weatherAt(deviceIndex ?? commonIndex, t, out);
    const ends = knobNames.map((name) => around.knobs[name]?.end ?? t);
    return {
      ...out, loadKw: knobAt(around.knobs.loadKw, t) ?? 0, source: around.knobs.irradiance ? 'const' : around.weather,
      rampRemainingS: Math.max(0, secondsBetween(t, Math.max(...ends) as SimTime)),
      durationRemainingS: Number.isFinite(around.revertAt) ? secondsBetween(t, around.revertAt as SimTime) : null,
    };
  }

  /** Ends the local deviations of a device (reset). */
  clearLocal(deviceIndex: number): void {
    this.#localGrid.delete(deviceIndex);
    this.#localSurroundings.delete(deviceIndex);
  }

  #gridOf(deviceIndex: number): GridSetting {
    return this.#localGrid.get(deviceIndex) ?? this.#grid;
  }

  #surroundingsOf(deviceIndex: number): SurroundingsSetting {
    return this.#localSurroundings.get(deviceIndex) ?? this.#surroundings;
  }

  #gridValues(stored: GridSetting, t: SimTime): GridValues {
    const setting = inForce(stored, t);
    if (setting.outage) return dead;
    return this.#energizedValues(setting, t);
  }

  #energizedValues(setting: GridSetting, t: SimTime): GridValues {
    const { gridProfile, seriesTime } = this.#options;
    if (setting.source === 'csv' && gridProfile) {
      const at = seriesTime(t);
      const pu = gridProfile.at('voltage_pu', at);
      return { aPu: pu, bPu: pu, cPu: pu, hz: gridProfile.at('frequency_hz', at), angleDeg: 0 };
    }
    if (t >= setting.end) return setting.to;
    const x = fraction(setting.start, setting.end, t);
    const { from, to } = setting;
    return {
      aPu: lerp(from.aPu, to.aPu, x), bPu: lerp(from.bPu, to.bPu, x), cPu: lerp(from.cPu, to.cPu, x),
      hz: lerp(from.hz, to.hz, x), angleDeg: lerp(from.angleDeg, to.angleDeg, x),
    };
  }

  #patchedGrid(stored: GridSetting, patch: GridPatch, now: SimTime): GridSetting {
    if (patch.source === 'csv' && !this.#options.gridProfile) {
      throw new SimError('COMMAND_CONFLICT', 'there is no grid profile; start with --grid_profile FILE');
    }
    const active = inForce(stored, now);
    const from = this.#energizedValues(active, now);
    const all = patch.voltagePu;
    // taken from the series, the values of the moment stay
    const holds = patch.source === 'const' && active.source === 'csv';
    const to: GridValues = {
      aPu: patch.voltageAPu ?? all ?? from.aPu, bPu: patch.voltageBPu ?? all ?? from.bPu,
      cPu: patch.voltageCPu ?? all ?? from.cPu, hz: patch.frequencyHz ?? from.hz,
      angleDeg: patch.phaseAngleDeg ?? from.angleDeg,
    };
    const touchesValues = holds || all !== undefined || patch.voltageAPu !== undefined || patch.voltageBPu !== undefined
      || patch.voltageCPu !== undefined || patch.frequencyHz !== undefined || patch.phaseAngleDeg !== undefined;
    return {
      from: touchesValues ? from : active.from, to: touchesValues ? to : active.to, start: touchesValues ? now : active.start,
      end: touchesValues ? addSeconds(now, patch.rampS ?? 0) : active.end,
      source: patch.source ?? (touchesValues ? 'const' : active.source),
      outage: patch.outage ?? active.outage,
      ...lifetime(active, now, patch.durationS),
    };
  }

  #patchedSurroundings(
    stored: SurroundingsSetting, patch: SurroundingsPatch, now: SimTime, deviceIndex: number | undefined,
  ): SurroundingsSetting {
    const active = inForce(stored, now);
    const present: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    this.weatherAt(deviceIndex ?? commonIndex, now, present);
    const end = addSeconds(now, patch.rampS ?? 0);
    const turn = (name: KnobName, to: number | null | undefined, from: number | null): Knob | null => {
      if (to === undefined) return active.knobs[name];
      // a value that did not exist before has nothing to ramp from
      return to === null ? null : { from: from ?? to, to, start: now, end };
    };
    const released = patch.source === 'csv' || patch.source === 'clear_sky';
    const held = patch.source === 'const' && !active.knobs.irradiance ? present.irradianceWm2 : undefined;
    const irradiance = patch.irradianceWm2 ?? (released || patch.irradianceWm2 === null ? null : held);
    return {
      knobs: {
        irradiance: turn('irradiance', irradiance, present.irradianceWm2),
        ambientC: turn('ambientC', patch.ambientTemperatureC, present.ambientTemperatureC),
        cellC: turn('cellC', patch.cellTemperatureC, present.cellTemperatureC),
        loadKw: turn('loadKw', patch.loadKw, knobAt(active.knobs.loadKw, now) ?? 0),
      },
      weather: released ? patch.source : active.weather,
      ...lifetime(active, now, patch.durationS),
    };
  }
}

/** Stands for no device in particular: the common surroundings, at the site of the first device. */
const commonIndex = -1;

/** A patch must say something, and ending a local deviation says everything. */
function checkPatch(patch: GridPatch | SurroundingsPatch, deviceIndex: number | undefined): void {
  const values = Object.entries(patch).filter(([name, value]) => value !== undefined && name !== 'rampS' && name !== 'durationS');
  if (values.length === 0) throw new SimError('COMMAND_BAD_VALUE', 'a ramp or duration alone changes nothing: give a value');
  if (deviceIndex !== undefined && patch.source === 'csv' && values.length > 1) {
    throw new SimError('COMMAND_BAD_VALUE', 'source csv ends the deviation of this device and goes with no other value');
  }
}
