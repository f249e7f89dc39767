/** Shared types of an EVSE: parameters of a profile, state for REST and history, commands. Powers in W at the meter. */
import type { Provenance, Source } from '../../core/origin.ts';
import type { ActiveDecider } from '../grid-trace.ts';

export const evseConnectorTypes = ['ac', 'dc'] as const;
export type EvseConnectorType = (typeof evseConnectorTypes)[number];

export const evseConnectorStandards = ['Type1', 'Type2', 'CCS1', 'CCS2', 'CHAdeMO', 'NACS', 'GBT'] as const;
export type EvseConnectorStandard = (typeof evseConnectorStandards)[number];

export const evseSharingPolicies = ['proportional'] as const;
export type EvseSharingPolicy = (typeof evseSharingPolicies)[number];

/** State of a connector from an idle socket to the end of a session. */
export const evseConnectorStates = [
  'available',
  'preparing',
  'charging',
  'suspended_ev',
  'suspended_evse',
  'finishing',
  'reserved',
  'unavailable',
  'faulted',
] as const;
export type EvseConnectorState = (typeof evseConnectorStates)[number];

/** State of a connector for its next driver: a cable occupies it, an authorisation alone does not. */
export const evseOccupancies = ['available', 'occupied', 'reserved', 'unavailable', 'faulted'] as const;
export type EvseOccupancy = (typeof evseOccupancies)[number];

/** State of the energy transfer. */
export const evseChargingStates = ['idle', 'ev_connected', 'charging', 'suspended_ev', 'suspended_evse'] as const;
export type EvseChargingState = (typeof evseChargingStates)[number];

export const evseSessionStates = ['starting', 'active', 'suspended', 'ended'] as const;
export type EvseSessionState = (typeof evseSessionStates)[number];

/** `der`: a grid-support function or the service state of the device; `site`: its connection point. */
export const evseLimitSources = [
  'none',
  'hardware',
  'sharing',
  'charging_profile',
  'local',
  'ev',
  'der',
  'site',
] as const;
export type EvseLimitSource = (typeof evseLimitSources)[number];

/** Authority over tokens: the station itself, or a central system through its adapter. */
export const evseAuthorities = ['local', 'central'] as const;
export type EvseAuthority = (typeof evseAuthorities)[number];

/** Source of the commands of a central system. */
export const centralSource: Source = 'ocpp';

/**
 * Phases of a connector from one vehicle to the next; faults, reservation and availability are separate. `detached`:
 * the vehicle has left its session, which waits for a cable; `resuming`: a cable is back, no energy yet.
 */
export const evsePhases = [
  'free',
  'authorised',
  'connected',
  'starting',
  'energised',
  'suspended_ev',
  'suspended_evse',
  'suspended_both',
  'detached',
  'resuming',
  'finishing',
] as const;
export type EvsePhase = (typeof evsePhases)[number];

/** Errors of a connector. */
export const evseErrorCodes = [
  'ConnectorLockFailure',
  'EVCommunicationError',
  'GroundFailure',
  'HighTemperature',
  'InternalError',
  'LocalListConflict',
  'OtherError',
  'OverCurrentFailure',
  'OverVoltage',
  'PowerMeterFailure',
  'PowerSwitchFailure',
  'ReaderFailure',
  'ResetFailure',
  'UnderVoltage',
  'WeakSignal',
] as const;
export type EvseErrorCode = (typeof evseErrorCodes)[number];

/** Power of a vehicle over its state of charge: a fraction of its maximum, linear between the points. */
export interface ChargingCurvePoint {
  readonly socPct: number;
  /** 0..1; 0 only in the last point */
  readonly fraction: number;
}

/** A vehicle of a profile. */
export interface EvParameters extends Omit<EvDetail, 'maxChargeW' | 'chargingCurve'> {
  /** maximum AC charging power, of the on-board charger */
  readonly acMaxChargeW: number;
  /** maximum DC charging power */
  readonly dcMaxChargeW: number;
  /** voltage of the pack at half charge */
  readonly batteryVoltageV: number;
  readonly acCurve: readonly ChargingCurvePoint[];
  readonly dcCurve: readonly ChargingCurvePoint[];
  /** AC efficiency, from the meter into the pack and in the other direction */
  readonly acEfficiency: number;
  /** DC efficiency, from the meter into the pack and in the other direction */
  readonly dcEfficiency: number;
  /** rate at which the vehicle follows a new AC limit */
  readonly acRampAPerS: number;
  /** rate at which the vehicle follows a new DC limit */
  readonly dcRampAPerS: number;
  /** the vehicle stops charging when its curve falls to this fraction of its maximum */
  readonly endOfChargeFraction: number;
}

