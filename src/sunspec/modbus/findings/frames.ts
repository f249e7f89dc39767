/** Judges the form of requests: quantities, functions, units, and several requests at a time. */
import { Buffer } from 'node:buffer';
import type { Framing } from '../framing/framing.ts';
import { Episode } from './request.ts';
import type { JudgeContext, JudgedRequest } from './request.ts';

const maxRead = 125;
/** functions that ask a device for its identity */
const identifying: ReadonlySet<number> = new Set([17, 43]);
const discoveryMs = 60_000;
const unitScanMs = 120_000;
const minRepetitions = 3;
const minUnitRepetitions = 5;
const minInputReads = 10;
const maxRemembered = 32;
const requestsOfUnitZero = 20;

/** Requests of a connection that arrived together, and unit ids. */
export interface FrameState {
  /** requests since octets arrived last */
  together: number;
  /** of them, as the rule allows when the second arrives */
  maxTogether: number;
  lastTransaction: number;
  lastStart: number;
  lastEnd: number;
  lastBuffer: Buffer;
  unitZeros: number;
  /** true: a fault has acted on an answer, which the master may take for that to its next request ever since */
  isDisturbed: boolean;
}

export const newFrameState = (): FrameState => ({
  together: 0,
  maxTogether: 0,
  lastTransaction: 0,
  lastStart: 0,
  lastEnd: 0,
  lastBuffer: Buffer.alloc(0),
  unitZeros: 0,
  isDisturbed: false,
});

export class FrameJudge {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  judge(request: JudgedRequest): void {
    const { functionCode } = request;
    if (request.isRead || functionCode === 16) this.#judgeQuantity(request);
    else if (functionCode !== 6) this.#judgeFunction(request);
  }

  /** Judges the transaction id and unit id of a frame over TCP. */
  judgeTcp(request: JudgedRequest, state: FrameState, { buffer, pduStart, pduEnd, unitId }: Framing): void {
    const { transaction_reused: reused, outstanding_many: many, unit_zero: zero } = this.#context.rules;
    const { peer } = request;
    const transaction = ((buffer[pduStart - 7] ?? 0) << 8) | (buffer[pduStart - 6] ?? 0);
    state.together += 1;
    if (state.together > 1) {
      const isReused =
        transaction === state.lastTransaction &&
        buffer.compare(state.lastBuffer, state.lastStart, state.lastEnd, pduStart, pduEnd) !== 0;
      if (isReused && state.isDisturbed) reused.undecided(peer);
      else if (isReused)
        reused.broken(peer, request.deviceIndex, () => ({
          text: `sent another request with transaction id ${transaction} before the answer to the first`,
          facts: { transaction_id: transaction },
          ...request.evidence(),
        }));
      else if (state.together === 2) {
        state.maxTogether = many.param('requests');
        reused.exercised(peer);
        many.exercised(peer);
      }
      if (state.together === state.maxTogether + 1)
        many.broken(peer, request.deviceIndex, () => ({
          text: `sent more than ${state.together - 1} requests at a time`,
          facts: { requests: state.together },
          ...request.evidence(),
        }));
    }
    state.lastTransaction = transaction;
    state.lastBuffer = buffer;
    state.lastStart = pduStart;
    state.lastEnd = pduEnd;
    if (state.unitZeros < 0) return;
    if (unitId !== 0) {
      state.unitZeros = -1;
      zero.exercised(peer);
    } else if (++state.unitZeros === requestsOfUnitZero) {
      state.unitZeros = -1;
      zero.broken(peer, request.deviceIndex, () => ({
        text: `sent ${requestsOfUnitZero} requests, all with unit id 0`,
        ...request.evidence(),
      }));
    }
  }

  /** Judges a write to all devices of a line. */
  judgeBroadcast(request: JudgedRequest, unitId: number): void {
    if (!request.isWrite) return;
    const rule = this.#context.rules.broadcast;
    if (unitId !== 0) rule.exercised(request.peer);
    else
      rule.broken(request.peer, null, () => ({
        text: `wrote ${request.registers} of all devices at once`,
        ...request.evidence(),
      }));
  }

