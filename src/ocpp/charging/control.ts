/**
 * Holds the charging profiles of a station and makes its device follow them: one limit for each connector and one for
 * the station, sent at the instant of each change (`sent-limits.ts`).
 *
 * While a device refuses commands (it is off, or under local control: 715.LocRemCtl), the limits are sent again each
 * second of the clock, and the end of those that no version holds each second of real time. After a reset of the device
 * all limits are sent again.
 */
import { z } from 'zod';
import { errorText } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { readEach, recordOf } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { StationPort } from '../station/port.ts';
import { compositeSchedule } from './composite.ts';
import type { CompositeQuery, CompositeSchedule } from './composite.ts';
import { followsConditions, limitAt, nextChange, whileOffline } from './limits.ts';
import type { ChargingProfile, ChargingState, Conditions, DefaultPrecedence, RunningTransaction } from './model.ts';
import { chargingProfile } from './model.ts';
import type { SentLimits } from './sent-limits.ts';

export interface StoredProfile {
  readonly profile: ChargingProfile;
  /** as the central system has sent it */
  readonly sent: JsonValue;
}

const storedProfileForm = recordOf<StoredProfile>({ profile: chargingProfile, sent: z.looseObject({}) });

export interface ChargingControlOptions {
  readonly device: Pick<
    StationPort,
    'deviceIndex' | 'connectorIds' | 'ratings' | 'stationRating' | 'command' | 'onTransition'
  >;
  readonly clock: Pick<RemoteClock, 'nowMs' | 'at'>;
  readonly store: Slot;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  /** of the station: also what another version has left in the device */
  readonly limits: SentLimits;
  readonly precedence: DefaultPrecedence;
  /** running transactions */
  readonly transactions: () => readonly RunningTransaction[];
  /** by connector, read at each evaluation; limits that follow conditions are evaluated each second */
  readonly conditions?: () => ReadonlyMap<number, Conditions>;
  /** ms of the clock; null: the central system can be reached */
  readonly offlineSinceMs?: () => number | null;
  /** false: profiles are stored and have no effect */
  readonly enabled?: () => boolean;
  /** called after the limits were evaluated and sent */
  readonly evaluated?: () => void;
}

export interface ChargingControl {
  readonly profiles: readonly StoredProfile[];
  /** basis of the present limits */
  readonly state: ChargingState;
  /** the present instant in whole ms */
  readonly nowMs: number;
  /** Removes the profiles for which `replaces` is true and adds another, with immediate effect. */
  install(entry: StoredProfile, replaces: (other: ChargingProfile) => boolean): void;
  /** @returns number of removed profiles */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /** Evaluates anew: a transaction has begun or ended, or the clock has been set. */
  readonly refresh: () => void;
  /**
   * The composite schedule from the present instant, without the effects of frequency, signal and state of charge.
   * @param more further profiles, which the device follows by itself
   * @returns null: there is no such connector
   */
  composite(
    query: Pick<CompositeQuery, 'connectorId' | 'durationS' | 'unit' | 'maxPeriods'>,
    more?: readonly ChargingProfile[],
  ): CompositeSchedule | null;
  /** Restores the profiles, except those of transactions that have ended; after the transactions are loaded. */
  readonly load: () => Promise<void>;
  /** Ends the limits, as soon as the device accepts that; the profiles stay in the store. */
  readonly stop: () => void;
}

const retryMs = 1000;
/** Interval of the evaluation of limits that follow conditions. */
const conditionsMs = 1000;
/** Maximum wait of one timer; a later instant is planned again. */
const maxPlanMs = 365 * 86_400_000;

/** The profiles that still matter. @param transactions those that a restart has not ended */
function lastingProfiles(
  stored: readonly StoredProfile[],
  transactions: readonly RunningTransaction[],
): readonly StoredProfile[] {
  const runs = (transactionId: string | null) =>
    transactionId !== null && transactions.some((each) => each.transactionId === transactionId);
  return stored.filter(({ profile }) => profile.purpose !== 'tx' || runs(profile.transactionId));
}

