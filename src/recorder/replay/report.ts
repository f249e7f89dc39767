/** What a replay has found. */

export interface ReplayReport {
  readonly protocol: string;
  /** requests of the recording that were replayed, or of the new build that were answered */
  readonly requests: number;
  /** how many of them had a recorded answer, or a recorded silence, that the new one was compared with */
  readonly compared: number;
  /** in plain words, in the order in which they were found */
  readonly differences: readonly string[];
  /** values that differ and are not differences: they move, or are within the tolerance */
  readonly ignored: number;
  /** what was not replayed, and why */
  readonly notes: readonly string[];
}

/** Differences that are kept; the others are counted. */
const maxKept = 10_000;

/** Gathers a report. */
export class Findings {
  readonly differences: string[] = [];
  readonly notes: string[] = [];
  ignored = 0;
  requests = 0;
  /** requests of which the recording has nothing to compare */
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
