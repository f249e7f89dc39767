/** Judges the set-points of modes: whether the mode is enabled, and how often they are written. */
import { functionCodes } from '../stack/application/types.ts';
import { controlStatus } from '../stack/outstation/types.ts';
import type { Control, ControlStatus } from '../stack/outstation/types.ts';
import type { Dialogue, Incoming, TopicJudge } from './dialogue.ts';

interface ModePoints {
  /** index of the output that enables it */
  readonly enable: number;
  /** index of the output with its reversion time, s */
  readonly reversion: number;
}

/** By index of the set-point, in AN2018 and IEEE 1815.2: limit, active power, reactive power, power factors. */
const modes: ReadonlyMap<number, ModePoints> = new Map([
  [87, { enable: 17, reversion: 85 }],
  [88, { enable: 17, reversion: 85 }],
  [93, { enable: 18, reversion: 92 }],
  [203, { enable: 27, reversion: 202 }],
  [210, { enable: 28, reversion: 209 }],
  [211, { enable: 28, reversion: 209 }],
]);

const churnMs = 600_000;

/** Writes of one set-point without a reversion time. */
interface Writes {
  /** monotonic ms, oldest first */
  readonly atMs: readonly number[];
  readonly value: number;
  /** monotonic ms of the first write of this value */
  readonly sameSinceMs: number;
  readonly same: number;
}

export class ModesJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  /** by enabling output: the set-point that waits for it */
  readonly #staged = new Map<number, { readonly index: number; readonly atMs: number }>();
  readonly #writes = new Map<number, Writes>();
  #isOperation = false;

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
  }

  requested({ functionCode, isRetry }: Incoming): void {
    this.#isOperation = functionCode !== functionCodes.select && !isRetry;
    const { rules, nowMs } = this.#dialogue;
    const rule = rules.enable_forgotten;
    for (const [enable, { index, atMs }] of this.#staged) {
      const waitedMs = nowMs - atMs;
      if (waitedMs < rule.param('wait_s') * 1000) continue;
      this.#staged.delete(enable);
      if (this.#isOn(enable)) this.#dialogue.exercised(rule);
      else
        this.#dialogue.broken(
          rule,
          () => ({
            text: `wrote AO${index} and did not enable its mode by BO${enable} in ${Math.round(waitedMs / 1000)} s`,
            facts: { set_point: `AO${index}`, enable: `BO${enable}` },
            sinceMs: this.#dialogue.wallMs - waitedMs,
          }),
          `AO${index}`,
        );
    }
  }

  controlled(control: Control, status: ControlStatus): void {
    const { facts, nowMs, rules } = this.#dialogue;
    if (!this.#isOperation || status !== controlStatus.success || !facts.hasBuiltInMap) return;
    const { index } = control;
    if (control.kind === 'binary') {
      if (control.state === 1 && this.#staged.has(index)) this.#dialogue.exercised(rules.enable_forgotten);
      this.#staged.delete(index);
      return;
    }
    const mode = modes.get(index);
    if (mode === undefined) return;
    if (this.#isOn(mode.enable)) this.#dialogue.exercised(rules.enable_forgotten);
    else if (!this.#staged.has(mode.enable)) this.#staged.set(mode.enable, { index, atMs: nowMs });
    if ((facts.outputOf('analog', mode.reversion) ?? 0) > 0) this.#writes.delete(index);
    else this.#countWrite(index, control.value);
  }

  restarted(): void {
    this.#staged.clear();
  }

  closed(): void {
    for (let left = this.#staged.size; left > 0; left -= 1)
      this.#dialogue.rules.enable_forgotten.undecided(this.#dialogue.peer);
    this.#staged.clear();
  }

  #isOn(enable: number): boolean {
    return this.#dialogue.facts.outputOf('binary', enable) === 1;
  }

  #countWrite(index: number, value: number): void {
    const { rules, nowMs } = this.#dialogue;
    const rule = rules.setpoint_churn;
    const [maxWrites, maxSame] = [rule.param('writes'), rule.param('same')];
    const former = this.#writes.get(index);
    const isSame = former !== undefined && former.value === value && nowMs - former.sameSinceMs <= churnMs;
    const atMs = [...(former?.atMs ?? []).slice(1 - maxWrites), nowMs];
    const writes: Writes = {
      atMs,
      value,
      sameSinceMs: isSame ? former.sameSinceMs : nowMs,
      same: isSame ? former.same + 1 : 1,
    };
    const tookMs = nowMs - (atMs[0] ?? nowMs);
    const isMany = atMs.length >= maxWrites && tookMs <= churnMs;
    if (!isMany && writes.same < maxSame) {
      this.#writes.set(index, writes);
      if (former === undefined) this.#dialogue.exercised(rule);
      return;
    }
    this.#writes.delete(index);
    const what = isMany ? `${atMs.length} values` : `the value ${value} ${writes.same} times`;
    const seconds = Math.round((nowMs - (isMany ? (atMs[0] ?? nowMs) : writes.sameSinceMs)) / 1000);
    this.#dialogue.broken(
      rule,
      () => ({
        text: `wrote ${what} to AO${index} in ${seconds} s, with a reversion time of 0`,
        facts: { point: `AO${index}`, writes: atMs.length, same: writes.same },
      }),
      `AO${index}`,
    );
  }
}
