/** The reference machines with their dynamics, and their scaling to the parameters of a profile. */
import { windTurbines } from '../../../contract/kinds/wind.ts';
import type { WindParameters, WindTurbineName } from '../../../contract/kinds/wind.ts';
import { cpSurfaces } from './cp.ts';
import type { RotorCp } from './cp.ts';

interface Dynamics {
  readonly inertiaKgM2: number;
  readonly ratedRadS: number;
  readonly minRadS: number;
  readonly bestRatio: number;
  /**
   * factor on the analytic surface; below 1 for the simple blades of the small rotor, which reaches its rating at 11
   * m/s
   */
  readonly cpFactor: number;
  readonly pitchRateDegS: number;
  /** efficiency from shaft to AC terminals */
  readonly chainEfficiency: number;
  readonly gearRatio: number;
  /** proportional gain: pitch per relative error of speed, degrees */
  readonly pitchGainDeg: number;
  /** integral gain: pitch rate per relative error of speed, degrees per second */
  readonly pitchGainDegS: number;
  /** pitch at which both gains are half */
  readonly gainHalfDeg: number;
  /** speed at which the torque leaves the law of region 2, as a share of the rated speed */
  readonly kneeShare: number;
}

const radPerRpm = Math.PI / 30;
const degPerRad = 180 / Math.PI;

// The best tip-speed ratio of the two analytic rotors makes rated power and rated speed coincide (IEA: its design
// value 9). Their pitch gains give the speed loop 0.25 and 0.6 rad/s on the slope of the surface near 13 m/s; the
// NREL gains are those of the published controller, per generator speed, times gear ratio and rated speed.
const dynamics: Readonly<Record<WindTurbineName, Dynamics>> = {
  'nrel-5mw': {
    inertiaKgM2: 38_677_041,
    ratedRadS: 1.26711,
    minRadS: 6.9 * radPerRpm,
    bestRatio: 7.5,
    cpFactor: 1,
    pitchRateDegS: 10,
    chainEfficiency: 0.944,
    gearRatio: 97,
    pitchGainDeg: 0.018827 * 97 * 1.26711 * degPerRad,
    pitchGainDegS: 0.0080686 * 97 * 1.26711 * degPerRad,
    gainHalfDeg: 6.3,
    kneeShare: 0.99,
  },
  'iea-15mw': {
    inertiaKgM2: 310_619_488,
    ratedRadS: 0.79168,
    minRadS: 5 * radPerRpm,
    bestRatio: 9,
    cpFactor: 1,
    pitchRateDegS: 2,
    chainEfficiency: 0.965,
    gearRatio: 1,
    pitchGainDeg: 163,
    pitchGainDegS: 22.6,
    gainHalfDeg: 12,
    kneeShare: 0.985,
  },
  'farm-100kw': {
    inertiaKgM2: 25_000,
    ratedRadS: 6.2,
    minRadS: 3,
    bestRatio: 6.5,
    cpFactor: 0.83,
    pitchRateDegS: 8,
    chainEfficiency: 0.93,
    gearRatio: 1,
    pitchGainDeg: 271,
    pitchGainDegS: 101,
    gainHalfDeg: 12,
    kneeShare: 0.97,
  },
};

/** Half width of the speed range in which the torque rises from 0, as a share of the minimum speed. */
const minSpeedHalfWidth = 0.015;

/** Constants of one turbine, shared by the devices of one profile. Powers are at the shaft unless named otherwise. */
export interface Machine extends Omit<Dynamics, 'bestRatio' | 'cpFactor' | 'chainEfficiency' | 'kneeShare'> {
  readonly cp: RotorCp;
  readonly radiusM: number;
  /** half the air density times the rotor area, kg/m */
  readonly halfRhoA: number;
  readonly ratedShaftW: number;
  readonly ratedDcW: number;
  /** DC power per shaft power */
  readonly shaftToDc: number;
  /** region 2: torque per square of the speed, N m s2 */
  readonly torqueFactor: number;
  /** speed up to which the torque is 0 */
  readonly torqueStartRadS: number;
  readonly region2StartRadS: number;
  readonly region2StartTorqueNm: number;
  /** speed at which the torque leaves the law of region 2 */
  readonly kneeRadS: number;
  readonly kneeTorqueNm: number;
  readonly ratedTorqueNm: number;
}

/** Scales the reference machine with the rotor area; tip speed and inertia constant (s) stay the same. */
export function createMachine(parameters: WindParameters): Machine {
  const d = dynamics[parameters.turbine];
  const reference = windTurbines[parameters.turbine];
  const length = parameters.rotorDiameterM / reference.rotorDiameterM;
  const radiusM = parameters.rotorDiameterM / 2;
  const halfRhoA = 0.5 * parameters.airDensityKgM3 * Math.PI * radiusM * radiusM;
  const ratedRadS = d.ratedRadS / length;
  const minRadS = d.minRadS / length;
  const ratedShaftW = parameters.ratedPowerW / d.chainEfficiency;
  const maxCp = cpSurfaces[parameters.cpModel].maxCp * d.cpFactor;
  const torqueFactor = (halfRhoA * Math.pow(radiusM, 3) * maxCp) / Math.pow(d.bestRatio, 3);
  const region2StartRadS = minRadS * (1 + minSpeedHalfWidth);
  const kneeRadS = ratedRadS * d.kneeShare;
  const ratedTorqueNm = ratedShaftW / ratedRadS;
  return {
    cp: { model: parameters.cpModel, bestRatio: d.bestRatio, factor: d.cpFactor },
    radiusM,
    halfRhoA,
    ratedRadS,
    minRadS,
    ratedShaftW,
    torqueFactor,
    region2StartRadS,
    kneeRadS,
    ratedTorqueNm,
    inertiaKgM2: d.inertiaKgM2 * Math.pow(length, 4),
    ratedDcW: parameters.ratedPowerW / parameters.efficiencyNominal,
    shaftToDc: d.chainEfficiency / parameters.efficiencyNominal,
    gearRatio: d.gearRatio,
    pitchRateDegS: d.pitchRateDegS,
    pitchGainDeg: d.pitchGainDeg,
    pitchGainDegS: d.pitchGainDegS,
    gainHalfDeg: d.gainHalfDeg,
    torqueStartRadS: minRadS * (1 - minSpeedHalfWidth),
    region2StartTorqueNm: torqueFactor * region2StartRadS * region2StartRadS,
    kneeTorqueNm: Math.min(torqueFactor * kneeRadS * kneeRadS, ratedTorqueNm),
  };
}

/** Torque that the controller sets at a rotor speed without curtailment, N m. */
export function lawTorqueNm(m: Machine, radS: number): number {
  if (radS >= m.ratedRadS) return m.ratedShaftW / radS;
  if (radS > m.kneeRadS) {
    return m.kneeTorqueNm + ((m.ratedTorqueNm - m.kneeTorqueNm) * (radS - m.kneeRadS)) / (m.ratedRadS - m.kneeRadS);
  }
  if (radS >= m.region2StartRadS) return Math.min(m.torqueFactor * radS * radS, m.ratedTorqueNm);
  if (radS <= m.torqueStartRadS) return 0;
  return (m.region2StartTorqueNm * (radS - m.torqueStartRadS)) / (m.region2StartRadS - m.torqueStartRadS);
}
