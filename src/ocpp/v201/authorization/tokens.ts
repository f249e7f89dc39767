/**
 * Tokens stored in the station: Local Authorization List and Authorization Cache, kept over a restart. Answers
 * GetLocalListVersion, SendLocalList and ClearCache. OCPP 2.0.1 C10 to C14, D01 and D02.
 */
import { z } from 'zod';
import type { OcppLocalList, OcppTokenEntry } from '../../../contract/ocpp.ts';
import { instant, readOne, record, recordOf, serial } from '../../../core/slot-values.ts';
import type { Members } from '../../../core/slot-values.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { createCache } from '../../authorization.ts';
import type { AuthorizationCache } from '../../authorization.ts';
import { errorCode } from '../../rpc/frames.ts';
import { CallError } from '../../rpc/model.ts';
import { createSaver, instantOf } from '../../station/stack.ts';
import type { Saver, Version2 } from '../../station/stack.ts';
import type { IdToken, IdTokenInfo, AuthorizationStatusEnum } from '../messages.ts';
import type { AnsweredEvent, Part, Replies, Requests, StationParts, Transactions } from '../parts.ts';
import { clauseOf } from '../provisioning/registration.ts';
import { idTokenIn, idTokenInfoIn } from '../stored.ts';
import { SimError } from '../../../core/errors.ts';
import type { Bearer } from '../../reservations.ts';

// Limits of tokens and their lists.

/** AuthCtrlr.AdditionalInfoItemsPerMessage */
export const maxAdditionalInfo = 10;

export const listLimits = {
  /** maxLimit of LocalAuthListCtrlr.Entries */
  entries: 1000,
  /** LocalAuthListCtrlr.ItemsPerMessage */
  itemsPerMessage: 200,
  /** LocalAuthListCtrlr.BytesPerMessage: of the payload as JSON text in UTF-8 */
  bytesPerMessage: 200_000,
  /** maxLimit of LocalAuthListCtrlr.Storage: of the list as JSON text */
  bytes: 1_000_000,
} as const;

/** maximum length of the text of a token */
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

/** Supported types of tokens. */
export const tokenTypes: Readonly<Record<Version2, readonly string[]>> = {
  'ocpp2.0.1': types201,
  'ocpp2.1': [...types201, 'DirectPayment', 'EVCCID', 'VIN'],
};

export type TokenStatus = AuthorizationStatusEnum;

/** An entry of the local list or of the cache. */
interface TokenEntry {
  readonly idToken: IdToken;
  readonly info: IdTokenInfo;
}

const entryMembers = (version: Version2): Members<TokenEntry> => ({
  idToken: idTokenIn(version),
  info: idTokenInfoIn(version),
});

/** Text and type identify a token; their case does not count. */
export function tokenKey({ idToken, type }: Pick<IdToken, 'idToken' | 'type'>): string {
  return `${type}:${idToken}`.toLowerCase();
}

export function sameToken(a: IdToken | null, b: IdToken | null): boolean {
  return a !== null && b !== null && tokenKey(a) === tokenKey(b);
}

/** The text of a token for the device; of a token without text its type. */
export function deviceText({ idToken, type }: IdToken): string {
  return idToken === '' ? type : idToken;
}

export function bearerOf(idToken: IdToken, group: IdToken | null): Bearer {
  return { idToken: deviceText(idToken), tokenKey: tokenKey(idToken), groupKey: group && tokenKey(group) };
}

/** The token of a start without authorisation (C02). */
export const noAuthorization: IdToken = { idToken: '', type: 'NoAuthorization' };

/** True for types that are accepted without Authorize (C02, C05, C06). */
export function needsNoAuthorize({ type }: IdToken): boolean {
  return type === 'Central' || type === 'Local' || type === 'NoAuthorization';
}

const hex = /^[0-9a-f]+$/i;

/** Type of a token presented as text: a card, by the form of its UID, else a typed code. */
export function typeOfText(text: string): string {
  if (hex.test(text) && (text.length === 8 || text.length === 14)) return 'ISO14443';
  return hex.test(text) && text.length === 16 ? 'ISO15693' : 'KeyCode';
}

