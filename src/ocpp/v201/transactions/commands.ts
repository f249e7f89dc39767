/** What the parts of a station ask of transactions. */
import { errorText } from '../../../core/errors.ts';
import type { MeterValue, TransactionLimit, TriggerReasonEnum } from '../messages.ts';
import type { EventExtras } from '../parts.ts';
import { pushEvent } from './events.ts';
import type { TxEvent } from './events.ts';
import { endNow } from './life.ts';
import type { TransactionRecord } from './record.ts';
import type { Asked, Work } from './work.ts';

/** Stops the authorisation at the device. @throws SimError COMMAND_CONFLICT */
function stopDevice({ parts, asked }: Work, evseId: number, why: Asked): void {
  asked.set(evseId, why);
  try {
    parts.device.command({ kind: 'evse.stop', connectorId: evseId, reason: why.reason });
  } catch (error) {
    asked.delete(evseId);
    throw error;
  }
}

/**
 * Ends a transaction: at the device where it is authorised, so that its stop point decides; where it is not, nothing holds
 * it but the cable. @throws SimError COMMAND_CONFLICT
 */
export function stopAt(work: Work, record: TransactionRecord, why: Asked): void {
  if (work.parts.device.connector(record.evseId).authorised) stopDevice(work, record.evseId, why);
  else endNow(work, record, why);
}

/** @throws SimError COMMAND_CONFLICT */
export function stop(work: Work, evseId: number, why: Asked): void {
  const record = work.ledger.at(evseId);
  if (record === null) stopDevice(work, evseId, why);
  else stopAt(work, record, why);
}

/** Ends a transaction whatever its stop points. @throws SimError COMMAND_CONFLICT */
function endAt(work: Work, { key, evseId }: TransactionRecord, why: Asked): void {
  const running = () => {
    const record = work.ledger.get(key);
    return record?.endedMs === null ? record : null;
  };
  const before = running();
  if (before !== null) stopAt(work, before, why);
  const after = running();
  if (after === null) return;
  // the device tells its stop later where this is a part of what it tells now
  work.asked.delete(evseId);
  endNow(work, after, why);
}

/** Ends each of them. @throws the first refusal of the device */
export function stopAll(work: Work, why: Asked): void {
  const refusals: unknown[] = [];
  for (const record of work.ledger.running) {
    try {
      endAt(work, record, why);
    } catch (error) {
      refusals.push(error);
    }
  }
  if (refusals.length > 0) throw refusals[0];
}

/** Ends all of them because the station leaves, also one whose session the device does not end. */
export function leave(work: Work): void {
  const { log, device } = work.parts;
  const why = { reason: 'Other', trigger: 'AbnormalCondition' } as const;
  for (const record of work.ledger.running) {
    try {
      endAt(work, record, why);
    } catch (error) {
      log.warning(`the session at EVSE ${record.evseId} goes on: ${errorText(error)}`, device.deviceIndex);
      endNow(work, work.ledger.get(record.key) ?? record, why);
    }
  }
}

function instantOf(work: Work, meterValue: readonly MeterValue[] | undefined): number {
  const { clock, device } = work.parts;
  const [first] = meterValue ?? [];
  return first === undefined ? clock.ofSim(device.now) : Date.parse(first.timestamp);
}

function pushUpdate(work: Work, record: TransactionRecord, event: Pick<TxEvent, 'trigger' | 'extras' | 'limitSet'>) {
  const { device } = work.parts;
  const connector = device.connector(record.evseId);
  const atMs = instantOf(work, event.extras?.meterValue);
  const noted = work.ledger.change(record.key, { lastMs: atMs, lastWh: Math.round(connector.energyWh) }) ?? record;
  pushEvent(work, noted, connector, { type: 'Updated', atMs, ...event });
}

/** @returns false: no transaction runs at the EVSE */
export function update(work: Work, evseId: number, trigger: TriggerReasonEnum, extras: EventExtras = {}): boolean {
  const record = work.ledger.at(evseId);
  if (record === null) return false;
  pushUpdate(work, record, { trigger, extras });
  return true;
}

/** Keeps to a limit from now on, and tells it where it is new (E16). */
export function tellLimit(work: Work, key: string, limit: TransactionLimit): void {
  if (!work.limits.set(key, limit)) return;
  const record = work.ledger.get(key);
  if (record?.endedMs === null) pushUpdate(work, record, { trigger: 'LimitSet', limitSet: true });
}
