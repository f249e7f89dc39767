/**
 * Bidirectional power (block Q of 2.1) and the needs of vehicles (K15, in 2.0.1 too): NotifyEVChargingNeeds,
 * NotifyEVChargingSchedule, NotifyAllowedEnergyTransfer, AFRRSignal. Set-points are in periods of charging profiles,
 * which smart charging applies.
 */
import { deciding, transactionAt } from '../../charging/limits.ts';
import { periodAt } from '../../charging/model.ts';
import { instantOf } from '../../station/stack.ts';
import type { Version2 } from '../../station/stack.ts';
import { stamp } from '../parts.ts';
import type { Handler, Part, StationParts, Replies, Requests, Transaction, Transactions } from '../parts.ts';
import type { EvDetail, EvseConnectorDetail } from '../../../contract/kinds/evse.ts';
import { errorText } from '../../../core/errors.ts';
import type { ChargingOfVehicles } from '../charging/smart-charging.ts';
import type { ChargingNeeds, ChargingSchedule, EnergyTransferModeEnum } from '../messages.ts';

// Messages of ISO 15118 from a vehicle of the device: its needs, and its schedule for an offered one.

/** Transfers that both vehicle and EVSE support; a bidirectional transfer is first. */
function commonTransfers(
  { type, phases }: Pick<EvseConnectorDetail, 'type' | 'phases'>,
  ev: Pick<EvDetail, 'phases' | 'maxDischargeW'>,
  mayDischarge: boolean,
): readonly EnergyTransferModeEnum[] {
  const isBidirectional = mayDischarge && ev.maxDischargeW > 0;
  if (type === 'dc') return [...(isBidirectional ? (['DC_BPT'] as const) : []), 'DC'];
  const charging = phases === 3 && ev.phases === 3 ? 'AC_three_phase' : 'AC_single_phase';
  return [...(isBidirectional ? (['AC_BPT'] as const) : []), charging];
}

const discharges = (mode: EnergyTransferModeEnum) => mode === 'DC_BPT' || mode === 'AC_BPT';

/** Energy from the present state of charge to `socPct`, Wh. */
const energyTo = (socPct: number, ev: EvDetail) => Math.round(((socPct - ev.socPct) / 100) * ev.batteryCapacityWh);

function acNeeds(connector: EvseConnectorDetail, ev: EvDetail): NonNullable<ChargingNeeds['acChargingParameters']> {
  const { nominalVoltageV, minPowerW, phases } = connector;
  const used = Math.min(phases, ev.phases);
  return {
    energyAmount: Math.max(0, energyTo(ev.targetSocPct, ev)),
    evMinCurrent: Math.round(minPowerW / (phases * nominalVoltageV)),
    evMaxCurrent: Math.round(ev.maxChargeW / (used * nominalVoltageV)),
    evMaxVoltage: Math.round(nominalVoltageV),
  };
}

function dcNeeds(connector: EvseConnectorDetail, ev: EvDetail): NonNullable<ChargingNeeds['dcChargingParameters']> {
  return {
    evMaxCurrent: Math.round(ev.maxChargeW / connector.nominalVoltageV),
    evMaxVoltage: Math.round(connector.nominalVoltageV),
    evMaxPower: Math.round(ev.maxChargeW),
    evEnergyCapacity: Math.round(ev.batteryCapacityWh),
    energyAmount: Math.max(0, energyTo(ev.targetSocPct, ev)),
    stateOfCharge: Math.round(ev.socPct),
    fullSoC: 100,
  };
}

function v2xNeeds(connector: EvseConnectorDetail, ev: EvDetail, maxDischargeW: number) {
  return {
    minChargePower: Math.round(connector.minPowerW),
    maxChargePower: Math.round(Math.min(connector.maxPowerW, ev.maxChargeW)),
    minDischargePower: 0,
    maxDischargePower: Math.round(Math.min(maxDischargeW, ev.maxDischargeW)),
    evTargetEnergyRequest: energyTo(ev.targetSocPct, ev),
    evMinEnergyRequest: energyTo(ev.reserveSocPct, ev),
    evMaxEnergyRequest: energyTo(100, ev),
    evMinV2XEnergyRequest: energyTo(ev.reserveSocPct, ev),
    evMaxV2XEnergyRequest: energyTo(100, ev),
    targetSoC: Math.round(ev.targetSocPct),
  };
}

