/** Report of the telemetry stream on its clients. */
import type { CommName } from '../core/adapter.ts';

/** `snapshots`: a message for each device and tick; `fleet`: one for each tick, with all devices in columns. */
export const streamForms = ['snapshots', 'fleet'] as const;
export type StreamForm = (typeof streamForms)[number];

/** Range of the rate that a client may ask for, messages per second of wall time. */
export const streamRates = { min: 0.1, max: 1000 } as const;

/** A connected client. */
export interface StreamClient {
  /** ascending in the order in which clients connected, from 1 */
  readonly id: number;
  /** `address:port` */
  readonly peer: string;
  /** the only device whose messages are sent; null: all */
  readonly deviceIndex: number | null;
  readonly form: StreamForm;
  /** maximum of messages per second, of each device; null: one for each tick */
  readonly maxRate: number | null;
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
