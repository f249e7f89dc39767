/** The results of a replay. */

export interface ReplayReport {
  readonly protocol: string;
  /** number of requests that were replayed, or of requests of the new build that were answered */
  readonly requests: number;
  /** number of requests that were compared with a recorded answer or recorded silence */
  readonly compared: number;
  /** sentences in order of occurrence */
  readonly differences: readonly string[];
  /** number of values whose difference is accepted: by the tolerance, or by `ignore` */
  readonly ignored: number;
  /** parts that were not replayed, with reasons */
  readonly notes: readonly string[];
}

/** Maximum number of differences in the list; the others are counted. */
const maxKept = 10_000;

/** Collects a report. */
export class Findings {
  readonly differences: string[] = [];
  readonly notes: string[] = [];
  ignored = 0;
  requests = 0;
  /** number of requests without a recorded answer */
  uncompared = 0;
  #more = 0;

  differ(text: string): void {
    if (this.differences.length < maxKept) this.differences.push(text);
    else this.#more += 1;
  }

  report(protocol: string): ReplayReport {
    const more = this.#more > 0 ? [`${this.#more} more differences`] : [];
    const { requests, ignored } = this;
    const compared = requests - this.uncompared;
    return {
      protocol,
      requests,
      compared,
      ignored,
      differences: [...this.differences, ...more],
      notes: [...this.notes],
    };
  }
}

/** `1 message`, `2 messages` */
export function counted(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