function departure({ departureTime }: EvDetail): string | undefined {
  const ms = departureTime === null ? NaN : Date.parse(departureTime);
  return Number.isNaN(ms) ? undefined : stamp(ms);
}

/** @param transfers that vehicle and EVSE support, the requested one first */
function needsOf(
  connector: EvseConnectorDetail,
  ev: EvDetail,
  transfers: readonly EnergyTransferModeEnum[],
  version: Version2,
): ChargingNeeds {
  const requested = transfers[0] ?? 'DC';
  const departureTime = departure(ev);
  return {
    requestedEnergyTransfer: requested,
    ...(version === 'ocpp2.1' && transfers.length > 0 && { availableEnergyTransfer: transfers }),
    ...(departureTime !== undefined && { departureTime }),
    ...(connector.type === 'dc'
      ? { dcChargingParameters: dcNeeds(connector, ev) }
      : { acChargingParameters: acNeeds(connector, ev) }),
    // the station has one rating for both directions
    ...(discharges(requested) && { v2xChargingParameters: v2xNeeds(connector, ev, connector.maxPowerW) }),
  };
}

type Notice = Requests['NotifyEVChargingSchedule'];

/**
 * The schedule of the vehicle: the offered limits, at most the maximum of the vehicle. null: a period has no limit.
 */
function evScheduleOf(
  offered: ChargingSchedule,
  connector: Pick<EvseConnectorDetail, 'type' | 'phases' | 'nominalVoltageV'>,
  ev: Pick<EvDetail, 'maxChargeW' | 'phases'>,
): Notice['chargingSchedule'] | null {
  const phases = connector.type === 'dc' ? 1 : Math.min(connector.phases, ev.phases);
  const vehicleMax =
    offered.chargingRateUnit === 'W' ? ev.maxChargeW : ev.maxChargeW / (phases * connector.nominalVoltageV);
  const periods = offered.chargingSchedulePeriod.flatMap(({ startPeriod, limit }) =>
    limit === undefined ? [] : [{ startPeriod, limit: Math.floor(Math.min(limit, vehicleMax) * 10) / 10 }],
  );
  if (periods.length < offered.chargingSchedulePeriod.length) return null;
  const { id, chargingRateUnit, duration } = offered;
  return {
    id,
    chargingRateUnit,
    ...(duration !== undefined && { duration }),
    chargingSchedulePeriod: periods,
  };
}

/** Maximum number of schedules that a vehicle accepts (ISO 15118). */
const maxScheduleTuples = 3;

type NeedsParts = Pick<StationParts, 'device' | 'clock' | 'variables' | 'calls' | 'registration' | 'version' | 'log'>;

interface NeedsDeps {
  readonly transactions: Pick<Transactions, 'at' | 'byId' | 'stop' | 'onAnswered' | 'onEnded'>;
  readonly vehicles: ChargingOfVehicles;
}

interface VehicleNeeds {
  /** True if the vehicles of an EVSE send their needs (ISO15118Ctrlr). */
  supportsIso15118(evseId: number): boolean;
  /** Transfers that both an EVSE and its vehicle support; empty: no vehicle. */
  transfers(evseId: number): readonly EnergyTransferModeEnum[];
  /** Restricts the transfers of a transaction. Send the needs again afterwards. */
  restrict(transaction: Transaction, allowed: readonly EnergyTransferModeEnum[]): void;
  /** Sends the needs of the vehicle of a transaction, also if they were sent before. */
  sendNeeds(transaction: Transaction): void;
  stop(): void;
}

/** Negotiation of a transaction. */
interface Negotiation {
  isSent: boolean;
  /** null: all transfers */
  allowed: readonly EnergyTransferModeEnum[] | null;
}

interface PluggedVehicle {
  readonly connector: EvseConnectorDetail;
  readonly ev: EvDetail;
}

