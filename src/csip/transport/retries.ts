/** Timing of the repetition of refused and unanswered requests. */

/** X7: delays after failures double from 1 s to 5 minutes; each is randomized over its whole length. */
export const retryWaits = { firstMs: 1000, maxMs: 300_000 } as const;

/** True for refusals after which the same request may succeed: the server is busy or fails. */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 408;
}

/** Maximum of a delay that a server asks for, ms. */
const maxWaitMs = 24 * 3_600_000;

/**
 * The delay of a `Retry-After` header (RFC 9110 10.2.3), ms, at most one day; null: absent or unreadable.
 * @param nowMs ms since the epoch, for a date
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), maxWaitMs);
}
