/** Rotor, pitch and generator torque of one turbine, between wind and DC link. */
import type { WindParameters, WindRegion, WindState } from '../../../contract/kinds/wind.ts';
import { keptParts, keptRecord } from '../../../core/kept.ts';
import type { Kept } from '../../../core/kept.ts';
import type { RandomStream } from '../../../core/random.ts';
import { featherDeg } from './cp.ts';
import { HubWind } from './hub-wind.ts';
import { lawTorqueNm } from './machine.ts';
import type { Machine } from './machine.ts';
import { PitchDrive } from './pitch.ts';
import { QuasiSteady, aeroW, pitchForPower, pitchTowardsPower, steadyAt } from './steady.ts';
import { Sequence } from './sequence.ts';
import type { SteadyTable } from './steady.ts';

const rotorStepS = 0.1;
/** Turbulence has its nodes at whole seconds: a piece must not pass two. */
const coarseStepS = 1;
const stepTolerance = 1e-9;
/** Minimum wind speed of the rotor model. */
const minMS = 0.05;
/** Margin above the minimum pitch at which the pitch controls the speed. */
const ratedPitchDeg = 0.2;
/** Maximum speed above rated, as a share, at which a curtailed turbine stores energy. */
const reserveSpeed = 0.05;
/** Share of curtailment from which the turbine uses all of `reserveSpeed`. */
const reserveAtShare = 0.1;
/**
 * Pitch above the fine pitch from which a slightly slow rotor gives rated power, because the pitch has power in reserve
 * and restores the speed.
 */
const constantPowerPitchDeg = 2;
/** Share of the rated speed at which the rise to rated power begins. */
const constantPowerFromShare = 0.8;
/** Share of the rated speed at which the rise to rated power ends. */
const constantPowerFullShare = 0.9;
/** Time over which energy stored during curtailment is released, on top of the power of the wind. */
const returnS = 10;
/** Share of curtailment, or of excess speed, below which the release is over. */
const returnedShare = 0.01;
/** Power ramps down over this time when a storm ends the run. */
const shutdownS = 10;
/** Power coefficient of the blades at their starting pitch, for the run-up. */
const startCp = 0.2;
/** Minimum time of the run-up to minimum speed. */
const minRunUpS = 20;
const startPitchDeg = 15;
/** Share of minimum speed from which the blades move to their pitch in operation. */
const pitchInShare = 0.8;
/** Share of minimum speed below which the brake stops a turbine out of service. */
const brakeShare = 0.3;
/** Time over which the brake stops the rotor. */
const brakeS = 15;
/** Share of rated speed above which overspeed begins. */
const overspeedOn = 1.1;
/** Share of rated speed below which overspeed ends. */
const overspeedOff = 1.05;
/** Relative tolerance below which the drawn power counts as uncurtailed. */
const drawTolerance = 1e-6;

/** Energies since `settle`, J; `shaftJ` goes into the generator, `chopperJ` and `drawnJ` are on the DC side. */
export interface EnergyBalance {
  readonly aeroJ: number;
  readonly shaftJ: number;
  readonly brakeJ: number;
  readonly drawnJ: number;
  readonly chopperJ: number;
}

export class Turbine {
  readonly wind: HubWind;
  readonly #m: Machine;
  readonly #steady: SteadyTable;
  readonly #sequence: Sequence;
  readonly #pitch: PitchDrive;
  readonly #quasi: QuasiSteady;
  #radS = 0;
  #energized = true;
  #gridOk = true;
  #quasiSteady = false;
  /** shaft power of the generator at the last draw; Infinity: uncurtailed */
  #capW = Infinity;
  /** share of the available power that is not drawn, 0..1 */
  #curtailedShare = 0;
  #returning = false;
  /** weight of constant rated power against the torque law, 0..1 */
  #constantPowerShare = 0;
  #shutdownW = 0;
  #overspeed = false;
  #dtS = 0;
  /** true: no time has passed since `settle` */
  #settling = false;
  #availableW = 0;
  /** mean generator power that the rotor dynamics assumed in the prepared sub-step; after `draw`, the drawn one */
  #assumedW = 0;
  #aeroW = 0;
  #aeroJ = 0;
  #shaftJ = 0;
  #brakeJ = 0;
  #drawnJ = 0;
  #chopperJ = 0;
  // sums over the pieces of a sub-step, J:
  #stepAeroJ = 0;
  /** energy by the torque law */
  #stepLawJ = 0;
  #stepGeneratorJ = 0;
  #stepBrakeJ = 0;
  readonly #sequenceInput = { meanMS: 0, hubMS: 0, speedShare: 0, energized: true, gridOk: true };

