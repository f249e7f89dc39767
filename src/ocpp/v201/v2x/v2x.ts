/**
 * Bidirectional power (block Q of 2.1) and the needs of vehicles (K15, in 2.0.1 too): NotifyEVChargingNeeds,
 * NotifyEVChargingSchedule, NotifyAllowedEnergyTransfer, AFRRSignal. Set-points are periods of charging profiles and act
 * through smart charging.
 */
import { deciding, transactionAt } from '../../charging/limits.ts';
import { periodAt } from '../../charging/model.ts';
import { instantOf } from '../../station/stack.ts';
import type { Handler, Part, StationParts } from '../parts.ts';
import { createAllowedTransfers, createNeeds } from './needs.ts';
import type { AllowedTransfers, NeedsDeps, NeedsParts, VehicleNeeds } from './needs.ts';

type V2xParts = NeedsParts & Pick<StationParts, 'finding'>;
type V2xDeps = NeedsDeps;
type V2xPart = Part & Required<Pick<Part, 'handlers' | 'stop'>> & Pick<AllowedTransfers, 'authorized'>;

/** Signals that wait for their instant. */
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

/** Q07: a signal acts at its instant, at once where that has passed. */
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

/** The vehicle asks anew for a transfer among the allowed ones; without a bidirectional one it does not discharge. */
function notifyAllowedEnergyTransfer(
  { variables }: V2xParts,
  { transactions }: V2xDeps,
  needs: VehicleNeeds,
): Handler<'NotifyAllowedEnergyTransfer'> {
  const reject = (reasonCode: string, additionalInfo: string) =>
    ({ status: 'Rejected', statusInfo: { reasonCode, additionalInfo } }) as const;
  return ({ transactionId, allowedEnergyTransfer }, after) => {
    const transaction = transactions.byId(transactionId);
    if (transaction === null) return reject('TxNotFound', 'no such transaction runs');
    const { evseId } = transaction;
    const renegotiates =
      variables.has('ISO15118Ctrlr', 'ServiceRenegotiationSupport', { evseId }) &&
      variables.boolean('ISO15118Ctrlr', 'ServiceRenegotiationSupport', { evseId });
    if (!needs.speaks(evseId) || !renegotiates)
      return reject('UnsupportedRequest', 'ServiceRenegotiationSupport is not true at this EVSE');
    if (!needs.transfers(evseId).some((mode) => allowedEnergyTransfer.includes(mode)))
      return reject('UnsupportedParam', 'vehicle and EVSE have none of these transfers in common');
    needs.restrict(transaction, allowedEnergyTransfer);
    after(() => {
      needs.tell(transaction);
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
