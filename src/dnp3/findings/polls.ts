/** Judges how a master fetches events, by polls or by unsolicited responses. */
import { functionCodes, iin } from '../stack/application/types.ts';
import type { Request } from '../stack/application/types.ts';
import { OneWait } from './dialogue.ts';
import type { Dialogue, Incoming, Outgoing, TopicJudge } from './dialogue.ts';
import { classesNamed, eventClassesRead, readsClass0 } from './reads.ts';

const startUpMs = 60_000;
/** Time between two polls of class 0 that belong together. */
const betweenPollsMs = 60_000;
/** Fewer static points make no load. */
const manyPoints = 200;
const unpolledMs = 600_000;
const unusedMs = 600_000;
const [maxToggles, togglesMs] = [6, 600_000];
const maxRefusedAgain = 3;
const classBits = [iin.class1, iin.class2, iin.class3];

export class PollsJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  readonly #unused: OneWait;
  /** by class: monotonic ms of the first response of a row that announced events; null: the last one did not */
  readonly #announcedMs: (number | null)[] = [null, null, null];
  #bits = 0;
  #integrityMs = -Infinity;
  #integrityRow = 0;
  #hasFetchedEvents = false;
  /** the present request reads events alone */
  #readsEvents = false;
  /** an unsolicited response without objects waits for its confirm */
  #isNullSent = false;
  #lastChange: number | null = null;
  /** monotonic ms of changes between ENABLE and DISABLE */
  #togglesMs: readonly number[] = [];
  /** by function: refusals on this connection */
  readonly #refused = new Map<number, number>();

  constructor(dialogue: Dialogue) {
    this.#dialogue = dialogue;
    this.#unused = new OneWait(dialogue, dialogue.rules.unsolicited_unused);
  }

  requested(request: Incoming): void {
    this.#readsEvents = false;
    if (request.isRetry || request.cast !== 'unicast') return;
    const { functionCode } = request;
    this.#judgeRead(request);
    if (functionCode === functionCodes.enableUnsolicited || functionCode === functionCodes.disableUnsolicited)
      this.#judgeChange(functionCode);
  }

  answered(request: Request, iin2: number): void {
    const { functionCode } = request;
    const isEnable = functionCode === functionCodes.enableUnsolicited;
    if (!isEnable && functionCode !== functionCodes.disableUnsolicited) return;
    const { history, rules } = this.#dialogue;
    if (iin2 === 0) {
      const named = classesNamed(request);
      history.enabledClasses = isEnable ? history.enabledClasses | named : history.enabledClasses & ~named;
      if (isEnable) this.#unused.met();
      return;
    }
    if ((iin2 & iin.functionNotSupported) === 0) return;
    const times = (this.#refused.get(functionCode) ?? 0) + 1;
    this.#refused.set(functionCode, times);
    if (times === 1) this.#dialogue.exercised(rules.refused_enable_repeated);
    if (times <= maxRefusedAgain) return;
    const name = isEnable ? 'ENABLE_UNSOLICITED' : 'DISABLE_UNSOLICITED';
    this.#dialogue.broken(
      rules.refused_enable_repeated,
      () => ({ text: `sent ${name} ${times - 1} times more after its refusal`, excerpt: request.octets }),
      name,
    );
  }

  sent({ bits, isUnsolicited, hasObjects }: Outgoing): void {
    if (isUnsolicited) {
      this.#isNullSent = !hasObjects;
      return;
    }
    this.#bits = bits;
    // a master that polls in time is never told of events that wait
    if (this.#readsEvents && hasObjects) this.#dialogue.exercised(this.#dialogue.rules.events_unpolled);
    this.#readsEvents = false;
    for (const [at, bit] of classBits.entries()) this.#judgeAnnounced(at, (bits & bit) !== 0);
  }

  confirmed(_seq: number, isUnsolicited: boolean): void {
    if (!isUnsolicited || !this.#isNullSent) return;
    this.#isNullSent = false;
    const { rules, history } = this.#dialogue;
    if (this.#hasFetchedEvents || history.enabledClasses !== 0) this.#dialogue.exercised(rules.unsolicited_unused);
    else
      this.#unused.begin(unusedMs, 'enabled no unsolicited responses and read no events in 10 min after the first one');
  }

  restarted(): void {
    this.#togglesMs = [];
    this.#lastChange = null;
    this.#integrityRow = 0;
    this.#unused.cut();
  }

  closed(): void {
    this.#unused.cut();
  }

  #judgeRead(request: Incoming): void {
    const classes = eventClassesRead(request);
    for (const at of classBits.keys()) {
      if ((classes & (1 << at)) === 0) continue;
      if (this.#announcedMs[at] !== null) this.#dialogue.exercised(this.#dialogue.rules.events_unpolled);
      this.#announcedMs[at] = null;
    }
    if (classes !== 0) {
      this.#hasFetchedEvents = true;
      this.#unused.met();
    }
    if (readsClass0(request)) this.#judgeIntegrity();
    else if (classes !== 0) {
      this.#integrityRow = 0;
      this.#readsEvents = true;
      this.#dialogue.exercised(this.#dialogue.rules.integrity_often);
    }
  }

  #judgeIntegrity(): void {
    const { nowMs, ageMs, history, rules, facts } = this.#dialogue;
    const isNear = nowMs - this.#integrityMs < betweenPollsMs;
    this.#integrityMs = nowMs;
    const isDue = (this.#bits & (iin.deviceRestart | iin.eventBufferOverflow)) !== 0;
    const isStart = ageMs < startUpMs || nowMs - history.restartedMs < startUpMs;
    if (isDue || isStart || history.enabledClasses !== 0) {
      this.#integrityRow = 0;
      return;
    }
    this.#integrityRow = isNear ? this.#integrityRow + 1 : 1;
    const rule = rules.integrity_often;
    const polls = this.#integrityRow;
    if (polls < rule.param('polls') || facts.staticPoints() < manyPoints) return;
    this.#integrityRow = 0;
    this.#dialogue.broken(rule, () => ({
      text: `read class 0 in ${polls} polls in a row, and events never alone`,
      facts: { polls, points: facts.staticPoints() },
    }));
  }

  #judgeAnnounced(at: number, isAnnounced: boolean): void {
    const { nowMs, history, rules, wallMs } = this.#dialogue;
    if (!isAnnounced || (history.enabledClasses & (1 << at)) !== 0) {
      this.#announcedMs[at] = null;
      return;
    }
    const sinceMs = (this.#announcedMs[at] ??= nowMs);
    const tookMs = nowMs - sinceMs;
    if (tookMs < unpolledMs) return;
    this.#announcedMs[at] = nowMs;
    const name = `class ${at + 1}`;
    this.#dialogue.broken(
      rules.events_unpolled,
      () => ({
        text: `read no events of ${name} in ${Math.round(tookMs / 1000)} s, though each response announced some`,
        facts: { class: at + 1 },
        sinceMs: wallMs - tookMs,
      }),
      name,
    );
  }

  #judgeChange(functionCode: number): void {
    const { nowMs, rules } = this.#dialogue;
    const isToggle = this.#lastChange !== null && this.#lastChange !== functionCode;
    this.#lastChange = functionCode;
    if (!isToggle) {
      this.#dialogue.exercised(rules.unsolicited_toggled);
      return;
    }
    this.#togglesMs = [...this.#togglesMs.slice(1 - maxToggles), nowMs];
    const [firstMs = nowMs] = this.#togglesMs;
    if (this.#togglesMs.length < maxToggles || nowMs - firstMs > togglesMs) return;
    this.#togglesMs = [];
    this.#dialogue.broken(rules.unsolicited_toggled, () => ({
      text: `switched unsolicited responses ${maxToggles} times in ${Math.round((nowMs - firstMs) / 1000)} s`,
    }));
  }
}
