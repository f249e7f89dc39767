/** Parts of a line of YAML with their colours. */

type Part = 'key' | 'text' | 'number' | 'word' | 'comment' | 'mark' | 'parameter' | 'plain';

export interface Token {
  readonly part: Part;
  readonly text: string;
}

const patterns: readonly (readonly [Part, RegExp])[] = [
  ['plain', /\s+/y],
  ['comment', /#.*/y],
  ['key', /(?:"[^"]*"|'[^']*'|[\w$][^\s:,{}[\]#]*(?: [^\s:,{}[\]#]+)*)(?=\s*:(?:\s|$))/y],
  ['text', /"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?/y],
  ['parameter', /\$\{[^}]*\}?/y],
  ['number', /[-+]?\d[\d.]*(?:e[-+]?\d+)?(?![\w.-])/iy],
  ['word', /(?:true|false|null|yes|no)(?![\w-])/y],
  ['mark', /[-?](?=\s|$)|[{}[\],:|>&*!]/y],
  ['plain', /[^\s,{}[\]:$]+|[^]/y],
];

function tokenAt(line: string, at: number): Token {
  for (const [part, pattern] of patterns) {
    // a comment begins a line or follows a space
    if (part === 'comment' && at > 0 && !/\s/.test(line[at - 1] ?? '')) continue;
    pattern.lastIndex = at;
    const text = pattern.exec(line)?.[0];
    if (text !== undefined && text !== '') return { part, text };
  }
  return { part: 'plain', text: line.slice(at) };
}

/** @param isText the line belongs to a text over several lines */
export function tokensOf(line: string, isText: boolean): readonly Token[] {
  if (isText) return line === '' ? [] : [{ part: 'text', text: line }];
  const tokens: Token[] = [];
  for (let at = 0; at < line.length; at += tokens.at(-1)?.text.length ?? 1) tokens.push(tokenAt(line, at));
  return tokens;
}

const indentOf = (line: string) => line.length - line.trimStart().length;

/** Column of the key before `|` or `>`, or of the dash where there is no key; null: the line begins no text. */
function textParent(line: string): number | null {
  const [, before = '', key] = /^((?:\s*-(?=\s))*\s*)(.*:\s+)?[|>][-+\d]*\s*(?:#.*)?$/.exec(line) ?? [];
  if (key !== undefined) return before.length;
  return before.includes('-') ? before.lastIndexOf('-') : null;
}

/** Indexes of the lines in texts after `|` or `>`. */
export function textLines(lines: readonly string[]): ReadonlySet<number> {
  const inText = new Set<number>();
  let parent: number | null = null;
  lines.forEach((line, index) => {
    if (parent !== null && (line.trim() === '' || indentOf(line) > parent)) {
      inText.add(index);
      return;
    }
    parent = textParent(line);
  });
  return inText;
}
