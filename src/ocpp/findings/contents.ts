/** Judges what stands in a call of the central system, whatever the station makes of it. */
import { certificatesOf } from '../../core/tls/material.ts';
import type { OcppRule } from '../../finding-rules/ocpp.ts';
import { shownLocation } from '../files/transfer.ts';
import { isObject } from '../rpc/frames.ts';
import type { Payload } from '../rpc/model.ts';
import type { ConnectorRating, StationPort } from '../station/port.ts';
import { instantOf } from '../station/stack.ts';
import type { JudgeContext } from './context.ts';
import type { ServedCall } from './requests.ts';

const dayMs = 86_400_000;
const minCurrentA = 6;
const minPeriodS = 60;
/** Least power of a vehicle that charges on one phase, W. */
const minPowerW = minCurrentA * 230;
/** Ratings of fuses and cables, A, without round numbers, which stand for hardly any power. */
const usualCurrents: ReadonlySet<number> = new Set([6, 13, 16, 25, 32, 63]);
/** Profiles in W that are limited to usual currents, in a row. */
const maxSmallPowers = 3;
const minPasswordLength = 16;
/** Numbers by which some say that there is no limit. */
const noLimit = /^(?:9+|[1-9]0+|32767|65535)$/;
const pemEnd = '-----END CERTIFICATE-----';
const schemes: readonly string[] = ['http:', 'https:', 'ftp:', 'ftps:', 'sftp:'];

/** The highest rating of a station for alternating current. */
export interface StationRating {
  /** per phase */
  readonly currentA: number;
  readonly powerW: number;
}

/** The highest rating of a station; null: direct current is among its connectors. */
export function acRatingOf({
  ratings,
  stationRating,
}: Pick<StationPort, 'ratings' | 'stationRating'>): StationRating | null {
  if (ratings.some(({ type }) => type === 'dc')) return null;
  const sum = (of: (rating: ConnectorRating) => number) => ratings.reduce((total, rating) => total + of(rating), 0);
  return {
    currentA: Math.max(
      stationRating.maxCurrentA,
      sum(({ maxCurrentA }) => maxCurrentA),
    ),
    powerW: Math.max(
      stationRating.maxPowerW,
      sum(({ maxPowerW }) => maxPowerW),
    ),
  };
}

interface Schedule {
  readonly unit: unknown;
  readonly duration: unknown;
  readonly periods: readonly Payload[];
}

const profileOf = ({ csChargingProfiles, chargingProfile }: Payload): unknown => csChargingProfiles ?? chargingProfile;

function schedulesOf(payload: Payload): readonly Schedule[] {
  const profile = profileOf(payload);
  const schedules = isObject(profile) ? [profile.chargingSchedule].flat() : [];
  return schedules
    .filter(isObject)
    .flatMap(({ chargingRateUnit: unit, duration, chargingSchedulePeriod: periods }) =>
      Array.isArray(periods) ? [{ unit, duration, periods: periods.filter(isObject) }] : [],
    );
}

/** Limits above 0 of all schedules in a unit. */
const limitsIn = (payload: Payload, rateUnit: 'A' | 'W'): readonly number[] =>
  schedulesOf(payload)
    .filter(({ unit }) => unit === rateUnit)
    .flatMap(({ periods }) => periods.map(({ limit }) => Number(limit)))
    .filter((limit) => limit > 0);

/** The first limit above 0 and below 6 A that lasts for a minute; null: none. */
export function smallLimit(payload: Payload): number | null {
  for (const { unit, duration, periods } of schedulesOf(payload)) {
    if (unit !== 'A') continue;
    for (const [i, { startPeriod, limit }] of periods.entries()) {
      const endS = periods[i + 1]?.startPeriod ?? duration ?? Infinity;
      const isLong = Number(endS) - Number(startPeriod) >= minPeriodS;
      if (typeof limit === 'number' && limit > 0 && limit < minCurrentA && isLong) return limit;
    }
  }
  return null;
}

/** The first limit in A that is far above the rating, and would be a power of the station in W; null: none. */
export function wattsAsAmperes(payload: Payload, { currentA, powerW }: StationRating): number | null {
  const isPower = (limit: number) => limit > 3 * currentA && limit >= minPowerW && limit <= 1.2 * powerW;
  return limitsIn(payload, 'A').find((limit) => isPower(limit) && !noLimit.test(String(limit))) ?? null;
}

/** The members of a firmware in any version. */
function firmwareOf(payload: Payload): { readonly location: unknown; readonly retrieve: unknown } {
  const { location, retrieveDate, retrieveDateTime } = isObject(payload.firmware) ? payload.firmware : payload;
  return { location, retrieve: retrieveDate ?? retrieveDateTime };
}

