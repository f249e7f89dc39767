/**
 * Tokens that the station stores: Local Authorization List and Authorization Cache. Answers
 * GetLocalListVersion, SendLocalList and ClearCache. OCPP 1.6 3.5, 5.4, 5.10 and 5.15.
 */
import { z } from 'zod';
import type { OcppLocalList, OcppTokenEntry } from '../../../contract/ocpp.ts';
import { formOf, instant, readOne, record, recordOf } from '../../../core/slot-values.ts';
import type { JsonValue } from '../../../core/store.ts';
import { createCache } from '../../authorization.ts';
import type { AuthorizationCache } from '../../authorization.ts';
import { createSaver, instantOf } from '../../station/stack.ts';
import type { Saver } from '../../station/stack.ts';
import { stamp } from '../parts.ts';
import type { Part, Replies, Requests, StationParts } from '../parts.ts';

// An idTag with its information, and its status at an instant. OCPP 1.6 3.5, 7.2 and 7.27.

/** idTagInfo of an answer of the central system */
export type IdTagInfo = Replies['Authorize']['idTagInfo'];
export type TokenStatus = IdTagInfo['status'];

interface Token {
  readonly idTag: string;
  readonly status: TokenStatus;
  /** null: it never expires */
  readonly expiresMs: number | null;
  readonly parentIdTag: string | null;
}

/** CiString20Type */
export const maxIdTagLength = 20;

/** Key of an idTag, a CiString: compared without case. */
export function tagKey(idTag: string): string {
  return idTag.toLowerCase();
}

export function sameTag(a: string, b: string): boolean {
  return tagKey(a) === tagKey(b);
}

export function sameGroup(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && sameTag(a, b);
}

