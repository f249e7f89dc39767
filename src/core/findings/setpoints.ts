/** Judges set-points with an enable and a reversion time, whatever the protocol that writes them. */
import type { Peer } from './peer.ts';
import type { Case, Deadline, Findings, RuleHandle } from './rule.ts';

/** The present state of set-points that one enable switches on. */
export interface SetpointGroup {
  /** name of the set-points: `704.WMaxLimPct` */
  readonly name: string;
  readonly enable: string;
  /** name of the reversion time; null: the function has none */
  readonly timer: string | null;
  isEnabled(): boolean;
  /** s; 0: none */
  reversionS(): number;
  /** true: the set-points limit nothing, such as 100 % or a power factor of 1 */
  isNeutral(): boolean;
  /** The set-points as text: equal texts are equal values. */
  values(): string;
}

/** How set-points have changed: by a peer that is judged, by somebody else, or by the end of a reversion time. */
export type SetpointChange = 'by_peer' | 'by_others' | 'reverted';

/** A write that was carried out. */
export interface SetpointWrite {
  readonly group: SetpointGroup;
  /** true: it has a set-point of the group */
  readonly setsValue: boolean;
  /** true: it has the enable of the group */
  readonly setsEnable: boolean;
  readonly evidence: Pick<Case, 'message' | 'excerpt'>;
}

/** The rules of the judge, which each protocol has in its table. */
export interface SetpointHandles {
  readonly enable_forgotten: RuleHandle;
  readonly no_reversion: RuleHandle;
  readonly reversion_lapsed: RuleHandle;
  readonly heartbeat_late: RuleHandle;
  readonly setpoint_churn: RuleHandle;
}

export interface SetpointJudgeOptions {
  readonly findings: Pick<Findings, 'waitFor'>;
  readonly rules: SetpointHandles;
  readonly deviceIndex: number | null;
  readonly monotonicMs: () => number;
}

/** Renewals of a set-point by its last writer. */
interface Heartbeat {
  readonly reversionS: number;
  readonly values: string;
  renewals: number;
  lastMs: number;
  /** sum of the last intervals, and their number */
  sumMs: number;
  intervals: number;
  /** the timer ran out; null: it runs */
  lapsedMs: number | null;
}

interface State {
  readonly peer: Peer;
  enable: Deadline | null;
  reversion: Deadline | null;
  heartbeat: Heartbeat | null;
  /** time at which the peer switched the function off; -Infinity: never */
  disabledMs: number;
  lastValues: string | null;
  windowMs: number;
  writes: number;
  identical: number;
}

const windowMs = 600_000;
/** A set-point that is written so soon after its function was switched off is put back. */
const putBackMs = 60_000;
/** renewals after which a peer is one that keeps its set-point in force */
const minRenewals = 2;
const intervalsJudged = 5;
const shortReversionS = 5;
/** Writes that come so soon after each other are one renewal. */
const renewalMs = 1000;
/** Steps of the simulated clock may end a reversion time so much earlier than the clock of this machine. */
const clockStepMs = 2000;

const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;

/** The set-points of one device. Only the last writer of a group is judged. */
export class SetpointJudge {
  readonly #options: SetpointJudgeOptions;
  readonly #states = new Map<SetpointGroup, State>();

  constructor(options: SetpointJudgeOptions) {
    this.#options = options;
  }

  /** Takes a write by a peer, after it was carried out. */
  wrote(peer: Peer, write: SetpointWrite): void {
    const nowMs = this.#options.monotonicMs();
    const state = this.#stateOf(peer, write.group, nowMs);
    this.#judgeChurn(state, write, nowMs);
    this.#judgeEnable(state, write, nowMs);
    this.#judgeReversion(state, write);
    this.#judgeHeartbeat(state, write, nowMs);
    if (write.setsValue) state.lastValues = write.group.values();
    this.follow();
  }

  /** Takes a refused write of the peer: it has tried. */
  refused(peer: Peer, group: SetpointGroup): void {
    const state = this.#states.get(group);
    if (state?.peer !== peer) return;
    state.enable?.drop();
    state.reversion?.drop();
    state.enable = state.reversion = null;
  }

  changed(group: SetpointGroup, how: SetpointChange): void {
    if (how === 'by_peer') this.follow();
    else if (how === 'reverted') this.reverted(group);
    else this.changedByOthers(group);
  }

