/** Share of the capacity by which the state of charge must come back before a blocked direction opens again. */
const hysteresis = 0.01;
/** Closer to a bound than this counts as there. */
const boundTolerance = 1e-6;
const rounding = 1e-12;

/** Whether charging or discharging has come to its end, with hysteresis. States of charge are 0..1. */
export class SocWindow {
  lowBlocked = false;
  highBlocked = false;
  #low = NaN;
  #high = NaN;
  /** where the direction opens again */
  #lowOpens = 0;
  #highOpens = 1;

  /** The state of charge has been set from outside: nothing is remembered. */
  reset(): void {
    this.lowBlocked = this.highBlocked = false;
  }

  /** @param empty,full the cells have come to their voltage bounds before the state of charge has */
  update(soc: number, low: number, high: number, empty: boolean, full: boolean): void {
    // a bound that moves is looked at anew
    if (low !== this.#low) this.lowBlocked = false;
    if (high !== this.#high) this.highBlocked = false;
    this.#low = low;
    this.#high = high;
    // a window narrower than the hysteresis must still open somewhere
    const reopenMargin = Math.min(hysteresis, (high - low) / 2);
    if (soc <= low + boundTolerance || empty) {
      if (!this.lowBlocked) this.#lowOpens = Math.max(soc, low) + reopenMargin;
      this.lowBlocked = true;
    } else if (soc >= this.#lowOpens - rounding) {
      this.lowBlocked = false;
    }
    if (soc >= high - boundTolerance || full) {
      if (!this.highBlocked) this.#highOpens = Math.min(soc, high) - reopenMargin;
      this.highBlocked = true;
    } else if (soc <= this.#highOpens + rounding) {
      this.highBlocked = false;
    }
  }
}
