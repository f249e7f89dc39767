import { zeroCelsiusK } from '../constants.ts';

/** A PV module: parameters of the De Soto single-diode model at 1000 W/m2 and 25 degrees C. */
export interface PvModule {
  readonly name: string;
  /** light current, A */
  readonly iLRef: number;
  /** diode saturation current, A */
  readonly i0Ref: number;
  /** series resistance, ohm */
  readonly rS: number;
  /** shunt resistance, ohm */
  readonly rShRef: number;
  /** modified ideality factor n Ns k T / q, V */
  readonly aRef: number;
  /** temperature coefficient of the short-circuit current, A/K */
  readonly alphaSc: number;
  /** band gap, eV */
  readonly egRef: number;
  /** relative temperature coefficient of the band gap, 1/K */
  readonly dEgdT: number;
}

/** Built-in modules: a record of the CEC database, and a 270 W datasheet fitted with the De Soto method. */
export const pvModules = {
  'CS5P-220M': {
    name: 'CS5P-220M',
    iLRef: 5.114,
    i0Ref: 8.196e-10,
    rS: 1.065,
    rShRef: 381.68,
    aRef: 2.6373,
    alphaSc: 0.004539,
    egRef: 1.121,
    dEgdT: -0.0002677,
  },
  'DATASHEET-270': {
    name: 'DATASHEET-270',
    iLRef: 9.4523244867398,
    i0Ref: 3.224634949588633e-10,
    rS: 0.2978147244338371,
    rShRef: 125.79877345523326,
    aRef: 1.591288067857357,
    alphaSc: 0.005658,
    egRef: 1.121,
    dEgdT: -0.0002677,
  },
} as const satisfies Record<string, PvModule>;

/** The five parameters of the diode equation at one irradiance and cell temperature. */
export interface DiodeParameters {
  /** light current, A; 0 in darkness, and then every current and voltage is 0 */
  readonly iL: number;
  /** saturation current, A */
  readonly i0: number;
  /** series resistance, ohm */
  readonly rS: number;
  /** shunt conductance, 1/ohm; 0 in darkness, where the resistance would be infinite */
  readonly gSh: number;
  /** n Ns k T / q, V */
  readonly a: number;
}

/** The maximum power point with the two ends of the curve: V, A, W. */
export interface MaximumPowerPoint {
  readonly v: number;
  readonly i: number;
  readonly p: number;
  readonly voc: number;
  readonly isc: number;
}

const referenceK = 298.15;
const referenceIrradianceWm2 = 1000;
const boltzmannEvPerK = 8.617333262e-5;
/** Range of cell temperatures in which the model of silicon is valid; outside, the nearest end counts. */
const minCellC = -100;
const maxCellC = 150;
/** Darkness begins here: below it the light current is lost in rounding beside the saturation current. */
const minSuns = 1e-9;
/** Smaller resistances count as 0, because they would overflow. */
const minSeriesOhm = 1e-6;
const darkMpp: MaximumPowerPoint = { v: 0, i: 0, p: 0, voc: 0, isc: 0 };
const dark: DiodeParameters = { iL: 0, i0: 1, rS: 0, gSh: 0, a: 1 };
const iterations = 60;

/** Diode parameters at an irradiance in W/m2 and a cell temperature in degrees C; irradiance up to 1e-6 is darkness. */
export function parametersAt(module: PvModule, irradianceWm2: number, cellTemperatureC: number): DiodeParameters {
  const suns = irradianceWm2 / referenceIrradianceWm2;
  const kelvin = zeroCelsiusK + Math.min(Math.max(cellTemperatureC, minCellC), maxCellC);
  const rise = kelvin - referenceK;
  const iL = suns * (module.iLRef + module.alphaSc * rise);
  if (!(suns > minSuns) || !(iL > 0)) return dark;
  const ratio = kelvin / referenceK;
  const eg = module.egRef * (1 + module.dEgdT * rise);
  const exponent = module.egRef / (boltzmannEvPerK * referenceK) - eg / (boltzmannEvPerK * kelvin);
  return {
    iL,
    i0: module.i0Ref * ratio * ratio * ratio * Math.exp(exponent),
    rS: module.rS < minSeriesOhm ? 0 : module.rS,
    gSh: suns / module.rShRef,
    a: module.aRef * ratio,
  };
}

// All solutions below iterate over the voltage across the diode, vd = V + I rS. Current and terminal voltage are
// explicit in it, so one Newton loop is enough and none is nested.

function diodeCurrent(p: DiodeParameters, vd: number): number {
  return p.iL - p.i0 * Math.expm1(vd / p.a) - p.gSh * vd;
}

/** Open-circuit voltage in V. */
export function voc(p: DiodeParameters): number {
  if (!(p.iL > 0)) return 0;
  // current falls and is concave in vd: Newton converges from the right of the root without overshoot
  let vd = p.a * Math.log1p(p.iL / p.i0);
  for (let n = 0; n < iterations; n++) {
    const exponentialA = p.i0 * Math.exp(vd / p.a);
    const step = (exponentialA - p.i0 + p.gSh * vd - p.iL) / (exponentialA / p.a + p.gSh);
    vd -= step;
    // the next step would square the error
    if (!(step > vd * 1e-7)) break;
  }
  return Math.max(vd, 0);
}

