/** Objections of the daemon to a text, with the lines that they name. */
import type { Problem } from '../../../api/call';

export interface LineProblem {
  /** from 1; null: the whole text */
  readonly line: number | null;
  readonly text: string;
}

/** `line 4: steps[0].x: ...`, or `... at line 6, column 1:` of a text that is not YAML */
function problemOf(detail: string): LineProblem {
  const [, first, rest] = /^line (\d+): (.*)$/s.exec(detail) ?? [];
  if (first !== undefined && rest !== undefined) return { line: Number(first), text: rest };
  const at = /\bat line (\d+), column \d+:?\s*/.exec(detail);
  return at === null ? { line: null, text: detail } : { line: Number(at[1]), text: detail.replace(at[0], '').trim() };
}

/** In the order of the lines. */
export function problemsOf({ issues, message }: Problem): readonly LineProblem[] {
  if (issues.length === 0) return [{ line: null, text: message }];
  return issues.map(({ detail }) => problemOf(detail)).sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
