/** When what a server did not take or answer is tried again. */

/** X7: waits after failures double from 1 s up to 5 minutes; each is drawn as a whole. */
export const retryWaits = { firstMs: 1000, maxMs: 300_000 } as const;

/** Refusals after which the same request may be taken: the server is busy or fails. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Longest wait that a server may ask for, ms. */
const maxWaitMs = 24 * 3_600_000;

/**
 * The wait of a `Retry-After` header (RFC 9110 10.2.3), ms, at most a day; null: there is none, or it cannot be read.
 * @param nowMs ms since the epoch, for a date
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), maxWaitMs);
}
