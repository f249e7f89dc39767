/** Verdicts on what the central system sends that no other part gives, each with the clause of OCPP 1.6. */
import type { OcppBootStatus } from '../../contract/ocpp.ts';
import type { StationParts } from './parts.ts';

type Find = StationParts['finding'];

const remoteActions: readonly string[] = ['RemoteStartTransaction', 'RemoteStopTransaction'];

/** A call that the registration status does not permit. */
export function checkRegistered(status: OcppBootStatus, action: string, find: Find): void {
  const named = action as Parameters<Find>[2];
  if (status === 'none') find('OCPP 1.6 4.2', `${action} before the answer to BootNotification`, named);
  if (status === 'rejected') find('OCPP 1.6 4.2', `${action} after BootNotification was answered with Rejected`, named);
  if (status === 'pending' && remoteActions.includes(action))
    find('OCPP 1.6 4.2', `${action} while the registration is Pending`, named);
}