  constructor(parameters: WindParameters, machine: Machine, steady: SteadyTable, random: RandomStream) {
    this.#m = machine;
    this.#steady = steady;
    this.wind = new HubWind(parameters, random);
    this.#sequence = new Sequence(parameters);
    this.#pitch = new PitchDrive(machine);
    this.#quasi = new QuasiSteady(machine, steady);
  }

  /** DC power in W that the controller would feed over the prepared sub-step. */
  get availableDcW(): number {
    return this.#availableW * this.#m.shaftToDc;
  }

  get radS(): number {
    return this.#radS;
  }
  get pitchDeg(): number {
    return this.#pitch.deg;
  }
  /** Mean aerodynamic power of the last sub-step, W. */
  get aeroW(): number {
    return this.#aeroW;
  }
  /** Power that changes the speed of the rotor, as a share of the rated one; 0 at rated power, which the pitch keeps. */
  get imbalance(): number {
    const { ratedShaftW } = this.#m;
    return this.#availableW >= ratedShaftW ? 0 : Math.abs(this.#aeroW - this.#assumedW) / ratedShaftW;
  }
  get overspeed(): boolean {
    return this.#overspeed;
  }
  get quasiSteady(): boolean {
    return this.#quasiSteady;
  }
  get starting(): boolean {
    return this.#sequence.phase === 'starting';
  }
  get running(): boolean {
    return this.#sequence.running;
  }
  /** True while the rotor stands still out of service. */
  get parked(): boolean {
    return this.#radS === 0 && !this.running && !this.starting;
  }
  get kineticJ(): number {
    return 0.5 * this.#m.inertiaKgM2 * this.#radS * this.#radS;
  }

  get balance(): EnergyBalance {
    return {
      aeroJ: this.#aeroJ,
      shaftJ: this.#shaftJ,
      brakeJ: this.#brakeJ,
      drawnJ: this.#drawnJ,
      chopperJ: this.#chopperJ,
    };
  }

