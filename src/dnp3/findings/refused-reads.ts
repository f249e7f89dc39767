/** Judges reads that are refused and come again. */
import { functionCodes, iin } from '../stack/application/types.ts';
import type { Request } from '../stack/application/types.ts';
import { digestOf } from './digest.ts';
import type { Dialogue, Incoming, Outgoing, TopicJudge } from './dialogue.ts';

/** Groups with which masters probe an outstation: attributes, classes, strings, terminals. */
const probed: ReadonlySet<number> = new Set([0, 60, 110, 111, 112, 113]);
const repetitions = 3;
/** Time in which masters learn what an outstation has. */
const startUpMs = 60_000;
const maxReads = 8;

interface Refused {
  /** digest */
  readonly objects: string;
  readonly count: number;
}

export class RefusedReadsJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  /** newest last */
  #refused: readonly Refused[] = [];
  /** the present read, which is refused at least in part; null: none */
  #present: { readonly objects: string; readonly iin2: number; readonly text: string } | null = null;
  #isRetry = false;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  requested({ isRetry }: Incoming): void {
    this.#isRetry = isRetry;
    this.#present = null;
  }

  answered({ functionCode, headers, octets }: Request, iin2: number): void {
    const isProbe = headers.length === 0 || headers.some(({ group }) => probed.has(group));
    if (functionCode !== functionCodes.read || this.#isRetry || isProbe) return;
    if (this.#dialogue.ageMs < startUpMs) return;
    const text = headers.map(({ group, variation }) => `g${group}v${variation}`).join(' ');
    this.#present = { objects: digestOf(octets.subarray(2)), iin2, text };
  }

  sent({ isUnsolicited, hasObjects }: Outgoing): void {
    const present = this.#present;
    if (present === null || isUnsolicited) return;
    this.#present = null;
    const { objects, iin2, text } = present;
    const others = this.#refused.filter((each) => each.objects !== objects);
    const former = this.#refused.find((each) => each.objects === objects);
    this.#refused = others;
    const { object_unknown: unknown, parameter_error: wrong } = this.#dialogue.rules;
    const isUnknown = (iin2 & iin.objectUnknown) !== 0;
    const rule = isUnknown ? unknown : wrong;
    // a range of which the outstation has a part is answered with it
    if (hasObjects || (!isUnknown && (iin2 & iin.parameterError) === 0)) return;
    const count = former === undefined ? 0 : former.count + 1;
    if (count < repetitions) {
      if (count === 0) this.#dialogue.exercised(rule);
      this.#refused = [...others, { objects, count }].slice(-maxReads);
      return;
    }
    this.#dialogue.broken(rule, () => ({
      text: `read ${text} ${count} times more after ${isUnknown ? 'IIN2.1' : 'IIN2.2'} and no data`,
    }));
  }
}
