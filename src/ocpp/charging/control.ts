/**
 * Holds the charging profiles of a station and makes its device follow them: one limit for each connector and one for
 * the station, sent at the instant of each change. The limits in the device are those of the station, not of one
 * version: a version that takes over ends what the one before has left.
 *
 * While a device refuses commands (it is off, or under local control: 715.LocRemCtl), the limits are sent again each
 * second of the clock, and the end of those that no version holds each second of real time. After a reset of the device
 * all limits are sent again.
 */
import { z } from 'zod';
import type { EvseProfileLimit } from '../../contract/kinds/evse-commands.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import { formOf, place, readEach, recordOf } from '../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { Insistence } from '../station/insistence.ts';
import type { StationPort } from '../station/port.ts';
import { compositeSchedule } from './composite.ts';
import type { CompositeQuery, CompositeSchedule } from './composite.ts';
import { followsConditions, limitAt, nextChange, openLimit, whileOffline, deciding } from './limits.ts';
import type {
  ChargingProfile,
  ChargingState,
  Conditions,
  DefaultPrecedence,
  Limit,
  RunningTransaction,
} from './model.ts';
import { chargingProfile } from './model.ts';
import type { OcppFunctions, OcppProfileEntry } from '../../contract/ocpp.ts';

// The limits that were sent to a device, one for each connector and one for the station (0), by whichever version.

interface SentLimitsOptions {
  readonly device: Pick<StationPort, 'deviceIndex' | 'command'>;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  /** of the station: tries the end of limits until the device accepts it */
  readonly releases: Pick<Insistence, 'insist' | 'end'>;
  /** places that have had a limit, over a restart; absent: the device has none at the start */
  readonly slot?: Slot;
}

/** Maximum limit that the device accepts, W or A. */
const maxLimit = 1e9;

/** The command that sets a limit. */
function commandOf(limit: Limit): EvseProfileLimit {
  const bounded = (value: number | null | undefined) => (value == null ? null : Math.min(maxLimit, value));
  const signed = (value: number) => Math.max(-maxLimit, Math.min(maxLimit, value));
  const { setpointW, setpointA, dischargeLimitW, dischargeLimitA, numberPhases } = limit;
  return {
    limitW: bounded(limit.limitW),
    limitA: bounded(limit.limitA),
    phases: numberPhases,
    ...(setpointW != null && { setpointW: signed(setpointW) }),
    ...(setpointA != null && { setpointA: signed(setpointA) }),
    ...(dischargeLimitW != null && { dischargeLimitW: Math.min(maxLimit, -dischargeLimitW) }),
    ...(dischargeLimitA != null && { dischargeLimitA: Math.min(maxLimit, -dischargeLimitA) }),
  };
}

/** Codes of temporary refusals. */
const waitingCodes: readonly string[] = ['COMMAND_CONFLICT', 'MAP_LOCAL_CONTROL'];

const openText = JSON.stringify(commandOf(openLimit));

const placeOf = (connectorId: number): string => (connectorId === 0 ? 'of the station' : `of connector ${connectorId}`);

/** Key of the end of a limit. */
const releaseKey = (connectorId: number): string => `charging limit ${placeOf(connectorId)}`;

/** In the place of the text of a limit that an earlier process has sent: the device may have it or not. */
const unknownText = 'unknown';

/** Sends limits that have changed. */
export class SentLimits {
  readonly #options: SentLimitsOptions;
  /** connectors that have had a limit, also in earlier processes */
  readonly #places = new Set<number>();
  /** limits in the device by connector, as text; absent: no limit */
  readonly #sent = new Map<number, string>();
  /** connectors whose limit the device has not accepted yet */
  readonly #waiting = new Set<number>();

