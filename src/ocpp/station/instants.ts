/** Instants in messages: RFC 3339 with a zone, as the schemas of every version demand it (OCPP-J 1.6 3.4 and 4.2). */

/** The last instant whose year has four digits, ms since the epoch: later ones have no RFC 3339 text. */
const lastMs = 253_402_300_799_999;

/** Ms since the epoch; NaN: no date. A leap second, which this calendar lacks, is the second before it. */
export function instantOf(text: string): number {
  const ms = Date.parse(text.toUpperCase().replace(/:60(?=[.Z+-])/, ':59'));
  return Math.min(ms, lastMs);
}
