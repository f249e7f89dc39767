/** What the stack shows while it moves: double layer and air supply lag behind; both exact for any step. */
import { zeroCelsiusK } from '../shared.ts';

const fuelCellTauS = 0.5;
const electrolyserTauS = 5;
const airTauS = 1.5;
/** a lag this close to its end is there */
const settledTolerance = 1e-9;
/** less oxygen than this part of the steady amount does not lower the voltage further: control backs off */
const minAirShare = 0.25;
const nernstVK = 4.308e-5 / 2;

/** Voltage and air supply of a stack on their way. */
export class StackLags {
  #voltageV = 0;
  #airW = 0;

  /** Moves towards the static voltage, V, and the air for this gross power, W; - in electrolysis. */
  follow(staticV: number, grossW: number, dtS: number): void {
    this.#voltageV = lag(this.#voltageV, staticV, grossW < 0 ? electrolyserTauS : fuelCellTauS, dtS);
    this.#airW = lag(this.#airW, Math.max(0, grossW), airTauS, dtS);
  }

  settle(staticV: number, grossW: number): void {
    this.#voltageV = staticV;
    this.#airW = Math.max(0, grossW);
  }

  /** Voltage now, V: less while air is missing. */
  voltageV(grossW: number, cells: number, temperatureC: number): number {
    if (!(grossW > 0) || this.#airW >= grossW) return this.#voltageV;
    const share = Math.max(minAirShare, this.#airW / grossW);
    return this.#voltageV + cells * nernstVK * (temperatureC + zeroCelsiusK) * Math.log(share);
  }
}

function lag(from: number, to: number, tauS: number, dtS: number): number {
  if (from === to) return to;
  const next = to - (to - from) * Math.exp(-dtS / tauS);
  return Math.abs(next - to) <= settledTolerance * Math.abs(to) ? to : next;
}
