/** Faults that open the strings, and the warnings of model 802 that precede them. */
import type { BatteryEvent } from '../../../contract/kinds/battery.ts';
import type { BatteryBank } from './bank.ts';
import { temperatureBounds } from './cell-spec.ts';
import type { CellSpec } from './cell-spec.ts';

export type BatteryFault = 'over_temp' | 'under_temp' | 'over_volt' | 'under_volt';

/** Warning thresholds: difference of cell voltages in V, and of string currents as a share of the mean. */
const imbalanceV = 0.1;
const imbalanceShare = 0.25;
/** Currents below this share of the nominal charge in an hour are not compared. */
const comparedPerHour = 0.1;
/** Cells this close to a voltage bound give a warning. */
const nearBoundV = 0.02;

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

export interface EventInput {
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
  add('OVER_VOLT_WARNING', !faults.has('over_volt') && maxV > spec.maxV + nearBoundV);
  add('UNDER_VOLT_WARNING', !faults.has('under_volt') && minV < spec.minV - nearBoundV);
  add('UNDER_SOC_MIN_ALARM', soc < input.lowSoc - nearSoc);
  add('UNDER_SOC_MIN_WARNING', input.lowBlocked);
  add('OVER_SOC_MAX_ALARM', soc > input.highSoc + nearSoc);
  add('OVER_SOC_MAX_WARNING', input.highBlocked);
  add('VOLTAGE_IMBALANCE_WARNING', maxV - minV > imbalanceV);
  add('CURRENT_IMBALANCE_WARNING', hasCurrentImbalance(bank));
  add('CONTACTOR_ERROR', input.contactorStuck);
  return events;
}

/** Tolerance at a bound of the state of charge: half of the step that is shown. */
const nearSoc = 0.0005;

function hasCurrentImbalance(bank: BatteryBank): boolean {
  if (bank.closedCount < 2) return false;
  const meanA = bank.busCurrentA / bank.closedCount;
  const minA = (comparedPerHour * bank.nominalAh) / bank.stringCount;
  let deviationA = 0;
  for (let k = 0; k < bank.stringCount; k += 1) {
    if (bank.closed[k] === 1) deviationA = Math.max(deviationA, Math.abs((bank.currentA[k] ?? 0) - meanA));
  }
  return deviationA > Math.max(minA, imbalanceShare * Math.abs(meanA));
}
