/**
 * What was changed in an editor and not applied yet. It outlives a change of the view, and a reload in the same tab, but not
 * the run of the simulator that it was made for: the next one may have other devices at the same indexes.
 */
import { effect, signal } from '@preact/signals';
import { daemon } from '../../store/daemon';
import { say } from '../../store/notices';

const item = 'drafts';

/** Drafts by the key of their editor. */
type Drafts = Readonly<Record<string, unknown>>;

interface Kept {
  /** run of the simulator; null: not known yet, and the drafts are not shown */
  readonly of: string | null;
  readonly drafts: Drafts;
}

function startKept(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(item) ?? '') as Kept;
  } catch {
    return { of: null, drafts: {} };
  }
}

const kept = signal<Kept>(startKept());

function keepAll(drafts: Drafts): void {
  kept.value = { of: daemon.peek(), drafts };
  sessionStorage.setItem(item, JSON.stringify(kept.value));
}

effect(() => {
  if (daemon.value === null || kept.peek().of === daemon.value) return;
  const count = Object.keys(kept.peek().drafts).length;
  keepAll({});
  if (count > 0) say('The simulator was started anew: drafts for the earlier run are gone.');
});

const present = (): Drafts => (daemon.value === null ? {} : kept.value.drafts);

/** Draft of one editor. @param key device and function first, see `draftKey` */
export function useKept<T>(key: string): readonly [T | null, (draft: T | null) => void] {
  const keep = (draft: T | null) => {
    const others = Object.entries(kept.peek().drafts).filter(([other]) => other !== key);
    keepAll(Object.fromEntries(draft === null ? others : [...others, [key, draft]]));
  };
  return [(present()[key] as T | undefined) ?? null, keep];
}

/** @param rest what tells the editors of a function apart, such as set and curve */
export function draftKey(device: number, name: string, ...rest: readonly (string | number)[]): string {
  return [device, name, ...rest].join(' ');
}

/** Whether a function has a draft in one of its editors. */
export function hasDraft(device: number, name: string): boolean {
  const start = draftKey(device, name, '');
  return Object.keys(present()).some((key) => key.startsWith(start));
}
