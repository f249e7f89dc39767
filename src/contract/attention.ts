/** Troubles that need a watch over time, for the list of what needs attention. */

export interface SilentPeerNow {
  /** id of the peer in the reports about peers */
  readonly id: string;
  /** protocol and address */
  readonly name: string;
  /** usual wall time between two requests, s */
  readonly usualS: number;
  /** wall time of the last request, ms since the epoch */
  readonly sinceMs: number;
}

export interface TimeTrouble {
  /** wall time, ms since the epoch; null: the rate is held, and was in the last minute */
  readonly lateSinceMs: number | null;
  /** the wanted rate and that of the last look that was late */
  readonly rates: { readonly rate: number; readonly reached: number } | null;
  /** wall time at which the event loop last stood still; null: not in the last minute */
  readonly stalledAtMs: number | null;
}

export interface Watched {
  readonly silentPeers: readonly SilentPeerNow[];
  readonly time: TimeTrouble;
}
