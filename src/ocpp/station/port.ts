/**
 * The charging station behind an OCPP client, as the versions see it, and its grid-support functions, which block R of
 * OCPP 2.1 controls. `bridge.ts` creates both from a device and its map.
 */
import type { EvseCommand } from '../../contract/kinds/evse-commands.ts';
import type { EvseConnectorTransition, EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail, EvseDetail } from '../../contract/kinds/evse.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { ActiveDecider, ReactiveDecider } from '../../contract/grid-trace.ts';
import type { FunctionName, TripName } from '../../sunspec/map/grid-support/functions.ts';
import type {
  FunctionWish,
  PointFacts,
  PointValue,
  RefusedWish,
  TripRegion,
} from '../../sunspec/map/grid-support/wish.ts';
import type { Written } from '../../sunspec/map/point-holds.ts';

/** Values for BootNotification; null: the device has none. */
export interface StationNameplate {
  readonly vendor: string;
  readonly model: string;
  readonly serialNumber: string | null;
  readonly firmwareVersion: string;
}

/**
 * Everything that a meter shows at one instant, all from the same state: powers are voltages times currents times power
 * factor, energies are integrals of the powers. Import is into the vehicle. Connector 0 is the station's grid meter.
 */
export interface MeterSample {
  /** instant of the sample */
  readonly at: SimTime;
  readonly energyImportWh: number;
  readonly energyExportWh: number;
  /** + into the vehicle */
  readonly powerW: number;
  /** + absorbed by the vehicle */
  readonly reactivePowerVar: number;
  readonly powerFactor: number;
  /** by phase: AC on L1 to L3 (0 where no current flows), one value for DC; magnitudes */
  readonly currentA: readonly number[];
  /** phases of the supply that belong to `currentA`: 1 to 3; empty: DC */
  readonly phases: readonly number[];
  /** line to neutral by phase, or the DC voltage */
  readonly voltageV: readonly number[];
  readonly powerByPhaseW: readonly number[];
  readonly frequencyHz: number;
  /** of the vehicle; null: none, or unknown */
  readonly socPct: number | null;
  /** offered to the vehicle */
  readonly offeredW: number;
  readonly offeredA: number;
}

/** Nominal values for conversions between W and A. */
export interface ConnectorRating {
  readonly connectorId: number;
  readonly type: 'ac' | 'dc';
  readonly phases: 1 | 3;
  /** line to neutral; of DC the upper end of the output */
  readonly nominalVoltageV: number;
  readonly maxPowerW: number;
  /** per phase */
  readonly maxCurrentA: number;
  /** phases of the supply that it may load: 1 to 3 = L1 to L3; empty for DC, whose converter loads all of them */
  readonly supplyPhases: readonly number[];
  readonly bidirectional: boolean;
  /** the cable is fixed to the station: it has no lock to open */
  readonly attachedCable: boolean;
}

export interface StationPort {
  readonly deviceIndex: number;
  readonly nameplate: StationNameplate;
  /** connector numbers, ascending */
  readonly connectorIds: readonly number[];
  readonly ratings: readonly ConnectorRating[];
  /** rating of the station at its grid connection; `connectorId` 0 */
  readonly stationRating: ConnectorRating;
  /** present state */
  readonly detail: EvseDetail;
  /** @throws SimError UNKNOWN_RESOURCE */
  connector(connectorId: number): EvseConnectorDetail;
  /** The meter as `detail` shows it. @param connectorId 0: the whole station. @throws SimError UNKNOWN_RESOURCE */
  sample(connectorId: number): MeterSample;
  /** The meter of a connector at the instant of its transition. */
  sampleOf(transition: EvseConnectorTransition): MeterSample;
  /** instant at which the device was started */
  readonly startedAt: SimTime;
  /** instant at which a command would act if sent now */
  readonly now: SimTime;
  /** true: the device is off (fault `reboot`) */
  readonly dark: boolean;
  /**
   * Carries out a command of the central system, or throws and changes nothing.
   * @param by default: source `ocpp` with the id of the station as peer
   * @throws SimError COMMAND_CONFLICT, COMMAND_BAD_VALUE, UNKNOWN_RESOURCE, MAP_LOCAL_CONTROL
   */
  command(command: EvseCommand, by?: Origin): void;
  /** Makes connectors operative that the central system has made inoperative. @throws SimError as `command` */
  endInoperative(): void;
  /** True if another writer than this station has set the meter of a connector since an instant. */
  meterSetSince(connectorId: number, since: SimTime): boolean;
  /** Opens grid support of the station for one caller; null: the station is not bidirectional. */
  openDer(): DerPort | null;
  /** Transitions of the device, in order; the returned function unsubscribes. */
  onTransition(listener: (transition: EvseTransition) => void): () => void;
}

