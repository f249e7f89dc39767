/** The list of what needs attention. Items that only tell of something past go away when they were seen in this tab. */
import { signal } from '@preact/signals';
import { get } from '../api/call';
import type { ReplyOf } from '../api/call';
import { useShared } from './live';

export type AttentionItem = ReplyOf<'attention'>['items'][number];

/** Prefixes of items that stay in the daemon after their condition. */
const pastConditions = ['finding/', 'answer/', 'refusal/', 'scenario/'];

/** True if an item goes away when it was seen; the others go with their condition. */
export const goesWhenSeen = ({ id }: Pick<AttentionItem, 'id'>) => pastConditions.some((start) => id.startsWith(start));

const key = 'derbench.seen';
/** Ids that are kept: more than the daemon lists at a time. */
const maxSeen = 500;

function stored(): readonly string[] {
  try {
    const ids: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    return Array.isArray(ids) ? ids.map(String) : [];
  } catch {
    // a private window may refuse the storage
    return [];
  }
}

const seen = signal<readonly string[]>(stored());

/** Remembers in this tab that an item was seen, if that makes it go away. */
export function markSeen(item: Pick<AttentionItem, 'id'>): void {
  if (!goesWhenSeen(item) || seen.peek().includes(item.id)) return;
  seen.value = [...seen.peek(), item.id].slice(-maxSeen);
  try {
    sessionStorage.setItem(key, JSON.stringify(seen.peek()));
  } catch {
    // without a storage it counts until the page is left
  }
}

interface Attention {
  /** worst first, without what was seen */
  readonly items: readonly AttentionItem[];
  /** number of items, those that the daemon leaves out among them */
  readonly count: number;
}

/** Indexes of the devices under local control; it ends with the condition, so that it counts also when it was seen. */
export function useLocalDevices(): readonly number[] {
  const { data } = useShared(get('attention'), 'change');
  return data?.items.find(({ id }) => id === 'local_control')?.devices ?? [];
}

/** undefined: not read yet. */
export function useAttention(): Attention | undefined {
  const { data } = useShared(get('attention'), 'change');
  if (data === undefined) return undefined;
  const items = data.items.filter(({ id }) => !seen.value.includes(id));
  return { items, count: data.count - (data.items.length - items.length) };
}
