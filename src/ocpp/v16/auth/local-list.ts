/** Local Authorization List: what SendLocalList makes of it. OCPP 1.6 3.5.2, 5.15 and 7.41. */
import type { Replies, Requests } from '../messages.ts';
import { tagKey, tokenOf } from './token.ts';
import type { Token } from './token.ts';

export interface LocalList {
  /** 0: the list is empty */
  readonly version: number;
  /** by `tagKey` */
  readonly entries: ReadonlyMap<string, Token>;
}

export interface LocalListLimits {
  /** SendLocalListMaxLength */
  readonly perMessage: number;
  /** LocalAuthListMaxLength */
  readonly entries: number;
}

export type UpdateStatus = Replies['SendLocalList']['status'];

export interface LocalListUpdate {
  readonly status: UpdateStatus;
  /** as it was, unless the status is Accepted */
  readonly list: LocalList;
  /** the rule that the central system has broken */
  readonly broken?: string;
}

export const emptyList: LocalList = { version: 0, entries: new Map() };

type Given = NonNullable<Requests['SendLocalList']['localAuthorizationList']>;

function apply(base: ReadonlyMap<string, Token>, given: Given): Map<string, Token> {
  const entries = new Map(base);
  for (const { idTag, idTagInfo } of given) {
    if (idTagInfo === undefined) entries.delete(tagKey(idTag));
    else entries.set(tagKey(idTag), tokenOf(idTag, idTagInfo));
  }
  return entries;
}

/** A list takes a change whole or not at all. */
export function updateList(
  list: LocalList,
  { listVersion, updateType, localAuthorizationList: given = [] }: Requests['SendLocalList'],
  limits: LocalListLimits,
): LocalListUpdate {
  const refuse = (broken?: string): LocalListUpdate => ({ status: 'Failed', list, ...(broken && { broken }) });
  const full = updateType === 'Full';
  if (!full && listVersion <= list.version) return { status: 'VersionMismatch', list };
  if (listVersion < 0 || (listVersion === 0 && given.length > 0)) return refuse('listVersion 0 means an empty list');
  if (given.length > limits.perMessage) return refuse(`SendLocalListMaxLength is ${limits.perMessage}`);
  if (new Set(given.map(({ idTag }) => tagKey(idTag))).size < given.length) return refuse('an idTag stands twice');
  if (full && given.some(({ idTagInfo }) => idTagInfo === undefined))
    return refuse('idTagInfo is mandatory in a full update');
  const entries = apply(full ? new Map() : list.entries, given);
  if (entries.size > limits.entries) return refuse();
  return { status: 'Accepted', list: { version: entries.size === 0 ? 0 : listVersion, entries } };
}
