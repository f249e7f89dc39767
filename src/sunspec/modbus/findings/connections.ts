/** Judges how a master opens, shares and leaves its connections, and repeats requests that got no answer. */
import { Buffer } from 'node:buffer';
import { Episode } from './request.ts';
import type { ConnectionState, JudgeContext, JudgedRequest, Master, MasterAtDevice, Unanswered } from './request.ts';

const minuteMs = 60_000;
const parallelMs = 10_000;
/** pause between two looks at the connections that a device is used over */
const lookMs = 1000;
const maxUsers = 4;
const minHastyRetries = 3;
/** polls of the same registers that come this fast are no retries */
const fastPollMs = 1500;

/** True if the request asks the same of the same unit. */
const isSame = ({ unitId, pdu }: JudgedRequest, unanswered: Unanswered) =>
  unitId === unanswered.unitId && unanswered.pdu.equals(pdu);

export class ConnectionJudges {
  readonly #context: JudgeContext;

  constructor(context: JudgeContext) {
    this.#context = context;
  }

  /** @param listener local port; undefined: a serial line */
  opened(master: Master, listener: number | undefined): ConnectionState {
    const { departure } = master;
    master.departure = null;
    const isReturn = departure !== null && departure.listener === listener;
    const pauseMs = isReturn ? this.#context.monotonicMs() - departure.atMs : null;
    return { isOpen: true, requests: 0, pauseMs, unanswered: null };
  }

  /** Takes the first request of a connection, which a health check does not send. */
  begun(master: Master, { pauseMs }: ConnectionState): void {
    if (pauseMs === null) return;
    const rule = this.#context.rules.reconnect_hasty;
    const minMs = rule.param('pause_ms');
    const limit = rule.param('connections');
    // masters behind one address take turns, and then pause
    master.hastyMs = pauseMs < minMs ? this.#recent(master.hastyMs) : [];
    if (master.hastyMs.length < limit) {
      rule.exercised(master.peer);
      return;
    }
    master.hastyMs = [];
    rule.broken(master.peer, null, () => ({
      text: `connected again within ${minMs} ms of the end of its connection ${limit} times within a minute`,
      facts: { connections: limit, pause_ms: Math.round(pauseMs) },
    }));
  }

  closed(master: Master, state: ConnectionState, listener: number | undefined, byMaster: boolean): void {
    state.isOpen = false;
    master.departure = null;
    if (!byMaster || state.requests === 0) return;
    if (state.requests === 1) this.#closedAfterOne(master);
    else if (master.peer.openConnections === 0) master.departure = { listener, atMs: this.#context.monotonicMs() };
  }

  /** Takes a request to a device over another connection than the one before. */
  shared(request: JudgedRequest, device: MasterAtDevice, connection: ConnectionState): void {
    const { nowMs, peer } = request;
    if (nowMs - device.lookedMs < lookMs) return;
    device.lookedMs = nowMs;
    device.user = connection;
    const rule = this.#context.rules.connections_parallel;
    const open = device.users.filter((user) => user.connection.isOpen);
    const isNew = !open.some((user) => user.connection === connection);
    device.users = isNew && open.length < maxUsers ? [...open, { connection, sinceMs: nowMs }] : open;
    const lasting = device.users.filter(({ sinceMs }) => nowMs - sinceMs >= parallelMs);
    if (device.users.length === 1) rule.exercised(peer);
    else if (lasting.length > 1 && lasting.some((user) => user.connection === connection))
      rule.broken(peer, request.deviceIndex, () => ({
        text: `used the device over ${lasting.length} connections at a time`,
        facts: { connections: lasting.length },
        ...request.evidence(),
      }));
  }

  /**
   * Takes a request that gets no answer.
   * @param answeredMs time of the last answer to the same read, or to a write; -Infinity: none
   */
  unanswered(request: JudgedRequest, state: ConnectionState, answeredMs: number): void {
    const before = state.unanswered;
    this.#judgeRetry(request, before);
    const isAgain = before !== null && isSame(request, before);
    const isPolled = isAgain ? before.isPolled : request.nowMs - answeredMs < fastPollMs;
    const pdu = Buffer.from(request.pdu);
    state.unanswered = { unitId: request.unitId, pdu, atMs: request.nowMs, isPolled };
  }

  /** Takes a request that gets an answer. */
  answered(request: JudgedRequest, state: ConnectionState): void {
    this.#judgeRetry(request, state.unanswered);
    state.unanswered = null;
  }

  /** Judges the request after one without an answer. */
  #judgeRetry(request: JudgedRequest, unanswered: Unanswered | null): void {
    if (unanswered === null) return;
    const { master, peer, nowMs } = request;
    const rule = this.#context.rules.retry_hasty;
    const waitMs = nowMs - unanswered.atMs;
    // requests that came together were sent without a wait
    if (waitMs === 0 || unanswered.isPolled || !isSame(request, unanswered)) {
      rule.undecided(peer);
      return;
    }
    if (waitMs >= rule.param('wait_s') * 1000) {
      rule.exercised(peer);
      return;
    }
    const hasty = master.hastyRetries;
    master.hastyRetries ??= new Episode(nowMs);
    if (hasty?.goesOn(nowMs) !== true || hasty.count < minHastyRetries) {
      rule.exercised(peer);
      return;
    }
    rule.broken(peer, request.deviceIndex, () => ({
      text: `sent the same request again ${Math.round(waitMs)} ms after one that got no answer`,
      facts: { wait_ms: Math.round(waitMs), retries: hasty.count },
      ...request.evidence(),
    }));
  }

  #closedAfterOne(master: Master): void {
    const rule = this.#context.rules.connection_per_request;
    const limit = rule.param('connections');
    master.shortConnections = this.#recent(master.shortConnections);
    if (master.shortConnections.length < limit) return;
    master.shortConnections = [];
    rule.broken(master.peer, null, () => ({
      text: `opened ${limit} connections within a minute for one request each`,
      facts: { connections: limit },
    }));
  }

  /** The times of the last minute, with this one. */
  #recent(timesMs: readonly number[]): readonly number[] {
    const nowMs = this.#context.monotonicMs();
    return [...timesMs.filter((atMs) => nowMs - atMs < minuteMs), nowMs];
  }
}
