/** Parts of a reading that are not as they should be, with their causes in words, for `csip/diagnostics`. */
import type { Issue } from '../../core/errors.ts';

export interface Remark {
  /** slug */
  readonly code: string;
  /** in a sentence, with the address of the resource */
  readonly message: string;
}

/** A resource that could not be read, and why. */
export interface Missed {
  /**
   * - `absent`: the server answers that there is no such resource (404, 410)
   * - `refused`: an answer that a repetition would not change (other 4xx, another document)
   * - `failed`: no answer, or one that may be better later (5xx, 429, no valid document)
   */
  readonly kind: 'absent' | 'refused' | 'failed';
  /** null: no answer */
  readonly status: number | null;
  /** a sentence */
  readonly reason: string;
  /** the address that was asked for */
  readonly url: string;
  readonly isList: boolean;
  /** true if the client itself ended the request */
  readonly closed: boolean;
  /** delay that the server asks for (`Retry-After`) */
  readonly retryAfterMs?: number | undefined;
}

/** Remarks of one resource and what hangs on it; more would only say the same again. */
const maxRemarks = 20;

/** The first remarks of several parts. */
export const firstRemarks = (remarks: readonly Remark[]): readonly Remark[] => remarks.slice(0, maxRemarks);

/** The parts of a document that do not fit the schema. */
export function remarksOf(resource: string, url: string, notes: readonly Issue[] = []): readonly Remark[] {
  return notes.slice(0, maxRemarks).map(({ name, detail }) => {
    const code = name.endsWith('/mRID') ? 'mrid-not-read' : 'value-not-read';
    return { code, message: `${resource}: ${name} ${detail} (${url})` };
  });
}

const badRequest = 400;

/** The cause of a reading that failed; none where the client has ended it. */
export function remarksOfMissed({ kind, status, reason, closed, url, isList }: Missed): readonly Remark[] {
  if (closed) return [];
  if (status === badRequest && isList)
    return [{ code: 'list-refused', message: `${reason}; it may not accept the query of a page, s and l (${url})` }];
  return [{ code: `resource-${kind}`, message: `${reason} (${url})` }];
}
