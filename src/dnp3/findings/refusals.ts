/** Judges what a master does after refusals of its controls. */
import { controlStatus } from '../stack/outstation/types.ts';
import type { Control, ControlStatus } from '../stack/outstation/types.ts';
import type { Dialogue } from './dialogue.ts';

/** Statuses that time does not change. */
const finalStatuses: ReadonlySet<ControlStatus> = new Set([
  controlStatus.formatError,
  controlStatus.notSupported,
  controlStatus.outOfRange,
]);
const maxPoints = 16;
const repetitions = 3;
/** Time between two refusals that belong together. */
const memoryMs = 600_000;
/** Time in which a master may not have read of local control yet. */
const localGraceMs = 60_000;

interface Refusal {
  readonly value: number;
  readonly status: ControlStatus;
  readonly count: number;
  readonly atMs: number;
}

export class RefusalsJudge {
  readonly #dialogue: Dialogue;
  readonly #byPoint = new Map<string, Refusal>();
  /** first refusal for local control, monotonic ms; null: the last control had none */
  #localSinceMs: number | null = null;
  #localCount = 0;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  controlled(control: Control, status: ControlStatus): void {
    if (status === controlStatus.local) this.#refusedLocally();
    else this.#localSinceMs = null;
    if (status === controlStatus.success) this.#byPoint.clear();
    else if (finalStatuses.has(status)) this.#refused(control, status);
  }

  #refused(control: Control, status: ControlStatus): void {
    const { nowMs, rules } = this.#dialogue;
    const name = `${control.kind === 'binary' ? 'BO' : 'AO'}${control.index}`;
    const value = control.kind === 'binary' ? control.state : control.value;
    const former = this.#byPoint.get(name);
    const isAgain =
      former !== undefined &&
      Object.is(former.value, value) &&
      former.status === status &&
      nowMs - former.atMs <= memoryMs;
    const count = isAgain ? former.count + 1 : 0;
    this.#byPoint.delete(name);
    if (this.#byPoint.size >= maxPoints) this.#byPoint.clear();
    if (count === 0) this.#dialogue.exercised(rules.refused_repeated);
    if (count < repetitions) {
      this.#byPoint.set(name, { value, status, count, atMs: nowMs });
      return;
    }
    this.#dialogue.broken(
      rules.refused_repeated,
      () => ({
        text: `sent ${value} to ${name} ${count} times more after status ${status}`,
        facts: { point: name, value: String(value), status },
      }),
      name,
    );
  }

  #refusedLocally(): void {
    const { nowMs, rules } = this.#dialogue;
    if (this.#localSinceMs === null) {
      this.#localSinceMs = nowMs;
      this.#localCount = 0;
      this.#dialogue.exercised(rules.local_ignored);
    }
    const sinceMs = this.#localSinceMs;
    if (nowMs - sinceMs <= localGraceMs) return;
    this.#localCount += 1;
    if (this.#localCount < repetitions) return;
    this.#localCount = 0;
    this.#dialogue.broken(rules.local_ignored, () => ({
      text: `sent ${repetitions} controls more, ${Math.round((nowMs - sinceMs) / 1000)} s after the first refusal for local control`,
      sinceMs: this.#dialogue.wallMs - (nowMs - sinceMs),
    }));
  }
}
