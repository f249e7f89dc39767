/**
 * NotifyEVChargingNeeds (K15, Q01): once the central system knows the transaction of a vehicle at an EVSE with
 * ISO15118Ctrlr; and NotifyEVChargingSchedule when a TxProfile has answered it.
 */
import { errorText } from '../../../core/errors.ts';
import type { EvDetail, EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import type { StationParts, Transaction, Transactions } from '../parts.ts';
import { stamp } from '../parts.ts';
import type { ChargingSchedule, EnergyTransferModeEnum } from '../messages.ts';
import type { ChargingOfVehicles } from '../charging/smart-charging.ts';
import { commonTransfers, discharges, evScheduleOf, needsOf } from './charging-needs.ts';

/** Schedules that a vehicle takes (ISO 15118). */
const maxScheduleTuples = 3;

export type NeedsParts = Pick<
  StationParts,
  'device' | 'clock' | 'variables' | 'calls' | 'registration' | 'version' | 'log'
>;

export interface NeedsDeps {
  readonly transactions: Pick<Transactions, 'at' | 'byId' | 'stop' | 'onAnswered' | 'onEnded'>;
  readonly vehicles: ChargingOfVehicles;
}

export interface VehicleNeeds {
  /** whether the vehicles of an EVSE tell their needs */
  speaks(evseId: number): boolean;
  /** Transfers that the vehicle at an EVSE and the EVSE have in common; empty: no vehicle. */
  transfers(evseId: number): readonly EnergyTransferModeEnum[];
  /** Restricts the transfers of a transaction; its needs are to be told again. */
  restrict(transaction: Transaction, allowed: readonly EnergyTransferModeEnum[]): void;
  /** Tells the needs of the vehicle of a transaction, again if it must. */
  tell(transaction: Transaction): void;
  stop(): void;
}

/** What is known of the negotiation of a transaction. */
interface Talk {
  told: boolean;
  /** null: all */
  allowed: readonly EnergyTransferModeEnum[] | null;
}

interface VehicleThere {
  readonly connector: EvseConnectorDetail;
  readonly ev: EvDetail;
}

/** Null: no vehicle is plugged in. */
function vehicleAt({ device }: Pick<NeedsParts, 'device'>, evseId: number): VehicleThere | null {
  const connector = device.connector(evseId);
  const { ev, cable } = connector;
  return ev !== null && cable.evPlugged && cable.evsePlugged ? { connector, ev } : null;
}

/** The negotiations of the running transactions, by transaction. */
function createTalks() {
  const talks = new Map<string, Talk>();
  return {
    of(transactionId: string): Talk {
      const known = talks.get(transactionId) ?? { told: false, allowed: null };
      talks.set(transactionId, known);
      return known;
    },
    hasTold: (transactionId: string) => talks.get(transactionId)?.told ?? false,
    forget: (transactionId: string) => {
      talks.delete(transactionId);
    },
  };
}

/** What a vehicle may ask for, and what becomes of a refusal. */
function createTeller(parts: NeedsParts, { transactions, vehicles }: NeedsDeps, talks: ReturnType<typeof createTalks>) {
  const { device, variables, version, calls } = parts;
  const { conditions, control } = vehicles;
  const speaks = (evseId: number): boolean => variables.has('ISO15118Ctrlr', 'Available', { evseId });

  const transfers = (evseId: number): readonly EnergyTransferModeEnum[] => {
    const there = vehicleAt(parts, evseId);
    if (there === null) return [];
    return commonTransfers(there.connector, there.ev, version === 'ocpp2.1' && conditions.enabled(evseId));
  };

  const restrict = ({ evseId, transactionId }: Transaction, allowed: readonly EnergyTransferModeEnum[]): void => {
    talks.of(transactionId).allowed = allowed;
    conditions.permitDischarge(evseId, allowed.some(discharges));
    control.refresh();
  };

  /** Without discharge the vehicle asks once more; else nothing is left to ask for, and the transaction ends (2.1). */
  const rejected = (transaction: Transaction, asked: readonly EnergyTransferModeEnum[]): void => {
    if (version !== 'ocpp2.1' || transactions.byId(transaction.transactionId) === null) return;
    const left = asked.filter((mode) => !discharges(mode));
    if (left.length > 0 && left.length < asked.length) {
      restrict(transaction, left);
      tell(transaction);
      return;
    }
    try {
      transactions.stop(transaction.evseId, { reason: 'ReqEnergyTransferRejected', trigger: 'AbnormalCondition' });
    } catch (error) {
      parts.log.warning(`the transaction of refused needs goes on: ${errorText(error)}`, device.deviceIndex);
    }
  };

  function tell(transaction: Transaction): void {
    const { evseId, transactionId } = transaction;
    const there = vehicleAt(parts, evseId);
    if (!speaks(evseId) || there === null || !parts.registration.accepted) return;
    const talk = talks.of(transactionId);
    const common = transfers(evseId).filter((mode) => talk.allowed?.includes(mode) ?? true);
    talk.told = true;
    const request = {
      evseId,
      maxScheduleTuples,
      chargingNeeds: needsOf(there.connector, there.ev, common, version),
      ...(version === 'ocpp2.1' && { timestamp: stamp(parts.clock.nowMs()) }),
    };
    void calls.send('NotifyEVChargingNeeds', request).then((outcome) => {
      if (outcome.kind === 'unsent' || outcome.kind === 'lost') talk.told = false;
      if (outcome.kind === 'result' && outcome.payload.status === 'Rejected') rejected(transaction, common);
    });
  }

  return { speaks, transfers, restrict, tell };
}

/** The vehicle makes its schedule of the TxProfile that answers its needs. */
function tellSchedule(parts: NeedsParts, evseId: number, schedule: ChargingSchedule): void {
  const there = vehicleAt(parts, evseId);
  const chargingSchedule = there && evScheduleOf(schedule, there.connector, there.ev);
  if (chargingSchedule === null) return;
  void parts.calls.send('NotifyEVChargingSchedule', {
    evseId,
    timeBase: stamp(parts.clock.nowMs()),
    chargingSchedule,
    ...(parts.version === 'ocpp2.1' && { selectedChargingScheduleId: schedule.id }),
  });
}

export function createNeeds(parts: NeedsParts, deps: NeedsDeps): VehicleNeeds {
  const { transactions, vehicles } = deps;
  const talks = createTalks();
  const { speaks, transfers, restrict, tell } = createTeller(parts, deps, talks);

  vehicles.expectNeeds(
    ({ evseId, transactionId }) => speaks(evseId) && vehicleAt(parts, evseId) !== null && !talks.hasTold(transactionId),
  );
  const listeners = [
    transactions.onAnswered(({ transactionId }) => {
      const transaction = transactions.byId(transactionId);
      if (transaction !== null && !talks.hasTold(transactionId)) tell(transaction);
    }),
    transactions.onEnded(({ transactionId }) => {
      talks.forget(transactionId);
    }),
    parts.device.onTransition(({ event, connectorId }) => {
      // the next vehicle has needs of its own
      const transaction = event === 'unplugged' || event === 'ev_unplugged' ? transactions.at(connectorId) : null;
      if (transaction !== null) talks.of(transaction.transactionId).told = false;
    }),
    vehicles.onTxProfile(({ evseId, profile }) => {
      const transaction = transactions.at(evseId);
      const [schedule] = profile.chargingSchedule;
      if (transaction !== null && schedule !== undefined && talks.hasTold(transaction.transactionId))
        tellSchedule(parts, evseId, schedule);
    }),
  ];
  return {
    speaks,
    transfers,
    restrict,
    tell,
    stop() {
      for (const end of listeners) end();
    },
  };
}
