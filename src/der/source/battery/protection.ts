/** Protection of battery strings: contactors, faults that open them, and warnings. */
import type { BatteryContactor, BatteryEvent } from '../../../contract/kinds/battery.ts';
import { keptArray, keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { BatteryBank } from './bank.ts';
import { temperatureBounds } from './cell-spec.ts';
import type { CellSpec } from './cell-spec.ts';

const preChargeS = 2;
/** A string closes onto a live bus only when the voltages differ by less than this share. */
const matchShare = 0.02;
/** A string that waits longer than this for a matching voltage is reported as stuck. */
const stuckAfterS = 30;
const roundingS = 1e-9;

/** The contactor of each string: open, closing with pre-charge, closed. */
export class Contactors {
  readonly #bank: BatteryBank;
  readonly #requested: Uint8Array;
  readonly #preChargedS: Float64Array;
  #heldOpen = false;
  #closingCount = 0;

  constructor(bank: BatteryBank) {
    this.#bank = bank;
    this.#requested = new Uint8Array(bank.stringCount).fill(1);
    this.#preChargedS = new Float64Array(bank.stringCount);
  }

  state(k: number): BatteryContactor {
    if (this.#bank.closed[k] === 1) return 'closed';
    return this.#requested[k] === 1 && !this.#heldOpen ? 'closing' : 'open';
  }

  /** number of strings that are closing */
  get closingCount(): number {
    return this.#closingCount;
  }

  /** True if a string has waited too long for a matching voltage. */
  get stuck(): boolean {
    return this.#closingCount > 0 && this.#preChargedS.some((s) => s > stuckAfterS + preChargeS);
  }

  /** Time to the next end of a pre-charge, s; Infinity when none runs. */
  get nextPreChargeEndS(): number {
    if (this.#closingCount === 0) return Infinity;
    let next = Infinity;
    for (let k = 0; k < this.#preChargedS.length; k += 1) {
      const leftS = preChargeS - (this.#preChargedS[k] ?? 0);
      if (this.state(k) === 'closing' && leftS > roundingS) next = Math.min(next, leftS);
    }
    return next;
  }

  request(k: number, closed: boolean): void {
    if ((this.#requested[k] === 1) === closed) return;
    this.#requested[k] = closed ? 1 : 0;
    this.#preChargedS[k] = 0;
    if (!closed) this.#bank.setClosed(k, false);
    this.#updateClosingCount();
  }

  requestAll(closed: boolean): void {
    for (let k = 0; k < this.#requested.length; k += 1) this.request(k, closed);
  }

  /** @param held true: opens every string and holds it open; false: lets the requested ones close */
  hold(held: boolean): void {
    if (held === this.#heldOpen) return;
    this.#heldOpen = held;
    this.#preChargedS.fill(0);
    if (held) for (let k = 0; k < this.#requested.length; k += 1) this.#bank.setClosed(k, false);
    this.#updateClosingCount();
  }

  /** Closes every requested string without pre-charge, unless a fault holds them open. */
  closeAtOnce(): void {
    this.#preChargedS.fill(0);
    for (let k = 0; k < this.#requested.length; k += 1)
      this.#bank.setClosed(k, this.#requested[k] === 1 && !this.#heldOpen);
    this.#updateClosingCount();
  }

  /** @returns true if a string has closed */
  advance(dtS: number): boolean {
    if (this.#closingCount === 0) return false;
    let changed = false;
    for (let k = 0; k < this.#requested.length; k += 1) {
      if (this.state(k) !== 'closing') continue;
      const preChargedS = (this.#preChargedS[k] ?? 0) + dtS;
      this.#preChargedS[k] = preChargedS;
      if (preChargedS < preChargeS - roundingS || !this.#matches(k)) continue;
      this.#bank.setClosed(k, true);
      this.#preChargedS[k] = 0;
      changed = true;
    }
    if (changed) this.#updateClosingCount();
    return changed;
  }

  /** True if the string voltage fits that of the bus; the first string closes onto a dead bus. */
  #matches(k: number): boolean {
    const bank = this.#bank;
    if (bank.closedCount === 0) return true;
    const busV = bank.busEmfV - bank.busCurrentA * bank.busOhm;
    return Math.abs((bank.emfV[k] ?? 0) - busV) < matchShare * busV;
  }

  #updateClosingCount(): void {
    this.#closingCount = 0;
    for (let k = 0; k < this.#requested.length; k += 1) if (this.state(k) === 'closing') this.#closingCount += 1;
  }

  /** State that a restart keeps; restored after the bank, whose closed strings it counts. */
  kept(): Kept {
    return keptParts({
      requested: keptArray(this.#requested),
      preChargedS: keptArray(this.#preChargedS),
      hold: keptRecord(
        () => ({ open: this.#heldOpen }),
        ({ open }) => {
          this.#heldOpen = open;
          this.#updateClosingCount();
        },
      ),
    });
  }
}

/** Faults that open the strings. */
export type BatteryFault = 'over_temp' | 'under_temp' | 'over_volt' | 'under_volt';

/** Difference of cell voltages from which a warning is active, V. */
const imbalanceV = 0.1;
/** Deviation of a string current from the mean from which a warning is active, share of the mean. */
const imbalanceShare = 0.25;
/** Minimum deviation of a string current for a warning, per nominal charge of a string, 1/h. */
const minDeviationPerHour = 0.1;
/** Voltage of a cell beyond a bound from which a warning is active, V. */
const beyondBoundV = 0.02;

const eventOf: Readonly<Record<BatteryFault, BatteryEvent>> = {
  over_temp: 'OVER_TEMP_ALARM',
  under_temp: 'UNDER_TEMP_ALARM',
  over_volt: 'OVER_VOLT_ALARM',
  under_volt: 'UNDER_VOLT_ALARM',
};

/** Adds the present faults to `to`. @param minV,maxV lowest and highest cell voltage */
export function addFaults(bank: BatteryBank, spec: CellSpec, minV: number, maxV: number, to: Set<BatteryFault>): void {
  for (const temperatureC of bank.temperatureC) {
    if (temperatureC >= temperatureBounds.faultHighC) to.add('over_temp');
    if (temperatureC <= temperatureBounds.faultLowC) to.add('under_temp');
  }
  if (maxV > spec.faultMaxV) to.add('over_volt');
  if (minV < spec.faultMinV) to.add('under_volt');
}

interface EventInput {
  readonly bank: BatteryBank;
  readonly spec: CellSpec;
  readonly faults: ReadonlySet<BatteryFault>;
  readonly minV: number;
  readonly maxV: number;
  /** hard bounds, 0..1 */
  readonly lowSoc: number;
  readonly highSoc: number;
  readonly lowBlocked: boolean;
  readonly highBlocked: boolean;
  readonly contactorStuck: boolean;
}

/** The bits of 802.Evt1 by name. */
export function batteryEvents(input: EventInput): BatteryEvent[] {
  const { bank, spec, faults, minV, maxV } = input;
  const events: BatteryEvent[] = [];
  for (const fault of faults) events.push(eventOf[fault]);
  const add = (event: BatteryEvent, holds: boolean): void => {
    if (holds) events.push(event);
  };
  const soc = bank.meanSoc;
  let [coldestC, hottestC] = [Infinity, -Infinity];
  for (let k = 0; k < bank.stringCount; k += 1) {
    const temperatureC = bank.temperatureC[k] ?? 0;
    if (temperatureC < coldestC) coldestC = temperatureC;
    if (temperatureC > hottestC) hottestC = temperatureC;
  }
  add('OVER_TEMP_WARNING', !faults.has('over_temp') && hottestC > temperatureBounds.warnHighC);
  add('UNDER_TEMP_WARNING', !faults.has('under_temp') && coldestC < temperatureBounds.warnLowC);
  add('OVER_VOLT_WARNING', !faults.has('over_volt') && maxV > spec.maxV + beyondBoundV);
  add('UNDER_VOLT_WARNING', !faults.has('under_volt') && minV < spec.minV - beyondBoundV);
  add('UNDER_SOC_MIN_ALARM', soc < input.lowSoc - nearSoc);
  add('UNDER_SOC_MIN_WARNING', input.lowBlocked);
  add('OVER_SOC_MAX_ALARM', soc > input.highSoc + nearSoc);
  add('OVER_SOC_MAX_WARNING', input.highBlocked);
  add('VOLTAGE_IMBALANCE_WARNING', maxV - minV > imbalanceV);
  add('CURRENT_IMBALANCE_WARNING', hasCurrentImbalance(bank));
  add('CONTACTOR_ERROR', input.contactorStuck);
  return events;
}

/** Tolerance at a bound of the state of charge: half of the step of the reported value. */
const nearSoc = 0.0005;

function hasCurrentImbalance(bank: BatteryBank): boolean {
  if (bank.closedCount < 2) return false;
  const meanA = bank.busCurrentA / bank.closedCount;
  const minA = (minDeviationPerHour * bank.nominalAh) / bank.stringCount;
  let deviationA = 0;
  for (let k = 0; k < bank.stringCount; k += 1) {
    if (bank.closed[k] === 1) deviationA = Math.max(deviationA, Math.abs((bank.currentA[k] ?? 0) - meanA));
  }
  return deviationA > Math.max(minA, imbalanceShare * Math.abs(meanA));
}
