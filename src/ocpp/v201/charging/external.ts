/**
 * Limits from outside of OCPP (K11 to K13): NotifyChargingLimit when one begins or changes beyond
 * LimitChangeSignificance, ClearedChargingLimit when it ends. The device follows them by itself, so that none of them is
 * a profile that is sent to it; reports and composite schedules show them as ChargingStationExternalConstraints.
 */
import type { EvseExternalLimit } from '../../../contract/kinds/evse.ts';
import type { Source } from '../../../core/origin.ts';
import type { ChargingProfile } from '../../charging/model.ts';
import { stamp } from '../parts.ts';
import type { Registration, StationParts } from '../parts.ts';
import { externalProfileId } from './bounds.ts';
import { isSignificant } from './significance.ts';
import type { SentProfile } from './rules/issue.ts';

export type LimitSource = 'SO' | 'EMS' | 'Other';

/** By writer of the registers behind a limit; null: a control of the central system itself, which is told nothing. */
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

export interface ExternalLimit {
  readonly source: LimitSource;
  /** of the whole station */
  readonly limitW: number;
  readonly sinceMs: number;
}

export interface ExternalLimits {
  readonly limit: ExternalLimit | null;
  /** that of the present limit, for composite schedules */
  profiles(): readonly ChargingProfile[];
  /** that of the present limit as it is reported */
  reported(): SentProfile | null;
  /** Tells the central system what it does not know yet. */
  readonly tell: () => void;
  stop(): void;
}

export type ExternalParts = Pick<StationParts, 'device' | 'clock' | 'calls' | 'variables'> & {
  readonly registration: Pick<Registration, 'accepted' | 'boots' | 'onAccepted'>;
};

/** What an external limit is to the central system; null: it is none. */
export function limitSource({ writer }: Pick<EvseExternalLimit, 'writer'>): LimitSource | null {
  return writer === null ? 'EMS' : limitSources[writer.source];
}

const tenths = (watts: number) => Math.round(watts * 10) / 10;

const scheduleOf = (limitW: number) =>
  ({
    id: 0,
    chargingRateUnit: 'W',
    chargingSchedulePeriod: [{ startPeriod: 0, limit: tenths(limitW) }],
  }) as const;

function profileOf({ limitW, sinceMs }: ExternalLimit): ChargingProfile {
  return {
    profileId: externalProfileId,
    connectorId: 0,
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

/** Tells the central system of changes of the limit. */
function createTeller({ calls, variables, registration }: ExternalParts, now: () => ExternalLimit | null) {
  let told: ExternalLimit | null = null;
  let toldAtBoot = registration.boots;

  const send = (before: ExternalLimit | null, limit: ExternalLimit | null): void => {
    if (before !== null && before.source !== limit?.source)
      void calls.send('ClearedChargingLimit', { chargingLimitSource: before.source });
    if (limit === null) return;
    const withSchedules = variables.boolean('SmartChargingCtrlr', 'NotifyChargingLimitWithSchedules');
    void calls.send('NotifyChargingLimit', {
      chargingLimit: { chargingLimitSource: limit.source },
      ...(withSchedules && {
        chargingSchedule: [{ ...scheduleOf(limit.limitW), startSchedule: stamp(limit.sinceMs) }],
      }),
    });
  };

  return (): void => {
    if (!registration.accepted) return;
    // after a boot the central system begins anew
    if (toldAtBoot !== registration.boots) told = null;
    toldAtBoot = registration.boots;
    const limit = now();
    const same =
      told?.source === limit?.source && !isSignificant(told?.limitW ?? null, limit?.limitW ?? null, variables);
    if (same) return;
    send(told, limit);
    told = limit;
  };
}

function reportedOf({ limitW, sinceMs }: ExternalLimit): SentProfile {
  return {
    id: externalProfileId,
    stackLevel: 0,
    chargingProfilePurpose: 'ChargingStationExternalConstraints',
    chargingProfileKind: 'Absolute',
    chargingSchedule: [{ ...scheduleOf(limitW), startSchedule: stamp(sinceMs) }],
  };
}

/** @param changed the limit has begun, changed or ended */
export function createExternalLimits(parts: ExternalParts, changed: () => void): ExternalLimits {
  const { device, clock, registration } = parts;
  let sinceMs = Math.round(clock.nowMs());

  const now = (): ExternalLimit | null => {
    const limit = device.detail.externalLimit;
    const source = limit === null ? null : limitSource(limit);
    return limit === null || source === null ? null : { source, limitW: limit.limitW, sinceMs };
  };
  const tell = createTeller(parts, now);

  const listeners = [
    device.onTransition(({ event, at }) => {
      if (event !== 'external_limit' && event !== 'restart') return;
      sinceMs = Math.round(clock.ofSim(at));
      tell();
      changed();
    }),
    registration.onAccepted(tell),
  ];

  return {
    get limit() {
      return now();
    },
    profiles() {
      const limit = now();
      return limit === null ? [] : [profileOf(limit)];
    },
    reported() {
      const limit = now();
      return limit === null ? null : reportedOf(limit);
    },
    tell,
    stop() {
      for (const end of listeners) end();
    },
  };
}
