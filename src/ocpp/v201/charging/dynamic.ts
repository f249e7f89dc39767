/** Dynamic profiles of 2.1 (K28, K29): UpdateDynamicSchedule, and PullDynamicScheduleUpdate each dynUpdateInterval. */
import type { JsonValue } from '../../../core/store.ts';
import type { ChargingControl, StoredProfile } from '../../charging/control.ts';
import { prevailing } from '../../charging/limits.ts';
import { stamp } from '../parts.ts';
import type { Handlers, Registration, Requests, StationParts, Transactions } from '../parts.ts';
import { profileOf, sentOf } from './convert.ts';
import type { Received } from './convert.ts';
import { refusal } from './handlers.ts';
import { broken, profileIssue } from './rules.ts';
import type { Issue, RuleFacts, SentProfile } from './rules.ts';

// Priority charging of 2.1 (K21): a PriorityCharging profile replaces the others while a transaction has priority.

interface PriorityDeps {
  readonly parts: Pick<StationParts, 'calls'>;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs' | 'refresh'>;
  readonly transactions: Pick<Transactions, 'byId'>;
}

interface PriorityCharging {
  readonly handlers: Pick<Handlers, 'UsePriorityCharging'>;
  has(transactionId: string): boolean;
  /** A transaction has ended. */
  forget(transactionId: string): void;
  /** Ends the priority of transactions whose profile is gone or over. */
  readonly check: () => void;
}

export function createPriorityCharging({ parts, control, transactions }: PriorityDeps): PriorityCharging {
  const active = new Set<string>();
  const notify = (transactionId: string, activated: boolean): void => {
    void parts.calls.send('NotifyPriorityCharging', { transactionId, activated });
  };
  /** true: an EVSE would have a profile in force for a transaction with priority */
  const hasProfile = (evseId: number): boolean => {
    const { state, nowMs } = control;
    const preferred = state.transactions.map((each) => ({ ...each, priority: true }));
    return prevailing({ ...state, transactions: preferred }, evseId, 'priority', nowMs) !== null;
  };
  return {
    has: (transactionId) => active.has(transactionId),
    forget(transactionId) {
      active.delete(transactionId);
    },
    check() {
      for (const transactionId of active) {
        const transaction = transactions.byId(transactionId);
        if (transaction !== null && hasProfile(transaction.evseId)) continue;
        active.delete(transactionId);
        if (transaction !== null) notify(transactionId, false);
      }
    },
    handlers: {
      UsePriorityCharging: ({ transactionId, activate }, after) => {
        const transaction = transactions.byId(transactionId);
        if (transaction === null) return { status: 'Rejected', statusInfo: { reasonCode: 'TxNotFound' } };
        if (activate && !hasProfile(transaction.evseId)) return { status: 'NoProfile' };
        if (activate) active.add(transactionId);
        else active.delete(transactionId);
        control.refresh();
        after(() => {
          notify(transactionId, activate);
        });
        return { status: 'Accepted' };
      },
    },
  };
}

type Update = Requests['UpdateDynamicSchedule']['scheduleUpdate'];

export interface DynamicDeps {
  readonly parts: Pick<StationParts, 'calls' | 'clock' | 'finding' | 'version'> & {
    readonly registration: Pick<Registration, 'accepted'>;
  };
  readonly control: ChargingControl;
  readonly facts: (evseId: number, profile: SentProfile) => RuleFacts;
  readonly received: () => Omit<Received, 'evseId' | 'receivedMs'>;
}

interface DynamicSchedules {
  readonly handlers: Pick<Handlers, 'UpdateDynamicSchedule'>;
  /** Plans the pulls of the profiles that there are now. */
  readonly plan: () => void;
  stop(): void;
}

/** The profile with new values, whose duration begins again (K28.FR.13). Members that the update lacks stay. */
function updated(entry: StoredProfile, update: Update, nowMs: number, received: ReturnType<DynamicDeps['received']>) {
  const before = sentOf(entry);
  const sent: SentProfile = {
    ...before,
    dynUpdateTime: stamp(nowMs),
    chargingSchedule: before.chargingSchedule.map((schedule) => ({
      ...schedule,
      chargingSchedulePeriod: schedule.chargingSchedulePeriod.map((period) => ({ ...period, ...update })),
    })),
  };
  const { connectorId: evseId, receivedMs } = entry.profile;
  const changed = profileOf(sent, { ...received, evseId, receivedMs });
  return { sent, profile: { ...changed, schedule: { ...changed.schedule, startMs: nowMs } } };
}

