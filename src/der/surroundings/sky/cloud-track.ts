import { CloudProcess } from './clouds.ts';
import type { CloudPreset } from './clouds.ts';

const hourS = 3600;
/** Adjacent hours are blended over this time, so that the index has no step. */
const blendS = 60;

/**
 * The clear-sky index of every simulated second, in any order: each hour is its own cloud process, seeded by its
 * number, and is generated only when it is read.
 */
export class CloudTrack {
  readonly #seed: number;
  readonly #preset: CloudPreset;
  readonly #hours = new Map<number, Float64Array>();

  constructor(seed: number, preset: CloudPreset) {
    this.#seed = seed;
    this.#preset = preset;
  }

  /** The index of a whole second. */
  at(second: number): number {
    const hour = Math.floor(second / hourS);
    const offset = second - hour * hourS;
    const presentHour = this.#hour(hour)[offset + blendS] ?? 1;
    const blend = (offset - (hourS - blendS)) / blendS;
    if (blend <= 0) return presentHour;
    return presentHour + ((this.#hour(hour + 1)[offset - (hourS - blendS)] ?? presentHour) - presentHour) * blend;
  }

  /** Drops the hours that end before a second. */
  forgetBefore(second: number): void {
    for (const hour of this.#hours.keys()) if ((hour + 1) * hourS < second) this.#hours.delete(hour);
  }

  /** The samples of an hour, begun `blendS` before it. */
  #hour(hour: number): Float64Array {
    let samples = this.#hours.get(hour);
    if (!samples) {
      const process = new CloudProcess(this.#seed, this.#preset, hour);
      samples = Float64Array.from({ length: hourS + blendS }, () => process.step());
      this.#hours.set(hour, samples);
    }
    return samples;
  }
}