export interface EvseConnectorParameters {
  readonly connectorId: number;
  readonly type: EvseConnectorType;
  readonly standard: EvseConnectorStandard;
  readonly maxPowerW: number;
  /** maximum current per phase (AC), or of the cable (DC) */
  readonly maxCurrentA: number;
  /** phases of an AC connector; 1 for DC */
  readonly phases: 1 | 3;
  /** minimum current per phase: a lower limit pauses charging (AC) */
  readonly minCurrentA: number;
  /** minimum power: a lower limit pauses charging; AC: the minimum current on all phases at nominal voltage */
  readonly minPowerW: number;
  /** line-to-neutral voltage (AC), or maximum output voltage (DC) */
  readonly voltageV: number;
  /** power factor of the charging current (AC) */
  readonly powerFactor: number;
  readonly bidirectional: boolean;
  readonly maxDischargeW: number;
  /** true: the cable is fixed to the station */
  readonly attachedCable: boolean;
}

export interface EvseVehicleParameters {
  readonly connectorId: number;
  readonly ev: EvParameters;
  /** true: plugged in at start; false: arrives when this connector is plugged in */
  readonly pluggedAtStart: boolean;
}

/** Physical parameters of an EVSE with every default filled in. */
export interface EvseParameters {
  readonly vendor: string;
  readonly model: string;
  readonly firmwareVersion: string;
  readonly description: string | null;
  /** maximum power of the whole station: vehicles and standby */
  readonly maxPowerW: number;
  readonly sharing: EvseSharingPolicy;
  readonly connectors: readonly EvseConnectorParameters[];
  /** the vehicle that arrives where no other is named */
  readonly ev: EvParameters;
  readonly vehicles: readonly EvseVehicleParameters[];
  /** true: plugging in is enough to charge */
  readonly autoAuthorize: boolean;
  readonly standbyW: number;
  /** minimum time from authorisation to the first energy; the time of each session is random */
  readonly startDelayMinS: number;
  /** maximum time from authorisation to the first energy */
  readonly startDelayMaxS: number;
  /** time after which an authorisation without a vehicle ends */
  readonly connectionTimeoutS: number;
}

/** A change of a vehicle by a command; absent members stay. */
export type EvPatch = { readonly [K in keyof EvDetail]?: EvDetail[K] | undefined };

export interface EvDetail {
  readonly id: string | null;
  readonly batteryCapacityWh: number;
  readonly socPct: number;
  readonly targetSocPct: number;
  /** state of charge needed at departure: V2G stops here */
  readonly reserveSocPct: number;
  readonly maxChargeW: number;
  readonly maxDischargeW: number;
  /** phases of the on-board charger */
  readonly phases: 1 | 3;
  readonly chargingCurve: readonly ChargingCurvePoint[];
  /** ISO 8601 text of the user; has no effect */
  readonly departureTime: string | null;
}

/** Times in simulated seconds since the start of the device. */
export interface EvseSession {
  readonly transactionId: string;
  readonly connectorId: number;
  readonly state: EvseSessionState;
  readonly idToken: string | null;
  readonly remoteStartId: number | null;
  /** the reservation that the session has used up */
  readonly reservationId: number | null;
  readonly startedAtS: number;
  readonly endedAtS: number | null;
  readonly meterStartWh: number;
  readonly energyWh: number;
  readonly energyDischargedWh: number;
  readonly stopReason: string | null;
  readonly chargingState: EvseChargingState;
}

/** Vehicles that come and go by themselves. Times in simulated seconds since the start of the device. */
export interface EvseGenerator {
  readonly seed: number;
  /** arrivals per hour at each connector */
  readonly ratePerHour: number;
  /** token presented if plugging in presents none */
  readonly idToken: string;
  readonly startedAtS: number;
  /** vehicles that were plugged in */
  readonly arrivals: number;
  /** vehicles that drove on, because the connector was occupied, reserved, faulted or out of operation */
  readonly turnedAway: number;
  readonly departures: number;
  /** vehicles plugged in now */
  readonly present: number;
  readonly nextArrivalS: number;
}

