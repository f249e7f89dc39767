/** Judges reads of a SunSpec map: places, repetitions, and how often. */
import type { JudgedMap } from './map-bridge.ts';
import { Episode } from './request.ts';
import type { JudgeContext, JudgedRequest, MasterAtDevice, ServedRequest } from './request.ts';

/** Reads of at most this many registers are probes. */
const maxProbe = 3;
const blindLimit = 20;
const minReadRepetitions = 5;
const patienceMs = 60_000;
const maxRefusedReads = 8;
const maxSpans = 8;
const pollsJudged = 30;
/** habits of the discovery are right */
const startUpMs = 60_000;
/** reads after a write of the same master show its effect */
const readBackMs = 2000;
/** the same read is judged once in this time */
const judgedForMs = 1000;

/** The last reads of one connection, by their registers. */
export interface SpanState {
  /** by `readKey` */
  readonly keys: Float64Array;
  /** time at which the read was judged last */
  readonly judgedMs: Float64Array;
  /** reads from the one at `sinceMs` on; 0: none */
  readonly polls: Uint8Array;
  readonly sinceMs: Float64Array;
  /** position of the last read */
  last: number;
  next: number;
  quietUntilMs: number;
}

export const newSpanState = (): SpanState => ({
  keys: new Float64Array(maxSpans),
  judgedMs: new Float64Array(maxSpans),
  polls: new Uint8Array(maxSpans),
  sinceMs: new Float64Array(maxSpans),
  last: 0,
  next: 0,
  quietUntilMs: 0,
});

/** Takes a write of the master: polls of its effect are not counted. */
export function pausePolls(state: SpanState, nowMs: number): void {
  state.polls.fill(0);
  state.quietUntilMs = nowMs + readBackMs;
}

/** Position of a read among the last ones of its connection, where it takes the place of the oldest. */
function positionOf(request: JudgedRequest, state: SpanState): number {
  const { keys } = state;
  const key = request.readKey;
  if (keys[state.last] === key) return state.last;
  let at = keys.indexOf(key);
  if (at < 0) {
    at = state.next;
    state.next = (at + 1) % maxSpans;
    keys[at] = key;
    state.judgedMs[at] = -Infinity;
    state.polls[at] = 0;
  }
  state.last = at;
  return at;
}

/** Time at which the same request, or any write, was answered, about; -Infinity: not lately. */
export function answeredMs(request: JudgedRequest, state: SpanState): number {
  return request.isWrite ? request.master.wroteMs : (state.judgedMs[positionOf(request, state)] ?? 0);
}

/** True if the next read cannot end anything that the judge waits for. */
const isAtRest = ({ hasFoundModels, isLost, refusedWrite }: MasterAtDevice) =>
  hasFoundModels && !isLost && refusedWrite === null;

