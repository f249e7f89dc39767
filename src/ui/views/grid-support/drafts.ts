/**
 * Unapplied changes of an editor. They outlive a change of the view and a reload in the same tab, but not the simulator
 * run for which they were made: the next one may have other devices at the same indexes.
 */
import { effect, signal } from '@preact/signals';
import { daemon } from '../../store/daemon';
import { say } from '../../store/notices';

const item = 'drafts';

/** Drafts by the key of their editor. */
type Drafts = Readonly<Record<string, unknown>>;

interface Kept {
  /** run of the simulator; null: unknown, and the drafts are hidden */
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

/** Draft of one editor. @param key from `draftKey` */
export function useKept<T>(key: string): readonly [T | null, (draft: T | null) => void] {
  const keep = (draft: T | null) => {
    const others = Object.entries(kept.peek().drafts).filter(([other]) => other !== key);
    keepAll(Object.fromEntries(draft === null ? others : [...others, [key, draft]]));
  };
  return [(present()[key] as T | undefined) ?? null, keep];
}

/** @param rest distinguishes the editors of a function, such as set and curve */
export function draftKey(device: number, name: string, ...rest: readonly (string | number)[]): string {
  return [device, name, ...rest].join(' ');
}

/** True if a function has a draft in any of its editors. */
export function hasDraft(device: number, name: string): boolean {
  const start = draftKey(device, name, '');
  return Object.keys(present()).some((key) => key.startsWith(start));
}
