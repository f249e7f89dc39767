/** The entries of the timeline that the overview shows: what is worth a look, and commands. */
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { useLive } from '../../store/live';

export type Entry = ReplyOf<'timeline'>['entries'][number];

/** Entries that each of both readings needs. */
const maxEntries = 6;

/** By simulated time: entries of one tick come in the order of their discovery. */
const inOrder = (a: Entry, b: Entry) => a.sim_time.localeCompare(b.sim_time) || a.id - b.id;

/** The newest entries of level warn and bad, and commands, newest first. */
export function useEntries(): readonly Entry[] | undefined {
  const worth = useLive(get('timeline', { query: { level: 'warn', limit: maxEntries } }), 'change').data?.entries;
  const commands = useLive(get('timeline', { query: { kinds: ['command'], limit: maxEntries } }), 'change').data
    ?.entries;
  if (worth === undefined || commands === undefined) return undefined;
  const byId = new Map([...worth, ...commands].map((entry) => [entry.id, entry]));
  return [...byId.values()].toSorted((a, b) => inOrder(b, a)).slice(0, maxEntries);
}

/** Letters of the entries on the chart, from the oldest: A, B, C. */
export function lettersOf(entries: readonly Entry[]): ReadonlyMap<number, string> {
  const ascending = entries.toSorted(inOrder);
  return new Map(ascending.map(({ id }, at) => [id, String.fromCodePoint(65 + at)]));
}
