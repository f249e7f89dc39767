/**
 * Messages about the limits of transactions: ChargingRateChanged when what an EVSE is offered changes by at least
 * LimitChangeSignificance, and (2.1) OperationModeChanged. A set-point that follows the frequency is told by its mode alone.
 */
import type { ChargingControl } from '../../charging/control.ts';
import { inUnit } from '../../charging/composite.ts';
import { limitAt } from '../../charging/limits.ts';
import type { ChargingState, Limit, OperationMode } from '../../charging/model.ts';
import type { ConnectorRating } from '../../station/port.ts';
import type { StationParts, Transaction, Transactions } from '../parts.ts';
import type { ExternalLimits } from './external.ts';
import { isSignificant } from './external.ts';

export interface NoticeDeps {
  readonly parts: Pick<StationParts, 'device' | 'variables' | 'version'>;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs'>;
  readonly external: Pick<ExternalLimits, 'limitAt'>;
  readonly transactions: Pick<Transactions, 'running' | 'update'>;
}

interface Offer {
  readonly mode: OperationMode;
  /** signed, + into the vehicle; null: it follows the frequency */
  readonly rateW: number | null;
}

/** The set-point of a limit in W, or else its ceiling. */
function rateOf(limit: Limit, ceilingW: number, rating: ConnectorRating): number {
  const setpoint = inUnit(
    { limitW: limit.setpointW ?? null, limitA: limit.setpointA ?? null, numberPhases: limit.numberPhases },
    'W',
    rating,
  );
  return setpoint === null ? ceilingW : Math.min(setpoint, ceilingW);
}

function offerAt({ parts, external }: NoticeDeps, evseId: number, state: ChargingState, nowMs: number): Offer | null {
  const { device } = parts;
  const rating = device.ratings.find((each) => each.connectorId === evseId);
  if (rating === undefined) return null;
  const ownLimit = limitAt(state, evseId, nowMs);
  const mode = ownLimit.mode ?? 'ChargingOnly';
  if (mode === 'LocalFrequency') return { mode, rateW: null };
  const ceilings = [
    inUnit(ownLimit, 'W', rating),
    inUnit(limitAt(state, 0, nowMs), 'W', device.stationRating),
    external.limitAt(evseId),
  ];
  const ceilingW = Math.min(rating.maxPowerW, ...ceilings.map((each) => each ?? Infinity));
  return { mode, rateW: rateOf(ownLimit, ceilingW, rating) };
}

export function createNotices(deps: NoticeDeps) {
  const { parts, transactions } = deps;
  const { version, variables } = parts;
  /** by transaction: what the central system knows */
  const offers = new Map<string, Offer>();

  const look = ({ transactionId, evseId }: Transaction, state: ChargingState, nowMs: number): void => {
    const offer = offerAt(deps, evseId, state, nowMs);
    if (offer === null) return;
    const before = offers.get(transactionId) ?? { mode: 'ChargingOnly', rateW: offer.rateW };
    const modeChanged = version === 'ocpp2.1' && offer.mode !== before.mode;
    const rateChanged = offer.rateW !== null && isSignificant(before.rateW, offer.rateW, variables);
    if (modeChanged || rateChanged || !offers.has(transactionId)) offers.set(transactionId, offer);
    if (!modeChanged && !rateChanged) return;
    transactions.update(
      evseId,
      modeChanged ? 'OperationModeChanged' : 'ChargingRateChanged',
      version === 'ocpp2.1' ? { operationMode: offer.mode } : {},
    );
  };

  return {
    /** Tells what has changed since it was told. */
    look() {
      if (transactions.running.length === 0) return;
      const { state, nowMs } = deps.control;
      for (const transaction of transactions.running) look(transaction, state, nowMs);
    },
    forget(transactionId: string) {
      offers.delete(transactionId);
    },
  };
}
