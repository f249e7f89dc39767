/** Entries of the timeline that a part of the page shows: read once, then kept up to date by the stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, perform, Problem } from '../api/call';
import { shown } from './shown';
import { onTimelineEntry, timelineOpened } from './timeline';
import type { TimelineEntry } from './timeline';

/** Time in which new entries are gathered, ms: a broadcast is drawn once. */
const gatherMs = 250;

interface Wanting {
  /** number of entries to keep, the newest */
  readonly limit: number;
  /** absent: all */
  readonly kinds?: readonly TimelineEntry['kind'][];
  /** true: new entries wait */
  readonly paused?: boolean;
}

/** Adds entries by id: a newer form of an entry takes the place of the earlier one. */
export function merged(
  before: readonly TimelineEntry[],
  fresh: readonly TimelineEntry[],
  limit: number,
): readonly TimelineEntry[] {
  const byId = new Map(before.map((entry) => [entry.id, entry]));
  for (const entry of fresh) byId.set(entry.id, entry);
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-limit);
}

/** The newest entries, oldest first. @param kinds the same at each rendering */
export function useTimeline({ limit, kinds, paused = false }: Wanting): {
  readonly entries: readonly TimelineEntry[] | undefined;
  readonly problem: Problem | null;
} {
  const [entries, setEntries] = useState<readonly TimelineEntry[]>();
  const [problem, setProblem] = useState<Problem | null>(null);
  const waiting = useRef<readonly TimelineEntry[]>([]);
  const [openings, again] = [timelineOpened.value, shown.value];
  useEffect(() => {
    perform(get('timeline', { query: { limit, ...(kinds && { kinds: [...kinds] }) } })).then(
      (answer) => {
        setEntries(answer.entries);
        setProblem(null);
      },
      (error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        setProblem(error);
      },
    );
  }, [openings]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const drawSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        if (document.hidden) return;
        const fresh = waiting.current;
        waiting.current = [];
        setEntries((before) => merged(before ?? [], fresh, limit));
      }, gatherMs);
    };
    if (!paused && waiting.current.length > 0) drawSoon();
    const stop = onTimelineEntry((entry) => {
      if (kinds?.includes(entry.kind) === false) return;
      waiting.current = merged(waiting.current, [entry], limit);
      if (!paused) drawSoon();
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [paused, again]);
  return { entries, problem };
}