function tokenOf(idTag: string, { status, expiryDate, parentIdTag }: IdTagInfo): Token {
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

function entryOf({ idTag, status, expiresMs, parentIdTag }: Token): OcppTokenEntry {
  return { idToken: idTag, status, expiresMs, parentIdToken: parentIdTag };
}

// Local Authorization List, and its changes by SendLocalList. OCPP 1.6 3.5.2, 5.15 and 7.41.

interface LocalList {
  /** 0: the list is empty */
  readonly version: number;
  /** by `tagKey` */
  readonly entries: ReadonlyMap<string, Token>;
}

interface LocalListLimits {
  /** SendLocalListMaxLength */
  readonly perMessage: number;
  /** LocalAuthListMaxLength */
  readonly entries: number;
}

type UpdateStatus = Replies['SendLocalList']['status'];

interface LocalListUpdate {
  readonly status: UpdateStatus;
  /** unchanged unless the status is Accepted */
  readonly list: LocalList;
  /** the rule that the central system has broken */
  readonly broken?: string;
}

const emptyList: LocalList = { version: 0, entries: new Map() };

type ListChanges = NonNullable<Requests['SendLocalList']['localAuthorizationList']>;

function apply(base: ReadonlyMap<string, Token>, changes: ListChanges): Map<string, Token> {
  const entries = new Map(base);
  for (const { idTag, idTagInfo } of changes) {
    if (idTagInfo === undefined) entries.delete(tagKey(idTag));
    else entries.set(tagKey(idTag), tokenOf(idTag, idTagInfo));
  }
  return entries;
}

/** Applies a change to a list, whole or not at all. */
function updateList(
  list: LocalList,
  { listVersion, updateType, localAuthorizationList: changes = [] }: Requests['SendLocalList'],
  limits: LocalListLimits,
): LocalListUpdate {
  const refuse = (broken?: string): LocalListUpdate => ({ status: 'Failed', list, ...(broken && { broken }) });
  const full = updateType === 'Full';
  if (!full && listVersion <= list.version) return { status: 'VersionMismatch', list };
  if (listVersion < 0 || (listVersion === 0 && changes.length > 0)) return refuse('listVersion 0 means an empty list');
  if (changes.length > limits.perMessage) return refuse(`SendLocalListMaxLength is ${limits.perMessage}`);
  if (new Set(changes.map(({ idTag }) => tagKey(idTag))).size < changes.length) return refuse('an idTag occurs twice');
  if (full && changes.some(({ idTagInfo }) => idTagInfo === undefined))
    return refuse('idTagInfo is mandatory in a full update');
  const entries = apply(full ? new Map() : list.entries, changes);
  if (entries.size > limits.entries) return refuse();
  return { status: 'Accepted', list: { version: entries.size === 0 ? 0 : listVersion, entries } };
}

export interface Tokens {
  /** Token of the local list, or else of the cache, each only while enabled; null: in neither. */
  find(idTag: string): Token | null;
  /** Parent from list, cache or an earlier answer; null: none, or unknown. */
  parentOf(idTag: string): string | null;
  /** Stores the idTagInfo of an answer in the cache, unless the local list has the token (3.5.1, 3.5.2). */
  learn(idTag: string, info: IdTagInfo): void;
  list(): OcppLocalList;
}

interface TokensDeps {
  /** status of connector 0 for the report of a conflict */
  readonly stationStatus: () => Requests['StatusNotification']['status'];
}

/** Maximum of parents stored beside list and cache. */
const maxParents = 200;

interface TokensState {
  readonly parts: StationParts;
  readonly deps: TokensDeps;
  readonly cache: AuthorizationCache<Token>;
  readonly parents: Map<string, string | null>;
  list: LocalList;
}

interface StoredList {
  readonly version: number;
  readonly entries: readonly Token[];
}

const token = record<Token>({
  idTag: z.string(),
  status: z.enum(['Accepted', 'Blocked', 'Expired', 'Invalid', 'ConcurrentTx']),
  expiresMs: instant.nullable(),
  parentIdTag: z.string().nullable(),
});

const listForm = recordOf<StoredList>({ version: z.int(), entries: z.array(token) });

/** The list as one value, since it may have more entries than a slot. */
function storedList({ list }: TokensState): readonly JsonValue[] {
  const stored: StoredList = { version: list.version, entries: [...list.entries.values()] };
  return [stored as unknown as JsonValue];
}

function listed({ parts, list }: TokensState, idTag: string): Token | null {
  return parts.keys.boolean('LocalAuthListEnabled') ? (list.entries.get(tagKey(idTag)) ?? null) : null;
}

function cached({ parts, cache }: TokensState, idTag: string): Token | null {
  return parts.keys.boolean('AuthorizationCacheEnabled') ? cache.find(tagKey(idTag)) : null;
}

function storeParent({ parents }: TokensState, { idTag, parentIdTag }: Token): void {
  parents.delete(tagKey(idTag));
  parents.set(tagKey(idTag), parentIdTag);
  const [oldest] = parents.keys();
  if (parents.size > maxParents && oldest !== undefined) parents.delete(oldest);
}

/** Reports a conflict of list and answer, which does not change the list (3.5.2). */
function reportConflict({ parts, deps }: TokensState): void {
  const { log, device, calls, clock } = parts;
  log.warning('the local list and the central system disagree about a token', device.deviceIndex);
  // a conflict is an event, not a state, so NoError follows at once
  for (const errorCode of ['LocalListConflict', 'NoError'] as const)
    void calls.send('StatusNotification', {
      connectorId: 0,
      errorCode,
      status: deps.stationStatus(),
      timestamp: stamp(clock.nowMs()),
    });
}

function learn(state: TokensState, idTag: string, info: IdTagInfo): void {
  const { parts, cache } = state;
  const token = tokenOf(idTag, info);
  storeParent(state, token);
  const listEntry = listed(state, idTag);
  if (listEntry === null) {
    // ConcurrentTx is no statement about the token itself
    if (info.status !== 'ConcurrentTx' && parts.keys.boolean('AuthorizationCacheEnabled')) cache.put(token);
    return;
  }
  const accepted = statusAt(listEntry, parts.clock.nowMs()) === 'Accepted';
  if (info.status !== 'ConcurrentTx' && accepted !== (info.status === 'Accepted')) reportConflict(state);
}

function sendLocalList(state: TokensState, saver: Saver, request: Requests['SendLocalList']): Replies['SendLocalList'] {
  const { keys, finding } = state.parts;
  if (!keys.boolean('LocalAuthListEnabled')) return { status: 'NotSupported' };
  const update = updateList(state.list, request, {
    perMessage: keys.integer('SendLocalListMaxLength'),
    entries: keys.integer('LocalAuthListMaxLength'),
  });
  if (update.broken !== undefined) finding('OCPP 1.6 5.15', update.broken, 'SendLocalList', 'local_list');
  if (update.status === 'Accepted') {
    state.list = update.list;
    // the list has precedence over the cache, which does not hold its tokens
    state.cache.remove(state.list.entries.keys());
    saver.save();
  }
  return { status: update.status };
}

function clearCache({ parts, cache, parents }: TokensState): Replies['ClearCache'] {
  if (!parts.keys.boolean('AuthorizationCacheEnabled')) return { status: 'Rejected' };
  cache.clear();
  parents.clear();
  return { status: 'Accepted' };
}

function tokensOf(state: TokensState): Tokens {
  return {
    find: (idTag) => listed(state, idTag) ?? cached(state, idTag),
    parentOf: (idTag) => {
      // a token of list or cache without a parent has none
      const token = listed(state, idTag) ?? cached(state, idTag);
      return token === null ? (state.parents.get(tagKey(idTag)) ?? null) : token.parentIdTag;
    },
    learn(idTag, info) {
      learn(state, idTag, info);
    },
    list: () => ({
      version: state.list.version,
      entries: [...state.list.entries.values()].map(entryOf),
      cache: state.cache.entries.map(entryOf),
    }),
  };
}

export function createTokens(parts: StationParts, deps: TokensDeps): Part & Tokens {
  const slot = parts.store('local-list');
  const cache = createCache<Token>({
    slot: parts.store('authorization-cache'),
    form: formOf<Token>(token),
    log: parts.log,
    keyOf: ({ idTag }) => tagKey(idTag),
  });
  const state: TokensState = { parts, deps, cache, parents: new Map(), list: emptyList };
  const saver = createSaver(slot, () => storedList(state), parts.log);
  return {
    ...tokensOf(state),
    handlers: {
      GetLocalListVersion: () => ({
        listVersion: parts.keys.boolean('LocalAuthListEnabled') ? state.list.version : -1,
      }),
      SendLocalList: (request) => sendLocalList(state, saver, request),
      ClearCache: () => clearCache(state),
    },
    async load() {
      const [stored] = await Promise.all([readOne(slot, listForm, parts.log), cache.load()]);
      if (stored === null) return;
      state.list = {
        version: stored.version,
        entries: new Map(stored.entries.map((token) => [tagKey(token.idTag), token])),
      };
    },
  };
}
