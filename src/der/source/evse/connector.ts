import type {
  EvParameters,
  EvseConnectorParameters,
  EvseErrorCode,
  EvseLimitSource,
  EvsePhase,
  EvseReservation,
  EvseConnectorState,
} from '../../../contract/kinds/evse.ts';
import type { Origin } from '../../../core/origin.ts';
import { chargeCapW, dischargeCapW, isBelowMinimum, lowestA, openLimit, setpointOf } from './profile-limit.ts';
import type { ProfileLimit } from './profile-limit.ts';
import { connectorState, phaseTraits } from './phases.ts';
import type { ConnectorFlags } from './phases.ts';
import type { SessionRecord } from './sessions.ts';
import { packVoltageV } from './vehicle.ts';
import type { Vehicle } from './vehicle.ts';
import type { Phases } from '../source.ts';

/** State of one connector; powers in W at the meter, positive into the vehicle. */
export interface Connector {
  readonly p: EvseConnectorParameters;
  /** the vehicle that plugs in when a command names none */
  readonly defaultEv: EvParameters;
  phase: EvsePhase;
  evPlugged: boolean;
  evsePlugged: boolean;
  /** true: an ended session has left the end of a loose cable in the station */
  cableLeft: boolean;
  vehicle: Vehicle | null;
  /** true: the cable is locked by a command; a session locks it as well */
  lockedByCommand: boolean;
  operative: boolean;
  errorCode: EvseErrorCode | null;
  errorInfo: string | null;
  vendorErrorCode: string | null;
  reservation: EvseReservation | null;
  idToken: string | null;
  remoteStartId: number | null;
  session: SessionRecord | null;
  evHeldByCommand: boolean;
  evseHeldByCommand: boolean;
  /** energy that the session may still take; 0: used up, Infinity: no limit */
  energyLeftWh: number;
  energyLimitBy: Origin | null;
  /** time of the start of energy, simulated seconds; Infinity: none pending */
  startDueS: number;
  /** time of the connection timeout, simulated seconds; Infinity: none pending */
  timeoutDueS: number;
  localLimitW: number;
  localLimitBy: Origin | null;
  profile: ProfileLimit;
  /** phases that the profiles of connector and station permit */
  phaseLimit: 1 | 3;
  /** commanded discharge; null: none */
  localDischargeW: number | null;
  localDischargeBy: Origin | null;
  /** discharge requested by command or set-point; null: none */
  dischargeW: number | null;
  /** maximum discharge by the profile; Infinity: none */
  dischargeCapW: number;
  energyWh: number;
  energyExportWh: number;
  /** power at the end of the last sub-step, where ramps continue */
  flowW: number;
  /** mean power of the last sub-step */
  powerW: number;
  /** prepared sub-step: power that limits and hardware allow, before the vehicle */
  grantW: number;
  /** `grantW` within the maximum of the vehicle, before its curve */
  capW: number;
  capSource: EvseLimitSource;
  /** share of the station's limit in amperes, W; Infinity: no limit */
  supplyCapW: number;
  /** `capW` after sharing */
  offerW: number;
  /** `grantW` after sharing */
  allocatedW: number;
  /**
   * prepared sub-step, means: maximum charge and discharge, and the power without a set-point of the inverter
   * (`dischargeableEndW`, `unrestrictedEndW`: at the end of the sub-step)
   */
  chargeableW: number;
  dischargeableW: number;
  dischargeableEndW: number;
  unrestrictedW: number;
  unrestrictedEndW: number;
  ramping: boolean;
  /** planned power of the last answer */
  planW: number;
  /** reactive current per phase that a function of reactive power gives the charger, A; null: by its power factor */
  reactiveA: number | null;
  heldByDer: boolean;
  /** source of the limit by which the station itself suspends charging */
  heldBy: EvseLimitSource;
  /** source of the limit last reported to listeners; `none`: no limit beside hardware and vehicle */
  reportedSource: EvseLimitSource;
  /** limit last reported to listeners */
  reportedLimitW: number;
}

