/** UnlockConnector. OCPP 2.0.1 F05. */
import { SimError } from '../../../core/errors.ts';
import type { Replies, Requests, StationParts } from '../parts.ts';

type Reply = Replies['UnlockConnector'];

const because = (status: Reply['status'], reasonCode: string): Reply => ({ status, statusInfo: { reasonCode } });

/** Unlocks the cable of a connector that no token holds. A fixed cable has no lock, and a lock that has failed stays. */
export function unlockConnector(
  { device, log }: StationParts,
  { evseId, connectorId }: Requests['UnlockConnector'],
): Reply {
  const connector = device.detail.connectors.find((c) => c.connectorId === evseId);
  if (connector === undefined) return because('UnknownConnector', 'UnknownEvse');
  if (connectorId !== 1) return because('UnknownConnector', 'UnknownConnectorId');
  if (connector.authorised) return because('OngoingAuthorizedTransaction', 'TxInProgress');
  if (device.ratings.find((r) => r.connectorId === evseId)?.attachedCable === true)
    return because('UnlockFailed', 'FixedCable');
  if (connector.errorCode === 'ConnectorLockFailure') return { status: 'UnlockFailed' };
  if (!connector.cable.evsePlugged) return because('Unlocked', 'NoCable');
  if (!connector.cable.locked) return { status: 'Unlocked' };
  try {
    device.command({ kind: 'evse.unlock', connectorId: evseId });
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    log.warning(`EVSE ${evseId}: the connector stays locked: ${error.message}`, device.deviceIndex);
    return { status: 'UnlockFailed' };
  }
  return { status: 'Unlocked' };
}