/** Conditions that also apply at later instants. */
function lasting({ conditions = new Map() }: ChargingState): ReadonlyMap<number, Conditions> {
  const unknown = { frequencyHz: null, signal: null, socPct: null };
  return new Map([...conditions].map(([id, each]) => [id, { ...each, ...unknown }]));
}

/** Sends the limits in force, and plans the next evaluation. */
function createFollower(options: ChargingControlOptions, stateNow: () => ChargingState, nowMs: () => number) {
  const { device, clock, limits } = options;
  const places = [0, ...device.connectorIds];
  let cancelPlan: (() => void) | null = null;
  let stopped = false;

  const plan = (dueMs: number, atMs: number): void => {
    cancelPlan?.();
    cancelPlan = null;
    if (dueMs === Infinity) return;
    const planMs = Math.min(dueMs, atMs + maxPlanMs);
    cancelPlan = clock.at(planMs, () => {
      cancelPlan = null;
      // a timer may fire a little early
      evaluate(Math.max(nowMs(), planMs));
    });
  };

  const evaluate = (atMs: number): void => {
    if (stopped) return;
    const state = stateNow();
    for (const id of places) limits.set(id, limitAt(state, id, atMs));
    const changeMs = Math.min(...places.map((id) => nextChange(state, id, atMs)));
    const follows = places.some((id) => followsConditions(state, id, atMs));
    const dueMs = Math.min(
      changeMs,
      limits.waiting ? atMs + retryMs : Infinity,
      follows ? atMs + conditionsMs : Infinity,
    );
    plan(dueMs, atMs);
    options.evaluated?.();
  };

  const endListening = device.onTransition(({ event }) => {
    if (event === 'restart') limits.forget();
    if (event === 'restart' || event === 'power_up') evaluate(nowMs());
  });

  return {
    refresh: () => {
      evaluate(nowMs());
    },
    stop: () => {
      if (stopped) return;
      stopped = true;
      cancelPlan?.();
      endListening();
      for (const id of places) limits.end(id);
    },
  };
}

export function createChargingControl(options: ChargingControlOptions): ChargingControl {
  const { device, clock, store, log } = options;
  let profiles: readonly StoredProfile[] = [];

  const nowMs = () => Math.round(clock.nowMs());
  const stateNow = (): ChargingState => {
    const offlineSinceMs = options.offlineSinceMs?.() ?? null;
    const conditions = options.conditions?.();
    const acting = options.enabled?.() === false ? [] : profiles;
    return {
      profiles: acting.map(({ profile }) => whileOffline(profile, offlineSinceMs)),
      transactions: options.transactions(),
      precedence: options.precedence,
      station: device.stationRating,
      ...(conditions !== undefined && { conditions }),
    };
  };
  const { refresh, stop } = createFollower(options, stateNow, nowMs);

  const change = (next: readonly StoredProfile[]): void => {
    profiles = next;
    store.replace(next as unknown as readonly JsonValue[]).catch((error: unknown) => {
      log.error(`charging profiles could not be stored: ${errorText(error)}`, device.deviceIndex);
    });
    refresh();
  };

  return {
    get profiles() {
      return profiles;
    },
    get state() {
      return stateNow();
    },
    get nowMs() {
      return nowMs();
    },
    install(entry, replaces) {
      change([...profiles.filter(({ profile }) => !replaces(profile)), entry]);
    },
    remove(which) {
      const remaining = profiles.filter(({ profile }) => !which(profile));
      const removed = profiles.length - remaining.length;
      if (removed > 0) change(remaining);
      return removed;
    },
    composite: (query, more = []) => {
      const state = stateNow();
      return compositeSchedule(
        { ...state, profiles: [...state.profiles, ...more], ...(state.conditions && { conditions: lasting(state) }) },
        { ...query, startMs: nowMs(), connectors: device.ratings, station: device.stationRating },
      );
    },
    async load() {
      profiles = lastingProfiles(await readEach(store, storedProfileForm, log), options.transactions());
      refresh();
    },
    refresh,
    stop,
  };
}