export function createConnector(p: EvseConnectorParameters, defaultEv: EvParameters): Connector {
  return {
    p,
    defaultEv,
    phase: 'free',
    evPlugged: false,
    evsePlugged: p.attachedCable,
    cableLeft: false,
    vehicle: null,
    lockedByCommand: false,
    operative: true,
    errorCode: null,
    errorInfo: null,
    vendorErrorCode: null,
    reservation: null,
    idToken: null,
    remoteStartId: null,
    session: null,
    evHeldByCommand: false,
    evseHeldByCommand: false,
    energyLeftWh: Infinity,
    energyLimitBy: null,
    startDueS: Infinity,
    timeoutDueS: Infinity,
    localLimitW: Infinity,
    localLimitBy: null,
    profile: openLimit,
    phaseLimit: 3,
    localDischargeW: null,
    localDischargeBy: null,
    dischargeW: null,
    dischargeCapW: Infinity,
    energyWh: 0,
    energyExportWh: 0,
    flowW: 0,
    powerW: 0,
    grantW: 0,
    capW: 0,
    capSource: 'none',
    supplyCapW: Infinity,
    offerW: 0,
    allocatedW: 0,
    chargeableW: 0,
    dischargeableW: 0,
    dischargeableEndW: 0,
    unrestrictedW: 0,
    unrestrictedEndW: 0,
    ramping: false,
    planW: 0,
    reactiveA: null,
    heldByDer: false,
    heldBy: 'none',
    reportedSource: 'none',
    reportedLimitW: 0,
  };
}

export function flagsOf(c: Connector): ConnectorFlags {
  return {
    faulted: c.errorCode !== null,
    operative: c.operative,
    reserved: c.reservation !== null,
    cableIn: c.evPlugged || (c.evsePlugged && !c.p.attachedCable),
    afterSession: c.cableLeft,
  };
}

export function statusOf(c: Connector): EvseConnectorState {
  return connectorState(c.phase, flagsOf(c));
}

/** True if the session has used up its energy limit. */
export function isUsedUp(c: Connector): boolean {
  return c.energyLeftWh <= 0;
}

/** True if the station suspends the session by command, or because its energy limit is used up. */
export function heldByStation(c: Connector): boolean {
  return c.evseHeldByCommand || isUsedUp(c);
}

/** True if energy could flow now: a session runs without suspension by command, and the connector has no fault. */
export function canFlow(c: Connector): boolean {
  return phaseTraits[c.phase].powered && c.errorCode === null && !c.evHeldByCommand && !heldByStation(c);
}

/** Phases in use by connector and vehicle. */
export function phasesInUse(c: Connector): 1 | 3 {
  return c.p.phases === 3 && c.vehicle?.phases === 3 && c.phaseLimit === 3 ? 3 : 1;
}

const allPhases: readonly number[] = [1, 2, 3];

/**
 * The phases of the supply that carry the current of a connector, or would carry that of a vehicle: 1 to 3 = L1 to L3.
 * A single-phase vehicle loads L1 of a three-phase connector; single-phase connectors take the phases in turn.
 */
export function supplyPhases(c: Connector, supplied: 1 | 2 | 3): readonly number[] {
  if (c.p.type === 'dc') return [];
  if (supplied < 3) return allPhases.slice(0, supplied);
  if (c.p.phases === 1) return [((c.p.connectorId - 1) % 3) + 1];
  return (c.vehicle === null ? c.phaseLimit : phasesInUse(c)) === 3 ? allPhases : [1];
}

/** The supply of a station. */
export interface Supply {
  /** line to neutral, V */
  readonly phaseLnV: Phases;
  readonly outside: { readonly supplyPhases: 1 | 2 | 3 };
}

/** Voltage of an AC connector, line to neutral, V: the mean of the phases that `supplyPhases` names. */
export function lineVoltageV(c: Connector, { phaseLnV: [aV, bV, cV], outside: { supplyPhases } }: Supply): number {
  if (supplyPhases === 1) return aV;
  if (supplyPhases === 2) return (aV + bV) / 2;
  if (c.p.phases === 3) return (c.vehicle === null ? c.phaseLimit : phasesInUse(c)) === 3 ? (aV + bV + cV) / 3 : aV;
  const phase = (c.p.connectorId - 1) % 3;
  return phase === 0 ? aV : phase === 1 ? bV : cV;
}

function wattsPerAmpereAt(c: Connector, lineV: number, powerFactor: number): number {
  if (c.p.type === 'ac') return phasesInUse(c) * lineV * powerFactor;
  return c.vehicle === null ? c.p.voltageV : Math.min(c.p.voltageV, packVoltageV(c.vehicle));
}

/** Minimum active part of a limit beside any reactive current, so that charging does not start and pause in turns. */
const minActiveShare = 0.1;

/** Part of a limit in amperes that is left for active current beside `reactiveA`, 0 to 1. */
export function activeShare(limitA: number, reactiveA: number): number {
  // a limit of 0 A admits no active current, whatever its part
  if (limitA === Infinity || limitA <= 0) return 1;
  return Math.max(minActiveShare, Math.sqrt(Math.max(0, 1 - (reactiveA / limitA) ** 2)));
}

/**
 * Power in W of one ampere (per phase) at the voltage of the supply. Where a function decides the reactive current, the
 * value applies at the lowest limit in amperes.
 */