/**
 * A token as a person presents it.
 * @param type in any case; absent: by `typeOfText`
 * @throws SimError COMMAND_BAD_VALUE
 */
export function tokenOf(version: Version2, text: string, type?: string): IdToken {
  const types = tokenTypes[version];
  const tokenType =
    type === undefined ? typeOfText(text) : types.find((each) => each.toLowerCase() === type.toLowerCase());
  if (tokenType === undefined)
    throw new SimError('COMMAND_BAD_VALUE', `type: given ${JSON.stringify(type)}; expected ${types.join(', ')}`);
  const max = maxTokenLength[version];
  if ((text === '') !== (tokenType === 'NoAuthorization') || text.length > max)
    throw new SimError('COMMAND_BAD_VALUE', `id_token: 1 to ${max} characters, empty for the type NoAuthorization`);
  return { idToken: text, type: tokenType };
}

/** The reason code for a token of the central system that cannot be used; null: it can be used. */
export function tokenFault({ idToken, type, additionalInfo = [] }: IdToken): string | null {
  if (additionalInfo.length > maxAdditionalInfo) return 'TooManyElements';
  return (idToken === '') === (type === 'NoAuthorization') ? null : 'InvalidIdToken';
}

/** ms since the epoch; null: it never expires */
function expiryOf({ cacheExpiryDateTime }: IdTokenInfo): number | null {
  const ms = cacheExpiryDateTime === undefined ? NaN : instantOf(cacheExpiryDateTime);
  return Number.isNaN(ms) ? null : ms;
}

function isExpired(info: IdTokenInfo, nowMs: number): boolean {
  const expiresMs = expiryOf(info);
  return expiresMs !== null && expiresMs <= nowMs;
}

/** Information about a token at an instant: an accepted token past its expiry is Expired. */
function infoAt(info: IdTokenInfo, nowMs: number): IdTokenInfo {
  return info.status === 'Accepted' && isExpired(info, nowMs) ? { ...info, status: 'Expired' } : info;
}

/** Information about a token at an EVSE: an accepted token that lists other EVSEs only is NotAtThisLocation. */
export function infoAtEvse(info: IdTokenInfo, evseId: number): IdTokenInfo {
  const isElsewhere = info.status === 'Accepted' && info.evseId !== undefined && !info.evseId.includes(evseId);
  return isElsewhere ? { ...info, status: 'NotAtThisLocation' } : info;
}

function entryOf({ idToken, info }: TokenEntry): OcppTokenEntry {
  return {
    idToken: idToken.idToken,
    status: info.status,
    expiresMs: expiryOf(info),
    parentIdToken: info.groupIdToken?.idToken ?? null,
  };
}

// Changes of the Local Authorization List by SendLocalList. OCPP 2.0.1 D01.

interface LocalList {
  /** 0: the central system has sent no list */
  readonly version: number;
  /** by `tokenKey` */
  readonly entries: ReadonlyMap<string, TokenEntry>;
  /** of the entries as JSON text */
  readonly bytes: number;
}

interface LocalListUpdate {
  readonly reply: Replies['SendLocalList'];
  /** unchanged unless the status is Accepted */
  readonly list: LocalList;
  /** rule that the request breaks, for a finding */
  readonly broken?: string;
}

const emptyList: LocalList = { version: 0, entries: new Map(), bytes: 2 };

type Request = Requests['SendLocalList'];
type ListChanges = NonNullable<Request['localAuthorizationList']>;

function apply(base: ReadonlyMap<string, TokenEntry>, changes: ListChanges): ReadonlyMap<string, TokenEntry> {
  const entries = new Map(base);
  for (const { idToken, idTokenInfo } of changes) {
    if (idTokenInfo === undefined) entries.delete(tokenKey(idToken));
    else entries.set(tokenKey(idToken), { idToken, info: idTokenInfo });
  }
  return entries;
}

function bytesOf(entries: ReadonlyMap<string, TokenEntry>): number {
  return Buffer.byteLength(JSON.stringify([...entries.values()]));
}

