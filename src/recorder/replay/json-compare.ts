/** Compares JSON documents whose times and generated ids differ from run to run. */
import type { ReplayOptions } from './options.ts';
import { isMembers } from './recording.ts';

/** A value at its JSON pointer. */
export interface ValueDifference {
  readonly pointer: string;
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface JsonRules extends Pick<ReplayOptions, 'moving' | 'ignore'> {
  /** ids of the new build by recorded id; the first occurrence pairs them */
  readonly ids: Map<string, string>;
  /** true if the numbers at a pointer are measurements */
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

/** True if two different values are equivalent: times, or corresponding ids. */
function standForTheSame(recorded: unknown, replayed: unknown, { ids }: JsonRules): boolean {
  if (typeof recorded !== 'string' || typeof replayed !== 'string') return false;
  if (time.test(recorded) && time.test(replayed)) return true;
  if (!madeUpId.test(recorded) || !madeUpId.test(replayed)) return false;
  if (!ids.has(recorded)) ids.set(recorded, replayed);
  return ids.get(recorded) === replayed;
}

function mayDiffer(
  pointer: string,
  recorded: unknown,
  replayed: unknown,
  { moving, ignore, moves }: JsonRules,
): boolean {
  if (ignore.includes(pointer) || ignore.includes(pointer.slice(pointer.lastIndexOf('/') + 1))) return true;
  const [before, after] = [asNumber(recorded), asNumber(replayed)];
  if (moving === 'all' || !moves(pointer) || Number.isNaN(before) || Number.isNaN(after)) return false;
  return moving === null || Math.abs(after - before) <= (Math.abs(before) * moving) / 100;
}

export function compareJson(recorded: unknown, replayed: unknown, rules: JsonRules): JsonComparison {
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
      else differences.push({ pointer, recorded: before, replayed: after });
    }
  };
  compare(recorded, replayed, '', 0);
  return { differences, ignored };
}

const maxShown = 120;

function shownValue(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

/** `/firmwareVersion was "1.0", is "1.1"` */
export function differenceInWords({ pointer, recorded, replayed }: ValueDifference): string {
  return `${pointer === '' ? 'the payload' : pointer} was ${shownValue(recorded)}, is ${shownValue(replayed)}`;
}
