/** What was changed in an editor and not applied yet. It outlives a change of the view, and a reload in the same tab. */
import { signal } from '@preact/signals';

const item = 'grid-support drafts';

type Drafts = Readonly<Record<string, unknown>>;

function startDrafts(): Drafts {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? '{}') as Drafts;
  } catch {
    return {};
  }
}

const drafts = signal<Drafts>(startDrafts());

/** Draft of one editor. @param key device and function first, see `draftKey` */
export function useKept<T>(key: string): readonly [T | null, (draft: T | null) => void] {
  const keep = (draft: T | null) => {
    const others = Object.entries(drafts.peek()).filter(([other]) => other !== key);
    drafts.value = Object.fromEntries(draft === null ? others : [...others, [key, draft]]);
    sessionStorage.setItem(item, JSON.stringify(drafts.value));
  };
  return [(drafts.value[key] as T | undefined) ?? null, keep];
}

/** @param rest what tells the editors of a function apart, such as set and curve */
export function draftKey(device: number, name: string, ...rest: readonly (string | number)[]): string {
  return [device, name, ...rest].join(' ');
}

/** Whether a function has a draft in one of its editors. */
export function hasDraft(device: number, name: string): boolean {
  const start = draftKey(device, name, '');
  return Object.keys(drafts.value).some((key) => key.startsWith(start));
}
