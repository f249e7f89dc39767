/** Transient voltage of a stack: double layer and air supply lag behind. Exact for any step. */
import { zeroCelsiusK } from '../shared.ts';

const fuelCellTauS = 0.5;
const electrolyserTauS = 5;
const airTauS = 1.5;
/** a lag this close to its end has ended */
const settledTolerance = 1e-9;
/**
 * share of the steady amount of oxygen below which the voltage falls no further, because the control reduces the load
 */
const minAirShare = 0.25;
const nernstVK = 4.308e-5 / 2;

/** Lagging voltage and air supply of a stack. */
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

  /** Present voltage, V; lower while air is missing. */
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
