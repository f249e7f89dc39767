/** What is known of an idTag, and what follows from it. OCPP 1.6 3.5, 7.2 and 7.27. */
import type { OcppTokenEntry } from '../../../contract/ocpp.ts';
import { instantOf } from '../../station/instants.ts';
import type { Replies } from '../messages.ts';

/** idTagInfo of an answer of the central system */
export type IdTagInfo = Replies['Authorize']['idTagInfo'];
export type TokenStatus = IdTagInfo['status'];

export interface Token {
  readonly idTag: string;
  readonly status: TokenStatus;
  /** null: it never expires */
  readonly expiresMs: number | null;
  readonly parentIdTag: string | null;
}

/** CiString20Type */
export const maxIdTagLength = 20;

/** idTags are CiStrings: their case does not count. */
export function tagKey(idTag: string): string {
  return idTag.toLowerCase();
}

export function sameTag(a: string, b: string): boolean {
  return tagKey(a) === tagKey(b);
}

export function sameGroup(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && sameTag(a, b);
}

export function tokenOf(idTag: string, { status, expiryDate, parentIdTag }: IdTagInfo): Token {
  const expiresMs = expiryDate === undefined ? NaN : instantOf(expiryDate);
  return { idTag, status, expiresMs: Number.isNaN(expiresMs) ? null : expiresMs, parentIdTag: parentIdTag ?? null };
}

/** An accepted token whose expiryDate has passed is Expired. */
export function statusAt({ status, expiresMs }: Token, nowMs: number): TokenStatus {
  return status === 'Accepted' && expiresMs !== null && expiresMs <= nowMs ? 'Expired' : status;
}

export function infoOf(token: Token, nowMs: number): IdTagInfo {
  return {
    status: statusAt(token, nowMs),
    ...(token.expiresMs === null ? {} : { expiryDate: new Date(token.expiresMs).toISOString() }),
    ...(token.parentIdTag === null ? {} : { parentIdTag: token.parentIdTag }),
  };
}

export function entryOf({ idTag, status, expiresMs, parentIdTag }: Token): OcppTokenEntry {
  return { idToken: idTag, status, expiresMs, parentIdToken: parentIdTag };
}
