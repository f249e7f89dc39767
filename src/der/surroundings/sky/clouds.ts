/** Clouds as a clear-sky index over time. */
import { createRandom } from '../../../core/random.ts';
import type { RandomStream } from '../../../core/random.ts';

export const cloudPresets = ['clear', 'scattered', 'broken', 'overcast'] as const;
export type CloudPreset = (typeof cloudPresets)[number];

/** Passage of clouds, and the light that they transmit. */
export interface CloudSky {
  /** mean time between clouds, s; 0: always under a cloud */
  readonly clearStayS: number;
  /** mean time under a cloud, s; 0: no clouds */
  readonly cloudyStayS: number;
  /** clear-sky index between and under clouds */
  readonly clearIndex: number;
  readonly cloudyIndex: number;
  /** standard deviation of the fast random part between and under clouds */
  readonly clearSigma: number;
  readonly cloudySigma: number;
}

const skies: Readonly<Record<CloudPreset, CloudSky>> = {
  clear: { clearStayS: 900, cloudyStayS: 0, clearIndex: 1, cloudyIndex: 1, clearSigma: 0, cloudySigma: 0 },
  scattered: {
    clearStayS: 900,
    cloudyStayS: 300,
    clearIndex: 1,
    cloudyIndex: 0.4,
    clearSigma: 0.05,
    cloudySigma: 0.12,
  },
  broken: { clearStayS: 300, cloudyStayS: 450, clearIndex: 1, cloudyIndex: 0.35, clearSigma: 0.05, cloudySigma: 0.12 },
  overcast: { clearStayS: 0, cloudyStayS: 900, clearIndex: 1, cloudyIndex: 0.25, clearSigma: 0, cloudySigma: 0.06 },
};

const minIndex = 0.05;
const maxIndex = 1.25;
const stepS = 1;
/** A cloud edge needs this long to cross the array. */
const smoothingS = 20;
/** Time constant of the quick random part. */
const quickS = 60;
const smoothingKept = Math.exp(-stepS / smoothingS);
const quickKept = Math.exp(-stepS / quickS);
const quickFresh = Math.sqrt(1 - quickKept * quickKept);
/** Time until the bright rim of a leaving cloud shows: the shadow has almost left the array. */
const rimDelayS = 2 * smoothingS;

/**
 * The clear-sky index under passing clouds: a two-state chain smoothed by the size of the array, a quick
 * random part, and the overshoot at the rim of a leaving cloud. One step is one second of simulated time,
 * whatever the tick, so that the index depends on seed and preset only.
 */
export class CloudProcess {
  readonly #sky: CloudSky;
  readonly #random: RandomStream;
  #cloudy: boolean;
  #smooth: number;
  #quick: number;
  /** time until the end of the rim */
  #rimEndsInS = 0;
  /** duration of the rim */
  #rimS = 0;
  #rimHeight = 0;

  /**
   * @param section independent stretch of the same sky, for random access
   * @param sky default: the sky of the preset
   */
  constructor(seed: number, preset: CloudPreset, section?: number, sky: CloudSky = skies[preset]) {
    this.#random = createRandom(seed, 'clouds', preset, ...(section === undefined ? [] : [section]));
    this.#sky = sky;
    this.#cloudy = this.#random.next() < sky.cloudyStayS / (sky.clearStayS + sky.cloudyStayS);
    this.#smooth = this.#cloudy ? sky.cloudyIndex : sky.clearIndex;
    this.#quick = this.#random.normal();
  }

  /** The clear-sky index of the next second, 0.05 to 1.25. */
  step(): number {
    const sky = this.#sky;
    this.#turn();
    const goal = this.#cloudy ? sky.cloudyIndex : sky.clearIndex;
    this.#smooth = goal + (this.#smooth - goal) * smoothingKept;
    this.#quick = this.#quick * quickKept + quickFresh * this.#random.normal();
    // the deviation follows the shadow, since the state would make the index jump
    const depth = sky.clearIndex - sky.cloudyIndex;
    const shade = depth > 0 ? Math.min(Math.max((sky.clearIndex - this.#smooth) / depth, 0), 1) : 0;
    const sigma = sky.clearSigma + (sky.cloudySigma - sky.clearSigma) * shade;
    return Math.min(Math.max(this.#smooth + sigma * this.#quick + this.#rim(), minIndex), maxIndex);
  }

  /** Begins or ends a cloud at random. */
  #turn(): void {
    const sky = this.#sky;
    const chance = this.#random.next();
    if (sky.clearStayS === 0 || sky.cloudyStayS === 0) return;
    if (chance >= stepS / (this.#cloudy ? sky.cloudyStayS : sky.clearStayS)) return;
    this.#cloudy = !this.#cloudy;
    if (this.#cloudy) {
      this.#rimEndsInS = 0;
      this.#rimS = 0;
    } else {
      this.#rimS = 10 + Math.floor(21 * this.#random.next());
      this.#rimEndsInS = rimDelayS + this.#rimS;
      this.#rimHeight = 0.05 + 0.2 * this.#random.next();
    }
  }

  /** Half a sine wave over the rim, 0 outside. */
  #rim(): number {
    if (this.#rimEndsInS <= 0) return 0;
    this.#rimEndsInS -= stepS;
    if (this.#rimEndsInS >= this.#rimS) return 0;
    return this.#rimHeight * Math.sin((Math.PI * this.#rimEndsInS) / this.#rimS);
  }
}

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
