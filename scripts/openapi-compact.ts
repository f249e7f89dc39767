import type { Json } from './openapi-changes.ts';

/** Members for human readers, or about the server that publishes the document. */
const leftOut = new Set(['description', 'summary', 'example', 'examples', 'title', 'tags', 'servers', 'license']);
/** Objects whose keys are names, not keywords of OpenAPI. */
const nameMaps = new Set(['properties', 'schemas', 'responses', 'headers', 'paths', 'content']);

function compact(value: Json, keysAreNames: boolean): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => compact(each, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => keysAreNames || !leftOut.has(key))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, compact(each, !keysAreNames && nameMaps.has(key))]),
  );
}

/** An OpenAPI document in a fixed order, reduced to the members that bind clients. */
export function compactDocument(document: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  return compact(document, false) as Readonly<Record<string, Json>>;
}

/** JSON with one line for each path and each component, so that a difference of files can be read. */
export function printDocument(document: Readonly<Record<string, Json>>): string {
  const block = (value: Json, depth: number): string => {
    if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value))
      return JSON.stringify(value);
    const lines = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${block(each, depth - 1)}`);
    return `{\n${lines.join(',\n')}\n}`;
  };
  const parts = Object.entries(document).map(
    ([key, value]) => `${JSON.stringify(key)}: ${block(value, key === 'components' ? 2 : key === 'paths' ? 1 : 0)}`,
  );
  return `{\n${parts.join(',\n')}\n}\n`;
}
