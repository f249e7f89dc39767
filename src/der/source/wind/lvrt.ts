/** Low voltage ride-through of a wind turbine: reactive support, DC chopper, crowbar, recovery of active power. */
import type { LvrtState, WindParameters } from '../../../contract/kinds/wind.ts';
import { keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';

/** Ride-through begins below this voltage. */
const enterPu = 0.88;
/** Ride-through ends above this voltage. */
const leavePu = 0.9;
const maxCurrentPu = 1.1;
/** Time for which the chopper can dissipate rated power in one dip. */
const chopperS = 2;
/** The crowbar of turbine type T3 acts in a dip below this voltage. */
const crowbarPu = 0.3;
/** Time for which the crowbar acts at the start of a dip. */
const crowbarDurationS = 0.1;
const crowbarCurrentPu = -0.2;
const rideStepS = 0.1;

export class LowVoltageRideThrough {
  readonly #p: WindParameters;
  readonly #ratedDcW: number;
  #state: LvrtState = 'normal';
  #terminalPu = 1;
  #dtS = 0;
  #drawnW = 0;
  /** drawn power before the dip */
  #beforeW = 0;
  /** drawn power at the start of the recovery */
  #fromW = 0;
  #recoveringS = 0;
  #crowbarS = 0;
  #chopperJ = 0;
  #limitW = Infinity;

  constructor(parameters: WindParameters, ratedDcW: number) {
    this.#p = parameters;
    this.#ratedDcW = ratedDcW;
  }

  get state(): LvrtState {
    return this.#state;
  }

  /** Maximum DC power in the prepared sub-step, W. */
  get limitW(): number {
    return this.#limitW;
  }

  /** Additional reactive current in the prepared sub-step, of rated current; positive injects. */
  get reactiveCurrentPu(): number {
    if (this.#state !== 'active') return 0;
    if (this.#crowbarS > 0) return crowbarCurrentPu;
    return Math.min(Math.max(this.#p.lvrtGain * (leavePu - this.#terminalPu), 0), maxCurrentPu);
  }

  get maxStepS(): number {
    if (this.#state === 'active') return this.#crowbarS > 0 ? this.#crowbarS : rideStepS;
    if (this.#state !== 'recovering') return Infinity;
    const leftS = this.#p.lvrtRecoveryS - this.#recoveringS;
    return leftS > 0 ? Math.min(rideStepS, leftS) : rideStepS;
  }

  reset(): void {
    this.#state = 'normal';
    this.#drawnW = 0;
    this.#crowbarS = 0;
    this.#limitW = Infinity;
    this.#dtS = 0;
  }

  /** @param terminalPu mean AC voltage over the sub-step @param running false: out of service, no ride-through */
  prepare(dtS: number, terminalPu: number, running: boolean): void {
    // the last sub-step has passed since
    this.#crowbarS = Math.max(0, this.#crowbarS - this.#dtS);
    if (this.#crowbarS < 1e-9) this.#crowbarS = 0;
    this.#dtS = dtS;
    this.#terminalPu = terminalPu;
    this.#updateState(terminalPu, running);
    this.#limitW = this.#limit(dtS);
    if (this.#state === 'recovering') this.#recoveringS += dtS;
  }

  /**
   * Power in W that the chopper dissipates besides the drawn power. A curtailed generator gives no more than before the
   * dip.
   * @param availableW available power of the generator
   */
  chopperW(availableW: number, dcW: number): number {
    if (this.#state !== 'active' || !(this.#dtS > 0)) return 0;
    const surplusW = Math.max(0, Math.min(availableW, this.#beforeW) - dcW);
    return Math.min(surplusW, this.#ratedDcW, this.#chopperJ / this.#dtS);
  }

  draw(dcW: number, chopperW: number, energized: boolean): void {
    this.#drawnW = dcW;
    this.#chopperJ = Math.max(0, this.#chopperJ - chopperW * this.#dtS);
    if (energized) {
      if (this.#state === 'tripped') this.#state = this.#terminalPu < enterPu ? 'active' : 'normal';
    } else if (this.#state === 'active') {
      this.#state = 'tripped';
    }
  }

  /** State that a restart keeps; the limit is set at the begin of each sub-step. */
  kept(): Kept {
    return keptRecord(
      () => ({
        state: this.#state,
        terminalPu: this.#terminalPu,
        dtS: this.#dtS,
        drawnW: this.#drawnW,
        beforeW: this.#beforeW,
        fromW: this.#fromW,
        recoveringS: this.#recoveringS,
        crowbarS: this.#crowbarS,
        chopperJ: this.#chopperJ,
      }),
      (values) => {
        this.#state = values.state;
        this.#terminalPu = values.terminalPu;
        this.#dtS = values.dtS;
        this.#drawnW = values.drawnW;
        this.#beforeW = values.beforeW;
        this.#fromW = values.fromW;
        this.#recoveringS = values.recoveringS;
        this.#crowbarS = values.crowbarS;
        this.#chopperJ = values.chopperJ;
      },
    );
  }

  #updateState(pu: number, running: boolean): void {
    if (!running) {
      if (this.#state !== 'tripped') this.#state = 'normal';
      return;
    }
    if (pu < enterPu && (this.#state === 'normal' || this.#state === 'recovering')) {
      if (this.#state === 'normal') {
        this.#beforeW = this.#drawnW;
        this.#chopperJ = chopperS * this.#ratedDcW;
      }
      this.#state = 'active';
      if (this.#p.turbineType === 'T3' && pu < crowbarPu) this.#crowbarS = crowbarDurationS;
    } else if (pu > leavePu && this.#state === 'active') {
      this.#state = 'recovering';
      this.#fromW = this.#drawnW;
      this.#recoveringS = 0;
      this.#crowbarS = 0;
    } else if (this.#state === 'recovering' && this.#recoveringS >= this.#p.lvrtRecoveryS - 1e-9) {
      this.#state = 'normal';
    }
  }

  #limit(dtS: number): number {
    if (this.#state === 'active') {
      if (this.#crowbarS > 0) return 0;
      const reactive = this.reactiveCurrentPu;
      return (
        this.#terminalPu * Math.sqrt(Math.max(0, maxCurrentPu * maxCurrentPu - reactive * reactive)) * this.#ratedDcW
      );
    }
    if (this.#state !== 'recovering') return Infinity;
    // linear, so the middle is the mean over the sub-step
    const recoveredShare = Math.min(1, (this.#recoveringS + dtS / 2) / this.#p.lvrtRecoveryS);
    return this.#fromW + Math.max(0, this.#beforeW - this.#fromW) * recoveredShare;
  }
}
