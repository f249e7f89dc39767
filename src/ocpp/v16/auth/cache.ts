/** Authorization Cache: the tokens presented last, with what the central system said of them. OCPP 1.6 3.5.1. */
import { errorText } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log/log.ts';
import type { JsonValue, Slot } from '../../../core/store.ts';
import { tagKey } from './token.ts';
import type { Token } from './token.ts';

/** entries; the one that was not used for the longest time goes first */
export const maxCacheEntries = 1000;

export interface AuthorizationCache {
  readonly entries: readonly Token[];
  find(idTag: string): Token | null;
  put(token: Token): void;
  remove(idTags: Iterable<string>): void;
  clear(): void;
  load(): Promise<void>;
}

/** @param slot a journal of tokens, the newest last; it is rewritten when half of it is history */
export function createCache(slot: Slot, log: Pick<Logger, 'error'>): AuthorizationCache {
  const tokens = new Map<string, Token>();
  let written = 0;
  const store = (writing: Promise<void>) => {
    writing.catch((error: unknown) => {
      log.error(`the store has refused a change of the authorisation cache: ${errorText(error)}`);
    });
  };
  const put = (token: Token) => {
    const key = tagKey(token.idTag);
    tokens.delete(key);
    tokens.set(key, token);
    const [oldest] = tokens.keys();
    if (tokens.size > maxCacheEntries && oldest !== undefined) tokens.delete(oldest);
  };
  const rewrite = () => {
    written = tokens.size;
    store(slot.replace([...tokens.values()] as unknown as readonly JsonValue[]));
  };
  return {
    get entries() {
      return [...tokens.values()];
    },
    find: (idTag) => tokens.get(tagKey(idTag)) ?? null,
    put(token) {
      put(token);
      written += 1;
      if (written > 2 * maxCacheEntries) rewrite();
      else store(slot.append(token as unknown as JsonValue));
    },
    remove(idTags) {
      const before = tokens.size;
      for (const idTag of idTags) tokens.delete(tagKey(idTag));
      if (tokens.size < before) rewrite();
    },
    clear() {
      tokens.clear();
      rewrite();
    },
    async load() {
      const journal = (await slot.read()) as unknown as readonly Token[];
      for (const token of journal) put(token);
      written = journal.length;
    },
  };
}
