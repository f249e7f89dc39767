/**
 * Holds the charging profiles of a station and makes its device follow them: one limit for each connector and one for
 * the station, sent when it changes and at the instant at which it does.
 *
 * A device that takes no commands at present (it is off, or under local control: 715.LocRemCtl) gets the limits as soon
 * as it does: they are tried again each second of the clock. A device that has been reset gets all of them again.
 */
import type { EvseProfileLimit } from '../../contract/kinds/evse-commands.ts';
import { errorText, SimError } from '../../core/errors.ts';
import type { Logger } from '../../core/log/log.ts';
import type { JsonValue, Slot } from '../../core/store.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import type { StationPort } from '../station/port.ts';
import { compositeSchedule } from './composite.ts';
import type { CompositeQuery, CompositeSchedule } from './composite.ts';
import { followsConditions, limitAt, nextChange, openLimit, whileOffline } from './limits.ts';
import type {
  ChargingProfile,
  ChargingState,
  Conditions,
  DefaultPrecedence,
  Limit,
  RunningTransaction,
} from './model.ts';

// The limits that a device has been sent, one for each connector and one for the station (0).

interface SentLimitsOptions {
  readonly device: Pick<StationPort, 'deviceIndex' | 'command'>;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
}

/** The device takes commands up to this. */
const maxLimit = 1e9;

/** A limit as the device takes it. */
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

/** Refusals that end by themselves. */
const waitingCodes: readonly string[] = ['COMMAND_CONFLICT', 'MAP_LOCAL_CONTROL'];

const openText = JSON.stringify(commandOf(openLimit));

/** Sends limits that have changed. */
export class SentLimits {
  readonly #options: SentLimitsOptions;
  /** limits of the device by connector, as text; absent: no limit */
  readonly #sent = new Map<number, string>();
  /** connectors whose limit the device has not taken yet */
  readonly #waiting = new Set<number>();

  constructor(options: SentLimitsOptions) {
    this.#options = options;
  }

  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The device has no limits any more. */
  forget(): void {
    this.#sent.clear();
  }

  set(connectorId: number, limit: Limit): void {
    const { device, log } = this.#options;
    const command = commandOf(limit);
    const text = JSON.stringify(command);
    const where = connectorId === 0 ? 'of the station' : `of connector ${connectorId}`;
    if ((this.#sent.get(connectorId) ?? openText) !== text) {
      try {
        device.command({ kind: 'evse.profile_limit', connectorId, ...command });
      } catch (error) {
        if (error instanceof SimError && waitingCodes.includes(error.code)) {
          if (!this.#waiting.has(connectorId))
            log.warning(`the charging limit ${where} waits: ${error.message}`, device.deviceIndex);
          this.#waiting.add(connectorId);
          return;
        }
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

export interface ChargingControlOptions {
  readonly device: Pick<
    StationPort,
    'deviceIndex' | 'connectorIds' | 'ratings' | 'stationRating' | 'command' | 'onTransition'
  >;
  readonly clock: Pick<RemoteClock, 'nowMs' | 'at'>;
  readonly store: Slot;
  readonly log: Pick<Logger, 'info' | 'warning' | 'error'>;
  readonly precedence: DefaultPrecedence;
  /** running now */
  readonly transactions: () => readonly RunningTransaction[];
  /** by connector, read at each evaluation; what follows them is evaluated each second */
  readonly conditions?: () => ReadonlyMap<number, Conditions>;
  /** ms of the clock; null: the central system can be reached */
  readonly offlineSinceMs?: () => number | null;
  /** false: profiles are kept and do nothing */
  readonly enabled?: () => boolean;
  /** The limits have been evaluated and sent. */
  readonly evaluated?: () => void;
}

export interface ChargingControl {
  readonly profiles: readonly StoredProfile[];
  /** basis of the limits now */
  readonly state: ChargingState;
  /** the present instant in whole ms */
  readonly nowMs: number;
  /** Adds a profile in place of the others that `replaces` names; it acts at once. */
  install(entry: StoredProfile, replaces: (other: ChargingProfile) => boolean): void;
  /** @returns how many there were */
  remove(which: (profile: ChargingProfile) => boolean): number;
  /** Evaluates anew: a transaction has begun or ended, or the clock has been set. */
  readonly refresh: () => void;
  /**
   * From now on. What follows conditions shows its schedule alone.
   * @param more profiles that the device follows by itself
   * @returns null for a connector that there is not
   */
  composite(
    query: Pick<CompositeQuery, 'connectorId' | 'durationS' | 'unit' | 'maxPeriods'>,
    more?: readonly ChargingProfile[],
  ): CompositeSchedule | null;
  /** Restores the profiles, except those of transactions: no transaction outlives the process. */
  readonly load: () => Promise<void>;
  /** Ends the limits; the profiles stay in the store. */
  readonly stop: () => void;
}

const retryMs = 1000;
/** Resolution of limits that follow conditions. */
const conditionsMs = 1000;
/** An act for a later instant is planned when that is nearer. */
const maxPlanMs = 365 * 86_400_000;

function readStored(values: readonly JsonValue[]): readonly StoredProfile[] {
  // no other module writes the slot
  return (values as unknown as readonly StoredProfile[]).filter(({ profile }) => profile.purpose !== 'tx');
}

/** Conditions as far as they hold at later instants too. */
function lasting({ conditions = new Map() }: ChargingState): ReadonlyMap<number, Conditions> {
  const unknown = { frequencyHz: null, signal: null, socPct: null };
  return new Map([...conditions].map(([id, each]) => [id, { ...each, ...unknown }]));
}

/** Sends what is in force, and plans the next evaluation. */
function createFollower(options: ChargingControlOptions, stateNow: () => ChargingState, nowMs: () => number) {
  const { device, clock } = options;
  const limits = new SentLimits(options);
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
      // a timer of the machine may run a little early
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
      for (const id of places) limits.set(id, openLimit);
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
      const left = profiles.filter(({ profile }) => !which(profile));
      const removed = profiles.length - left.length;
      if (removed > 0) change(left);
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
      profiles = readStored(await store.read());
      refresh();
    },
    refresh,
    stop,
  };
}
