/** Counts of a closed-loop load generator. */
export interface Measured {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** of the server, NaN where it cannot be read */
  readonly cpuUs: number;
}

/** Answers per second. */
export const perSecond = (m: Measured) => m.requests / m.seconds;