  /** Maximum next sub-step, s. */
  get maxStepS(): number {
    return this.parked ? Math.max(coarseStepS, this.#sequence.nextDueS) : coarseStepS;
  }

  get state(): WindState {
    return this.#cutOff ? 'stopped' : this.#sequence.state(this.#rated);
  }

  get region(): WindRegion {
    const { phase } = this.#sequence;
    if (phase === 'high_wind_stop') return 'cut_out';
    if (phase === 'stopped' || this.#cutOff) return 'parked';
    if (this.#rated) return '3';
    return this.#radS > this.#m.region2StartRadS ? '2' : '1';
  }

  /** Jumps to the steady state of this wind. @param measuredMS wind at anemometer height */
  settle(measuredMS: number): void {
    this.wind.settle(measuredMS);
    this.#sequence.settle(this.wind.meanMS);
    this.#toSteady(this.wind.rotorMS);
    this.#energized = true;
    this.#capW = Infinity;
    this.#curtailedShare = 0;
    this.#returning = false;
    this.#constantPowerShare = 0;
    this.#overspeed = false;
    this.#shutdownW = 0;
    this.#dtS = 0;
    this.#settling = true;
    this.#availableW = this.running ? steadyAt(this.#steady.shaftW, this.wind.rotorMS) : 0;
    this.#assumedW = this.#availableW;
    this.#quasi.begin(this.#availableW, this.wind.rotorMS);
    this.#aeroW = this.#availableW;
    this.#aeroJ = this.#shaftJ = this.#brakeJ = this.#drawnJ = this.#chopperJ = 0;
  }

  /** @param quasiSteady true: no rotor dynamics while running */
  prepare(dtS: number, measuredMS: number, gridOk: boolean, quasiSteady: boolean): void {
    const dt = dtS > 0 ? dtS : 0;
    this.#dtS = dt;
    this.#settling = false;
    this.#gridOk = gridOk;
    this.#switchMode(quasiSteady);
    this.wind.begin(dt, measuredMS);
    this.#stepAeroJ = this.#stepLawJ = this.#stepGeneratorJ = this.#stepBrakeJ = 0;
    for (let left = dt; left > stepTolerance; ) {
      const piece = this.parked || (this.#quasiSteady && this.running) ? coarseStepS : rotorStepS;
      const stepS = left / Math.ceil(left / piece - stepTolerance);
      this.#advance(stepS);
      left -= stepS;
    }
    if (dt === 0) return;
    this.#availableW = this.#stepLawJ / dt;
    this.#assumedW = this.#stepGeneratorJ / dt;
    this.#aeroW = this.#stepAeroJ / dt;
    this.#aeroJ += this.#stepAeroJ;
    this.#brakeJ += this.#stepBrakeJ;
    this.#updateOverspeed();
  }

  /**
   * Applies the drawn DC power; the difference to the assumed power changes the rotor speed.
   * @param chopperW DC power dissipated in the chopper
   */
  draw(dcW: number, chopperW: number, energized: boolean): void {
    const m = this.#m;
    const generatorW = (dcW + chopperW) / m.shaftToDc;
    const surplusJ = (this.#assumedW - generatorW) * this.#dtS;
    if (this.#quasiSteady && this.running) {
      // no rotor dynamics to store the energy: the pitch has shed it
      this.#aeroJ -= surplusJ;
      this.#aeroW -= this.#assumedW - generatorW;
    } else if (surplusJ !== 0) {
      this.#radS = Math.sqrt(Math.max(0, this.#radS * this.#radS + (2 * surplusJ) / m.inertiaKgM2));
    }
    this.#shaftJ += generatorW * this.#dtS;
    this.#drawnJ += dcW * this.#dtS;
    this.#chopperJ += chopperW * this.#dtS;
    this.#dtS = 0;
    this.#assumedW = generatorW;
    const isCurtailed = generatorW < this.#availableW * (1 - drawTolerance);
    this.#capW = isCurtailed ? generatorW : Infinity;
    this.#curtailedShare = isCurtailed ? 1 - generatorW / this.#availableW : 0;
    if (this.#settling && isCurtailed) {
      // settled under a limit: set the blades for the drawn power
      this.#pitchForDraw(Math.max(this.wind.rotorMS, minMS));
      this.#aeroW = generatorW;
    }
    if (this.#curtailedShare > returnedShare || !energized) this.#returning = true;
    this.#energized = energized;
    if (!energized) this.#shutdownW = 0;
  }

  /** Pitch to show, degrees; in quasi-steady mode under curtailment, the pitch that matches the drawn power. */
  get shownPitchDeg(): number {
    if (!(this.#quasiSteady && this.running) || this.#curtailedShare === 0) return this.#pitch.deg;
    const windMS = Math.max(this.#quasi.slowMS, minMS);
    return pitchForPower(this.#m, windMS, this.#radS, this.#assumedW);
  }

  /** State that a restart keeps between two sub-steps; the sums over a sub-step begin anew with the next one. */
  kept(): Kept {
    return keptParts({
      wind: this.wind.kept(),
      sequence: this.#sequence.kept(),
      pitch: this.#pitch.kept(),
      quasi: this.#quasi.kept(),
      members: keptRecord(
        () => ({
          radS: this.#radS,
          energized: this.#energized,
          quasiSteady: this.#quasiSteady,
          capW: this.#capW,
          curtailedShare: this.#curtailedShare,
          returning: this.#returning,
          constantPowerShare: this.#constantPowerShare,
          shutdownW: this.#shutdownW,
          overspeed: this.#overspeed,
          settling: this.#settling,
          availableW: this.#availableW,
          assumedW: this.#assumedW,
          aeroW: this.#aeroW,
          aeroJ: this.#aeroJ,
          shaftJ: this.#shaftJ,
          brakeJ: this.#brakeJ,
          drawnJ: this.#drawnJ,
          chopperJ: this.#chopperJ,
        }),
        (values) => {
          this.#radS = values.radS;
          this.#energized = values.energized;
          this.#quasiSteady = values.quasiSteady;
          this.#capW = values.capW;
          this.#curtailedShare = values.curtailedShare;
          this.#returning = values.returning;
          this.#constantPowerShare = values.constantPowerShare;
          this.#shutdownW = values.shutdownW;
          this.#overspeed = values.overspeed;
          this.#settling = values.settling;
          this.#availableW = values.availableW;
          this.#assumedW = values.assumedW;
          this.#aeroW = values.aeroW;
          this.#aeroJ = values.aeroJ;
          this.#shaftJ = values.shaftJ;
          this.#brakeJ = values.brakeJ;
          this.#drawnJ = values.drawnJ;
          this.#chopperJ = values.chopperJ;
        },
      ),
    });
  }

  /** True if the inverter is open before the sequence has ended the run: nothing controls the power. */
  get #cutOff(): boolean {
    return !this.#energized && (this.running || this.starting);
  }

  get #rated(): boolean {
    if (!this.running) return false;
    return (
      this.#pitch.aboveFineDeg > ratedPitchDeg ||
      (this.#radS >= this.#m.ratedRadS * 0.9995 && this.#availableW >= this.#m.ratedShaftW * 0.9995)
    );
  }

  #switchMode(quasiSteady: boolean): void {
    if (quasiSteady === this.#quasiSteady) return;
    this.#quasiSteady = quasiSteady;
    if (quasiSteady) this.#quasi.begin(this.#availableW, this.wind.rotorMS);
    else if (this.running) this.#pitchForDraw(Math.max(this.wind.rotorMS, minMS));
  }

  /** Sets the blades for the drawn power under a wind, m/s; the rotor keeps its speed and so its energy. */
  #pitchForDraw(windMS: number): void {
    const fineDeg = steadyAt(this.#steady.fineDeg, windMS);
    const steadyDeg = steadyAt(this.#steady.pitchDeg, windMS);
    const heldDeg = this.#capW === Infinity ? 0 : pitchForPower(this.#m, windMS, this.#radS, this.#capW);
    this.#pitch.jump(Math.max(steadyDeg, heldDeg), fineDeg);
  }

  /** Sets speed and pitch of the steady state under a wind, m/s. */
  #toSteady(windMS: number): void {
    const { running } = this.#sequence;
    this.#radS = running ? steadyAt(this.#steady.radS, windMS) : 0;
    const fineDeg = steadyAt(this.#steady.fineDeg, windMS);
    this.#pitch.jump(running ? steadyAt(this.#steady.pitchDeg, windMS) : featherDeg, fineDeg);
  }

  #advance(stepS: number): void {
    const windMS = Math.max(this.wind.advance(stepS), minMS);
    const before = this.#sequence.phase;
    const input = this.#sequenceInput;
    input.meanMS = this.wind.meanMS;
    input.hubMS = this.wind.hubMS;
    input.speedShare = this.#radS / this.#m.minRadS;
    input.energized = this.#energized;
    input.gridOk = this.#gridOk;
    this.#sequence.advance(stepS, input);
    const { phase } = this.#sequence;
    if (phase !== before) this.#enter(phase, before);
    if (phase === 'run') {
      if (this.#quasiSteady) this.#follow(stepS, windMS);
      else this.#run(stepS, windMS);
    } else if (phase === 'starting') {
      this.#runUp(stepS, windMS);
    } else if (this.#radS > 0) {
      this.#coast(stepS, windMS);
    }
  }

  #enter(phase: string, before: string): void {
    if (before === 'run' && phase !== 'run') {
      const generatorW = Math.min(
        this.#capW,
        this.#quasiSteady ? this.#quasi.powerW : this.#lawNm(this.#radS) * this.#radS,
      );
      this.#shutdownW = phase === 'high_wind_stop' && this.#energized ? generatorW : 0;
    }
    this.#constantPowerShare = 0;
    if (phase === 'run') this.#quasi.begin(0, this.wind.rotorMS);
  }

  /** One step of the rotor under generator torque, midpoint rule. */
  #run(stepS: number, windMS: number): void {
    this.#movePitch(stepS, windMS);
    const byPitch = this.#pitch.aboveFineDeg / constantPowerPitchDeg;
    const bySpeed =
      (this.#radS / this.#m.ratedRadS - constantPowerFromShare) / (constantPowerFullShare - constantPowerFromShare);
    this.#constantPowerShare = Math.min(Math.max(Math.min(byPitch, bySpeed), 0), 1);
    this.#turn(stepS, windMS, this.#limitW(windMS), this.#capW);
  }

  /**
   * Limit of the generator on top of its torque law, W: after curtailment, the power of the wind plus released energy.
   */
  #limitW(windMS: number): number {
    if (!this.#energized) return 0;
    if (!this.#returning) return Infinity;
    const steadyRadS = steadyAt(this.#steady.radS, windMS);
    const excess = this.#radS * this.#radS - steadyRadS * steadyRadS;
    if (this.#capW === Infinity && excess <= 2 * returnedShare * steadyRadS * steadyRadS) {
      this.#returning = false;
      return Infinity;
    }
    const storedW = (0.5 * this.#m.inertiaKgM2 * Math.max(0, excess)) / returnS;
    return steadyAt(this.#steady.shaftW, windMS) + storedW;
  }

  #lawNm(radS: number): number {
    const law = lawTorqueNm(this.#m, radS);
    return this.#constantPowerShare === 0 ? law : law + (this.#m.ratedShaftW / radS - law) * this.#constantPowerShare;
  }

  /** Turns the rotor by one step. @param limitW limit of the available power @param capW expected drawn power */
  #turn(stepS: number, windMS: number, limitW: number, capW: number): void {
    const m = this.#m;
    const w0 = this.#radS;
    const maxGeneratorW = Math.min(limitW, capW);
    const early = aeroW(m, windMS, w0, this.#pitch.deg) / w0 - Math.min(this.#lawNm(w0), maxGeneratorW / w0);
    const middle = Math.max(w0 + (0.5 * stepS * early) / m.inertiaKgM2, 0.1 * w0);
    const aeroNm = aeroW(m, windMS, middle, this.#pitch.deg) / middle;
    const lawNm = Math.min(this.#lawNm(middle), limitW / middle);
    const generatorNm = Math.min(lawNm, capW / middle);
    const w1 = Math.max(w0 + (stepS * (aeroNm - generatorNm)) / m.inertiaKgM2, 0.1 * w0);
    const mean = (w0 + w1) / 2;
    this.#radS = w1;
    this.#stepAeroJ += aeroNm * mean * stepS;
    this.#stepLawJ += lawNm * mean * stepS;
    this.#stepGeneratorJ += generatorNm * mean * stepS;
  }

  #movePitch(stepS: number, windMS: number): void {
    if (!this.#energized || this.#overspeed) {
      this.#pitch.feather(stepS);
      return;
    }
    const reference = 1 + reserveSpeed * Math.min(1, this.#curtailedShare / reserveAtShare);
    this.#leadPitch(stepS, windMS, reference * this.#m.ratedRadS);
    this.#pitch.control(this.#radS / this.#m.ratedRadS - reference, steadyAt(this.#steady.fineDeg, windMS), stepS);
  }

  /**
   * Makes the pitch follow the drawn power under curtailment: the speed controller alone would let the rotor overspeed.
   */
  #leadPitch(stepS: number, windMS: number, radS: number): void {
    const m = this.#m;
    const { leadDeg } = this.#pitch;
    if (this.#curtailedShare <= returnedShare) this.#pitch.leadDeg = 0;
    else if (leadDeg === 0) this.#pitch.leadDeg = pitchForPower(m, windMS, radS, this.#capW);
    else this.#pitch.leadDeg = pitchTowardsPower(m, windMS, radS, this.#capW, leadDeg, m.pitchRateDegS * stepS);
  }

  #follow(stepS: number, windMS: number): void {
    const lawJ = this.#quasi.advance(stepS, windMS, this.#energized);
    this.#stepLawJ += lawJ;
    this.#stepGeneratorJ += lawJ;
    const before = this.kineticJ;
    this.#toSteady(this.#quasi.slowMS);
    this.#stepAeroJ += lawJ + this.kineticJ - before;
  }

  /** Runs up with a fixed share of the power of the wind. */
  #runUp(stepS: number, windMS: number): void {
    const m = this.#m;
    const powerW = startCp * m.halfRhoA * windMS * windMS * windMS;
    const before = this.kineticJ;
    const byPower = Math.sqrt(this.#radS * this.#radS + (2 * powerW * stepS) / m.inertiaKgM2);
    this.#radS = Math.min(byPower, this.#radS + (m.minRadS / minRunUpS) * stepS);
    this.#stepAeroJ += this.kineticJ - before;
    // near the end the blades move to their pitch in operation
    const nearEnd = this.#radS > pitchInShare * m.minRadS;
    this.#pitch.moveTo(nearEnd ? steadyAt(this.#steady.pitchDeg, windMS) : startPitchDeg, stepS);
  }

  /** Out of service: moves to feather, ramps down the remaining power, and brakes at the end. */
  #coast(stepS: number, windMS: number): void {
    const m = this.#m;
    if (this.#overspeed || !this.#energized) this.#pitch.feather(stepS);
    else this.#pitch.moveTo(featherDeg, stepS);
    if (this.#radS > brakeShare * m.minRadS) {
      this.#turn(stepS, windMS, this.#shutdownW, this.#capW);
      this.#shutdownW = Math.max(0, this.#shutdownW - (m.ratedShaftW * stepS) / shutdownS);
      return;
    }
    const before = this.kineticJ;
    this.#radS = Math.max(0, this.#radS - (m.minRadS * brakeShare * stepS) / brakeS);
    this.#stepBrakeJ += before - this.kineticJ;
    if (this.#radS === 0) this.#pitch.jump(featherDeg, 0);
  }

  #updateOverspeed(): void {
    const part = this.#radS / this.#m.ratedRadS;
    if (part > overspeedOn) this.#overspeed = true;
    else if (part < overspeedOff) this.#overspeed = false;
  }
}
