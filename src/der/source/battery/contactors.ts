import type { BatteryContactor } from '../../../contract/kinds/battery.ts';
import type { BatteryBank } from './bank.ts';

const preChargeS = 2;
/** A string closes onto a live bus only when the voltages differ by less than this share. */
const matchShare = 0.02;
/** A string that waits longer than this for a matching voltage is reported as stuck. */
const waitingS = 30;
const roundingS = 1e-9;

/** The contactor of each string: open, closing with pre-charge, closed. */
export class Contactors {
  readonly #bank: BatteryBank;
  readonly #requested: Uint8Array;
  readonly #closingS: Float64Array;
  #held = false;
  #closing = 0;

  constructor(bank: BatteryBank) {
    this.#bank = bank;
    this.#requested = new Uint8Array(bank.stringCount).fill(1);
    this.#closingS = new Float64Array(bank.stringCount);
  }

  state(k: number): BatteryContactor {
    if (this.#bank.closed[k] === 1) return 'closed';
    return this.#requested[k] === 1 && !this.#held ? 'closing' : 'open';
  }

  /** number of strings that are closing */
  get closing(): number {
    return this.#closing;
  }

  /** A string has waited too long for a matching voltage. */
  get stuck(): boolean {
    return this.#closing > 0 && this.#closingS.some((s) => s > waitingS + preChargeS);
  }

  /** Time to the next end of a pre-charge, s; Infinity when none runs. */
  get nextS(): number {
    if (this.#closing === 0) return Infinity;
    let next = Infinity;
    for (let k = 0; k < this.#closingS.length; k += 1) {
      const left = preChargeS - (this.#closingS[k] ?? 0);
      if (this.state(k) === 'closing' && left > roundingS) next = Math.min(next, left);
    }
    return next;
  }

  request(k: number, closed: boolean): void {
    if ((this.#requested[k] === 1) === closed) return;
    this.#requested[k] = closed ? 1 : 0;
    this.#closingS[k] = 0;
    if (!closed) this.#bank.setClosed(k, false);
    this.#count();
  }

  requestAll(closed: boolean): void {
    for (let k = 0; k < this.#requested.length; k += 1) this.request(k, closed);
  }

  /** A fault opens every string and holds it open. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#closingS.fill(0);
    if (held) for (let k = 0; k < this.#requested.length; k += 1) this.#bank.setClosed(k, false);
    this.#count();
  }

  /** Closes every requested string without pre-charge, unless a fault holds them open. */
  closeAtOnce(): void {
    this.#closingS.fill(0);
    for (let k = 0; k < this.#requested.length; k += 1)
      this.#bank.setClosed(k, this.#requested[k] === 1 && !this.#held);
    this.#count();
  }

  /** @returns whether a string has closed */
  advance(dtS: number): boolean {
    if (this.#closing === 0) return false;
    let changed = false;
    for (let k = 0; k < this.#requested.length; k += 1) {
      if (this.state(k) !== 'closing') continue;
      const closingS = (this.#closingS[k] ?? 0) + dtS;
      this.#closingS[k] = closingS;
      if (closingS < preChargeS - roundingS || !this.#matches(k)) continue;
      this.#bank.setClosed(k, true);
      this.#closingS[k] = 0;
      changed = true;
    }
    if (changed) this.#count();
    return changed;
  }

  /** True if the string voltage fits that of the bus; the first string closes onto a dead bus. */
  #matches(k: number): boolean {
    const bank = this.#bank;
    if (bank.closedCount === 0) return true;
    const busV = bank.busEmfV - bank.busCurrentA * bank.busOhm;
    return Math.abs((bank.emfV[k] ?? 0) - busV) < matchShare * busV;
  }

  #count(): void {
    this.#closing = 0;
    for (let k = 0; k < this.#requested.length; k += 1) if (this.state(k) === 'closing') this.#closing += 1;
  }
}
