/**
 * Transactions at the start of a process that continues another one. They are on the disk before they have an effect, and
 * the device up to a second later, so that a kill or a loss of power leaves them at different instants. These functions
 * make them agree before the station follows the device again.
 */
import type { EvseSession } from '../../contract/kinds/evse.ts';
import type { Logger } from '../../core/log/log.ts';
import type { Insistence } from '../station/insistence.ts';
import type { StackOptions } from '../station/stack.ts';
import type { Ledger, LedgerRecord } from './ledger.ts';

type Parts = Pick<StackOptions, 'device' | 'clock'> & { readonly log: Pick<Logger, 'info'> };

/** Raises meters that are below their last reading, since the device was stored before it. */
export function raiseMeters(
  { device, log }: Parts,
  ledger: Pick<Ledger<LedgerRecord>, 'readingAt' | 'renewReading'>,
  insistence: Pick<Insistence, 'insist'>,
): void {
  for (const connectorId of device.connectorIds) {
    const reading = ledger.readingAt(connectorId);
    // a device that has come later has another meter
    if (reading === null || device.startedAt > reading.at) continue;
    insistence.insist(`meter ${connectorId}`, `the meter of connector ${connectorId} is below its last reading`, () => {
      const { energyWh } = device.connector(connectorId);
      if (Math.round(energyWh) >= reading.energyWh || device.meterSetSince(connectorId, reading.at)) return;
      device.command({ kind: 'evse.meter', connectorId, energyWh: reading.energyWh });
      ledger.renewReading(connectorId);
      const from = `from ${Math.round(energyWh)} to ${reading.energyWh} Wh`;
      log.info(`the meter of connector ${connectorId} is raised ${from}, its last reading`, device.deviceIndex);
    });
  }
}

/**
 * The last instant and meter of a transaction that a restart has interrupted: those of the device where it still has
 * the session and is newer, else the last reading.
 * @param sessionId of the transaction; null: it has none
 */
export function lastReading(
  { device, clock }: Parts,
  ledger: Pick<Ledger<LedgerRecord>, 'readingAt'>,
  { connectorId, lastMs, lastWh }: LedgerRecord,
  sessionId: string | null,
): { readonly atMs: number; readonly meterWh: number } {
  const reading = ledger.readingAt(connectorId);
  const { session, energyWh } = device.connector(connectorId);
  const meterWh = Math.round(energyWh);
  const isInDevice = sessionId !== null && session?.transactionId === sessionId;
  if (reading === null || !isInDevice) return { atMs: lastMs, meterWh: lastWh };
  // a difference, since the time of the central system is not known yet
  const laterMs = Math.max(0, clock.ofSim(device.now) - clock.ofSim(reading.at));
  return { atMs: lastMs + laterMs, meterWh: Math.max(lastWh, meterWh) };
}

/** True if a session has not ended. */
export function isOpen(session: EvseSession | null): session is EvseSession {
  return session !== null && session.endedAtS === null;
}

/** Facts about the transactions of a version. */
interface TransactionFacts {
  /** The transaction of this session has ended. */
  readonly isEnded: (connectorId: number, sessionId: string) => boolean;
  /** A transaction runs at this connector. */
  readonly isRunning: (connectorId: number) => boolean;
}

/**
 * Ends the sessions whose transactions a restart has ended, also before the device could store their end, and
 * authorisations that wait for a vehicle.
 * @returns connectors at which it has ended something
 */
export function endInterrupted(
  { device }: Parts,
  insistence: Pick<Insistence, 'insist'>,
  { isEnded, isRunning }: TransactionFacts,
): ReadonlySet<number> {
  const interrupted = device.detail.connectors.filter(({ connectorId, authorised, session }) => {
    if (isRunning(connectorId)) return false;
    return isOpen(session) ? isEnded(connectorId, session.transactionId) : authorised;
  });
  for (const { connectorId, session } of interrupted) {
    const sessionId = isOpen(session) ? session.transactionId : null;
    insistence.insist(`interrupted ${connectorId}`, `the session at connector ${connectorId} continues`, () => {
      const connector = device.connector(connectorId);
      const openId = isOpen(connector.session) ? connector.session.transactionId : null;
      if (openId !== sessionId || (openId === null && !connector.authorised)) return;
      device.command({ kind: 'evse.stop', connectorId, reason: 'PowerLoss' });
    });
  }
  return new Set(interrupted.map(({ connectorId }) => connectorId));
}
