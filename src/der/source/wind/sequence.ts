/** State machine of a turbine: start, run and stop. */
import type { WindParameters, WindState } from '../../../contract/kinds/wind.ts';
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';

/** The run ends after `maxCalmS` of mean wind this far below cut-in. */
const calmMarginMS = 0.5;
const maxCalmS = 60;
/** The run ends after `maxGustS` of wind at the hub this far above cut-out. */
const gustMarginMS = 5;
const maxGustS = 3;
/** After a storm the turbine may start again once the mean wind was this far below cut-out for `stormDelayS`. */
const returnMarginMS = 3;
/** The run ends after the generator was disconnected for this time; after a shorter time it continues. */
const maxOutageS = 2;
/** Below this share of the minimum speed the turbine has to run up again. */
const stallShare = 0.7;

/** Inputs of the sequence at the end of a step. */
export interface SequenceInput {
  readonly meanMS: number;
  readonly hubMS: number;
  /** rotor speed as a share of the minimum speed of the generator */
  readonly speedShare: number;
  /** false while the generator is disconnected from the grid */
  readonly energized: boolean;
  /** true if the terminal voltage suffices for a start */
  readonly gridOk: boolean;
}

type Phase = 'stopped' | 'starting' | 'run' | 'high_wind_stop';

export class Sequence {
  readonly #p: WindParameters;
  phase: Phase = 'stopped';
  /** times for which the condition of each delay has lasted */
  #windyS = 0;
  #calmS = 0;
  #gustS = 0;
  #fairS = 0;
  #outageS = 0;
  /** wind at the hub at the end of the last step */
  #hubMS = 0;

  constructor(parameters: WindParameters) {
    this.#p = parameters;
  }

  get running(): boolean {
    return this.phase === 'run';
  }

  /** @param rated the turbine is at rated power, with the pitch controlling the speed */
  state(rated: boolean): WindState {
    return this.phase === 'run' ? (rated ? 'run_rated' : 'run_mppt') : this.phase;
  }

  /** Jumps to the state under a steady wind. @param meanMS mean wind at hub height */
  settle(meanMS: number): void {
    this.#windyS = meanMS >= this.#p.cutInMS ? this.#p.startDelayS : 0;
    this.#calmS = 0;
    this.#gustS = 0;
    this.#fairS = 0;
    this.#outageS = 0;
    this.#hubMS = meanMS;
    if (meanMS > this.#p.cutOutMS) this.phase = 'high_wind_stop';
    else this.phase = meanMS >= this.#p.cutInMS ? 'run' : 'stopped';
  }

  /**
   * Time until the delay of the start or of the return after a storm ends if the wind stays, s; Infinity: neither runs.
   */
  get nextDueS(): number {
    if (this.phase === 'stopped' && this.#windyS > 0) return Math.max(0, this.#p.startDelayS - this.#windyS);
    if (this.phase === 'high_wind_stop' && this.#fairS > 0) return Math.max(0, this.#p.stormDelayS - this.#fairS);
    return Infinity;
  }

  advance(stepS: number, input: SequenceInput): void {
    this.#updateDelays(stepS, input);
    const { phase } = this;
    const stormy = input.meanMS > this.#p.cutOutMS || this.#gustS >= maxGustS;
    if (phase === 'high_wind_stop') {
      if (this.#fairS >= this.#p.stormDelayS) this.phase = 'stopped';
    } else if (phase === 'stopped') {
      if (stormy) this.phase = 'high_wind_stop';
      else if (this.#windyS >= this.#p.startDelayS && input.gridOk && input.energized) this.phase = 'starting';
    } else if (stormy) {
      this.phase = 'high_wind_stop';
      this.#fairS = 0;
    } else if (this.#outageS >= maxOutageS || this.#calmS >= maxCalmS) {
      this.phase = 'stopped';
    } else if (phase === 'starting') {
      if (input.speedShare >= 1) this.phase = 'run';
    } else if (input.speedShare < stallShare) {
      this.phase = 'starting';
    }
  }

  /** State that a restart keeps. */
  kept(): Kept {
    return keptRecord(
      () => ({
        phase: this.phase,
        windyS: this.#windyS,
        calmS: this.#calmS,
        gustS: this.#gustS,
        fairS: this.#fairS,
        outageS: this.#outageS,
        hubMS: this.#hubMS,
      }),
      (values) => {
        this.phase = values.phase;
        this.#windyS = values.windyS;
        this.#calmS = values.calmS;
        this.#gustS = values.gustS;
        this.#fairS = values.fairS;
        this.#outageS = values.outageS;
        this.#hubMS = values.hubMS;
      },
    );
  }

  #updateDelays(stepS: number, { meanMS, hubMS, energized }: SequenceInput): void {
    const { cutInMS, cutOutMS } = this.#p;
    this.#windyS = meanMS >= cutInMS ? this.#windyS + stepS : 0;
    this.#calmS = meanMS < cutInMS - calmMarginMS ? this.#calmS + stepS : 0;
    this.#gustS = this.#gustAfter(stepS, hubMS, cutOutMS + gustMarginMS);
    this.#hubMS = hubMS;
    this.#fairS = this.phase === 'high_wind_stop' && meanMS < cutOutMS - returnMarginMS ? this.#fairS + stepS : 0;
    this.#outageS = energized ? 0 : this.#outageS + stepS;
  }

  /** Duration of the gust after a step, s. The wind is linear over a step, so it is exact for any step. */
  #gustAfter(stepS: number, hubMS: number, limitMS: number): number {
    const before = this.#hubMS;
    if (before > limitMS && hubMS > limitMS) return this.#gustS + stepS;
    if (before <= limitMS && hubMS <= limitMS) return 0;
    const aboveS = (stepS * (Math.max(before, hubMS) - limitMS)) / Math.abs(hubMS - before);
    if (hubMS > limitMS) return aboveS;
    const whole = this.#gustS + aboveS;
    return whole >= maxGustS ? whole : 0;
  }
}