  judgeUnserved(request: JudgedRequest, unitId: number): void {
    const { master, peer, nowMs } = request;
    const rule = this.#context.rules.unit_unserved;
    // a device that was there and has left may return
    if (master.servedUnits[unitId] === 1) {
      rule.undecided(peer);
      return;
    }
    const asked = master.units.get(unitId);
    if (asked === undefined) {
      if (master.units.size >= maxRemembered) master.units.clear();
      master.units.set(unitId, new Episode(nowMs));
    }
    if (asked?.goesOn(nowMs) !== true) {
      rule.exercised(peer);
      return;
    }
    const { count, sinceMs } = asked;
    if (count <= minUnitRepetitions || nowMs - sinceMs < unitScanMs) return;
    rule.broken(
      peer,
      null,
      () => ({
        text: `asked for unit ${unitId}, which is not served here, ${count} times within ${Math.round((nowMs - sinceMs) / 1000)} s`,
        facts: { unit_id: unitId, requests: count },
        ...request.evidence(),
      }),
      String(unitId),
    );
  }

  /** Judges the function by which a SunSpec map is read. */
  judgeTable(request: JudgedRequest): void {
    const { master, peer, deviceIndex, functionCode } = request;
    const rule = this.#context.rules.input_registers;
    if (functionCode === 3) {
      master.holdingReads += 1;
      if (master.holdingReads === minInputReads) rule.exercised(peer);
      return;
    }
    master.inputReads += 1;
    const { inputReads, holdingReads } = master;
    if (inputReads % minInputReads !== 0 || inputReads <= holdingReads) return;
    rule.broken(peer, deviceIndex, () => ({
      text: `read the SunSpec map ${inputReads} times by function 4 and ${holdingReads} times by function 3`,
      facts: { input_reads: inputReads, holding_reads: holdingReads },
      ...request.evidence(),
    }));
  }

  /** Judges reads, and writes of several registers, of the length that their function needs. */
  #judgeQuantity(request: JudgedRequest): void {
    const { peer, count, functionCode, isRead, pduLength } = request;
    const rule = this.#context.rules.quantity_illegal;
    const needed = 2 * count;
    const octets = isRead ? needed : request.octet(5);
    // the octets that follow say which of count and byte count is wrong
    const hasForm = isRead ? pduLength === 5 : pduLength === 6 + octets || pduLength === 6 + needed;
    if (!hasForm) return;
    // a write of too many registers does not fit into a frame
    const isLegal = count >= 1 && octets === needed && (count <= maxRead || !isRead);
    if (isLegal) rule.exercised(peer);
    else
      rule.broken(
        peer,
        request.deviceIndex,
        () => ({
          text:
            octets === needed
              ? `asked for ${count} registers in one request of function ${functionCode}`
              : `wrote ${count} registers with a byte count of ${octets}`,
          facts: { function: functionCode, registers: count, byte_count: isRead ? null : octets },
          ...request.evidence(),
        }),
        String(functionCode),
      );
  }

  #judgeFunction(request: JudgedRequest): void {
    const { master, peer, functionCode, exception, nowMs } = request;
    if (exception !== 1) return;
    if (identifying.has(functionCode) && nowMs - master.sinceMs < discoveryMs) return;
    const rule = this.#context.rules.function_unserved;
    const { functions } = master;
    const refused = functions.get(functionCode);
    if (refused === undefined && functions.size < maxRemembered) functions.set(functionCode, new Episode(nowMs));
    if (refused?.goesOn(nowMs) !== true) {
      rule.exercised(peer);
      return;
    }
    const refusals = refused.count;
    if (refusals <= minRepetitions) return;
    rule.broken(
      peer,
      request.deviceIndex,
      () => ({
        text: `asked for function ${functionCode} ${refusals} times, which was refused with exception 1 each time`,
        facts: { function: functionCode, refusals },
        ...request.evidence(),
      }),
      String(functionCode),
    );
  }
}