/** null: no vehicle is plugged in */
function vehicleAt({ device }: Pick<NeedsParts, 'device'>, evseId: number): PluggedVehicle | null {
  const connector = device.connector(evseId);
  const { ev, cable } = connector;
  return ev !== null && cable.evPlugged && cable.evsePlugged ? { connector, ev } : null;
}

/** The negotiations of the running transactions, by transaction. */
function createNegotiations() {
  const negotiations = new Map<string, Negotiation>();
  return {
    of(transactionId: string): Negotiation {
      const negotiation = negotiations.get(transactionId) ?? { isSent: false, allowed: null };
      negotiations.set(transactionId, negotiation);
      return negotiation;
    },
    hasSentNeeds: (transactionId: string) => negotiations.get(transactionId)?.isSent ?? false,
    forget: (transactionId: string) => {
      negotiations.delete(transactionId);
    },
  };
}

/** Sends the needs of vehicles, and handles refusals. */
function createNeedsSender(
  parts: NeedsParts,
  { transactions, vehicles }: NeedsDeps,
  negotiations: ReturnType<typeof createNegotiations>,
) {
  const { device, variables, version, calls } = parts;
  const { conditions, control } = vehicles;
  const supportsIso15118 = (evseId: number): boolean => variables.has('ISO15118Ctrlr', 'Available', { evseId });

  const transfers = (evseId: number): readonly EnergyTransferModeEnum[] => {
    const plugged = vehicleAt(parts, evseId);
    if (plugged === null) return [];
    return commonTransfers(plugged.connector, plugged.ev, version === 'ocpp2.1' && conditions.enabled(evseId));
  };

  const restrict = ({ evseId, transactionId }: Transaction, allowed: readonly EnergyTransferModeEnum[]): void => {
    negotiations.of(transactionId).allowed = allowed;
    conditions.permitDischarge(evseId, allowed.some(discharges));
    control.refresh();
  };

  /**
   * After a refusal (2.1) the vehicle sends its needs again without discharge; the transaction ends if the refused
   * needs had no discharge or nothing else.
   */
  const handleRejection = (transaction: Transaction, requested: readonly EnergyTransferModeEnum[]): void => {
    if (version !== 'ocpp2.1' || transactions.byId(transaction.transactionId) === null) return;
    const charging = requested.filter((mode) => !discharges(mode));
    if (charging.length > 0 && charging.length < requested.length) {
      restrict(transaction, charging);
      sendNeeds(transaction);
      return;
    }
    try {
      transactions.stop(transaction.evseId, { reason: 'ReqEnergyTransferRejected', trigger: 'AbnormalCondition' });
    } catch (error) {
      parts.log.warning(
        `the transaction whose charging needs were refused continues: ${errorText(error)}`,
        device.deviceIndex,
      );
    }
  };

  function sendNeeds(transaction: Transaction): void {
    const { evseId, transactionId } = transaction;
    const plugged = vehicleAt(parts, evseId);
    if (!supportsIso15118(evseId) || plugged === null || !parts.registration.isReady) return;
    const negotiation = negotiations.of(transactionId);
    const common = transfers(evseId).filter((mode) => negotiation.allowed?.includes(mode) ?? true);
    negotiation.isSent = true;
    const request = {
      evseId,
      maxScheduleTuples,
      chargingNeeds: needsOf(plugged.connector, plugged.ev, common, version),
      ...(version === 'ocpp2.1' && { timestamp: stamp(parts.clock.nowMs()) }),
    };
    void calls.send('NotifyEVChargingNeeds', request).then((outcome) => {
      if (outcome.kind === 'unsent' || outcome.kind === 'lost') negotiation.isSent = false;
      if (outcome.kind === 'result' && outcome.payload.status === 'Rejected') handleRejection(transaction, common);
    });
  }

  return { supportsIso15118, transfers, restrict, sendNeeds };
}

