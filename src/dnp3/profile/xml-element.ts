/** XML documents as objects. */

/** Elements by name; a list repeats its element, `{}` is an empty one. */
export interface Element {
  readonly [name: string]: string | number | boolean | Element | readonly Element[] | readonly string[];
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);

/** Elements as text, one on a line; names that begin with `@` are attributes of their element. */
export function elements(of: Element, indent: string): string {
  return Object.entries(of)
    .filter(([name]) => !name.startsWith('@'))
    .map(([name, content]) =>
      (Array.isArray(content) ? (content as readonly (Element | string)[]) : [content as Element | string])
        .map((each) => element(name, each, indent))
        .join(''),
    )
    .join('');
}

function element(name: string, content: Element | string | number | boolean, indent: string): string {
  if (typeof content !== 'object') return `${indent}<${name}>${escaped(String(content))}</${name}>\n`;
  const attributes = Object.entries(content)
    .filter(([key]) => key.startsWith('@'))
    .map(([key, value]) => ` ${key.slice(1)}="${escaped(value as string)}"`)
    .join('');
  const inner = elements(content, `${indent}  `);
  return inner === ''
    ? `${indent}<${name}${attributes}/>\n`
    : `${indent}<${name}${attributes}>\n${inner}${indent}</${name}>\n`;
}
