/** The charging station behind an OCPP client, as the versions see it. `bridge.ts` makes it from a device and its map. */
import type { EvseCommand } from '../../contract/kinds/evse-commands.ts';
import type { EvseConnectorTransition, EvseTransition } from '../../contract/kinds/evse-transitions.ts';
import type { EvseConnectorDetail, EvseDetail } from '../../contract/kinds/evse.ts';
import type { Origin } from '../../core/origin.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { DerPort } from './der-port.ts';

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
  readonly maxCurrentA: number;
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
  /** Transitions of the device, in order; the returned function ends it. */
  onTransition(listener: (transition: EvseTransition) => void): () => void;
}