/** @returns why the update cannot be; null: it acts */
function apply(
  { control, facts, received }: DynamicDeps,
  profileId: number,
  update: Update,
  nowMs = control.nowMs,
): Issue | null {
  const entry = control.profiles.find(({ profile }) => profile.profileId === profileId);
  if (entry === undefined) return broken('K28', 'InvalidProfile', `there is no profile ${profileId}`);
  if (entry.profile.kind !== 'dynamic') return broken('K28', 'InvalidProfile', `profile ${profileId} is not Dynamic`);
  const { sent, profile } = updated(entry, update, nowMs, received());
  const issue = profileIssue(sent, facts(profile.connectorId, sent));
  if (issue !== null) return issue;
  control.install({ profile, sent: sent as unknown as JsonValue }, (other) => other.profileId === profileId);
  return null;
}

function intervalMs(entry: StoredProfile): number {
  const { chargingProfileKind, dynUpdateInterval = 0 } = sentOf(entry);
  return chargingProfileKind === 'Dynamic' ? dynUpdateInterval * 1000 : 0;
}

interface Pull {
  /** the profile as it was when the pull was planned */
  readonly entry: StoredProfile;
  readonly cancel: () => void;
}

export function createDynamicSchedules(deps: DynamicDeps): DynamicSchedules {
  const { parts, control } = deps;
  /** by profile; one at a time for each */
  const pulls = new Map<number, Pull>();
  let stopped = false;

  const drop = (profileId: number): void => {
    pulls.get(profileId)?.cancel();
    pulls.delete(profileId);
  };

  /** @param fromMs default: now, or the start of the schedule, which an update has set, where that is later */
  const wait = (
    profileId: number,
    entry: StoredProfile,
    fromMs = Math.max(control.nowMs, entry.profile.schedule.startMs ?? 0),
  ): void => {
    pulls.set(profileId, {
      entry,
      cancel: parts.clock.at(fromMs + intervalMs(entry), () => void pull(profileId, entry)),
    });
  };

  async function pull(profileId: number, entry: StoredProfile): Promise<void> {
    // within a tick the simulated time of an answer may be before that of its call
    const askedMs = control.nowMs;
    if (parts.registration.accepted) {
      const outcome = await parts.calls.send('PullDynamicScheduleUpdate', { chargingProfileId: profileId });
      // an update, a removal or the end of the station meanwhile is newer than this answer
      if (stopped || pulls.get(profileId)?.entry !== entry) return;
      const update =
        outcome.kind === 'result' && outcome.payload.status === 'Accepted' ? outcome.payload.scheduleUpdate : undefined;
      const issue = update === undefined ? null : apply(deps, profileId, update, Math.max(askedMs, control.nowMs));
      if (issue !== null) refusal(parts, 'PullDynamicScheduleUpdate', issue, `profile ${profileId}`);
    }
    // an update that acts has planned the next pull already
    if (pulls.get(profileId)?.entry === entry) wait(profileId, entry, askedMs);
  }

  return {
    handlers: {
      UpdateDynamicSchedule: ({ chargingProfileId, scheduleUpdate }) => {
        const issue = apply(deps, chargingProfileId, scheduleUpdate);
        return issue === null
          ? { status: 'Accepted' }
          : { status: 'Rejected', ...refusal(parts, 'UpdateDynamicSchedule', issue, `profile ${chargingProfileId}`) };
      },
    },
    plan() {
      if (stopped) return;
      const due = new Map(
        control.profiles.filter((entry) => intervalMs(entry) > 0).map((entry) => [entry.profile.profileId, entry]),
      );
      for (const [profileId, { entry }] of pulls) if (due.get(profileId) !== entry) drop(profileId);
      for (const [profileId, entry] of due) if (!pulls.has(profileId)) wait(profileId, entry);
    },
    stop() {
      stopped = true;
      for (const profileId of [...pulls.keys()]) drop(profileId);
    },
  };
}