/** Error of a request, regardless of the present list; null: none. */
function fault({ versionNumber, updateType }: Request, changes: ListChanges): string | null {
  if (versionNumber <= 0) return 'versionNumber must be above 0';
  if (new Set(changes.map(({ idToken }) => tokenKey(idToken))).size < changes.length) return 'an idToken stands twice';
  if (changes.some(({ idToken }) => tokenFault(idToken) !== null)) return 'an idToken is invalid';
  const incomplete = updateType === 'Full' && changes.some(({ idTokenInfo }) => idTokenInfo === undefined);
  return incomplete ? 'idTokenInfo is mandatory in a full update' : null;
}

/** Applies a request whole or not at all. */
function updateList(list: LocalList, request: Request): LocalListUpdate {
  const { versionNumber, updateType, localAuthorizationList: changes = [] } = request;
  const failed = (reasonCode: string, additionalInfo: string): Replies['SendLocalList'] => ({
    status: 'Failed',
    statusInfo: { reasonCode, additionalInfo },
  });
  const isFull = updateType === 'Full';
  if (!isFull && versionNumber > 0 && versionNumber <= list.version)
    return { reply: { status: 'VersionMismatch' }, list };
  const broken = fault(request, changes);
  if (broken !== null) return { reply: failed('InvalidValue', broken), list, broken };
  const entries = apply(isFull ? new Map() : list.entries, changes);
  const bytes = bytesOf(entries);
  if (entries.size > listLimits.entries || bytes > listLimits.bytes)
    return {
      reply: failed(
        'OutOfStorage',
        `the list has room for ${listLimits.entries} entries and ${listLimits.bytes} bytes`,
      ),
      list,
    };
  return { reply: { status: 'Accepted' }, list: { version: versionNumber, entries, bytes } };
}

/** Present information of list or cache about a token. */
interface StoredTokenInfo {
  readonly info: IdTokenInfo;
  /** the central system may be asked though the token is not accepted (C10.FR.03, C14.FR.03) */
  readonly mayReauthorize: boolean;
}

export interface Tokens {
  /** of the local list, else of the cache, each while it is enabled; null: unknown */
  find(idToken: IdToken): StoredTokenInfo | null;
  /** from list, cache or an earlier answer; null: none, or unknown */
  readonly groupOf: (idToken: IdToken) => IdToken | null;
  /** Stores idTokenInfo of an answer: in the cache, unless the local list holds the token. */
  learn(idToken: IdToken, info: IdTokenInfo): void;
  /** Counts a use of a cached token, whose lifetime begins again. */
  used(idToken: IdToken): void;
  list(): OcppLocalList;
  /**
   * Removes tokens from the cache, with their remembered groups (N10); the local list does not change.
   * @returns number of entries removed from the cache
   */
  forget(fits: (idToken: Pick<IdToken, 'idToken' | 'type'>) => boolean): number;
}

interface TokensDeps {
  readonly transactions: Pick<Transactions, 'onAnswered'>;
}

/** tokens whose group is remembered beside list and cache */
const maxGroups = 200;

interface CachedToken extends TokenEntry {
  readonly usedMs: number;
  readonly uses: number;
  /** serial number of its first insertion */
  readonly order: number;
}

interface TokensState {
  readonly parts: StationParts;
  readonly cache: AuthorizationCache<CachedToken>;
  readonly groups: Map<string, IdToken | null>;
  list: LocalList;
  nextOrder: number;
}

interface StoredList {
  readonly version: number;
  readonly entries: readonly TokenEntry[];
}

/** The list as one value: it may have more entries than a slot holds values. */
function storedList({ list }: TokensState): readonly JsonValue[] {
  const stored: StoredList = { version: list.version, entries: [...list.entries.values()] };
  return [stored as unknown as JsonValue];
}

/** Rank by AuthCacheCtrlr.Policy: the lowest is removed first. Each use puts a token again, so LRU needs no rank. */
function rankOf({ variables }: StationParts): (token: CachedToken) => number {
  return ({ uses, order }) => {
    const policy = variables.text('AuthCacheCtrlr', 'Policy');
    return policy === 'LFU' ? uses : policy === 'FIFO' ? order : 0;
  };
}

