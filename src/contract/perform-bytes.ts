/** Requests that another process has received over HTTP, from their bytes to the bytes of their answers. */
import type { Origin } from '../core/origin.ts';

export interface BytesRequest {
  readonly method: string;
  /** path and query, with or without the prefix `/api/sim` */
  readonly path: string;
  /** JSON text; absent: none */
  readonly body?: Uint8Array;
  readonly by: Origin;
  /** true: the connection of the client keeps what it carries private; default: false */
  readonly isPrivate?: boolean;
  /** greatest length of the answer, bytes */
  readonly maxBytes?: number;
}

/** The answer as it would be sent over HTTP, without the headers that every answer has. */
export interface PerformedBytes {
  readonly status: number;
  readonly type: string;
  /** of the operation, or of the refusal */
  readonly headers: Readonly<Record<string, string>>;
  /** empty for HEAD */
  readonly bytes: Buffer;
}

/** Never rejects: a refusal is an answer with a `Problem`. */
export type PerformBytes = (request: BytesRequest) => Promise<PerformedBytes>;
