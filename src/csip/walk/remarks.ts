/** Remarks for `csip/diagnostics`: faults in the resources of a server, and readings that failed, with the causes. */
import type { Issue } from '../../core/errors.ts';

export interface Remark {
  /** slug */
  readonly code: string;
  /** a sentence with the address of the resource */
  readonly message: string;
}

/** A resource that could not be read, and why. */
export interface Missed {
  /**
   * - `absent`: the server answers that there is no such resource (404, 410)
   * - `refused`: an answer that a repetition would not change (other 4xx, another document), or no room
   * - `failed`: no answer, or one that may differ later (5xx, 408, 429, no valid document)
   */
  readonly kind: 'absent' | 'refused' | 'failed';
  /** null: no answer, or no room for the resource */
  readonly status: number | null;
  /** a sentence */
  readonly reason: string;
  /** the requested address */
  readonly url: string;
  readonly isList: boolean;
  /** true if the client itself ended the request */
  readonly closed: boolean;
  /** delay that the server asks for (`Retry-After`) */
  readonly retryAfterMs?: number | undefined;
}

/** Maximum of remarks about one resource with those below it; more would only repeat them. */
const maxRemarks = 20;

/** The first remarks, up to the maximum. */
export const firstRemarks = (remarks: readonly Remark[]): readonly Remark[] => remarks.slice(0, maxRemarks);

/** Remarks about the parts of a document that do not fit the schema. */
export function remarksOf(resource: string, url: string, notes: readonly Issue[] = []): readonly Remark[] {
  return notes.slice(0, maxRemarks).map(({ name, detail }) => {
    const code = name.endsWith('/mRID') ? 'mrid-not-read' : 'value-not-read';
    return { code, message: `${resource}: ${name} ${detail} (${url})` };
  });
}

const badRequest = 400;

/** The remark about a reading that failed; empty if the client has ended the request. */
export function remarksOfMissed({ kind, status, reason, closed, url, isList }: Missed): readonly Remark[] {
  if (closed) return [];
  if (status === badRequest && isList)
    return [{ code: 'list-refused', message: `${reason}; it may not accept the query of a page, s and l (${url})` }];
  return [{ code: `resource-${kind}`, message: `${reason} (${url})` }];
}
