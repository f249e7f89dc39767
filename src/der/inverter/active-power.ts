/**
 * Active power: the order of IEEE 1547-2018 4.7 and 5.4, 6.5.2.7 between limit, set-point, volt-watt, droop and
 * enter-service ramp, for devices that only deliver and for those that also take.
 */
import type { ActiveDecider } from '../../core/grid-trace.ts';
import type { ControlFunction } from '../../sunspec/map/device.ts';
import { interpolate } from './curve.ts';
import { FrequencyDroop } from './droop.ts';
import { rampCommand, respond } from './ramp.ts';
import type { Settings } from './settings.ts';

export interface ActiveInput {
  readonly settings: Settings;
  readonly nominalHz: number;
  /** the device rests without a set-point instead of giving what it can */
  readonly storage: boolean;
  /** null: the voltage is too low to measure it */
  readonly hz: number | null;
  /** AC power that the source can give, and take, W */
  readonly availableW: number;
  readonly absorbableW: number;
  /** most power in either direction that the service phase admits, and which function says so */
  readonly serviceCeilingW: number;
  readonly serviceDecider: ActiveDecider;
  /** output of the last sub-step, W */
  readonly outputW: number;
  /** the output follows the functions: in service and not in cessation */
  readonly free: boolean;
  /** change of commands, W per second (704.WRmp) */
  readonly rampWS: number;
}

const negligibleW = 1e-3;
/** A percentage this close to its target has reached it. */
const negligiblePct = 1e-4;

export class ActivePower {
  readonly droop = new FrequencyDroop();
  /** what the functions together ask for, W */
  wantedW = 0;
  decidedBy: ActiveDecider = 'source';
  /** a function keeps the power below what the source and the ratings would give */
  held = false;
  /** ramped limit and set-point, W */
  limitW: number;
  setPointW: number;
  limitTargetW: number;
  setPointTargetW: number;
  /** volt-watt: percent that the curve asks for and that the response has reached; base, W */
  voltWattTargetPct = 100;
  voltWattPct = 100;
  voltWattBaseW = 0;
  /** a ramp or response is under way */
  moving = false;
  /** droop holds the power above limit or set-point */
  #raised = false;
  /** what all functions but droop gave in the last step, W */
  #normalW = 0;

  constructor(settings: Settings, storage: boolean) {
    this.limitW = this.limitTargetW = limitTarget(settings);
    this.setPointW = this.setPointTargetW = setPointTarget(settings, storage);
  }

  /** Commands that were not felt apply at once, and droop begins anew: on the way back into service. */
  skipRamps(settings: Settings, storage: boolean): void {
    this.limitW = this.limitTargetW = limitTarget(settings);
    this.setPointW = this.setPointTargetW = setPointTarget(settings, storage);
    this.droop.reset();
  }

  /** Nothing flows: droop has no power to start from. */
  stop(): void {
    this.wantedW = 0;
    this.decidedBy = 'out_of_service';
    this.held = false;
    this.moving = false;
    this.droop.reset();
  }

  /** Names the functions that set or hold the power in the last step. */
  note(settings: Settings, active: Set<ControlFunction>): void {
    const { side, outputW } = this.droop;
    const reached = (ceilingW: number) => this.held && this.wantedW >= ceilingW - negligibleW;
    if (settings.maxPowerPct !== null && side !== 'under' && reached(this.limitW)) active.add('max_power');
    if (settings.setPointW !== null && side !== 'under' && this.wantedW >= this.setPointW - negligibleW) active.add('active_power');
    if (this.voltWattPct < 100 && reached(this.voltWattPct / 100 * this.voltWattBaseW)) active.add('volt_watt');
    const raised = side === 'under' && this.wantedW > Math.min(this.limitW, this.setPointW) + negligibleW;
    if (raised || (side !== null && reached(outputW))) active.add('freq_droop');
    if (this.decidedBy === 'ramp' || this.decidedBy === 'enter_service') active.add(this.decidedBy);
  }

  /** The response of volt-watt follows the voltage, whether or not the device is in service. */
  follow({ voltWatt }: Settings, vPct: number, dtS: number): void {
    this.voltWattTargetPct = voltWatt.enabled ? interpolate(voltWatt.points, vPct) : 100;
    this.voltWattPct = respond(this.voltWattPct, this.voltWattTargetPct, voltWatt.responseS, dtS, negligiblePct);
  }

