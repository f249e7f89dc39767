/** Judges how a master answers indications: DEVICE_RESTART, NEED_TIME, EVENT_BUFFER_OVERFLOW. */
import { functionCodes, iin } from '../stack/application/types.ts';
import type { ObjectHeader, Request } from '../stack/application/types.ts';
import type { RuleHandle } from '../../core/findings/rule.ts';
import type { Dialogue, Incoming, Outgoing, TopicJudge } from './dialogue.ts';
import { readsStatic } from './reads.ts';

const indicationGroup = 80;
const timeGroup = 50;
const integrityWaitMs = 60_000;
/** Requests after which a master has had its turn to poll. */
const integrityTurns = 3;
/** Time without IIN1.7 after which a write that clears it is blind. */
const blindAfterMs = 30_000;
const minutes15Ms = 15 * 60_000;
/** No zone is farther from UTC than UTC+14. */
const maxZones = 4 * 14;
/** Number of needless time writes, and the time in which they come. */
const [oftenWrites, oftenMs] = [10, 600_000];

interface BitOptions {
  readonly rule: RuleHandle;
  readonly bit: number;
  /** the bit is told in `responses` over this time */
  readonly overMs: number;
  readonly text: string;
}

const responses = 3;

/** A bit that the master ends with a write. */
class LastingBit {
  readonly #dialogue: Dialogue;
  readonly #options: BitOptions;
  /** begin of the responses that had the bit; null: the last one had not */
  #sinceMs: number | null = null;
  #count = 0;

  constructor(dialogue: Dialogue, options: BitOptions) {
    this.#dialogue = dialogue;
    this.#options = options;
  }

  sent(bits: number): void {
    const { bit, overMs, rule, text } = this.#options;
    if ((bits & bit) === 0) {
      this.#sinceMs = null;
      return;
    }
    const { nowMs } = this.#dialogue;
    if (this.#sinceMs === null) this.begin(nowMs);
    this.#count += 1;
    const tookMs = nowMs - (this.#sinceMs ?? nowMs);
    if (this.#count < responses || tookMs < overMs) return;
    const seconds = Math.round(tookMs / 1000);
    this.#dialogue.broken(rule, () => ({
      text: `${this.#count} responses in ${seconds} s had ${text}`,
      facts: { responses: this.#count, seconds },
      sinceMs: this.#dialogue.wallMs - tookMs,
    }));
  }

  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#count = 0;
  }

  /** The master has tried to end it. */
  written(isAccepted: boolean): void {
    if (isAccepted && this.#sinceMs !== null) this.#dialogue.exercised(this.#options.rule);
    this.#sinceMs = null;
  }
}

/** A poll that an indication asks for. A master that sends nothing more, or polls its outstations in turn, is not late. */
class DuePoll {
  readonly #dialogue: Dialogue;
  readonly #rule: RuleHandle;
  readonly #cause: string;
  /** monotonic ms of the indication; null: no poll is due */
  #sinceMs: number | null = null;
  #turns = 0;

  constructor(dialogue: Dialogue, rule: RuleHandle, cause: string) {
    this.#dialogue = dialogue;
    this.#rule = rule;
    this.#cause = cause;
  }

  get isDue(): boolean {
    return this.#sinceMs !== null;
  }

  begin(): void {
    if (this.isDue) return;
    this.#sinceMs = this.#dialogue.nowMs;
    this.#turns = 0;
  }

  /** The master has sent a request that is no such poll. */
  passed(): void {
    if (this.#sinceMs === null) return;
    this.#turns += 1;
    const tookMs = this.#dialogue.nowMs - this.#sinceMs;
    if (this.#turns < integrityTurns || tookMs < integrityWaitMs) return;
    this.#sinceMs = null;
    const [seconds, requests] = [Math.round(tookMs / 1000), this.#turns];
    this.#dialogue.broken(this.#rule, () => ({
      text: `sent ${requests} requests in the ${seconds} s after ${this.#cause}, and read no static data`,
      facts: { outstation: this.#dialogue.facts.address, requests, seconds },
      sinceMs: this.#dialogue.wallMs - tookMs,
    }));
  }

  met(): void {
    if (this.isDue) this.#dialogue.exercised(this.#rule);
    this.#sinceMs = null;
  }

  /** The connection or the outstation has ended before. */
  cut(): void {
    if (this.isDue) this.#rule.undecided(this.#dialogue.peer);
    this.#sinceMs = null;
  }
}

/** Words for a wrong time. */
function offsetText(offsetMs: number, toleranceMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / 1000);
  const zones = Math.round(offsetMs / minutes15Ms);
  const isZone = Math.abs(zones) <= maxZones && Math.abs(offsetMs - zones * minutes15Ms) <= toleranceMs;
  const where = offsetMs < 0 ? 'behind' : 'ahead of';
  return `wrote a time ${seconds} s ${where} the clock of this machine${isZone ? ', as local time would be' : ''}`;
}

export class IndicationsJudge implements TopicJudge {
  readonly #dialogue: Dialogue;
  readonly #restart: LastingBit;
  readonly #needTime: LastingBit;
  readonly #integrity: DuePoll;
  readonly #overflow: DuePoll;
  /** the overflow that the responses tell of is judged */
  #isOverflowSeen = false;
  /** IIN of the last response; null: none on this connection */
  #bits: number | null = null;
  #restartShownMs = -Infinity;
  /** the present request repeats the last one: its answer tells nothing new */
  #isRetry = false;
  /** arrival of the last RECORD_CURRENT_TIME, monotonic ms; null: none */
  #recordedMs: number | null = null;
  /** monotonic ms of time writes that nothing asked for */
  #needlessMs: readonly number[] = [];

