/** Samples of the curve of a solved PV array. */
import type { IvPoint } from '../../../contract/device.ts';
import { lastSample } from '../dc-curve.ts';
import type { DiodeParameters, MaximumPowerPoint } from './module.ts';
import { currentAt } from './module.ts';
import { shadedCurve, stringMaximum } from './shading.ts';
import type { ShadedString } from './shading.ts';

/** A curve of an array: V, A, W. */
export interface PvCurve {
  readonly curve: readonly IvPoint[];
  /** null in darkness */
  readonly mpp: IvPoint | null;
  readonly vOcV: number;
  readonly iScA: number;
}

interface Modules {
  readonly seriesCount: number;
  readonly parallelCount: number;
}

/** An array solved for one irradiance and temperature; immutable. */
export class SolvedArray {
  readonly #modules: Modules;
  readonly #parameters: DiodeParameters;
  readonly #mpp: MaximumPowerPoint;
  readonly #string: ShadedString | null;

  /**
   * @param parameters parameters of one module
   * @param mpp maximum power point of one module
   * @param string one string with its shaded modules; null: all modules are equal
   */
  constructor(modules: Modules, parameters: DiodeParameters, mpp: MaximumPowerPoint, string: ShadedString | null) {
    this.#modules = modules;
    this.#parameters = parameters;
    this.#mpp = mpp;
    this.#string = string;
  }

  /**
   * Samples from 0 V to open circuit, with the maximum power point among them. In darkness a single sample of zeros.
   * @param points number of samples; fewer than 3 count as 3, more than 1000 as 1000
   */
  curve(points: number): PvCurve {
    const { seriesCount, parallelCount } = this.#modules;
    if (this.#string) return shadedSamples(this.#string, parallelCount, points);
    const mpp = this.#mpp;
    if (!(mpp.p > 0)) return { curve: [{ v: 0, i: 0, p: 0 }], mpp: null, vOcV: 0, iScA: 0 };
    const peak = { v: mpp.v * seriesCount, i: mpp.i * parallelCount, p: mpp.p * seriesCount * parallelCount };
    const last = lastSample(points);
    // the maximum replaces its nearest sample, but never one of the two ends
    const peakAt = Math.min(Math.max(Math.round((mpp.v / mpp.voc) * last), 1), last - 1);
    const curve: IvPoint[] = [];
    for (let at = 0; at <= last; at++) {
      const v = at === last ? mpp.voc : (mpp.voc * at) / last;
      const i = at === last ? 0 : currentAt(this.#parameters, v);
      const sample = { v: v * seriesCount, i: i * parallelCount, p: v * i * seriesCount * parallelCount };
      curve.push(at === peakAt ? peak : sample);
    }
    return { curve, mpp: peak, vOcV: mpp.voc * seriesCount, iScA: mpp.isc * parallelCount };
  }
}

function shadedSamples(string: ShadedString, parallelCount: number, points: number): PvCurve {
  const scaled = ({ v, i, p }: IvPoint): IvPoint => ({ v, i: i * parallelCount, p: p * parallelCount });
  const maximum = stringMaximum(string);
  return {
    curve: shadedCurve(string, points).map(scaled),
    mpp: maximum.p > 0 ? scaled(maximum) : null,
    vOcV: maximum.voc,
    iScA: maximum.isc * parallelCount,
  };
}