/** Sends the schedule of the vehicle for a TxProfile that answers its needs. */
function sendSchedule(parts: NeedsParts, evseId: number, schedule: ChargingSchedule): void {
  const plugged = vehicleAt(parts, evseId);
  const chargingSchedule = plugged && evScheduleOf(schedule, plugged.connector, plugged.ev);
  if (chargingSchedule === null) return;
  void parts.calls.send('NotifyEVChargingSchedule', {
    evseId,
    timeBase: stamp(parts.clock.nowMs()),
    chargingSchedule,
    ...(parts.version === 'ocpp2.1' && { selectedChargingScheduleId: schedule.id }),
  });
}

function createNeeds(parts: NeedsParts, deps: NeedsDeps): VehicleNeeds {
  const { transactions, vehicles } = deps;
  const negotiations = createNegotiations();
  const { supportsIso15118, transfers, restrict, sendNeeds } = createNeedsSender(parts, deps, negotiations);

  vehicles.expectNeeds(
    ({ evseId, transactionId }) =>
      supportsIso15118(evseId) && vehicleAt(parts, evseId) !== null && !negotiations.hasSentNeeds(transactionId),
  );
  const listeners = [
    transactions.onAnswered(({ transactionId }) => {
      const transaction = transactions.byId(transactionId);
      if (transaction !== null && !negotiations.hasSentNeeds(transactionId)) sendNeeds(transaction);
    }),
    transactions.onEnded(({ transactionId }) => {
      negotiations.forget(transactionId);
    }),
    parts.device.onTransition(({ event, connectorId }) => {
      // the next vehicle has other needs
      const transaction = event === 'unplugged' || event === 'ev_unplugged' ? transactions.at(connectorId) : null;
      if (transaction !== null) negotiations.of(transaction.transactionId).isSent = false;
    }),
    vehicles.onTxProfile(({ evseId, profile }) => {
      const transaction = transactions.at(evseId);
      const [schedule] = profile.chargingSchedule;
      if (transaction !== null && schedule !== undefined && negotiations.hasSentNeeds(transaction.transactionId))
        sendSchedule(parts, evseId, schedule);
    }),
  ];
  return {
    supportsIso15118,
    transfers,
    restrict,
    sendNeeds,
    stop() {
      for (const end of listeners) end();
    },
  };
}

// Energy transfers that the answer to Authorize allows the transaction which gets the token (2.1 Q01).

interface AllowedTransfers {
  /** Call it with each answer to Authorize. */
  authorized(evseId: number, reply: Replies['Authorize']): void;
  stop(): void;
}

/** @param needs created later, so that its listeners send the needs after the listeners here have restricted them */
function createAllowedTransfers(
  { device }: Pick<NeedsParts, 'device'>,
  { transactions }: Pick<NeedsDeps, 'transactions'>,
  needs: () => VehicleNeeds,
): AllowedTransfers {
  /** allowed transfers by EVSE, until a transaction begins with the token */
  const waiting = new Map<number, readonly EnergyTransferModeEnum[]>();
  const ends = [
    transactions.onAnswered(({ evseId, transactionId }) => {
      const allowed = waiting.get(evseId);
      const transaction = transactions.byId(transactionId);
      if (allowed === undefined || transaction === null || transaction.idToken === null) return;
      waiting.delete(evseId);
      needs().restrict(transaction, allowed);
    }),
    device.onTransition(({ event, connectorId }) => {
      if (event === 'withdraw') waiting.delete(connectorId);
      if (event === 'restart') waiting.clear();
    }),
  ];
  return {
    authorized(evseId, { idTokenInfo, allowedEnergyTransfer }) {
      const running = transactions.at(evseId);
      // a token that is presented to stop a transaction does not restrict its transfers
      if (running !== null && running.idToken !== null) return;
      waiting.delete(evseId);
      if (idTokenInfo.status !== 'Accepted' || allowedEnergyTransfer === undefined) return;
      if (running === null) {
        waiting.set(evseId, allowedEnergyTransfer);
        return;
      }
      // a transaction that began with the cable has sent its needs without the restriction
      needs().restrict(running, allowedEnergyTransfer);
      needs().sendNeeds(running);
    },
    stop() {
      for (const end of ends) end();
    },
  };
}

type V2xParts = NeedsParts & Pick<StationParts, 'finding'>;
type V2xDeps = NeedsDeps;
type V2xPart = Part & Required<Pick<Part, 'handlers' | 'stop'>> & Pick<AllowedTransfers, 'authorized'>;

