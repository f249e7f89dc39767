/** Compares documents of JSON where times and made-up ids differ from run to run. */
import type { ReplayOptions } from './options.ts';
import { isMembers } from './recording.ts';

/** A value at its JSON pointer. */
export interface ValueDifference {
  readonly pointer: string;
  readonly was: unknown;
  readonly is: unknown;
}

export interface JsonRules extends Pick<ReplayOptions, 'moving' | 'ignore'> {
  /** ids of the new build by those of the recording: an id that was made up stands for the recorded one from then on */
  readonly ids: Map<string, string>;
  /** whether the numbers at a pointer are measurements */
  readonly moves: (pointer: string) => boolean;
}

export interface JsonComparison {
  readonly differences: readonly ValueDifference[];
  /** values that may differ */
  readonly ignored: number;
}

const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;
const madeUpId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const maxDepth = 64;

const asNumber = (value: unknown) =>
  typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;

/** Whether two values that are not the same stand for the same. */
function standForTheSame(was: unknown, is: unknown, { ids }: JsonRules): boolean {
  if (typeof was !== 'string' || typeof is !== 'string') return false;
  if (time.test(was) && time.test(is)) return true;
  if (!madeUpId.test(was) || !madeUpId.test(is)) return false;
  if (!ids.has(was)) ids.set(was, is);
  return ids.get(was) === is;
}

function mayDiffer(pointer: string, was: unknown, is: unknown, { moving, ignore, moves }: JsonRules): boolean {
  if (ignore.includes(pointer) || ignore.includes(pointer.slice(pointer.lastIndexOf('/') + 1))) return true;
  const [before, after] = [asNumber(was), asNumber(is)];
  if (moving === 'all' || !moves(pointer) || Number.isNaN(before) || Number.isNaN(after)) return false;
  return moving === null || Math.abs(after - before) <= (Math.abs(before) * moving) / 100;
}

export function compareJson(was: unknown, is: unknown, rules: JsonRules): JsonComparison {
  const differences: ValueDifference[] = [];
  let ignored = 0;
  const compare = (before: unknown, after: unknown, pointer: string, depth: number): void => {
    if (before === after || depth > maxDepth) return;
    if (Array.isArray(before) && Array.isArray(after)) {
      for (let i = 0; i < Math.max(before.length, after.length); i += 1)
        compare(before[i], after[i], `${pointer}/${i}`, depth + 1);
    } else if (isMembers(before) && isMembers(after)) {
      for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
        compare(before[name], after[name], `${pointer}/${name}`, depth + 1);
    } else if (!standForTheSame(before, after, rules)) {
      if (mayDiffer(pointer, before, after, rules)) ignored += 1;
      else differences.push({ pointer, was: before, is: after });
    }
  };
  compare(was, is, '', 0);
  return { differences, ignored };
}

const maxShown = 120;

function shownValue(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

/** `/firmwareVersion was "1.0", is "1.1"` */
export function differenceInWords({ pointer, was, is }: ValueDifference): string {
  return `${pointer === '' ? 'the payload' : pointer} was ${shownValue(was)}, is ${shownValue(is)}`;
}
