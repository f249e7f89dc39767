/** Charging profiles between the words of 1.6 and the form that all versions share. */
import { compositeRows, tenths } from '../../charging/composite.ts';
import type { CompositeSchedule } from '../../charging/composite.ts';
import type { ChargingProfile, ProfileKind, ProfilePurpose } from '../../charging/model.ts';
import type { ConnectorRating } from '../../station/port.ts';
import { instantOf } from '../../station/stack.ts';
import type { Replies } from '../parts.ts';
import { stamp } from '../parts.ts';
import type { SentProfile } from './rules.ts';

export const purposes = {
  ChargePointMaxProfile: 'station_max',
  TxDefaultProfile: 'tx_default',
  TxProfile: 'tx',
} as const satisfies Record<SentProfile['chargingProfilePurpose'], ProfilePurpose>;

/**
 * An absolute schedule without a start is relative to the start of charging (7.13). A ChargePointMaxProfile has no such
 * start: it begins when it is received.
 */
function kindOf(sent: SentProfile): ProfileKind {
  switch (sent.chargingProfileKind) {
    case 'Relative':
      return 'relative';
    case 'Recurring':
      return sent.recurrencyKind === 'Weekly' ? 'recurring_weekly' : 'recurring_daily';
    case 'Absolute': {
      const hasStart = sent.chargingSchedule.startSchedule !== undefined;
      return hasStart || sent.chargingProfilePurpose === 'ChargePointMaxProfile' ? 'absolute' : 'relative';
    }
  }
}

const instant = (text: string | undefined) => (text === undefined ? null : instantOf(text));

/** A profile that fulfils the rules. */
export function profileOf(connectorId: number, sent: SentProfile, receivedMs: number): ChargingProfile {
  const { chargingSchedule, transactionId, chargingProfilePurpose } = sent;
  const isOfTransaction = chargingProfilePurpose === 'TxProfile' && transactionId !== undefined;
  return {
    profileId: sent.chargingProfileId,
    connectorId,
    stackLevel: sent.stackLevel,
    purpose: purposes[chargingProfilePurpose],
    kind: kindOf(sent),
    validFromMs: instant(sent.validFrom),
    validToMs: instant(sent.validTo),
    transactionId: isOfTransaction ? String(transactionId) : null,
    schedule: {
      unit: chargingSchedule.chargingRateUnit,
      durationS: chargingSchedule.duration ?? null,
      startMs: instant(chargingSchedule.startSchedule),
      minChargingRate: chargingSchedule.minChargingRate ?? null,
      periods: chargingSchedule.chargingSchedulePeriod.map(({ startPeriod, limit, numberPhases }) => ({
        startS: startPeriod,
        limit,
        numberPhases: (numberPhases ?? null) as 1 | 2 | 3 | null,
      })),
    },
    receivedMs,
  };
}

/** A composite schedule in whole seconds; where no profile limits, the rating does. */
export function replyOf(
  connectorId: number,
  { startMs, durationS, unit, periods }: CompositeSchedule,
  { maxPowerW, maxCurrentA }: Pick<ConnectorRating, 'maxPowerW' | 'maxCurrentA'>,
): Replies['GetCompositeSchedule'] {
  const { duration, rows } = compositeRows({ durationS, periods }, ({ limit, numberPhases }) => ({
    limit: tenths(limit ?? (unit === 'W' ? maxPowerW : maxCurrentA)),
    ...(numberPhases !== null && { numberPhases }),
  }));
  const scheduleStart = stamp(startMs);
  return {
    status: 'Accepted',
    connectorId,
    scheduleStart,
    chargingSchedule: {
      duration,
      startSchedule: scheduleStart,
      chargingRateUnit: unit,
      chargingSchedulePeriod: [...rows],
    },
  };
}
