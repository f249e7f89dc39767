/** The properties that test files name in their calls of `holds` and `holdsAsync`, read from their text. */
import { slugOf } from './property-cases.ts';

const call = /\bholds(?:Async)?\(\s*/g;
const literal = /(['"`])((?:\\.|(?!\1)[^\\])*)\1\s*,/y;

/** Names as they are written, with `${}` in them; null for a call whose first argument is no text. */
export function propertiesOf(source: string): (string | null)[] {
  return [...source.matchAll(call)].map((match) => {
    literal.lastIndex = match.index + match[0].length;
    return literal.exec(source)?.[2] ?? null;
  });
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function namesProperty(written: string, property: string): boolean {
  const parts = written.replace(/\\(.)/g, '$1').split(/\$\{[^}]*\}/);
  return new RegExp(`^${parts.map(escaped).join('.*')}$`, 's').test(property);
}

/** What an example file says of itself. */
export interface ExampleHead {
  readonly slug: string;
  readonly file: string;
  readonly property: string;
}

/** Why no property reads the example; null when one does. @param source text of its test file; undefined: there is none */
export function whyUnread({ slug, file, property }: ExampleHead, source: string | undefined): string | null {
  if (source === undefined) return `${slug}: there is no ${file}`;
  if (slug !== slugOf(file, property)) return `${slug}: its name is not ${slugOf(file, property)}`;
  const isNamed = propertiesOf(source).some((written) => written !== null && namesProperty(written, property));
  return isNamed ? null : `${slug}: ${file} has no property '${property}'`;
}
