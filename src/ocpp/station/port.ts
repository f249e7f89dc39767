/**
 * The charging station behind an OCPP client, as the versions see it, and its functions of grid support as block R of OCPP
 * 2.1 sets them. `bridge.ts` makes both from a device and its map.
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
 * Everything that a meter shows at one instant, all from the same state: powers equal voltages times currents, energies
 * are integrals of the powers. Import is into the vehicle. Connector 0 is the grid meter of the station.
 */
export interface MeterSample {
  /** the instant, for the time stamp */
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
  /** the cable is fixed to the station: it has no lock that could be opened */
  readonly attachedCable: boolean;
}

export interface StationPort {
  readonly deviceIndex: number;
  readonly nameplate: StationNameplate;
  /** connector numbers, ascending */
  readonly connectorIds: readonly number[];
  readonly ratings: readonly ConnectorRating[];
  /** of the station at its grid connection; `connectorId` 0 */
  readonly stationRating: ConnectorRating;
  /** the state now */
  readonly detail: EvseDetail;
  /** @throws SimError UNKNOWN_RESOURCE */
  connector(connectorId: number): EvseConnectorDetail;
  /** The meter as `detail` shows it. @param connectorId 0: the whole station. @throws SimError UNKNOWN_RESOURCE */
  sample(connectorId: number): MeterSample;
  /** The meter of a connector at the instant of its transition. */
  sampleOf(transition: EvseConnectorTransition): MeterSample;
  /** instant from which times of the device count */
  readonly startedAt: SimTime;
  /** the instant at which commands act now */
  readonly now: SimTime;
  /** the device is off (fault `reboot`) */
  readonly dark: boolean;
  /**
   * Carries out a command of the central system whole (source `ocpp`), or throws.
   * @param by default: source `ocpp` with the id of the station as peer
   * @throws SimError COMMAND_CONFLICT, COMMAND_BAD_VALUE, UNKNOWN_RESOURCE, MAP_LOCAL_CONTROL
   */
  command(command: EvseCommand, by?: Origin): void;
  /** Opens grid support of the station for one caller; null: the station is not bidirectional. */
  openDer(): DerPort | null;
  /** Transitions of the device, in order; the returned function unsubscribes. */
  onTransition(listener: (transition: EvseTransition) => void): () => void;
}

/** `limited`: on the way into service; `out`: for any other reason than a trip. */
export type DerService = 'in_service' | 'ceased' | 'tripped' | 'limited' | 'out';

/** Facts for a translation. */
export interface DerFacts extends PointFacts {
  /** True if the station has a function: its points, and its bit of 702.CtrlModes. */
  has(name: FunctionName): boolean;
  /** True if the station has a curve of a trip function. */
  hasCurve(name: TripName, region: TripRegion): boolean;
  /** The points that carry out wishes, or why one of them cannot be. */
  place(wishes: readonly FunctionWish[]): readonly PointValue[] | RefusedWish;
  readonly nominalHz: number;
}

/** Request of a control. */
export interface DerSettings {
  readonly points: readonly PointValue[];
  /** slope of active power, percent of 702.WMax per second; absent: it sets none */
  readonly slopeWPctPerS?: number;
}

/** A control that is to hold points. */
export interface DerHold {
  readonly id: string;
  readonly settings: DerSettings;
}

/** A trip of voltage or frequency. */
export interface DerTrip {
  readonly name: TripName;
  readonly at: SimTime;
}

/** Why the power is what it is. */
export interface DerCondition {
  readonly at: SimTime;
  readonly service: DerService;
  /** the trip that keeps the station out of service, or the last one since the last look; null: neither */
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
  /** The values as the station would take them if nothing kept it from taking them now. */
  check(settings: DerSettings): Written;
  /**
   * Makes exactly these controls be in force. No two of them set the same point. A point that another writer has
   * changed since stays as that writer left it.
   * @returns what has become of each of them
   */
  follow(controls: readonly DerHold[]): ReadonlyMap<string, Written>;
  /** The last `follow` is complete: nothing waits for the device to take it. */
  readonly isSettled: boolean;
  /** True if another writer has changed something of a control since. */
  isOverwritten(id: string): boolean;
  /** The condition now. @param since instant of the last look, for trips that are over already */
  condition(since: SimTime): DerCondition;
  /** Calls back after each tick; the returned function unsubscribes. */
  onTick(listener: () => void): () => void;
  /** Calls back when the device has been reset, so that nothing is held any more, or has come back to power. */
  onRestart(listener: () => void): () => void;
  /** Listeners end; nothing is written. */
  close(): void;
}
