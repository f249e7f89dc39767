/** Judges reads of a SunSpec map: places, repetitions, and how often. */
import { SimError } from '../../../core/errors.ts';
import type { JudgedMap } from './map-bridge.ts';
import { Episode } from './request.ts';
import type { JudgeContext, JudgedRequest, MasterAtDevice } from './request.ts';

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

/** Polls of the same registers on one connection. */
export interface PollState {
  readonly keys: Float64Array;
  readonly polls: Uint8Array;
  readonly sinceMs: Float64Array;
  next: number;
  quietUntilMs: number;
}

export const newPollState = (): PollState => ({
  keys: new Float64Array(maxSpans).fill(-1),
  polls: new Uint8Array(maxSpans),
  sinceMs: new Float64Array(maxSpans),
  next: 0,
  quietUntilMs: 0,
});

/** Takes a write of the master: polls of its effect are not counted. */
export function pausePolls(state: PollState, nowMs: number): void {
  state.keys.fill(-1);
  state.quietUntilMs = nowMs + readBackMs;
}

const codeOf = (error: unknown) => (error instanceof SimError ? error.code : null);

export class ReadJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  judge(request: JudgedRequest, map: JudgedMap): void {
    const { exception, error, address, end, count } = request;
    if (exception === 0 || codeOf(error) === 'MAP_PARTIAL_POINT') this.#judgeBoundaries(request, map);
    if (exception === 0) {
      if (end >= map.end) this.#context.rules.chain_end_passed.exercised(request.peer);
      this.judgeDiscovery(request, map);
      if (request.device !== null) forgetRefusals(request.device, address, count);
    } else if (codeOf(error) === 'MAP_ILLEGAL_ADDRESS' && count > maxProbe) {
      if (address >= map.base && address < map.end) this.#judgeEnd(request, map);
      this.#judgeRefusal(request);
    }
  }

  /** Judges whether the master has looked for the models before it uses them. */
  judgeDiscovery(request: JudgedRequest, map: JudgedMap): void {
    const { master, device, address, count, peer } = request;
    if (device === null || device.hasFoundModels) return;
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

  /** Counts a read of registers that were read before on the connection. */
  judgePolls(request: JudgedRequest, state: PollState): void {
    const { master, nowMs } = request;
    if (nowMs < state.quietUntilMs || nowMs - master.sinceMs < startUpMs) return;
    // unit, address and number of registers
    const key = (request.octet(-1) * 0x10000 + request.address) * 0x100 + request.count;
    const at = state.keys.indexOf(key);
    if (at < 0) {
      state.keys[state.next] = key;
      state.polls[state.next] = 0;
      state.sinceMs[state.next] = nowMs;
      state.next = (state.next + 1) % maxSpans;
      return;
    }
    const polls = (state.polls[at] ?? 0) + 1;
    state.polls[at] = polls;
    if (polls < pollsJudged) return;
    const meanMs = (nowMs - (state.sinceMs[at] ?? nowMs)) / polls;
    state.polls[at] = 0;
    state.sinceMs[at] = nowMs;
    this.#judgeRate(request, meanMs);
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

  #judgeRefusal(request: JudgedRequest): void {
    const { device, peer, nowMs, address, count } = request;
    if (device === null) return;
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

/** Takes a read that was answered: the registers are there now. */
function forgetRefusals(device: MasterAtDevice, address: number, count: number): void {
  for (const read of device.refusedReads)
    if (read.address === address && read.count === count)
      device.refusedReads = device.refusedReads.filter((each) => each !== read);
}
