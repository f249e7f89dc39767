/** A scenario from entries of the timeline: what was commanded or written becomes steps, all else comments. */
import type { TimelineCall, TimelineEntry } from '../../core/timeline/entry.ts';
import { secondsBetween } from '../../core/time/clock.ts';
import type { RequestCheck } from '../file/whole.ts';
import { membersOf, obstacleOf } from './requests.ts';
import { makingText } from './yaml.ts';
import type { Part } from './yaml.ts';

/** Longest name of a step. */
const maxName = 200;

/** Milliseconds at most, without the rounding errors of differences. */
export const plainOffset = (s: number): number => Number(s.toFixed(3));

/** The calls of an entry, once for each device that an equal one was for. */
function callsOf({ calls, devices }: TimelineEntry): readonly TimelineCall[] {
  return (calls ?? []).flatMap((call) =>
    call.query['device'] === undefined || devices.size < 2
      ? [call]
      : [...devices].map((device) => ({ ...call, query: { ...call.query, device: String(device) } })),
  );
}

/** Why an entry is no step. */
function reasonOf(entry: TimelineEntry): string {
  if (entry.kind === 'command' || entry.kind === 'grid' || entry.kind === 'weather')
    return 'its request is not kept: it is too large or has a secret';
  return entry.by === null ? 'it came about by itself' : 'it is told without its request';
}

/** In parts: it yields when other work may run. @param dateMs simulated date of an instant, ms since the epoch */
export function* timelineDraft(
  entries: readonly TimelineEntry[],
  dateMs: (at: TimelineEntry['at']) => number,
  check: RequestCheck,
): Generator<undefined, string> {
  // entries are in the order in which they were told, which is not always that of their instants
  const inTime = entries.toSorted((a, b) => a.at - b.at);
  const [first] = inTime;
  const begin = inTime.find(({ calls }) => calls !== null) ?? first;
  const dateText = (at: TimelineEntry['at']) => new Date(dateMs(at)).toISOString();
  function* partsOf(entry: TimelineEntry): Generator<Part> {
    const { at, title, text, count, devices } = entry;
    const offsetS = plainOffset(secondsBetween(begin?.at ?? at, at));
    const calls = callsOf(entry);
    const isNone = (reason: string): Part => ({ comment: `${dateText(at)} not a step (${reason}): ${text}` });
    if (calls.length === 0) yield isNone(reasonOf(entry));
    else if (count > Math.max(1, devices.size))
      yield { comment: `${count} equal ones within seconds, here once: ${text}` };
    for (const call of calls) {
      const obstacle = obstacleOf(call, check);
      yield obstacle === null
        ? { step: { at: offsetS, name: title.slice(0, maxName), ...membersOf(call) } }
        : isNone(obstacle);
    }
  }
  function* allParts(): Generator<Part> {
    for (const entry of inTime) yield* partsOf(entry);
  }
  const description =
    first === undefined
      ? 'No entry of the timeline.'
      : `From the timeline, ${entries.length} entries from ${dateText(first.at)}. Expectations are yours to add.`;
  return yield* makingText({ name: 'From the timeline', description }, allParts());
}