  /** Takes a change of the set-points by somebody else: it is not the peer's any more. */
  changedByOthers(group: SetpointGroup): void {
    const state = this.#states.get(group);
    if (state === undefined) return;
    state.enable?.drop();
    state.reversion?.drop();
    this.#states.delete(group);
  }

  /** Takes the end of a reversion time. */
  reverted(group: SetpointGroup): void {
    const state = this.#states.get(group);
    if (state === undefined) return;
    state.reversion?.drop();
    state.reversion = null;
    const { heartbeat } = state;
    if (heartbeat === null || heartbeat.lapsedMs !== null) return;
    const nowMs = this.#options.monotonicMs();
    // a simulated clock that jumped or ran fast leaves no time to renew
    const isEarly = nowMs - heartbeat.lastMs < heartbeat.reversionS * 1000 - clockStepMs;
    if (heartbeat.renewals >= minRenewals && !isEarly) heartbeat.lapsedMs = nowMs;
    else {
      this.#options.rules.reversion_lapsed.undecided(state.peer);
      state.heartbeat = null;
    }
  }

  /** Ends the waits for enables that have come by another point or protocol. */
  follow(): void {
    for (const [group, state] of this.#states)
      if (state.enable !== null && group.isEnabled()) {
        state.enable.met();
        state.enable = null;
      }
  }

  #stateOf(peer: Peer, group: SetpointGroup, nowMs: number): State {
    const existing = this.#states.get(group);
    if (existing?.peer === peer) return existing;
    existing?.enable?.drop();
    existing?.reversion?.drop();
    const state: State = {
      peer,
      enable: null,
      reversion: null,
      heartbeat: null,
      disabledMs: -Infinity,
      lastValues: null,
      windowMs: nowMs,
      writes: 0,
      identical: 0,
    };
    this.#states.set(group, state);
    return state;
  }

