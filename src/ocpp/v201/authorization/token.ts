/** Tokens of 2.x and what is known of them. OCPP 2.0.1 C01, C09, C10, C13 and C14. */
import type { OcppTokenEntry } from '../../../contract/ocpp.ts';
import { SimError } from '../../../core/errors.ts';
import type { Bearer } from '../../reservation/reservations.ts';
import { instantOf } from '../../station/stack.ts';
import type { AuthorizationStatusEnum, IdToken, IdTokenInfo } from '../messages.ts';
import type { Version2 } from '../version.ts';

// Limits of tokens and their lists.

/** AuthCtrlr.AdditionalInfoItemsPerMessage */
export const maxAdditionalInfo = 10;

export const listLimits = {
  /** of the list: the upper limit of LocalAuthListCtrlr.Entries */
  entries: 1000,
  /** LocalAuthListCtrlr.ItemsPerMessage */
  itemsPerMessage: 200,
  /** LocalAuthListCtrlr.BytesPerMessage: of the payload as JSON text in UTF-8 */
  bytesPerMessage: 200_000,
  /** of the list as JSON text: the upper limit of LocalAuthListCtrlr.Storage */
  bytes: 1_000_000,
} as const;

/** longest text of a token */
export const maxTokenLength: Readonly<Record<Version2, number>> = { 'ocpp2.0.1': 36, 'ocpp2.1': 255 };

const types201 = [
  'Central',
  'eMAID',
  'ISO14443',
  'ISO15693',
  'KeyCode',
  'Local',
  'MacAddress',
  'NoAuthorization',
] as const;

/** Types of tokens that readers and the central system can give. */
export const tokenTypes: Readonly<Record<Version2, readonly string[]>> = {
  'ocpp2.0.1': types201,
  'ocpp2.1': [...types201, 'DirectPayment', 'EVCCID', 'VIN'],
};

export type TokenStatus = AuthorizationStatusEnum;

/** An entry of the local list or of the cache. */
export interface KnownToken {
  readonly idToken: IdToken;
  readonly info: IdTokenInfo;
}

/** Text and type identify a token; their case does not count. */
export function tokenKey({ idToken, type }: Pick<IdToken, 'idToken' | 'type'>): string {
  return `${type}:${idToken}`.toLowerCase();
}

export function sameToken(a: IdToken | null, b: IdToken | null): boolean {
  return a !== null && b !== null && tokenKey(a) === tokenKey(b);
}

/** The text of a token as the device gets it: a start without authorisation has none. */
export function deviceText({ idToken, type }: IdToken): string {
  return idToken === '' ? type : idToken;
}

export function bearerOf(idToken: IdToken, group: IdToken | null): Bearer {
  return { idToken: deviceText(idToken), tokenKey: tokenKey(idToken), groupKey: group && tokenKey(group) };
}

/** The token of a start where no authorisation is possible (C02). */
export const noAuthorization: IdToken = { idToken: '', type: 'NoAuthorization' };

/** The central system, the station itself or nobody vouches for them, so they are not asked about (C02, C05, C06). */
export function isUnasked({ type }: IdToken): boolean {
  return type === 'Central' || type === 'Local' || type === 'NoAuthorization';
}

const hex = /^[0-9a-f]+$/i;

/** Type of a token that a reader has read as a text: the form of a card's UID, else a code that a person has typed. */
export function typeOfText(text: string): string {
  if (hex.test(text) && (text.length === 8 || text.length === 14)) return 'ISO14443';
  return hex.test(text) && text.length === 16 ? 'ISO15693' : 'KeyCode';
}

/**
 * A token as a person presents it.
 * @param type absent: by the form of the text
 * @throws SimError COMMAND_BAD_VALUE
 */
export function tokenOf(version: Version2, text: string, type?: string): IdToken {
  const types = tokenTypes[version];
  const named = type === undefined ? typeOfText(text) : types.find((each) => each.toLowerCase() === type.toLowerCase());
  if (named === undefined)
    throw new SimError('COMMAND_BAD_VALUE', `type: given ${JSON.stringify(type)}; expected ${types.join(', ')}`);
  const max = maxTokenLength[version];
  if ((text === '') !== (named === 'NoAuthorization') || text.length > max)
    throw new SimError('COMMAND_BAD_VALUE', `id_token: 1 to ${max} characters, none with the type NoAuthorization`);
  return { idToken: text, type: named };
}

/** Why a token of the central system cannot be used: a reason code of the standard; null: it can. */
export function tokenFault({ idToken, type, additionalInfo = [] }: IdToken): string | null {
  if (additionalInfo.length > maxAdditionalInfo) return 'TooManyElements';
  return (idToken === '') === (type === 'NoAuthorization') ? null : 'InvalidIdToken';
}

/** ms since the epoch; null: it never expires */
function expiryOf({ cacheExpiryDateTime }: IdTokenInfo): number | null {
  const ms = cacheExpiryDateTime === undefined ? NaN : instantOf(cacheExpiryDateTime);
  return Number.isNaN(ms) ? null : ms;
}

export function isExpired(info: IdTokenInfo, nowMs: number): boolean {
  const expiresMs = expiryOf(info);
  return expiresMs !== null && expiresMs <= nowMs;
}

/** Information about a token as it counts now: one whose time has passed is Expired. */
export function infoAt(info: IdTokenInfo, nowMs: number): IdTokenInfo {
  return info.status === 'Accepted' && isExpired(info, nowMs) ? { ...info, status: 'Expired' } : info;
}

/** An accepted token that names EVSEs is valid at those only. */
export function infoAtEvse(info: IdTokenInfo, evseId: number): IdTokenInfo {
  const elsewhere = info.status === 'Accepted' && info.evseId !== undefined && !info.evseId.includes(evseId);
  return elsewhere ? { ...info, status: 'NotAtThisLocation' } : info;
}

export function entryOf({ idToken, info }: KnownToken): OcppTokenEntry {
  return {
    idToken: idToken.idToken,
    status: info.status,
    expiresMs: expiryOf(info),
    parentIdToken: info.groupIdToken?.idToken ?? null,
  };
}