  constructor(options: SentLimitsOptions) {
    this.#options = options;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Restores the places whose limits an earlier process has sent; each is sent anew. */
  async load(): Promise<void> {
    const { slot, log } = this.#options;
    if (slot === undefined) return;
    for (const connectorId of await readEach(slot, formOf<number>(place), log)) {
      this.#places.add(connectorId);
      this.#sent.set(connectorId, unknownText);
    }
  }

  /** Notes that the device has lost all limits. */
  forget(): void {
    this.#sent.clear();
  }

  set(connectorId: number, limit: Limit): void {
    const { device, log, releases } = this.#options;
    releases.end(releaseKey(connectorId));
    try {
      this.#send(connectorId, limit);
    } catch (error) {
      if (!this.#waiting.has(connectorId))
        log.warning(`the charging limit ${placeOf(connectorId)} waits: ${errorText(error)}`, device.deviceIndex);
      this.#waiting.add(connectorId);
    }
  }

  /** Ends a limit that nobody holds any more, as soon as the device accepts that. */
  end(connectorId: number): void {
    this.#options.releases.insist(
      releaseKey(connectorId),
      `the charging limit ${placeOf(connectorId)} stays at the device`,
      () => {
        this.#send(connectorId, openLimit);
      },
    );
  }

  #notePlace(connectorId: number): void {
    const { slot, log, device } = this.#options;
    if (slot === undefined || this.#places.has(connectorId)) return;
    this.#places.add(connectorId);
    slot.replace([...this.#places]).catch((error: unknown) => {
      log.error(`the store has refused a change: ${errorText(error)}`, device.deviceIndex);
    });
  }

  /** @throws SimError COMMAND_CONFLICT, MAP_LOCAL_CONTROL: the device refuses it for a time */
  #send(connectorId: number, limit: Limit): void {
    const { device, log } = this.#options;
    const command = commandOf(limit);
    const text = JSON.stringify(command);
    const where = placeOf(connectorId);
    if ((this.#sent.get(connectorId) ?? openText) !== text) {
      this.#notePlace(connectorId);
      try {
        device.command({ kind: 'evse.profile_limit', connectorId, ...command });
      } catch (error) {
        if (error instanceof SimError && waitingCodes.includes(error.code)) throw error;
        // not tried again: the same command would fail the same way
        log.error(`the charging limit ${where} failed: ${errorText(error)}`, device.deviceIndex);
      }
      this.#sent.set(connectorId, text);
    }
    if (this.#waiting.delete(connectorId))
      log.info(`the charging limit ${where} is in force after its wait`, device.deviceIndex);
  }
}

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

/** @typeParam Sent a profile as the version sends it @typeParam Issue reason of a refusal */
export interface InstalledProfiles<Sent, Issue> {
  /** all profiles, also those of remote starts that wait for their transactions */
  readonly all: readonly StoredProfile[];
  /**
   * Installs a profile and removes those that it replaces.
   * @param options awaited: the profile waits for the transaction that begins at the connector
   * @returns reason of a refusal; null: done
   */
  put(connectorId: number, sent: Sent, options?: { readonly awaited: boolean }): Issue | null;
  /** @returns number of removed profiles, with waiting ones */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /**
   * Puts a profile in force that waits for the begun transaction.
   * @param named adds the transaction id to the profile
   */
  begin(connectorId: number, named?: (entry: StoredProfile) => StoredProfile): void;
  /** Removes the profiles of a transaction that has ended. */
  end(connectorId: number): void;
  /** Drops a waiting profile whose transaction does not begin. */
  readonly forget: (connectorId: number) => void;
}

interface InstalledRules<Sent, Issue> {
  readonly control: ChargingControl;
  readonly entryOf: (connectorId: number, sent: Sent) => StoredProfile;
  readonly replaces: (profile: ChargingProfile, other: ChargingProfile) => boolean;
  /** @param others installed profiles that it does not replace @returns null: it may be installed */
  readonly refusal: (profile: ChargingProfile, others: readonly ChargingProfile[]) => Issue | null;
}

export function createInstalledProfiles<Sent, Issue>({
  control,
  entryOf,
  replaces,
  refusal,
}: InstalledRules<Sent, Issue>): InstalledProfiles<Sent, Issue> {
  /** profiles that wait for a transaction, by connector */
  const waiting = new Map<number, StoredProfile>();
  const all = () => [...control.profiles, ...waiting.values()];
  const install = (entry: StoredProfile): void => {
    control.install(entry, (other) => replaces(entry.profile, other));
  };
  return {
    get all() {
      return all();
    },
    put(connectorId, sent, { awaited } = { awaited: false }) {
      const entry = entryOf(connectorId, sent);
      const others = all().map(({ profile }) => profile);
      const issue = refusal(
        entry.profile,
        others.filter((other) => !replaces(entry.profile, other)),
      );
      if (issue !== null) return issue;
      for (const [at, { profile }] of waiting) if (replaces(entry.profile, profile)) waiting.delete(at);
      if (awaited) waiting.set(connectorId, entry);
      else install(entry);
      return null;
    },
    remove(which) {
      const dropped = [...waiting].filter(([, { profile }]) => which(profile));
      for (const [connectorId] of dropped) waiting.delete(connectorId);
      return control.remove(which) + dropped.length;
    },
    begin(connectorId, named = (entry) => entry) {
      const entry = waiting.get(connectorId);
      waiting.delete(connectorId);
      if (entry === undefined) control.refresh();
      else install(named(entry));
    },
    end(connectorId) {
      const removed = control.remove((each) => each.purpose === 'tx' && each.connectorId === connectorId);
      if (removed === 0) control.refresh();
    },
    forget: (connectorId) => {
      waiting.delete(connectorId);
    },
  };
}

/** Members that REST shows of a profile as it was sent; they have the same names in all versions. */
interface SentMembers {
  readonly chargingProfilePurpose: string;
  readonly chargingProfileKind: string;
}

interface ProfileViewOptions {
  readonly control: ChargingControl;
  readonly installed: Pick<InstalledProfiles<never, unknown>, 'all'>;
  readonly connectorIds: readonly number[];
  /** name of a place in messages */
  readonly place: 'connector' | 'EVSE';
  readonly transactionIdOf: (profile: ChargingProfile) => string | null;
  /** profiles of limits from outside of the central system, which the device follows by itself */
  readonly external?: { readonly profiles: () => readonly ChargingProfile[] };
  readonly externalEntries?: () => readonly OcppProfileEntry[];
}

/** Maximum of periods shown by REST, more than a person reads. */
const maxPeriods = 1000;

export function createProfileView(
  options: ProfileViewOptions,
): Pick<OcppFunctions, 'chargingProfiles' | 'compositeSchedule'> {
  const { control, installed, connectorIds, place, transactionIdOf, external, externalEntries } = options;
  return {
    chargingProfiles(connectorId) {
      const { state, nowMs } = control;
      const effective = new Set(
        [0, ...connectorIds].flatMap((id) => deciding(state, id, nowMs)).map(({ profileId }) => profileId),
      );
      const entries = installed.all.map(({ profile, sent }): OcppProfileEntry => {
        const { chargingProfilePurpose: purpose, chargingProfileKind: kind } = sent as unknown as SentMembers;
        const { profileId, stackLevel } = profile;
        return {
          connectorId: profile.connectorId,
          profileId,
          stackLevel,
          purpose,
          kind,
          transactionId: transactionIdOf(profile),
          effective: effective.has(profileId),
          profile: sent,
        };
      });
      return [...entries, ...(externalEntries?.() ?? [])].filter(
        (each) => connectorId === undefined || each.connectorId === connectorId,
      );
    },
    compositeSchedule(connectorId, durationS, unit) {
      const schedule = control.composite({ connectorId, durationS, unit, maxPeriods }, external?.profiles());
      if (schedule !== null) return { connectorId, ...schedule };
      const places = [0, ...connectorIds].join(', ');
      throw new SimError('UNKNOWN_RESOURCE', `there is no ${place} ${connectorId}; the station has ${places}`);
    },
  };
}
