/** Local Authorization List: what SendLocalList makes of it. OCPP 2.0.1 D01. */
import type { Replies, Requests } from '../messages.ts';
import { listLimits } from './limits.ts';
import { tokenFault, tokenKey } from './token.ts';
import type { KnownToken } from './token.ts';

export interface LocalList {
  /** 0: the central system has sent none */
  readonly version: number;
  /** by `tokenKey` */
  readonly entries: ReadonlyMap<string, KnownToken>;
  /** of the entries as JSON text */
  readonly bytes: number;
}

export interface LocalListUpdate {
  readonly reply: Replies['SendLocalList'];
  /** as it was, unless the status is Accepted */
  readonly list: LocalList;
  /** the rule that the central system has broken */
  readonly broken?: string;
}

export const emptyList: LocalList = { version: 0, entries: new Map(), bytes: 2 };

type Request = Requests['SendLocalList'];
type Given = NonNullable<Request['localAuthorizationList']>;

function apply(base: ReadonlyMap<string, KnownToken>, given: Given): ReadonlyMap<string, KnownToken> {
  const entries = new Map(base);
  for (const { idToken, idTokenInfo } of given) {
    if (idTokenInfo === undefined) entries.delete(tokenKey(idToken));
    else entries.set(tokenKey(idToken), { idToken, info: idTokenInfo });
  }
  return entries;
}

export function bytesOf(entries: ReadonlyMap<string, KnownToken>): number {
  return Buffer.byteLength(JSON.stringify([...entries.values()]));
}

/** What is wrong with a request whatever the list holds; null: nothing. */
function fault({ versionNumber, updateType }: Request, given: Given): string | null {
  if (versionNumber <= 0) return 'versionNumber must be above 0';
  if (new Set(given.map(({ idToken }) => tokenKey(idToken))).size < given.length) return 'an idToken stands twice';
  if (given.some(({ idToken }) => tokenFault(idToken) !== null)) return 'an idToken is no token';
  const incomplete = updateType === 'Full' && given.some(({ idTokenInfo }) => idTokenInfo === undefined);
  return incomplete ? 'idTokenInfo is mandatory in a full update' : null;
}

/** A list takes a change whole or not at all. */
export function updateList(list: LocalList, request: Request): LocalListUpdate {
  const { versionNumber, updateType, localAuthorizationList: given = [] } = request;
  const failed = (reasonCode: string, additionalInfo: string): Replies['SendLocalList'] => ({
    status: 'Failed',
    statusInfo: { reasonCode, additionalInfo },
  });
  const full = updateType === 'Full';
  if (!full && versionNumber > 0 && versionNumber <= list.version)
    return { reply: { status: 'VersionMismatch' }, list };
  const broken = fault(request, given);
  if (broken !== null) return { reply: failed('InvalidValue', broken), list, broken };
  const entries = apply(full ? new Map() : list.entries, given);
  const bytes = bytesOf(entries);
  if (entries.size > listLimits.entries || bytes > listLimits.bytes)
    return { reply: failed('OutOfStorage', `the list has room for ${listLimits.entries} entries`), list };
  return { reply: { status: 'Accepted' }, list: { version: versionNumber, entries, bytes } };
}