  /** Advances by `dtS`; Infinity goes to the end of all ramps and responses. */
  step(input: ActiveInput, dtS: number): void {
    const { settings } = input;
    const most = Math.min(input.availableW, settings.wMaxW);
    const least = -Math.min(input.absorbableW, settings.chargeMaxW);
    this.#rampCommands(input, dtS);
    this.voltWattBaseW = settings.voltWatt.ofAvailable ? most : settings.wMaxW;
    const voltWattW = this.voltWattPct >= 100 ? Infinity : this.voltWattPct / 100 * this.voltWattBaseW;
    const normalW = Math.max(least, Math.min(most, this.setPointW, this.limitW, voltWattW));
    this.#normalW = normalW;
    if (input.hz !== null) {
      this.droop.advance(settings.droop, {
        hz: input.hz, nominalHz: input.nominalHz, wMaxW: settings.wMaxW, presentW: input.outputW, normalW,
        capW: Math.min(this.limitW, this.setPointW), free: input.free, mostW: most,
      }, dtS);
    }
    this.#decide(input, most, least, voltWattW);
    this.moving = this.limitW !== this.limitTargetW || this.setPointW !== this.setPointTargetW
      || this.voltWattPct !== this.voltWattTargetPct || this.droop.moving;
  }

  #rampCommands({ settings, storage, outputW, rampWS }: ActiveInput, dtS: number): void {
    this.limitTargetW = limitTarget(settings);
    this.setPointTargetW = setPointTarget(settings, storage);
    // what droop has added or taken away is not the commands' doing: a ramp that began there would count it twice
    const feltW = this.droop.side === null ? outputW : this.#normalW;
    this.limitW = rampCommand(this.limitW, this.limitTargetW, feltW, rampWS, dtS);
    this.setPointW = rampCommand(this.setPointW, this.setPointTargetW, feltW, rampWS, dtS);
  }

  /**
   * The least of the ceilings, then what the source can take. While droop acts on low frequency it stands in the place
   * of limit and set-point (IEEE 1547.1-2020 5.16).
   */
  #decide(input: ActiveInput, most: number, least: number, voltWattW: number): void {
    const { settings, serviceCeilingW, storage } = input;
    const { side, outputW: droopW } = this.droop;
    this.wantedW = most;
    this.decidedBy = input.availableW > settings.wMaxW ? 'w_max' : 'source';
    this.held = false;
    // from low to high frequency at once: the power raised above the commands comes back by the response, not in a step
    this.#raised = side === 'under' || (side === 'over' && this.#raised && droopW > Math.min(this.limitW, this.setPointW));
    if (!this.#raised) {
      this.#cap(this.setPointW, settings.setPointW !== null ? 'active_power' : storage ? 'idle' : 'ramp');
      this.#cap(this.limitW, settings.maxPowerPct !== null ? 'max_power' : 'ramp');
    }
    if (side !== null) this.#cap(droopW, 'freq_droop');
    this.#cap(voltWattW, 'volt_watt');
    this.#cap(serviceCeilingW, input.serviceDecider);
    const floor = Math.max(least, -serviceCeilingW);
    if (this.wantedW < floor) {
      this.wantedW = floor;
      this.decidedBy = floor === least ? 'charge_limit' : input.serviceDecider;
    }
  }

  #cap(ceilingW: number, by: ActiveDecider): void {
    if (ceilingW >= this.wantedW) return;
    this.wantedW = ceilingW;
    this.decidedBy = by;
    this.held = by !== 'idle';
  }
}

function limitTarget({ maxPowerPct, wMaxW }: Settings): number {
  return maxPowerPct === null ? wMaxW : wMaxW * maxPowerPct / 100;
}

/** Without a set-point a generator gives what it has and a storage rests. */
function setPointTarget({ setPointW, wMaxW, chargeMaxW }: Settings, storage: boolean): number {
  // a demand to charge is one for nothing on a device that cannot; a ramp below zero would only delay the way back
  return setPointW === null ? (storage ? 0 : wMaxW) : Math.max(-chargeMaxW, Math.min(wMaxW, setPointW));
}
