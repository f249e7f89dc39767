/** True for an object in JSON: no list, and not null. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Levels of lists and objects in each other that every supported Node.js can write as JSON. */
const maxLevels = 3000;

/** A value with more levels: Node.js 24 refuses to write it as JSON, Node.js 26 does it. */
export function isNestedTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= maxLevels && level.length > 0; depth += 1)
    level = level.flatMap((each): unknown[] => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return level.length > 0;
}
