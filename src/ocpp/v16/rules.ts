/** Verdicts on what the central system sends that no other part gives, each with the clause of OCPP 1.6. */
import type { OcppBootStatus } from '../../contract/ocpp.ts';
import { instantOf } from '../station/instants.ts';
import type { StationParts } from './parts.ts';

type Find = StationParts['finding'];

/** Times outside of these years are no time of a central system. */
const sensibleYears = { from: 2010, to: 2100 };

/** The instant of a `currentTime`, ms since the epoch; null where it cannot be used. */
export function currentTimeMs(text: string, action: 'BootNotification' | 'Heartbeat', find: Find): number | null {
  const ms = instantOf(text);
  const year = new Date(ms).getUTCFullYear();
  if (year >= sensibleYears.from && year <= sensibleYears.to) return ms;
  find('OCPP 1.6 4.6', `currentTime is not the present time: ${text.slice(0, 40)}`, action);
  return null;
}

export function checkBootInterval(interval: number, find: Find): void {
  if (interval < 0) find('OCPP 1.6 6.4', `interval of BootNotification is negative: ${interval}`, 'BootNotification');
}

const remoteActions: readonly string[] = ['RemoteStartTransaction', 'RemoteStopTransaction'];

/** A call that the registration status does not permit. */
export function checkRegistered(status: OcppBootStatus, action: string, find: Find): void {
  const named = action as Parameters<Find>[2];
  if (status === 'none') find('OCPP 1.6 4.2', `${action} before the answer to BootNotification`, named);
  if (status === 'rejected') find('OCPP 1.6 4.2', `${action} after BootNotification was answered with Rejected`, named);
  if (status === 'pending' && remoteActions.includes(action))
    find('OCPP 1.6 4.2', `${action} while the registration is Pending`, named);
}
