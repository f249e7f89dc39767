/** Two runs of scenarios, assertion by assertion. */
import type { Run } from '../words';

type Assertion = Run['run']['assertions'][number];

/** An assertion of both runs, or of one; null: the other one does not have it. */
export interface Pair {
  readonly key: string;
  readonly name: string;
  readonly place: string;
  readonly first: Assertion | null;
  readonly second: Assertion | null;
  /** true: their states differ */
  readonly differs: boolean;
}

/** Assertions by place, name and turn: those of loops and rules come several times. */
function keyed(assertions: readonly Assertion[]): ReadonlyMap<string, Assertion> {
  const turns = new Map<string, number>();
  const all = new Map<string, Assertion>();
  for (const assertion of assertions) {
    const base = `${assertion.place} ${assertion.name}`;
    const turn = (turns.get(base) ?? 0) + 1;
    turns.set(base, turn);
    all.set(`${base} ${turn}`, assertion);
  }
  return all;
}

/** In the order of the first run, then what only the second one has. */
export function pairsOf(first: readonly Assertion[], second: readonly Assertion[]): readonly Pair[] {
  const [ofFirst, ofSecond] = [keyed(first), keyed(second)];
  return [...new Set([...ofFirst.keys(), ...ofSecond.keys()])].map((key) => {
    const [one = null, other = null] = [ofFirst.get(key), ofSecond.get(key)];
    const { name, place } = one ?? other ?? { name: key, place: '' };
    return { key, name, place, first: one, second: other, differs: one?.state !== other?.state };
  });
}

/** `2 differ, 5 passed in both, 1 failed in both, 1 only in one` */
export function countsText(pairs: readonly Pair[]): string {
  const isInBoth = ({ first, second }: Pair) => first !== null && second !== null;
  const sameAs = (state: string) => pairs.filter(({ differs, first }) => !differs && first?.state === state).length;
  const differing = pairs.filter((pair) => pair.differs && isInBoth(pair)).length;
  const counts = [
    [differing, differing === 1 ? 'differs' : 'differ'],
    [sameAs('passed'), 'passed in both'],
    [sameAs('failed'), 'failed in both'],
    [sameAs('dropped') + sameAs('pending'), 'without a verdict in both'],
    [pairs.filter((pair) => !isInBoth(pair)).length, 'only in one'],
  ] as const;
  const parts = counts.filter(([count], n) => count > 0 || n === 0).map(([count, words]) => `${count} ${words}`);
  return parts.join(', ');
}
