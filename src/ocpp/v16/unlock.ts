/** UnlockConnector. OCPP 1.6 5.18. */
import { SimError } from '../../core/errors.ts';
import type { Replies, Requests, StationParts } from './parts.ts';

/**
 * Unlocks a connector, a running transaction ends before with the reason UnlockCommand. A fixed cable has no lock, and a
 * lock that has failed stays as it is.
 */
export function unlockConnector(
  { device, log }: StationParts,
  { connectorId }: Requests['UnlockConnector'],
): Replies['UnlockConnector'] {
  const connector = device.detail.connectors.find((c) => c.connectorId === connectorId);
  const rating = device.ratings.find((r) => r.connectorId === connectorId);
  if (connector === undefined || rating?.attachedCable === true) return { status: 'NotSupported' };
  if (connector.errorCode === 'ConnectorLockFailure') return { status: 'UnlockFailed' };
  const running = connector.session !== null && connector.session.endedAtS === null;
  if (!connector.cable.locked && !running) return { status: 'Unlocked' };
  try {
    device.command({ kind: 'evse.unlock', connectorId });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    log.warning(`connector ${connectorId} stays locked: ${error.message}`, device.deviceIndex);
    return { status: 'UnlockFailed' };
  }
  return { status: 'Unlocked' };
}
