/** Judges a whole view: its texts, and the calls that it offers. */
import { operationAt } from './description.ts';
import type { Json } from './description.ts';
import { all } from './page.tsx';
import { bodyObjections } from './validator.ts';

const noValue = /\b(?:NaN|undefined|Infinity|Invalid Date)\b|\[object /g;

/** Elements whose texts may speak of null: hints and code. */
const mayNameNull = new Set(['SMALL', 'PRE', 'CODE', 'TEXTAREA']);

function* textsNamingNull(element: Element): Generator<string> {
  if (mayNameNull.has(element.tagName)) return;
  for (const node of element.childNodes) {
    if (node.nodeType === Node.TEXT_NODE && /\bnull\b/.test(node.nodeValue ?? '')) yield element.textContent;
  }
  for (const child of element.children) yield* textsNamingNull(child);
}

/** Texts and attributes that show a value which is none. Calls as curl may have null. */
export function nonValues(root: Element): readonly string[] {
  const html = root.outerHTML;
  const marks = [...html.matchAll(noValue)].map(({ index }) => html.slice(Math.max(0, index - 60), index + 40));
  return [...marks, ...textsNamingNull(root)];
}

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: Json;
}

/** The call that a command of curl makes. */
export function callOf(curl: string): Shown {
  const method = / -X (\w+)/.exec(curl)?.[1];
  const body = / -d '(.*)' '[^']*'$/s.exec(curl)?.[1]?.replaceAll("'\\''", "'");
  const { pathname, searchParams } = new URL(/'([^']*)'$/.exec(curl)?.[1] ?? '');
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    path: pathname.replace('/api/sim/', ''),
    query: [...searchParams.keys()],
    body: body === undefined ? undefined : JSON.parse(body),
  };
}

/** Objections of the API to the calls that the page shows while the API switch is on; tests of forms judge bodies of forms. */
export function callIssues(): readonly string[] {
  return all('.call-line[title]:not(.command)').flatMap((shown) => {
    const { method, path, query, body } = callOf(shown.getAttribute('title') ?? '');
    const operation = operationAt(method, path);
    if (operation === undefined) return [`${method} ${path}: there is no such operation`];
    const strange = query
      .filter((name) => !operation.queryNames.includes(name))
      .map((name) => `no ${name} in its query`);
    const issues = shown.closest('form') === null ? bodyObjections(operation, body) : [];
    return [...strange, ...issues].map((issue) => `${method} ${path} ${JSON.stringify(body)}: ${issue}`);
  });
}