  #judgeChurn(state: State, { group, setsValue, evidence }: SetpointWrite, nowMs: number): void {
    if (!setsValue) return;
    const rule = this.#options.rules.setpoint_churn;
    if (nowMs - state.windowMs > windowMs || group.reversionS() > 0) {
      state.windowMs = nowMs;
      state.writes = state.identical = 0;
    }
    if (group.reversionS() > 0) {
      rule.exercised(state.peer);
      return;
    }
    state.writes += 1;
    if (group.values() === state.lastValues) state.identical += 1;
    const { writes, identical, windowMs: sinceMs } = state;
    if (writes < rule.param('writes') && identical < rule.param('identical')) {
      rule.exercised(state.peer);
      return;
    }
    state.writes = state.identical = 0;
    rule.broken(
      state.peer,
      this.#options.deviceIndex,
      () => ({
        text:
          `wrote ${group.name} ${writes} times within ${seconds(nowMs - sinceMs)}, ${identical} times with the ` +
          'value before, without a reversion time',
        facts: { point: group.name, writes, identical, within_s: Math.round((nowMs - sinceMs) / 1000) },
        ...evidence,
      }),
      group.name,
    );
  }

  #judgeEnable(state: State, { group, setsValue, setsEnable, evidence }: SetpointWrite, nowMs: number): void {
    const rule = this.#options.rules.enable_forgotten;
    if (group.isEnabled()) {
      if (state.enable !== null) state.enable.met();
      else if (setsValue) rule.exercised(state.peer);
      state.enable = null;
      return;
    }
    if (setsEnable) {
      state.disabledMs = nowMs;
      state.enable?.drop();
      state.enable = null;
      return;
    }
    const isPutBack = nowMs - state.disabledMs < putBackMs || group.isNeutral() || group.values() === state.lastValues;
    if (!setsValue || isPutBack || state.enable?.isPending === true) return;
    const values = group.values();
    const isDue = () => !group.isEnabled();
    state.enable = this.#wait(state.peer, rule, group, isDue, () => ({
      text: `wrote ${group.name} (${values}) and did not switch on ${group.enable}`,
      facts: { point: group.name, enable: group.enable, values },
      ...evidence,
    }));
  }

  #judgeReversion(state: State, { group, evidence }: SetpointWrite): void {
    if (group.timer === null) return;
    const rule = this.#options.rules.no_reversion;
    if (!group.isEnabled() || group.isNeutral()) {
      state.reversion?.drop();
      state.reversion = null;
    } else if (group.reversionS() > 0) {
      if (state.reversion !== null) state.reversion.met();
      else rule.exercised(state.peer);
      state.reversion = null;
    } else if (state.reversion?.isPending !== true) {
      const values = group.values();
      const isDue = () => group.isEnabled() && !group.isNeutral() && group.reversionS() <= 0;
      state.reversion = this.#wait(state.peer, rule, group, isDue, () => ({
        text: `put ${group.name} (${values}) in force and left ${group.timer} at 0`,
        facts: { point: group.name, timer: group.timer, values },
        ...evidence,
      }));
    }
  }

  #judgeHeartbeat(state: State, { group, setsValue, evidence }: SetpointWrite, nowMs: number): void {
    const reversionS = group.reversionS();
    if (!group.isEnabled() || reversionS <= 0) {
      state.heartbeat = null;
      return;
    }
    const { heartbeat } = state;
    const values = group.values();
    const isNew = heartbeat === null || heartbeat.reversionS !== reversionS || heartbeat.values !== values;
    // a write of the enable or of the reversion time restarts a reversion time that runs
    if (!setsValue && (isNew || heartbeat.lapsedMs !== null)) return;
    if (isNew) {
      state.heartbeat = {
        reversionS,
        values,
        renewals: 0,
        lastMs: nowMs,
        sumMs: 0,
        intervals: 0,
        lapsedMs: null,
      };
      return;
    }
    const { lapsedMs } = heartbeat;
    if (lapsedMs !== null) this.#renewedLate(state.peer, group, heartbeat, evidence, nowMs - lapsedMs);
    else if (nowMs - heartbeat.lastMs >= renewalMs) this.#renewed(state.peer, group, heartbeat, evidence, nowMs);
    heartbeat.lastMs = nowMs;
  }

  #renewed(peer: Peer, { name }: SetpointGroup, beat: Heartbeat, evidence: SetpointWrite['evidence'], nowMs: number) {
    const { reversion_lapsed: lapsed, heartbeat_late: late } = this.#options.rules;
    beat.renewals += 1;
    beat.sumMs += nowMs - beat.lastMs;
    beat.intervals += 1;
    lapsed.exercised(peer);
    if (beat.intervals < intervalsJudged) return;
    const meanMs = beat.sumMs / beat.intervals;
    beat.sumMs = beat.intervals = 0;
    const { reversionS } = beat;
    if (reversionS <= shortReversionS) return;
    if (meanMs <= reversionS * 10 * late.param('share_pct')) late.exercised(peer);
    else
      late.broken(
        peer,
        this.#options.deviceIndex,
        () => ({
          text: `renewed ${name} every ${seconds(meanMs)} with a reversion time of ${reversionS} s`,
          facts: { point: name, mean_s: Math.round(meanMs / 100) / 10, reversion_s: reversionS },
          ...evidence,
        }),
        name,
      );
  }

  #renewedLate(
    peer: Peer,
    { name }: SetpointGroup,
    beat: Heartbeat,
    evidence: SetpointWrite['evidence'],
    lateMs: number,
  ): void {
    const { reversionS, renewals } = beat;
    beat.lapsedMs = null;
    beat.renewals = beat.sumMs = beat.intervals = 0;
    const rule = this.#options.rules.reversion_lapsed;
    // after a longer pause it is a new command
    if (lateMs > reversionS * 1000) rule.undecided(peer);
    else
      rule.broken(
        peer,
        this.#options.deviceIndex,
        () => ({
          text: `renewed ${name} ${seconds(lateMs)} after its reversion time of ${reversionS} s had run out`,
          facts: {
            point: name,
            late_s: Math.round(lateMs / 100) / 10,
            reversion_s: reversionS,
            renewals_before: renewals,
          },
          ...evidence,
        }),
        name,
      );
  }

  #wait(peer: Peer, rule: RuleHandle, { name }: SetpointGroup, isDue: () => boolean, expired: () => Case): Deadline {
    const { findings, deviceIndex } = this.#options;
    const waitMs = rule.param('wait_s') * 1000;
    return findings.waitFor({ rule, peer, deviceIndex, waitMs, presence: 'active', isDue, expired, key: name });
  }
}
