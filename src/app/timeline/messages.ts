/** The messages of the wire log that make changes, for the timeline. */
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { TimelineRef } from '../../core/timeline/entry.ts';

export type Messages = Pick<WireLog, 'find'>;

/** A message as the cause of an entry. */
export const messageRef = (message: string | null): TimelineRef | null =>
  message === null ? null : { type: 'message', id: message };

/**
 * The request that is carried out now: a server of masters reports it to the wire log before, and its answer after.
 * @returns `modbus/17`; null: none, or the messages are not recorded
 */
export function requestAtHand(messages: Messages, protocol: 'modbus' | 'dnp3', peer: string): string | null {
  const channel = messages.find(protocol, '');
  if (channel?.recording !== true) return null;
  const [newest] = channel.list({ limit: 1 });
  if (newest?.id !== channel.lastId || newest.direction !== 'in' || newest.peer !== peer) return null;
  return `${protocol}/${newest.id}`;
}

/**
 * The newest message that brought an event of IEEE 2030.5: a reply to a GET, or a notification. The responses that the
 * client posts have its mRID too, and are effects of it.
 * @param mrid in any case
 * @returns `csip/17`; null: none is kept
 */
export function messageOfEvent(messages: Messages, mrid: string): string | null {
  const channel = messages.find('csip', '');
  if (channel?.recording !== true) return null;
  const id = mrid.toUpperCase();
  const [newest] = channel.list({
    limit: 1,
    where: ({ direction, kind, raw }) =>
      (direction === 'in' || kind === 'GET') && raw.toString('latin1').toUpperCase().includes(id),
  });
  return newest === undefined ? null : `csip/${newest.id}`;
}