/** Passwords that a call sets. */
function passwordsOf({ action, payload }: ServedCall): readonly unknown[] {
  if (action === 'ChangeConfiguration') return payload.key === 'AuthorizationKey' ? [payload.value] : [];
  if (action === 'SetNetworkProfile')
    return isObject(payload.connectionData) ? [payload.connectionData.basicAuthPassword] : [];
  if (action !== 'SetVariables' || !Array.isArray(payload.setVariableData)) return [];
  return payload.setVariableData
    .filter(isObject)
    .flatMap(({ variable, attributeValue }) =>
      isObject(variable) && variable.name === 'BasicAuthPassword' ? [attributeValue] : [],
    );
}

/** Why a certificate cannot be used; null: nothing is against it. @param nowMs null: no expiry is judged */
export function certificateIssue(pem: string, nowMs: number | null): string | null {
  const [begin = ''] = pem.split(pemEnd);
  const [first] = certificatesOf(begin + pemEnd) ?? [];
  if (first === undefined) return 'the text has no certificate in PEM form';
  const endMs = Date.parse(first.validTo);
  if (nowMs === null || !(nowMs - endMs > dayMs)) return null;
  return `the certificate has expired at ${new Date(endMs).toISOString()}`;
}

export class ContentJudge {
  readonly #at: JudgeContext;
  /** null: connectors for direct current are among them */
  readonly #rating: StationRating | null;
  readonly #isWallTime: boolean;
  #smallPowers = 0;

  /** @param isWallTime false: times of the central system belong to the simulated clock */
  constructor(at: JudgeContext, rating: StationRating | null, isWallTime: boolean) {
    this.#at = at;
    this.#rating = rating;
    this.#isWallTime = isWallTime;
  }

  /** A call of the registered station has been handled. */
  served(call: ServedCall): void {
    switch (call.action) {
      case 'SetChargingProfile':
        if (this.#rating !== null) this.#limited(call, this.#rating);
        return;
      case 'CertificateSigned':
      case 'InstallCertificate':
        this.#certified(call);
        return;
      case 'UpdateFirmware':
      case 'SignedUpdateFirmware':
        this.#updated(call);
        return;
      default:
        this.#passwordSet(call);
    }
  }

  #limited(call: ServedCall, rating: StationRating): void {
    const small = smallLimit(call.payload);
    this.#judge('limit_below_minimum', call, small === null ? null : `a limit of ${small} A`);
    const large = wattsAsAmperes(call.payload, rating);
    const powers = limitsIn(call.payload, 'W');
    if (powers.length > 0)
      this.#smallPowers = powers.every((limit) => usualCurrents.has(limit)) ? this.#smallPowers + 1 : 0;
    const text =
      large === null
        ? `${this.#smallPowers} profiles in a row limit to ${powers[0] ?? 0} W or the like`
        : `a limit of ${large} A, which would be a power of this station in W`;
    this.#judge('limit_unit_phases', call, large === null && this.#smallPowers < maxSmallPowers ? null : text);
  }

  #certified(call: ServedCall): void {
    const { certificateChain, certificate } = call.payload;
    const nowMs = this.#isWallTime ? this.#at.wall.nowMs() : null;
    this.#judge('certificate_bad', call, certificateIssue(String(certificateChain ?? certificate), nowMs));
  }

  #updated(call: ServedCall): void {
    const { location, retrieve } = firmwareOf(call.payload);
    const place = String(location);
    const isPlace = URL.canParse(place) && schemes.includes(new URL(place).protocol);
    const lateMs = this.#isWallTime ? this.#at.wall.nowMs() - instantOf(String(retrieve)) : 0;
    const text = isPlace
      ? `the firmware is to be fetched ${Math.floor(lateMs / dayMs)} days ago`
      : `the firmware is at ${shownLocation(place)}`;
    this.#judge('firmware_location', call, isPlace && !(lateMs > dayMs) ? null : text);
  }

  #passwordSet(call: ServedCall): void {
    const passwords = passwordsOf(call).filter((each) => typeof each === 'string' && each !== '') as readonly string[];
    if (passwords.length === 0) return;
    const isShort = passwords.some(({ length }) => length < minPasswordLength);
    this.#judge('password_short', call, isShort ? `a password of fewer than ${minPasswordLength} characters` : null);
  }

  #judge(rule: OcppRule, { action, messageId }: ServedCall, issue: string | null): void {
    if (issue === null) this.#at.kept(rule);
    else this.#at.broken({ rule, text: issue, action, messageId });
  }
}