/** Short-circuit current in A. */
export function isc(p: DiodeParameters): number {
  return currentAt(p, 0);
}

/**
 * Current in A at a terminal voltage in V. Negative voltages count as 0; above the open-circuit voltage
 * the module absorbs current, so the result is negative.
 */
export function currentAt(p: DiodeParameters, voltageV: number): number {
  if (!(p.iL > 0)) return 0;
  const v = Math.max(voltageV, 0);
  if (p.rS === 0) return Math.max(diodeCurrent(p, v), -Number.MAX_VALUE);
  // two upper bounds of vd; the second one keeps the exponential finite far above the open-circuit voltage
  let vd = Math.min(v + p.rS * p.iL, p.a * Math.log1p((p.iL + v / p.rS) / p.i0));
  for (let n = 0; n < iterations; n++) {
    const exponentialA = p.i0 * Math.exp(vd / p.a);
    const i = p.iL - (exponentialA - p.i0) - p.gSh * vd;
    const step = (vd - p.rS * i - v) / (1 + p.rS * (exponentialA / p.a + p.gSh));
    vd -= step;
    if (!(step > vd * 1e-8)) break;
  }
  return diodeCurrent(p, vd);
}

/** Maximum power point, open-circuit voltage and short-circuit current of one module. */
export function maximumPowerPoint(p: DiodeParameters): MaximumPowerPoint {
  if (!(p.iL > 0)) return darkMpp;
  const vOpen = voc(p);
  const vd = diodeVoltageAtMaximum(p, vOpen);
  const i = diodeCurrent(p, vd);
  const v = vd - p.rS * i;
  return { v, i, p: v * i, voc: vOpen, isc: isc(p) };
}

/** Root of dP/dvd; power has one maximum because current is concave in voltage. Newton inside a bracket. */
function diodeVoltageAtMaximum(p: DiodeParameters, vOpen: number): number {
  let low = 0;
  let high = vOpen;
  // a good guess for crystalline silicon; other modules need one or two more steps
  let vd = 0.87 * vOpen;
  for (let n = 0; n < iterations; n++) {
    const exponentialA = p.i0 * Math.exp(vd / p.a);
    const i = p.iL - (exponentialA - p.i0) - p.gSh * vd;
    const v = vd - p.rS * i;
    const di = -exponentialA / p.a - p.gSh;
    const dv = 1 - p.rS * di;
    const slope = di * v + i * dv;
    if (slope > 0) low = vd;
    else high = vd;
    const curvature = -(exponentialA / (p.a * p.a)) * (v - p.rS * i) + 2 * di * dv;
    const next = vd - slope / curvature;
    const inside = next > low && next < high;
    const moved = inside ? next : (low + high) / 2;
    const change = Math.abs(moved - vd);
    vd = moved;
    // power is flat here, and the next Newton step would square the error
    if (change <= 1e-7 * vOpen) break;
  }
  return vd;
}

/**
 * The voltage in V between the maximum power point and open circuit at which the module gives `powerW`: the operating
 * point of a curtailed inverter. For 0 or less the open-circuit voltage, for the maximum or more the voltage of the
 * maximum.
 */
export function voltageForPower(p: DiodeParameters, powerW: number, mpp: MaximumPowerPoint): number {
  if (!(powerW > 0)) return mpp.voc;
  if (powerW >= mpp.p) return mpp.v;
  let low = mpp.v + p.rS * mpp.i;
  let high = mpp.voc;
  let vd = startForPower(p, powerW, mpp, low);
  if (!(vd > low && vd < high)) vd = high;
  for (let n = 0; n < iterations; n++) {
    const exponentialA = p.i0 * Math.exp(vd / p.a);
    const i = p.iL - (exponentialA - p.i0) - p.gSh * vd;
    const v = vd - p.rS * i;
    const excess = v * i - powerW;
    if (excess > 0) low = vd;
    else high = vd;
    const di = -exponentialA / p.a - p.gSh;
    const next = vd - excess / (di * v + i * (1 - p.rS * di));
    const moved = next > low && next < high ? next : (low + high) / 2;
    const change = Math.abs(moved - vd);
    vd = moved;
    if (change <= 1e-9 * high) break;
  }
  return Math.min(Math.max(vd - p.rS * diodeCurrent(p, vd), mpp.v), mpp.voc);
}

/**
 * First guess from the parabola through the maximum. Power falls faster than the parabola, so the guess lies to the
 * right of the solution, from where Newton converges without overshoot.
 */
function startForPower(p: DiodeParameters, powerW: number, mpp: MaximumPowerPoint, vdMax: number): number {
  const exponentialA = p.i0 * Math.exp(vdMax / p.a);
  const di = -exponentialA / p.a - p.gSh;
  const curvature = -(exponentialA / (p.a * p.a)) * (mpp.v - p.rS * mpp.i) + 2 * di * (1 - p.rS * di);
  return vdMax + Math.sqrt((2 * (mpp.p - powerW)) / -curvature);
}
