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
