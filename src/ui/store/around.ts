/**
 * Which answers are shown around a component: those that the components above it have asked for. Preact tells this to
 * add-ons only: a context goes downwards, but it is the component of a panel that asks, and the panel is drawn inside it.
 * Should the names below change, nothing breaks: no panel is marked for such answers, and they are named below the top bar
 * (`unreadElsewhere`) as all that stand in no panel.
 */
import { options } from 'preact';

/** What is read of a node of Preact; names as in `mangle.json`, which add-ons such as @preact/signals share. */
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

/** Notes that the component that is being drawn shows this answer. */
export function noteAsked(answer: unknown): void {
  const component = drawn?.__c;
  if (!component) return;
  const answers = asked.get(component);
  if (answers === undefined) asked.set(component, new Set([answer]));
  else answers.add(answer);
}

/** What the components above the one that is being drawn show. */
export function askedAbove(): ReadonlySet<unknown> {
  const all = new Set<unknown>();
  for (let node = drawn?.__; node; node = node.__)
    for (const answer of (node.__c && asked.get(node.__c)) ?? []) all.add(answer);
  return all;
}
