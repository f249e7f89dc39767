/**
 * Answers used by the components above a component. Only add-ons of Preact can see them: a context goes downwards, but
 * the component that renders a panel also asks for its content, and is above the panel. If the names below change,
 * nothing breaks: no panel is marked for such answers, and they are listed below the top bar (`unreadElsewhere`) like
 * all those in no panel.
 */
import { options } from 'preact';

/** The parts of a Preact node used here; names as in `mangle.json`, which add-ons such as @preact/signals share. */
interface Node {
  readonly __c?: object | null;
  readonly __?: Node | null;
}

const hooks = options as { __r?: (node: Node) => void };
const followed = hooks.__r;

let drawn: Node | null = null;
const asked = new WeakMap<object, Set<unknown>>();

// called before each render of a component
hooks.__r = (node) => {
  drawn = node;
  if (node.__c) asked.delete(node.__c);
  followed?.(node);
};

/** Records that the rendering component uses this answer. */
export function noteAsked(answer: unknown): void {
  const component = drawn?.__c;
  if (!component) return;
  const answers = asked.get(component);
  if (answers === undefined) asked.set(component, new Set([answer]));
  else answers.add(answer);
}

/** The answers used by the components above the rendering one. */
export function askedAbove(): ReadonlySet<unknown> {
  const all = new Set<unknown>();
  for (let node = drawn?.__; node; node = node.__)
    for (const answer of (node.__c && asked.get(node.__c)) ?? []) all.add(answer);
  return all;
}
