/**
 * Limits from outside of OCPP (K11 to K13): NotifyChargingLimit when a limit begins or changes beyond
 * LimitChangeSignificance, ClearedChargingLimit when it ends. The station (`externalLimit` of the device) and each EVSE
 * (its local limit) may have one. The device applies external limits itself: they are not sent to it as profiles, and
 * reports and composite schedules show them as ChargingStationExternalConstraints. Changes of the offer to an EVSE
 * under all limits are reported by ChargingRateChanged and (2.1) OperationModeChanged; in LocalFrequency, whose
 * set-point follows the frequency, only the mode is reported.
 */
import type { EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import type { Source } from '../../../core/origin.ts';
import type { ChargingControl } from '../../charging/control.ts';
import type { ChargingProfile, ChargingState, Limit, OperationMode } from '../../charging/model.ts';
import { stamp } from '../parts.ts';
import type { Registration, StationParts, Transaction, Transactions } from '../parts.ts';
import type { Variables } from '../variables/model.ts';
import { sentOf } from './convert.ts';
import { externalProfileId } from './rules.ts';
import type { SentProfile } from './rules.ts';
import { inUnit } from '../../charging/composite.ts';
import { limitAt } from '../../charging/limits.ts';
import type { ConnectorRating } from '../../station/port.ts';

// Start of the time offline, for maxOfflineDuration (2.1, K01).

interface OfflineWatch {
  /** ms on the clock of the central system; null: the station is online */
  readonly sinceMs: number | null;
  /** Starts to follow the registration, once `control` exists. */
  begin(control: Pick<ChargingControl, 'profiles' | 'remove' | 'refresh' | 'nowMs'>): void;
  stop(): void;
}

export function createOfflineWatch(
  parts: Pick<StationParts, 'clock'> & {
    readonly registration: Pick<Registration, 'isReady' | 'onAccepted' | 'onEnded'>;
  },
): OfflineWatch {
  const { clock, registration } = parts;
  let sinceMs: number | null = registration.isReady ? null : clock.nowMs();
  let listeners: readonly (() => void)[] = [];
  return {
    get sinceMs() {
      return sinceMs;
    },
    begin(control) {
      listeners = [
        registration.onEnded(() => {
          sinceMs ??= clock.nowMs();
          control.refresh();
        }),
        registration.onAccepted(() => {
          const offlineMs = sinceMs === null ? 0 : control.nowMs - sinceMs;
          sinceMs = null;
          const expired = new Set(
            control.profiles
              .filter((entry) => sentOf(entry).invalidAfterOfflineDuration === true)
              .filter(({ profile: { maxOfflineS = Infinity } }) => offlineMs >= maxOfflineS * 1000)
              .map(({ profile }) => profile.profileId),
          );
          if (control.remove(({ profileId }) => expired.has(profileId)) === 0) control.refresh();
        }),
      ];
    },
    stop() {
      for (const end of listeners) end();
    },
  };
}

/**
 * True if a change reaches LimitChangeSignificance, a percentage of the previous value; true for any change from 0.
 * @param before null: no limit
 */
export function isSignificant(before: number | null, after: number, variables: Pick<Variables, 'decimal'>): boolean {
  if (before === after) return false;
  if (before === null) return true;
  const percent = variables.decimal('SmartChargingCtrlr', 'LimitChangeSignificance');
  return (Math.abs(after - before) / Math.abs(before)) * 100 >= percent;
}

type LimitSource = 'SO' | 'EMS' | 'Other';

/** By writer of the registers of a limit; null: the central system itself, which needs no notice. */
const limitSources: Readonly<Record<Source, LimitSource | null>> = {
  csip: 'SO',
  dnp3: 'SO',
  modbus: 'SO',
  rest: 'EMS',
  dashboard: 'EMS',
  scenario: 'EMS',
  ocpp: null,
  default: 'Other',
  profile: 'Other',
  reversion: 'Other',
  fault: 'Other',
};

interface ExternalLimit {
  /** 0: the whole station */
  readonly evseId: number;
  readonly source: LimitSource;
  readonly limitW: number;
  readonly sinceMs: number;
}

/** A limit in the form of reports. */
interface ReportedLimit {
  readonly evseId: number;
  readonly source: LimitSource;
  readonly profile: SentProfile;
}

export interface ExternalLimits {
  /** The lowest external limit of an EVSE and the station, W; null: none. */
  limitAt(evseId: number): number | null;
  /** profiles of the present limits, for composite schedules */
  profiles(): readonly ChargingProfile[];
  reported(): readonly ReportedLimit[];
  /** Sends changes since the last messages. */
  readonly sendChanges: () => void;
  stop(): void;
}

type ExternalParts = Pick<StationParts, 'device' | 'clock' | 'calls' | 'variables'> & {
  readonly registration: Pick<Registration, 'isReady' | 'boots' | 'onAccepted'>;
};

/** ChargingLimitSource of a limit of the station; null: the central system itself set the limit. */
export function limitSource({ writer }: Pick<EvseExternalLimit, 'writer'>): LimitSource | null {
  return writer === null ? 'EMS' : limitSources[writer.source];
}

/** Ids up to MaxExternalConstraintsId, one for the station and one for each EVSE. */
const profileIdOf = (evseId: number) => externalProfileId - evseId;

const tenths = (watts: number) => Math.round(watts * 10) / 10;

const scheduleOf = ({ limitW, sinceMs }: ExternalLimit) =>
  ({
    id: 0,
    startSchedule: stamp(sinceMs),
    chargingRateUnit: 'W',
    chargingSchedulePeriod: [{ startPeriod: 0, limit: tenths(limitW) }],
  }) as const;

function profileOf({ evseId, limitW, sinceMs }: ExternalLimit): ChargingProfile {
  return {
    profileId: profileIdOf(evseId),
    connectorId: evseId,
    stackLevel: 0,
    purpose: 'external',
    kind: 'absolute',
    validFromMs: null,
    validToMs: null,
    transactionId: null,
    schedule: {
      unit: 'W',
      durationS: null,
      startMs: sinceMs,
      minChargingRate: null,
      periods: [{ startS: 0, limit: limitW, numberPhases: null }],
    },
    receivedMs: sinceMs,
  };
}

function reportedOf(limit: ExternalLimit): ReportedLimit {
  const { evseId, source } = limit;
  const profile = {
    id: profileIdOf(evseId),
    stackLevel: 0,
    chargingProfilePurpose: 'ChargingStationExternalConstraints',
    chargingProfileKind: 'Absolute',
    chargingSchedule: [scheduleOf(limit)],
  } as const;
  return { evseId, source, profile };
}

/** Reads the limits of the device, each with the instant at which its present value was first read. */
function createReader({ device, clock }: ExternalParts): () => readonly ExternalLimit[] {
  const seen = new Map<number, ExternalLimit>();
  const since = (evseId: number, source: LimitSource, limitW: number): ExternalLimit => {
    const before = seen.get(evseId);
    if (before?.source === source && before.limitW === limitW) return before;
    const limit = { evseId, source, limitW, sinceMs: Math.round(clock.nowMs()) };
    seen.set(evseId, limit);
    return limit;
  };
  return () => {
    const { externalLimit, connectors } = device.detail;
    const source = externalLimit && limitSource(externalLimit);
    const ofStation = externalLimit === null || source === null ? [] : [since(0, source, externalLimit.limitW)];
    // local limits are set by an energy management system
    const ofEvses = connectors.flatMap(({ connectorId, localLimitW }) =>
      localLimitW === null ? [] : [since(connectorId, 'EMS', localLimitW)],
    );
    const limits = [...ofStation, ...ofEvses];
    for (const evseId of seen.keys()) if (!limits.some((each) => each.evseId === evseId)) seen.delete(evseId);
    return limits;
  };
}

/** Sends changes of the limits to the central system. */
function createLimitSender(
  { calls, variables, registration }: ExternalParts,
  limitsNow: () => readonly ExternalLimit[],
) {
  /** reported limits by EVSE */
  const sent = new Map<number, ExternalLimit>();
  let bootsAtLastSend = registration.boots;

  /** True if a message did not arrive: it is sent again on the next connection. */
  const isLost = ({ kind }: { readonly kind: string }) => kind === 'lost' || kind === 'unsent';

  const send = async (limit: ExternalLimit): Promise<void> => {
    const { evseId, source } = limit;
    const withSchedules = variables.boolean('SmartChargingCtrlr', 'NotifyChargingLimitWithSchedules');
    sent.set(evseId, limit);
    const outcome = await calls.send('NotifyChargingLimit', {
      chargingLimit: { chargingLimitSource: source },
      ...(evseId > 0 && { evseId }),
      ...(withSchedules && { chargingSchedule: [scheduleOf(limit)] }),
    });
    if (isLost(outcome) && sent.get(evseId) === limit) sent.delete(evseId);
  };

  const clear = async (limit: ExternalLimit): Promise<void> => {
    const { evseId, source } = limit;
    sent.delete(evseId);
    const request = { chargingLimitSource: source, ...(evseId > 0 && { evseId }) };
    const outcome = await calls.send('ClearedChargingLimit', request);
    if (isLost(outcome) && !sent.has(evseId)) sent.set(evseId, limit);
  };

  return (): void => {
    if (!registration.isReady) return;
    // after a boot all limits are reported again
    if (bootsAtLastSend !== registration.boots) sent.clear();
    bootsAtLastSend = registration.boots;
    const limits = limitsNow();
    for (const before of sent.values())
      if (!limits.some(({ evseId, source }) => evseId === before.evseId && source === before.source))
        void clear(before);
    for (const limit of limits)
      if (isSignificant(sent.get(limit.evseId)?.limitW ?? null, limit.limitW, variables)) void send(limit);
  };
}

/** @param changed called when a limit may have begun, changed or ended */
export function createExternalLimits(parts: ExternalParts, changed: () => void): ExternalLimits {
  const reader = createReader(parts);
  const sendChanges = createLimitSender(parts, reader);
  const listeners = [
    parts.device.onTransition(() => {
      sendChanges();
      changed();
    }),
    parts.registration.onAccepted(sendChanges),
  ];
  return {
    limitAt(evseId) {
      const limits = reader().filter((each) => each.evseId === 0 || each.evseId === evseId);
      return limits.length === 0 ? null : Math.min(...limits.map(({ limitW }) => limitW));
    },
    profiles: () => reader().map(profileOf),
    reported: () => reader().map(reportedOf),
    sendChanges,
    stop() {
      for (const end of listeners) end();
    },
  };
}

export interface NoticeDeps {
  readonly parts: Pick<StationParts, 'device' | 'variables' | 'version'>;
  readonly control: Pick<ChargingControl, 'state' | 'nowMs'>;
  readonly external: Pick<ExternalLimits, 'limitAt'>;
  readonly transactions: Pick<Transactions, 'running' | 'update'>;
}

interface Offer {
  readonly mode: OperationMode;
  /** signed, + into the vehicle; null: the set-point follows the frequency */
  readonly rateW: number | null;
}

/** The set-point of a limit, at most the ceiling; without a set-point the ceiling; W. */
function rateOf(limit: Limit, ceilingW: number, rating: ConnectorRating): number {
  const setpoint = inUnit(
    { limitW: limit.setpointW ?? null, limitA: limit.setpointA ?? null, numberPhases: limit.numberPhases },
    'W',
    rating,
  );
  return setpoint === null ? ceilingW : Math.min(setpoint, ceilingW);
}

function offerAt({ parts, external }: NoticeDeps, evseId: number, state: ChargingState, nowMs: number): Offer | null {
  const { device } = parts;
  const rating = device.ratings.find((each) => each.connectorId === evseId);
  if (rating === undefined) return null;
  const evseLimit = limitAt(state, evseId, nowMs);
  const mode = evseLimit.mode ?? 'ChargingOnly';
  if (mode === 'LocalFrequency') return { mode, rateW: null };
  const ceilings = [
    inUnit(evseLimit, 'W', rating),
    inUnit(limitAt(state, 0, nowMs), 'W', device.stationRating),
    external.limitAt(evseId),
  ];
  const ceilingW = Math.min(rating.maxPowerW, ...ceilings.map((each) => each ?? Infinity));
  return { mode, rateW: rateOf(evseLimit, ceilingW, rating) };
}

export function createNotices(deps: NoticeDeps) {
  const { parts, transactions } = deps;
  const { version, variables } = parts;
  /** last reported offers by transaction; of the first offer only a mode other than ChargingOnly is reported */
  const offers = new Map<string, Offer>();

  const reportChange = ({ transactionId, evseId }: Transaction, state: ChargingState, nowMs: number): void => {
    const offer = offerAt(deps, evseId, state, nowMs);
    if (offer === null) return;
    const before = offers.get(transactionId) ?? { mode: 'ChargingOnly', rateW: offer.rateW };
    const modeChanged = version === 'ocpp2.1' && offer.mode !== before.mode;
    const rateChanged = offer.rateW !== null && isSignificant(before.rateW, offer.rateW, variables);
    if (modeChanged || rateChanged || !offers.has(transactionId)) offers.set(transactionId, offer);
    if (!modeChanged && !rateChanged) return;
    transactions.update(
      evseId,
      modeChanged ? 'OperationModeChanged' : 'ChargingRateChanged',
      version === 'ocpp2.1' ? { operationMode: offer.mode } : {},
    );
  };

  return {
    /** Reports the changes of offers since the last report. */
    reportChanges() {
      if (transactions.running.length === 0) return;
      const { state, nowMs } = deps.control;
      for (const transaction of transactions.running) reportChange(transaction, state, nowMs);
    },
    forget(transactionId: string) {
      offers.delete(transactionId);
    },
  };
}
