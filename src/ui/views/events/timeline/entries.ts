/** Entries of the timeline in the page: kept up to date, filtered by the address, and as words. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, perform, Problem } from '../../../api/call';
import { words } from '../../../look/format';
import { param } from '../../../store/route';
import { onTimelineEntry, timelineOpened } from '../../../store/timeline';
import type { TimelineEntry } from '../../../store/timeline';

const maxKept = 5000;
const allCall = get('timeline', { query: { limit: maxKept } });
/** Time in which new entries are gathered, ms: a broadcast is drawn once. */
const gatherMs = 250;

/** Adds entries by id: a newer form of an entry takes the place of the earlier one. */
export function merged(before: readonly TimelineEntry[], fresh: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const byId = new Map(before.map((entry) => [entry.id, entry]));
  for (const entry of fresh) byId.set(entry.id, entry);
  return [...byId.values()].sort((a, b) => a.id - b.id).slice(-maxKept);
}

/** All entries that are kept, oldest first. @param paused true: new ones wait */
export function useTimeline(paused: boolean): {
  readonly entries: readonly TimelineEntry[] | undefined;
  readonly problem: Problem | null;
} {
  const [entries, setEntries] = useState<readonly TimelineEntry[]>();
  const [problem, setProblem] = useState<Problem | null>(null);
  const waiting = useRef<TimelineEntry[]>([]);
  const openings = timelineOpened.value;
  useEffect(() => {
    perform(allCall).then(
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
        const fresh = waiting.current;
        waiting.current = [];
        setEntries((before) => merged(before ?? [], fresh));
      }, gatherMs);
    };
    if (!paused && waiting.current.length > 0) drawSoon();
    const stop = onTimelineEntry((entry) => {
      waiting.current.push(entry);
      if (!paused) drawSoon();
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [paused]);
  return { entries, problem };
}

const sourceNames: Readonly<Record<string, string>> = {
  rest: 'REST',
  modbus: 'Modbus',
  csip: 'CSIP',
  ocpp: 'OCPP',
  dnp3: 'DNP3',
};

export const simulator = 'simulator';

/** The writer without its address, as the filter has it. */
export const writerOf = ({ by }: Pick<TimelineEntry, 'by'>): string => by?.source ?? simulator;

export const writerName = (writer: string): string => sourceNames[writer] ?? words(writer);

/** `Modbus 10.0.0.21:50123`; a client of REST has another port with each request, and a page no address worth reading. */
export function writerText(entry: Pick<TimelineEntry, 'by'>): string {
  const { by } = entry;
  const name = writerName(writerOf(entry));
  if (by === null || by.source_detail === null || by.source === 'dashboard') return name;
  return `${name} ${by.source === 'rest' ? by.source_detail.replace(/:\d+$/, '') : by.source_detail}`;
}

export const levels = ['info', 'warn', 'bad'] as const;

/** Settings of the filter in the address. */
export const filterNames = ['kind', 'on', 'writer', 'level', 'find'] as const;

type FilterName = (typeof filterNames)[number];

/** Conditions for entries of the list; null: all. */
export type Filter = Readonly<Record<FilterName, string | null>>;

export const filterOfAddress = (): Filter =>
  Object.fromEntries(filterNames.map((name) => [name, param(name)])) as Filter;

/** @param nameOf name of a device, for the text */
export function meets(entry: TimelineEntry, filter: Filter, nameOf: (index: number) => string): boolean {
  const { kind, on, writer, level, find } = filter;
  if (kind !== null && entry.kind !== kind) return false;
  if (on !== null && !entry.devices.includes(Number(on))) return false;
  if (writer !== null && writerOf(entry) !== writer) return false;
  if (level !== null && levels.indexOf(entry.level) < levels.findIndex((each) => each === level)) return false;
  if (find === null) return true;
  const text = [entry.title, entry.text, writerText(entry), ...entry.devices.map(nameOf)].join(' ').toLowerCase();
  return text.includes(find.toLowerCase());
}