export function wattsPerAmpere(c: Connector, supply: Supply): number {
  const { p, profile, reactiveA } = c;
  const limitA = Math.min(p.maxCurrentA, lowestA(profile));
  const powerFactor = reactiveA === null ? p.powerFactor : activeShare(limitA, reactiveA);
  return wattsPerAmpereAt(c, lineVoltageV(c, supply), powerFactor);
}

/** `wattsPerAmpere` at the nominal voltage of the connector and with the power factor of its charger. */
export function nominalWattsPerAmpere(c: Connector): number {
  return wattsPerAmpereAt(c, c.p.voltageV, c.p.powerFactor);
}

/** Lowest limit in W at which the vehicle still charges: for AC that of the minimum current on the phases in use. */
export function minChargeW(c: Connector): number {
  return c.p.type === 'ac' ? (c.p.minPowerW * phasesInUse(c)) / c.p.phases : c.p.minPowerW;
}

/** Sets the requested discharge and its bound: a set-point of the profile replaces a discharge by command. */
export function updateDischarge(c: Connector, perA: number): void {
  const setpoint = setpointOf(c.profile, perA);
  c.dischargeW = setpoint === null ? c.localDischargeW : setpoint < 0 ? -setpoint : null;
  c.dischargeCapW = dischargeCapW(c.profile, perA);
}

const limitTolerance = 1e-9;

/** Sets `capW` to the lowest limit of hardware, vehicle and commands, `grantW` without the vehicle; 0 below minimum. */
export function updateLimits(c: Connector, vehicle: Vehicle, supply: Supply): void {
  const perA = wattsPerAmpere(c, supply);
  updateDischarge(c, perA);
  let capW = Math.min(c.p.maxPowerW, c.p.maxCurrentA * perA);
  let source: EvseLimitSource = 'hardware';
  let paused = false;
  const minW = minChargeW(c);
  const profileW = chargeCapW(c.profile, perA);
  if (profileW < capW) {
    capW = profileW;
    source = 'charging_profile';
    paused = isBelowMinimum(c.profile, minW, c.p.type === 'ac' ? c.p.minCurrentA : 0);
  }
  if (c.localLimitW < capW) {
    capW = c.localLimitW;
    source = 'local';
    paused ||= capW < minW * (1 - limitTolerance);
  }
  c.grantW = paused ? 0 : capW;
  if (!paused && vehicle.maxChargeW < capW) {
    capW = vehicle.maxChargeW;
    source = 'ev';
  }
  c.capW = paused ? 0 : capW;
  c.capSource = source;
}

/** Tolerance (W) below which a vehicle counts as unrestricted. */
const unrestrictedToleranceW = 1e-6;
/** Less energy counts as 0, Wh: sub-steps end at whole microseconds, and no meter shows it. */
export const negligibleWh = 1e-4;

function countEnergy(c: Connector, energyWh: number): void {
  if (energyWh > 0) c.energyWh += energyWh;
  else c.energyExportWh -= energyWh;
  if (c.session === null) return;
  if (energyWh < 0) {
    c.session.energyDischargedWh -= energyWh;
    return;
  }
  c.session.energyWh += energyWh;
  c.energyLeftWh -= energyWh;
  if (c.energyLeftWh >= negligibleWh) return;
  c.energyLeftWh = 0;
  c.flowW = 0;
}

/** True if the present plan of the inverter holds the vehicle back. */
export const isHeldByDer = ({ planW, unrestrictedW }: Connector): boolean =>
  Math.abs(planW - unrestrictedW) > unrestrictedToleranceW;

/** True if the plan is the most that the vehicle discharges, on its ramp to more. */
const isRampingToDischarge = ({ planW, dischargeableW, dischargeableEndW }: Connector): boolean =>
  planW < 0 && planW + dischargeableW <= unrestrictedToleranceW && dischargeableEndW > dischargeableW;

/** Applies the planned power over a time: counters, state of charge, and whether the inverter held it back. */
export function flow(c: Connector, hours: number): void {
  const { vehicle, planW } = c;
  // a reading is never -0
  c.powerW = planW === 0 ? 0 : planW;
  c.heldByDer = isHeldByDer(c);
  if (c.heldByDer) c.ramping = isRampingToDischarge(c);
  c.flowW = !c.heldByDer ? c.unrestrictedEndW : c.ramping ? -c.dischargeableEndW : planW;
  if (vehicle === null || planW === 0) return;
  const perJ = planW > 0 ? vehicle.socPerJ : vehicle.drainPerJ;
  vehicle.soc = Math.max(0, Math.min(1, vehicle.soc + planW * perJ * hours * 3600));
  countEnergy(c, planW * hours);
}