export class ReadJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  judge(request: ServedRequest, map: JudgedMap): void {
    const { exception, error, address, end, count, device } = request;
    if (device.isLost) {
      if (exception !== 0 || !map.hasHead(address, count)) {
        this.#context.rules.read_part_of_point.undecided(request.peer);
        return;
      }
      device.isLost = false;
    }
    if (exception === 0 || error?.code === 'MAP_PARTIAL_POINT') this.#judgeBoundaries(request, map);
    if (exception === 0) {
      if (end >= map.end) this.#context.rules.chain_end_passed.exercised(request.peer);
      this.judgeDiscovery(request, map);
      device.refusedReads = device.refusedReads.filter((read) => read.address !== address || read.count !== count);
    } else if (error?.code === 'MAP_ILLEGAL_ADDRESS' && count > maxProbe) {
      if (address >= map.base && address < map.end) this.#judgeEnd(request, map);
      this.#judgeRefusal(request);
    }
  }

  /** Judges whether the master has looked for the models before it uses them. */
  judgeDiscovery(request: ServedRequest, map: JudgedMap): void {
    const { master, device, address, count, peer } = request;
    if (device.hasFoundModels) return;
    const rule = this.#context.rules.no_discovery;
    if (request.isRead && map.hasHead(address, count)) {
      device.hasFoundModels = true;
      rule.exercised(peer);
      return;
    }
    device.blindRequests += 1;
    if (device.blindRequests % blindLimit !== 0 || !master.remembersAll) return;
    const { blindRequests } = device;
    rule.broken(peer, request.deviceIndex, () => ({
      text: `sent ${blindRequests} requests for data and has not looked for the models since this process started`,
      facts: { requests: blindRequests },
      ...request.evidence(),
    }));
  }

  /**
   * Counts a read, and judges how often it comes.
   * @returns true if the same read was judged within the last second, in which nothing about it has changed
   */
  isKnown(request: ServedRequest, state: SpanState): boolean {
    const { nowMs, exception, device, master } = request;
    const at = positionOf(request, state);
    this.#judgePolls(request, state, at);
    const judgedMs = state.judgedMs[at] ?? 0;
    const isRecent = judgedMs > master.wroteMs && nowMs - judgedMs < judgedForMs;
    if (exception === 0 && isRecent && isAtRest(device)) return true;
    state.judgedMs[at] = nowMs;
    return false;
  }

  #judgePolls(request: JudgedRequest, state: SpanState, at: number): void {
    const { master, nowMs } = request;
    if (nowMs < state.quietUntilMs || nowMs - master.sinceMs < startUpMs) return;
    const { polls, sinceMs } = state;
    const before = polls[at] ?? 0;
    polls[at] = before + 1;
    if (before === pollsJudged) {
      this.#judgeRate(request, (nowMs - (sinceMs[at] ?? 0)) / pollsJudged);
      polls[at] = 1;
    }
    if (polls[at] === 1) sinceMs[at] = nowMs;
  }

  #judgeRate(request: JudgedRequest, meanMs: number): void {
    const { poll_fast: fast, poll_flood: flood } = this.#context.rules;
    for (const rule of [fast, flood]) {
      if (meanMs >= rule.param('interval_s') * 1000) {
        rule.exercised(request.peer);
        continue;
      }
      rule.broken(
        request.peer,
        request.deviceIndex,
        () => ({
          text: `read ${request.registers} every ${Math.round(meanMs)} ms on average`,
          facts: { registers: request.registers, interval_ms: Math.round(meanMs), polls: pollsJudged },
          ...request.evidence(),
        }),
        request.registers,
      );
    }
  }

  #judgeBoundaries(request: JudgedRequest, map: JudgedMap): void {
    const { peer, address, count } = request;
    const rule = this.#context.rules.read_part_of_point;
    if (map.isWhole(address, count)) {
      rule.exercised(peer);
      return;
    }
    rule.broken(
      peer,
      request.deviceIndex,
      () => {
        const points = map.cutPoints(address, count).join(' and ');
        return {
          text: `read ${request.registers}, which have a part of ${points}`,
          facts: { registers: request.registers, points },
          ...request.evidence(),
        };
      },
      request.registers,
    );
  }

  #judgeEnd(request: JudgedRequest, map: JudgedMap): void {
    this.#context.rules.chain_end_passed.broken(request.peer, request.deviceIndex, () => ({
      text: `read ${request.registers}, of which the map ends with ${map.end - 1}`,
      facts: { registers: request.registers, last: map.end - 1 },
      ...request.evidence(),
    }));
  }

  #judgeRefusal(request: ServedRequest): void {
    const { device, peer, nowMs, address, count } = request;
    const rule = this.#context.rules.exception_ignored_read;
    const before = device.refusedReads.find((read) => read.address === address && read.count === count);
    if (before === undefined) {
      const read = { address, count, reads: new Episode(nowMs) };
      device.refusedReads = [...device.refusedReads.slice(1 - maxRefusedReads), read];
    }
    if (before?.reads.goesOn(nowMs) !== true) {
      rule.exercised(peer);
      return;
    }
    const { count: reads, sinceMs } = before.reads;
    if (reads <= minReadRepetitions || nowMs - sinceMs < patienceMs) return;
    rule.broken(
      peer,
      request.deviceIndex,
      () => ({
        text: `read ${request.registers} ${reads} times, which the device does not have`,
        facts: { registers: request.registers, reads },
        ...request.evidence(),
      }),
      request.registers,
    );
  }
}