function listEntry({ parts, list }: TokensState, idToken: IdToken): IdTokenInfo | null {
  const { variables, clock } = parts;
  if (!variables.boolean('LocalAuthListCtrlr', 'Enabled')) return null;
  const entry = list.entries.get(tokenKey(idToken));
  if (entry === undefined) return null;
  // 2.1: an expired entry counts as absent (SupportsExpiryDateTime)
  if (parts.version === 'ocpp2.1' && isExpired(entry.info, clock.nowMs())) return null;
  return infoAt(entry.info, clock.nowMs());
}

/** The entry of a token; removed when it has expired, or its lifetime since the last use has passed (C10). */
function cacheEntry({ parts, cache }: TokensState, idToken: IdToken): CachedToken | null {
  const { variables, clock } = parts;
  if (!variables.boolean('AuthCacheCtrlr', 'Enabled')) return null;
  const key = tokenKey(idToken);
  const entry = cache.find(key);
  if (entry === null) return null;
  const nowMs = clock.nowMs();
  const isOver = entry.usedMs + variables.integer('AuthCacheCtrlr', 'LifeTime') * 1000 <= nowMs;
  if (!isOver && !isExpired(entry.info, nowMs)) return entry;
  cache.remove([key]);
  return null;
}

function find(state: TokensState, idToken: IdToken): StoredTokenInfo | null {
  const { variables } = state.parts;
  const listInfo = listEntry(state, idToken);
  if (listInfo !== null)
    return { info: listInfo, mayReauthorize: !variables.boolean('LocalAuthListCtrlr', 'DisablePostAuthorize') };
  const cacheInfo = cacheEntry(state, idToken);
  return (
    cacheInfo && { info: cacheInfo.info, mayReauthorize: !variables.boolean('AuthCacheCtrlr', 'DisablePostAuthorize') }
  );
}

function rememberGroup({ groups }: TokensState, idToken: IdToken, { groupIdToken }: IdTokenInfo): void {
  const key = tokenKey(idToken);
  groups.delete(key);
  groups.set(key, groupIdToken ?? null);
  const [oldest] = groups.keys();
  if (groups.size > maxGroups && oldest !== undefined) groups.delete(oldest);
}

function learn(state: TokensState, idToken: IdToken, info: IdTokenInfo): void {
  const { parts, cache } = state;
  if (needsNoAuthorize(idToken)) return;
  rememberGroup(state, idToken, info);
  if (!parts.variables.boolean('AuthCacheCtrlr', 'Enabled')) return;
  if (parts.variables.boolean('LocalAuthListCtrlr', 'Enabled') && state.list.entries.has(tokenKey(idToken))) return;
  // a second transaction of a valid token says nothing about the token
  if (info.status === 'ConcurrentTx') return;
  const before = cache.find(tokenKey(idToken));
  cache.put({
    idToken,
    info,
    usedMs: parts.clock.nowMs(),
    uses: (before?.uses ?? 0) + 1,
    order: before?.order ?? state.nextOrder++,
  });
}

function used(state: TokensState, idToken: IdToken): void {
  if (listEntry(state, idToken) !== null) return;
  const entry = cacheEntry(state, idToken);
  if (entry !== null) state.cache.put({ ...entry, usedMs: state.parts.clock.nowMs(), uses: entry.uses + 1 });
}

/** @throws CallError for a message larger than the station accepts (D01.FR.11, D01.FR.12) */
function checkSize({ version }: StationParts, request: Requests['SendLocalList']): void {
  const { itemsPerMessage, bytesPerMessage } = listLimits;
  if ((request.localAuthorizationList?.length ?? 0) > itemsPerMessage)
    throw new CallError(errorCode(version, 'occurrence'), `ItemsPerMessage is ${itemsPerMessage}`);
  if (Buffer.byteLength(JSON.stringify(request)) > bytesPerMessage)
    throw new CallError(errorCode(version, 'structure'), `BytesPerMessage is ${bytesPerMessage}`);
}

function sendLocalList(state: TokensState, saver: Saver, request: Requests['SendLocalList']): Replies['SendLocalList'] {
  const { parts } = state;
  if (!parts.variables.boolean('LocalAuthListCtrlr', 'Enabled'))
    return { status: 'Failed', statusInfo: { reasonCode: 'NotEnabled' } };
  checkSize(parts, request);
  const { reply, list, broken } = updateList(state.list, request);
  if (broken !== undefined) parts.finding(clauseOf(parts.version, 'D01'), broken, 'SendLocalList', 'local_list');
  if (reply.status === 'Accepted') {
    state.list = list;
    // the list has precedence over the cache, which does not hold its tokens
    state.cache.remove(list.entries.keys());
    saver.save();
  }
  return reply;
}

