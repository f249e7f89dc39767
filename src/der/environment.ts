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
  return { revertAt, before };
}

const dead: GridValues = { aPu: 0, bPu: 0, cPu: 0, hz: 0, angleDeg: 0 };

interface Knob extends Transition<number> {
  readonly fixed: boolean;
}

interface SurroundingsSetting {
  /** null: from the weather */
  readonly irradiance: Knob | null;
  readonly ambientC: number | null;
  readonly cellC: number | null;
  readonly loadKw: number;
  readonly revertAt: number;
  readonly before: SurroundingsSetting | null;
  readonly weather: Weather;
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
  readonly weather: { readonly csv: Weather; readonly clear_sky: Weather };
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
      irradiance: null, ambientC: null, cellC: null, loadKw: 0, revertAt: never, before: null,
      weather: options.weather[options.weatherSource],
    };
  }

  /** Grid at the terminals of a device. The same object as long as nothing changes. */
  gridAt(deviceIndex: number, t: SimTime): GridValues {
    return this.#gridValues(this.#localGrid.size > 0 ? this.#gridOf(deviceIndex) : this.#grid, t);
  }

  /** Whether grid values move by themselves at `t`: sub-steps must be short then. */
  gridMoves(deviceIndex: number, t: SimTime): boolean {
    const setting = this.#gridActive(this.#gridOf(deviceIndex), t);
    return setting.source === 'csv' || t < setting.end;
  }

  weatherAt(deviceIndex: number, t: SimTime, out: WeatherNow): void {
    const setting = this.#surroundingsActive(this.#surroundingsOf(deviceIndex), t);
    setting.weather.at(this.#options.seriesTime(t), t, out);
    const { irradiance } = setting;
    if (irradiance) out.irradianceWm2 = lerp(irradiance.from, irradiance.to, fraction(irradiance.start, irradiance.end, t));
    if (setting.ambientC !== null) out.ambientTemperatureC = setting.ambientC;
    out.cellTemperatureC = setting.cellC;
  }

  /** The next instant after `t` at which something starts or ends for a device: a sub-step must end there. */
  nextEvent(deviceIndex: number, t: SimTime): number {
    const grid = this.#gridActive(this.#gridOf(deviceIndex), t);
    const around = this.#surroundingsActive(this.#surroundingsOf(deviceIndex), t);
    let next = Math.min(grid.revertAt, around.revertAt);
    if (grid.end > t && grid.end < next) next = grid.end;
    if (around.irradiance && around.irradiance.end > t && around.irradiance.end < next) next = around.irradiance.end;
    return next;
  }

  /** @throws SimError COMMAND_CONFLICT when `csv` is asked for and there is no grid profile */
  setGrid(patch: GridPatch, now: SimTime, deviceIndex?: number): void {
    if (deviceIndex === undefined) {
      this.#grid = this.#patchedGrid(this.#grid, patch, now);
      this.#localGrid.clear();
    } else if (patch.source === 'csv') {
      this.#localGrid.delete(deviceIndex);
    } else {
      this.#localGrid.set(deviceIndex, this.#patchedGrid(this.#gridOf(deviceIndex), patch, now));
    }
  }

  grid(t: SimTime, deviceIndex?: number): GridNow {
    const setting = this.#gridActive(deviceIndex === undefined ? this.#grid : this.#gridOf(deviceIndex), t);
    const values = this.#gridValues(setting, t);
    return {
      voltageAPu: values.aPu, voltageBPu: values.bPu, voltageCPu: values.cPu, frequencyHz: values.hz,
      phaseAngleDeg: values.angleDeg, source: setting.source, outage: setting.outage,
      rampRemainingS: Math.max(0, secondsBetween(t, setting.end)),
      durationRemainingS: Number.isFinite(setting.revertAt) ? secondsBetween(t, setting.revertAt as SimTime) : null,
    };
  }

  setSurroundings(patch: SurroundingsPatch, now: SimTime, deviceIndex?: number): void {
    if (deviceIndex === undefined) {
      this.#surroundings = this.#patchedSurroundings(this.#surroundings, patch, now);
      this.#localSurroundings.clear();
    } else if (patch.source === 'csv') {
      this.#localSurroundings.delete(deviceIndex);
    } else {
      const present = this.#surroundingsOf(deviceIndex);
      this.#localSurroundings.set(deviceIndex, this.#patchedSurroundings(present, patch, now));
    }
  }

  surroundings(t: SimTime, deviceIndex?: number): SurroundingsNow {
    const around = this.#surroundingsActive(deviceIndex === undefined ? this.#surroundings : this.#surroundingsOf(deviceIndex), t);
    const out: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    this.weatherAt(deviceIndex ?? -1, t, out);
    return {
      ...out, loadKw: around.loadKw, source: around.irradiance ? 'const' : around.weather.source,
      rampRemainingS: around.irradiance ? Math.max(0, secondsBetween(t, around.irradiance.end)) : 0,
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

  #gridActive(setting: GridSetting, t: SimTime): GridSetting {
    return t >= setting.revertAt && setting.before ? this.#gridActive(setting.before, t) : setting;
  }

  #surroundingsActive(setting: SurroundingsSetting, t: SimTime): SurroundingsSetting {
    return t >= setting.revertAt && setting.before ? this.#surroundingsActive(setting.before, t) : setting;
  }

  #gridValues(stored: GridSetting, t: SimTime): GridValues {
    const setting = this.#gridActive(stored, t);
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
    const active = this.#gridActive(stored, now);
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

  #patchedSurroundings(stored: SurroundingsSetting, patch: SurroundingsPatch, now: SimTime): SurroundingsSetting {
    const active = this.#surroundingsActive(stored, now);
    const weather = patch.source === 'csv' || patch.source === 'clear_sky' ? this.#options.weather[patch.source] : active.weather;
    const present = this.#irradianceOf(active, now);
    const keep = patch.source === undefined || patch.source === 'const' ? active.irradiance : null;
    const end = addSeconds(now, patch.rampS ?? 0);
    const hold = (to: number): Knob => ({ from: present, to, start: now, end, fixed: true });
    let irradiance = keep;
    if (patch.irradianceWm2 === null) irradiance = null;
    else if (patch.irradianceWm2 !== undefined) irradiance = hold(patch.irradianceWm2);
    else if (patch.source === 'const' && !keep) irradiance = hold(present);
    return {
      irradiance, weather,
      ambientC: patch.ambientTemperatureC === undefined ? active.ambientC : patch.ambientTemperatureC,
      cellC: patch.cellTemperatureC === undefined ? active.cellC : patch.cellTemperatureC,
      loadKw: patch.loadKw === undefined ? active.loadKw : patch.loadKw ?? 0,
      ...lifetime(active, now, patch.durationS),
    };
  }

  #irradianceOf(setting: SurroundingsSetting, t: SimTime): number {
    if (setting.irradiance) return lerp(setting.irradiance.from, setting.irradiance.to, fraction(setting.irradiance.start, setting.irradiance.end, t));
    const out: WeatherNow = { irradianceWm2: 0, ambientTemperatureC: 0, cellTemperatureC: null, windSpeedMS: 0 };
    setting.weather.at(this.#options.seriesTime(t), t, out);
    return out.irradianceWm2;
  }
}