export interface EvseReservation {
  readonly reservationId: number;
  readonly idToken: string;
  /** simulated seconds since the start of the device; null: until used or cancelled */
  readonly expiresAtS: number | null;
}

/** Power and current are positive into the vehicle. */
export interface EvseConnectorDetail
  extends Omit<EvseConnectorParameters, 'minCurrentA' | 'voltageV' | 'powerFactor' | 'maxDischargeW'> {
  /** line-to-neutral voltage (AC), or maximum output voltage (DC) */
  readonly nominalVoltageV: number;
  /** phases of the supply that carry the current, or would carry it: 1 to 3 = L1 to L3; empty for DC */
  readonly supplyPhases: readonly number[];
  readonly status: EvseConnectorState;
  readonly occupancy: EvseOccupancy;
  readonly phase: EvsePhase;
  readonly errorCode: EvseErrorCode | 'NoError';
  readonly errorInfo: string | null;
  readonly vendorErrorCode: string | null;
  readonly operative: boolean;
  readonly authorised: boolean;
  readonly contactorClosed: boolean;
  readonly cable: { readonly evPlugged: boolean; readonly evsePlugged: boolean; readonly locked: boolean };
  readonly ev: EvDetail | null;
  readonly session: EvseSession | null;
  /**
   * The powers of a connector, from the vehicle to the meter: wanted, possible, allocated, `powerW`. None is above the
   * one before it, except during ramps: a vehicle follows a lower allocation after a moment. While the vehicle
   * discharges or is to discharge, all four are at most 0, and their magnitudes follow the same rule.
   *
   * `wantedW` is the power that curve and charger of the vehicle allow at its state of charge, whatever the station
   * offers; while it discharges, the power that it could deliver.
   */
  readonly wantedW: number;
  /**
   * present limit of the hardware: maximum power, current on the phases in use, voltage; 0 with a fault or while off
   */
  readonly possibleW: number;
  /**
   * power that the vehicle may take now: after sharing, charging profiles, local limit, functions of the device, site
   */
  readonly allocatedW: number;
  /** `allocatedW` as a current: per phase in use (AC), in the cable (DC) */
  readonly allocatedA: number;
  /** delivered power: mean of the last sub-step */
  readonly powerW: number;
  /** reactive power absorbed through an AC connector, var; DC: 0 */
  readonly reactivePowerVar: number;
  /** current per phase (AC), or one value (DC) */
  readonly currentA: readonly number[];
  /** line-to-neutral voltage (AC); 0 with the contactor open (DC) */
  readonly voltageV: number;
  /** line-to-neutral voltages of the supply of the station, L1 first */
  readonly supplyVoltageV: readonly number[];
  readonly energyWh: number;
  readonly energyExportWh: number;
  readonly limitW: number;
  readonly limitSource: EvseLimitSource;
  readonly localLimitW: number | null;
  /** charging limit of the charging profiles of connector and station; null: none, or without a value in watts */
  readonly profileLimitW: number | null;
  readonly dischargeW: number | null;
  readonly reservation: EvseReservation | null;
}

/** A limit from outside that holds the consumption of a station below its maximum. */
export interface EvseExternalLimit {
  /** maximum consumption of the whole station, at least 0 */
  readonly limitW: number;
  readonly decidedBy: ActiveDecider;
  /** last writer of the registers that set the limit; null: no writer, or a limit of the site */
  readonly writer: Provenance | null;
}

export interface EvseDetail {
  readonly kind: 'evse';
  readonly vendor: string;
  readonly model: string;
  readonly firmwareVersion: string;
  readonly maxPowerW: number;
  /** power into the vehicles */
  readonly powerW: number;
  /** present consumption of the station itself */
  readonly standbyW: number;
  /** energy drawn from the grid at the meter of the station, standby included */
  readonly energyWh: number;
  readonly energyExportWh: number;
  readonly sharing: EvseSharingPolicy;
  readonly authority: EvseAuthority;
  /** token that plugging in presents; null: plugging in authorises nothing */
  readonly plugToken: string | null;
  /** null: no limit from outside */
  readonly externalLimit: EvseExternalLimit | null;
  /** energy storage of all plugged vehicles together; null: no vehicle */
  readonly battery: { readonly capacityWh: number; readonly socPct: number } | null;
  /** null: no generator of vehicles */
  readonly generator: EvseGenerator | null;
  readonly connectors: readonly EvseConnectorDetail[];
}