/** Maximum number of signals that wait for their instant. */
const maxWaiting = 100;

/** EVSEs whose period in force follows signals. */
function followers({ device }: Pick<V2xParts, 'device'>, { vehicles: { control } }: V2xDeps): readonly number[] {
  const { state, nowMs } = control;
  return device.connectorIds.filter((evseId) =>
    deciding(state, evseId, nowMs).some(
      (profile) => periodAt(profile, nowMs, transactionAt(state, evseId))?.frequencyWatt?.signalCurve != null,
    ),
  );
}

/** Q07: a signal acts at its instant, or at once if the instant has passed. */
function createSignals(parts: V2xParts, deps: V2xDeps) {
  const { conditions, control } = deps.vehicles;
  const waiting = new Set<() => void>();
  const act = (evseIds: readonly number[], signal: number): void => {
    for (const evseId of evseIds) conditions.setSignal(evseId, signal);
    control.refresh();
  };
  const handler: Handler<'AFRRSignal'> = ({ timestamp, signal }) => {
    const evseIds = followers(parts, deps);
    if (evseIds.length === 0) return { status: 'Rejected', statusInfo: { reasonCode: 'NoSignalWattCurve' } };
    const atMs = instantOf(timestamp);
    if (Number.isNaN(atMs)) return { status: 'Rejected', statusInfo: { reasonCode: 'InvalidValue' } };
    if (atMs <= parts.clock.nowMs()) act(evseIds, signal);
    else if (waiting.size >= maxWaiting)
      return { status: 'Rejected', statusInfo: { reasonCode: 'OutOfMemory', additionalInfo: 'too many signals wait' } };
    else {
      const cancel = parts.clock.at(atMs, () => {
        waiting.delete(cancel);
        act(evseIds, signal);
      });
      waiting.add(cancel);
    }
    return { status: 'Accepted' };
  };
  return {
    handler,
    stop() {
      for (const cancel of waiting) cancel();
    },
  };
}

/** The vehicle requests one of the allowed transfers; it may discharge only if one of them is bidirectional. */
function notifyAllowedEnergyTransfer(
  { variables }: V2xParts,
  { transactions }: V2xDeps,
  needs: VehicleNeeds,
): Handler<'NotifyAllowedEnergyTransfer'> {
  const reject = (reasonCode: string, additionalInfo: string) =>
    ({ status: 'Rejected', statusInfo: { reasonCode, additionalInfo } }) as const;
  return ({ transactionId, allowedEnergyTransfer }, after) => {
    const transaction = transactions.byId(transactionId);
    if (transaction === null) return reject('TxNotFound', 'the transaction does not run');
    const { evseId } = transaction;
    const renegotiates =
      variables.has('ISO15118Ctrlr', 'ServiceRenegotiationSupport', { evseId }) &&
      variables.boolean('ISO15118Ctrlr', 'ServiceRenegotiationSupport', { evseId });
    if (!needs.supportsIso15118(evseId) || !renegotiates)
      return reject('UnsupportedRequest', 'ServiceRenegotiationSupport is not true at this EVSE');
    if (!needs.transfers(evseId).some((mode) => allowedEnergyTransfer.includes(mode)))
      return reject('UnsupportedParam', 'vehicle and EVSE have none of these transfers in common');
    needs.restrict(transaction, allowedEnergyTransfer);
    after(() => {
      needs.sendNeeds(transaction);
    });
    return { status: 'Accepted' };
  };
}

export function createV2x(parts: V2xParts, deps: V2xDeps): V2xPart {
  const allowed = createAllowedTransfers(parts, deps, () => needs);
  const needs = createNeeds(parts, deps);
  const signals = createSignals(parts, deps);
  return {
    handlers: {
      AFRRSignal: signals.handler,
      NotifyAllowedEnergyTransfer: notifyAllowedEnergyTransfer(parts, deps, needs),
    },
    authorized: (evseId, reply) => {
      allowed.authorized(evseId, reply);
    },
    stop() {
      allowed.stop();
      needs.stop();
      signals.stop();
    },
  };
}
