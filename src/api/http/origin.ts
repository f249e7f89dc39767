import type { IncomingMessage } from 'node:http';
import { peerOf } from '../../core/net/listen.ts';
import type { Origin } from '../../core/origin.ts';

/** Origin of a request over HTTP: the dashboard names itself. */
export function originOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): Origin {
  const source = headers['x-derbench-client'] === 'dashboard' ? 'dashboard' : 'rest';
  return { source, peer: peerOf(socket) };
}
