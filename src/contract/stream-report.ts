/** Report of the telemetry stream on its clients. */
import type { CommName } from '../core/adapter.ts';

/** A connected client. */
export interface StreamClient {
  /** ascending in the order in which clients connected, from 1 */
  readonly id: number;
  /** `address:port` */
  readonly peer: string;
  /** the only device whose messages are sent; null: all */
  readonly deviceIndex: number | null;
  /** wall time, ms since the epoch */
  readonly connectedAtMs: number;
  readonly sent: number;
  /** messages dropped because the client reads too slowly */
  readonly dropped: number;
  /** messages that wait for the client */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** octets handed to its socket and not sent */
  readonly unsentBytes: number;
  /** ms since its last pong; null: none was received yet */
  readonly pongAgeMs: number | null;
}

/** The present state of the stream. */
export interface StreamReport {
  readonly maxClients: number;
  /** messages that may wait for one client */
  readonly maxWaiting: number;
  /** octets that may wait for one client, beside the newest message of each of its devices */
  readonly maxWaitingBytes: number;
  /** connected clients, newest first, at most `limit` of the request */
  readonly clients: readonly StreamClient[];
}

/** The adapter of the telemetry stream. */
export interface StreamReporter {
  readonly comm: CommName;
  /** @param limit maximum number of listed clients */
  streamReport(limit: number): StreamReport;
}