  constructor(dialogue: Dialogue) {
    const { rules } = dialogue;
    this.#dialogue = dialogue;
    this.#restart = new LastingBit(dialogue, {
      rule: rules.restart_uncleared,
      bit: iin.deviceRestart,
      overMs: 30_000,
      text: 'IIN1.7 DEVICE_RESTART, and no write of g80v1 cleared it',
    });
    this.#needTime = new LastingBit(dialogue, {
      rule: rules.no_time_sync,
      bit: iin.needTime,
      overMs: 60_000,
      text: 'IIN1.4 NEED_TIME, and no time was written',
    });
    this.#integrity = new DuePoll(dialogue, rules.no_integrity, 'it was told of a restart');
    this.#overflow = new DuePoll(dialogue, rules.overflow_ignored, 'it was told of lost events');
  }

  requested(request: Incoming): void {
    const { functionCode } = request;
    this.#isRetry = request.isRetry;
    if (functionCode === functionCodes.recordCurrentTime) this.#recordedMs = this.#dialogue.nowMs;
    if (functionCode === functionCodes.write && request.cast === 'unicast' && !request.isRetry)
      for (const { group } of request.headers) if (group === indicationGroup) this.#judgeBlindness(request);
    if (!readsStatic(request)) {
      this.#passed(request);
      return;
    }
    this.#dialogue.history.hasIntegrity = true;
    if (this.#integrity.isDue) this.#dialogue.history.isIntegrityJudged = true;
    this.#integrity.met();
    this.#overflow.met();
  }

  answered(request: Request, iin2: number): void {
    if (request.functionCode !== functionCodes.write) return;
    for (const header of request.headers) {
      if (header.group === indicationGroup) this.#restart.written(iin2 === 0);
      if (header.group !== timeGroup) continue;
      this.#needTime.written(iin2 === 0);
      if (iin2 === 0) this.#judgeTime(header, request);
    }
  }

  sent({ bits, isUnsolicited, isFirst }: Outgoing): void {
    const { nowMs, history, rules } = this.#dialogue;
    if ((bits & iin.deviceRestart) !== 0) this.#restartShownMs = nowMs;
    if (isUnsolicited) return;
    this.#bits = bits;
    // a series of fragments is one response, and a repeated request shows that its answer has not arrived
    if (isFirst && !this.#isRetry) {
      this.#restart.sent(bits);
      this.#needTime.sent(bits);
    }
    if ((bits & iin.deviceRestart) !== 0 && !history.isIntegrityJudged) {
      history.isIntegrityJudged = history.hasIntegrity;
      if (history.hasIntegrity) this.#dialogue.exercised(rules.no_integrity);
      else this.#integrity.begin();
    }
    const isOverflown = (bits & iin.eventBufferOverflow) !== 0;
    if (isOverflown && !this.#isOverflowSeen) this.#overflow.begin();
    this.#isOverflowSeen = isOverflown;
  }

  restarted(): void {
    this.closed();
  }

  closed(): void {
    this.#integrity.cut();
    this.#overflow.cut();
  }

  #passed({ cast, isRetry }: Incoming): void {
    if (cast !== 'unicast' || isRetry) return;
    this.#integrity.passed();
    this.#overflow.passed();
  }

  #judgeBlindness(request: Incoming): void {
    const { rules, nowMs } = this.#dialogue;
    if (this.#bits === null) return;
    const isShown = (this.#bits & iin.deviceRestart) !== 0;
    if (isShown || nowMs - this.#restartShownMs <= blindAfterMs) this.#dialogue.exercised(rules.restart_cleared_blind);
    else
      this.#dialogue.broken(rules.restart_cleared_blind, () => ({
        text: 'cleared DEVICE_RESTART, which neither the last response nor another one of the last 30 s had',
        excerpt: request.octets,
      }));
  }

  #judgeTime({ variation, objects }: ObjectHeader, { octets }: Request): void {
    const { rules, nowMs, wallMs, facts } = this.#dialogue;
    const writtenMs = objects[0]?.octets.readUIntLE(0, 6);
    if (writtenMs === undefined) return;
    this.#judgeNeed(nowMs);
    const atMs = variation === 3 ? this.#recordedMs : nowMs;
    if (atMs === null || !facts.isWallTime) return;
    const rule = rules.time_wrong;
    const offsetMs = writtenMs - (wallMs - (nowMs - atMs));
    const toleranceMs = rule.param('tolerance_s') * 1000;
    if (Math.abs(offsetMs) <= toleranceMs) this.#dialogue.exercised(rule);
    else
      this.#dialogue.broken(rule, () => ({
        text: offsetText(offsetMs, toleranceMs),
        facts: { offset_s: Math.round(offsetMs / 1000), variation },
        excerpt: octets,
      }));
  }

  /** Judges whether a response has asked for the time. */
  #judgeNeed(nowMs: number): void {
    const rule = this.#dialogue.rules.time_often;
    const isNeedless = this.#bits !== null && (this.#bits & iin.needTime) === 0;
    if (isNeedless) this.#needlessMs = [...this.#needlessMs.slice(1 - oftenWrites), nowMs];
    const [firstMs = nowMs] = this.#needlessMs;
    if (this.#needlessMs.length < oftenWrites || nowMs - firstMs > oftenMs) {
      this.#dialogue.exercised(rule);
      return;
    }
    this.#needlessMs = [];
    const text = `wrote the time ${oftenWrites} times in ${Math.round((nowMs - firstMs) / 1000)} s unasked`;
    this.#dialogue.broken(rule, () => ({ text }));
  }
}
