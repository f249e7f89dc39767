/** Constant power of a bank over one sub-step within all bounds. */
import { secondsPerHour } from '../constants.ts';
import type { BatteryBank } from './bank.ts';
import type { CellSpec } from './cell-spec.ts';
import { ocvAt } from './cell-spec.ts';

/** Bounds of the closed strings. */
export interface BankBounds {
  /** lower bound of the mean state of charge, 0..1 */
  lowSoc: number;
  /** upper bound of the mean state of charge, 0..1 */
  highSoc: number;
  /** discharge limit of the closed strings together, A */
  dischargeA: number;
  /** charge limit of the closed strings together, A */
  chargeA: number;
  /** powers that suffice, W: limits above them need not be exact */
  enoughDischargeW: number;
  enoughChargeW: number;
}

/** Constant powers of the closed strings and the currents that cell voltages allow; magnitudes. */
export interface BankLimits {
  dischargeW: number;
  chargeW: number;
  /** current that the voltage bounds allow, A; small near full and empty */
  dischargeVoltageA: number;
  chargeVoltageA: number;
}

/** Maximum step over which the voltage moves by no more than a few per cent, s. */
const shortStepS = 5;
/** A limit above the sufficient power by this factor stays above that power over a short step. */
const clearFactor = 1.1;

/** The closed strings as one voltage source, and the bus voltages at which the first cell reaches its bound. */
const circuit = { emfV: 0, ohm: 0, minBusV: 0, maxBusV: 0 };

type Moment = 'start' | 'discharged' | 'charged';

/** Fills `circuit` with the values now, or after `dtS` at an unknown constant current near `currentA`. */
function solveCircuit(bank: BatteryBank, spec: CellSpec, when: Moment, dtS: number, currentA: number): void {
  const { series } = bank.cells;
  const remainingShare = when === 'start' ? 1 : bank.decayOver(dtS);
  const sign = when === 'charged' ? 1 : -1;
  let conductance = 0;
  let sum = 0;
  let minBusV = 0;
  let maxBusV = Infinity;
  for (let k = 0; k < bank.stringCount; k += 1) {
    const extremes = bank.extremes[k];
    if (bank.closed[k] === 0 || !extremes) continue;
    const soc = bank.soc[k] ?? 0;
    const mean = ocvAt(bank.ocv, soc);
    const stringA = bank.closedAh > 0 ? (currentA * (bank.capacityAh[k] ?? 0)) / bank.closedAh : 0;
    let ohm = (bank.r0Ohm[k] ?? 0) + (bank.r1Ohm[k] ?? 0) * (1 - remainingShare);
    if (when !== 'start' && stringA > 0) {
      // the open-circuit voltage moves with the charge: linearised by the chord to the end of the step
      const ocvAfterV = ocvAt(bank.ocv, soc + (sign * stringA * dtS) / (secondsPerHour * (bank.capacityAh[k] ?? 1)));
      ohm += (series * Math.abs(ocvAfterV - mean)) / stringA;
    }
    const rc = (bank.rcV[k] ?? 0) * remainingShare;
    const emf = series * (mean + (bank.ocvShiftV[k] ?? 0)) - rc;
    const cellOhm = ohm / series;
    const drift = mean + (bank.ocvShiftV[k] ?? 0) - extremes.ocvV - rc / series;
    const lowA = (extremes.lowV + drift - spec.minV) / (cellOhm * extremes.lowResistance);
    const highA = (spec.maxV - extremes.highV - drift) / (cellOhm * extremes.highResistance);
    minBusV = Math.max(minBusV, emf - lowA * ohm);
    maxBusV = Math.min(maxBusV, emf + highA * ohm);
    conductance += 1 / ohm;
    sum += emf / ohm;
  }
  circuit.ohm = conductance > 0 ? 1 / conductance : 0;
  circuit.emfV = sum * circuit.ohm;
  circuit.minBusV = minBusV;
  circuit.maxBusV = maxBusV;
}

/** Fills `to` with the limits over the next `dtS`; 0 s: the limits of this instant. */
export function bankLimits(bank: BatteryBank, spec: CellSpec, bounds: BankBounds, dtS: number, to: BankLimits): void {
  to.dischargeW = to.chargeW = to.dischargeVoltageA = to.chargeVoltageA = 0;
  if (bank.closedCount === 0) return;
  const soc = bank.meanSoc;
  const chargeA = withinEnergy(bounds.chargeA, bounds.highSoc - soc, bank.closedAh, dtS);
  const dischargeA = withinEnergy(bounds.dischargeA, soc - bounds.lowSoc, bank.closedAh, dtS);
  solveCircuit(bank, spec, 'start', dtS, 0);
  to.dischargeVoltageA = Math.max(0, (circuit.emfV - circuit.minBusV) / circuit.ohm);
  to.chargeVoltageA = Math.max(0, (circuit.maxBusV - circuit.emfV) / circuit.ohm);
  to.dischargeW = dischargePower(dischargeA);
  to.chargeW = chargePower(chargeA);
  if (!(dtS > 0)) return;
  const isShort = dtS <= shortStepS;
  const dischargeClear =
    isShort && to.dischargeW > clearFactor * bounds.enoughDischargeW && to.dischargeVoltageA > 2 * dischargeA;
  const chargeClear = isShort && to.chargeW > clearFactor * bounds.enoughChargeW && to.chargeVoltageA > 2 * chargeA;
  if (to.dischargeW > 0 && !dischargeClear) {
    solveCircuit(bank, spec, 'discharged', dtS, dischargeA);
    to.dischargeW = Math.min(to.dischargeW, dischargePower(dischargeA));
  }
  if (to.chargeW > 0 && !chargeClear) {
    solveCircuit(bank, spec, 'charged', dtS, chargeA);
    to.chargeW = Math.min(to.chargeW, chargePower(chargeA));
  }
}

/** Current that stays within the remaining charge over `dtS`, A. */
function withinEnergy(maxA: number, remainingSoc: number, capacityAh: number, dtS: number): number {
  if (!(remainingSoc > 0)) return 0;
  return dtS > 0 ? Math.min(maxA, (remainingSoc * capacityAh * secondsPerHour) / dtS) : maxA;
}

function dischargePower(maxA: number): number {
  const { emfV, ohm, minBusV } = circuit;
  // above half the short-circuit current, power falls with current
  const amps = Math.max(0, Math.min(maxA, (emfV - minBusV) / ohm, emfV / (2 * ohm)));
  return amps * (emfV - amps * ohm);
}

function chargePower(maxA: number): number {
  const { emfV, ohm, maxBusV } = circuit;
  const amps = Math.max(0, Math.min(maxA, (maxBusV - emfV) / ohm));
  return amps * (emfV + amps * ohm);
}