/** `limited`: entering service; `out`: out of service for another reason than a trip. */
export type DerService = 'in_service' | 'ceased' | 'tripped' | 'limited' | 'out';

/** Facts for a translation. */
export interface DerFacts extends PointFacts {
  /** True if the station has a function: its points, and its bit of 702.CtrlModes. */
  has(name: FunctionName): boolean;
  /** True if the station has a curve of a trip function. */
  hasCurve(name: TripName, region: TripRegion): boolean;
  /** Points that carry out the wishes, or the wish that cannot be carried out, with the reason. */
  place(wishes: readonly FunctionWish[]): readonly PointValue[] | RefusedWish;
  readonly nominalHz: number;
}

/** Points and slope that a control sets. */
export interface DerSettings {
  readonly points: readonly PointValue[];
  /** slope of active power, percent of 702.WMax per second; absent: it sets none */
  readonly slopeWPctPerS?: number;
}

/** A control to put in force. */
export interface DerHold {
  readonly id: string;
  readonly settings: DerSettings;
}

/** A trip of voltage or frequency. */
export interface DerTrip {
  readonly name: TripName;
  readonly at: SimTime;
}

/** State of service, and the reasons for the present power. */
export interface DerCondition {
  readonly at: SimTime;
  readonly service: DerService;
  /** the trip that keeps the station out of service, or the last trip since the previous reading; null: neither */
  readonly trip: DerTrip | null;
  readonly active: ActiveDecider;
  readonly reactive: ReactiveDecider;
  readonly frequencyHz: number;
  readonly nominalHz: number;
  /** the frequency is within the deadband of the droop */
  readonly withinDroopBand: boolean;
  /** extremes over the phases, percent of 702.VNom */
  readonly lowestVoltagePct: number;
  readonly highestVoltagePct: number;
}

export interface DerPort extends DerFacts {
  /** A text point; null: the station does not have it. */
  text(model: number, path: string): string | null;
  /** Outcome of a write of the settings if the device accepted remote writes now. */
  check(settings: DerSettings): Written;
  /**
   * Makes exactly these controls be in force. No two of them set the same point. A point that another writer has
   * changed since stays as that writer left it.
   * @returns outcome by id of the control
   */
  follow(controls: readonly DerHold[]): ReadonlyMap<string, Written>;
  /** true: the last `follow` is complete, and nothing waits for the device to accept it */
  readonly isSettled: boolean;
  /** True if another writer has changed a value of a control since `follow`. */
  isOverwritten(id: string): boolean;
  /**
   * The present condition.
   * @param since instant of the previous reading: trips since then count even if they are over
   */
  condition(since: SimTime): DerCondition;
  /** Calls back after each tick; the returned function unsubscribes. */
  onTick(listener: () => void): () => void;
  /** Calls back after a reset of the device, which ends all holds, and after its power returns. */
  onRestart(listener: () => void): () => void;
  /** Stops following the device, and removes the listeners of `onRestart`; writes nothing. */
  close(): void;
}