function clearCache({ parts, cache, groups }: TokensState): Replies['ClearCache'] {
  if (!parts.variables.boolean('AuthCacheCtrlr', 'Enabled'))
    return { status: 'Rejected', statusInfo: { reasonCode: 'NotEnabled' } };
  cache.clear();
  groups.clear();
  return { status: 'Accepted' };
}

function forget({ cache, groups }: TokensState, fits: Parameters<Tokens['forget']>[0]): number {
  const removed = cache.entries.filter(({ idToken }) => fits(idToken));
  cache.remove(removed.map(({ idToken }) => tokenKey(idToken)));
  for (const key of groups.keys()) {
    const colon = key.lastIndexOf(':');
    if (fits({ idToken: key.slice(0, colon), type: key.slice(colon + 1) })) groups.delete(key);
  }
  return removed.length;
}

function tokensOf(state: TokensState): Tokens {
  return {
    find: (idToken) => find(state, idToken),
    groupOf: (idToken) => {
      // stored information without a group means that the token has none
      const stored = find(state, idToken);
      return stored === null ? (state.groups.get(tokenKey(idToken)) ?? null) : (stored.info.groupIdToken ?? null);
    },
    learn: (idToken, info) => {
      learn(state, idToken, info);
    },
    used: (idToken) => {
      used(state, idToken);
    },
    list: () => ({
      version: state.list.version,
      entries: [...state.list.entries.values()].map(entryOf),
      cache: state.cache.entries.map(entryOf),
    }),
    forget: (fits) => forget(state, fits),
  };
}

async function load(state: TokensState, slot: Slot): Promise<void> {
  const { cache, parts } = state;
  const form = recordOf<StoredList>({ version: z.int(), entries: z.array(record(entryMembers(parts.version))) });
  const [stored] = await Promise.all([readOne(slot, form, parts.log), cache.load()]);
  state.nextOrder = Math.max(0, ...cache.entries.map(({ order }) => order + 1));
  if (stored === null) return;
  const entries = new Map(stored.entries.map((token) => [tokenKey(token.idToken), token]));
  state.list = { version: stored.version, entries, bytes: bytesOf(entries) };
}

function provide({ variables }: StationParts, state: TokensState): void {
  variables.provide('LocalAuthListCtrlr', 'Entries', () => String(state.list.entries.size));
  variables.provide('LocalAuthListCtrlr', 'Storage', () => String(state.list.bytes));
  variables.provide('AuthCacheCtrlr', 'Storage', () => String(state.cache.bytes));
}

export function createTokens(parts: StationParts, { transactions }: TokensDeps): Part & Tokens {
  const slot = parts.store('local-list');
  const cache = createCache<CachedToken>({
    slot: parts.store('authorization-cache'),
    form: recordOf<CachedToken>({ ...entryMembers(parts.version), usedMs: instant, uses: serial, order: serial }),
    log: parts.log,
    keyOf: ({ idToken }) => tokenKey(idToken),
    rank: rankOf(parts),
  });
  const state: TokensState = { parts, cache, groups: new Map(), list: emptyList, nextOrder: 0 };
  const saver = createSaver(slot, () => storedList(state), parts.log);
  provide(parts, state);
  let endListening: (() => void) | null = null;
  return {
    ...tokensOf(state),
    handlers: {
      GetLocalListVersion: () => ({
        versionNumber: parts.variables.boolean('LocalAuthListCtrlr', 'Enabled') ? state.list.version : 0,
      }),
      SendLocalList: (request) => sendLocalList(state, saver, request),
      ClearCache: () => clearCache(state),
    },
    async load() {
      await load(state, slot);
      endListening = transactions.onAnswered(({ request, reply }: AnsweredEvent) => {
        if (request.idToken !== undefined && reply.idTokenInfo !== undefined)
          learn(state, request.idToken, reply.idTokenInfo);
      });
    },
    stop() {
      endListening?.();
    },
  };
}
