/** The place of the caret in a YAML text: the keys above it, and the word that is being typed. */

/** `*`: an entry of a list */
export type Path = readonly string[];

export interface Context {
  readonly path: Path;
  /** the key whose value is being typed; null: a key is being typed */
  readonly valueOf: string | null;
  /** the part of a word before the caret */
  readonly typed: string;
}

interface Level {
  readonly column: number;
  readonly part: string;
}

interface Frame {
  readonly isList: boolean;
  key: string | null;
}

const indentOf = (line: string) => line.length - line.trimStart().length;

const plain = (key: string) => key.replace(/^["']|["']$/g, '');

const keyAt = /^("[^"]*"|'[^']*'|[^\s#:,{}[\]&*!|>'"%@`][^:#,{}[\]]*?)\s*:(?=\s|$)/;
const flowTokens = /"(?:[^"\\]|\\.)*"|'[^']*'|[{}[\],]|:(?=\s|$)|[^\s{}[\],:"']+(?::(?!\s|$)[^\s{}[\],]*)*|#.*/g;

class Reader {
  #levels: Level[] = [];
  #frames: Frame[] = [];
  /** the last word in braces or brackets, which may become a key */
  #word = '';
  /** indentation of the key of a text over several lines */
  #textBelow: number | null = null;

  read(line: string): void {
    if (this.#frames.length > 0) this.#flow(line);
    else if (!this.#isText(line)) this.#block(line);
  }

  /** True for an empty line, a comment, and a line of a text over several lines. */
  #isText(line: string): boolean {
    if (/^\s*(#|$)/.test(line)) return true;
    return this.#textBelow !== null && indentOf(line) > this.#textBelow;
  }

  #block(line: string): void {
    this.#textBelow = null;
    const { column, text } = this.#entries(line);
    const key = keyAt.exec(text)?.[1];
    if (key === undefined) {
      this.#flow(text);
      return;
    }
    this.#leave(column);
    this.#levels.push({ column, part: plain(key) });
    const value = text.slice(text.indexOf(':', key.length) + 1);
    if (/^\s*[|>]/.test(value)) this.#textBelow = column;
    else this.#flow(value);
  }

  /** Where a line ends that is cut off at the caret. */
  at(line: string): Context | null {
    if (this.#frames.length > 0) return this.#inFlow(line);
    if (this.#textBelow !== null && indentOf(line) > this.#textBelow) return null;
    const { column, text } = this.#entries(line);
    if (/(^|\s)#/.test(text)) return null;
    this.#leave(column);
    const path = this.#levels.map(({ part }) => part);
    const key = keyAt.exec(text)?.[1];
    if (key === undefined && !/^[{[]/.test(text)) return { path, valueOf: null, typed: text };
    const value = key === undefined ? text : text.slice(text.indexOf(':', key.length) + 1);
    if (key !== undefined) this.#levels.push({ column, part: plain(key) });
    if (/^\s*[{[]/.test(value)) return this.#inFlow(value);
    return key === undefined ? null : { path, valueOf: plain(key), typed: value.trimStart() };
  }

  #inFlow(text: string): Context | null {
    // a word that touches the caret is being typed
    const typed = /[^\s{}[\],:]*$/.exec(text)?.[0] ?? '';
    this.#flow(text.slice(0, text.length - typed.length));
    const path = [...this.#levels.map(({ part }) => part), ...this.#frames.flatMap(partsOf)];
    const frame = this.#frames.at(-1);
    if (frame === undefined) return null;
    if (frame.isList || frame.key === null) return { path: frame.isList ? [...path, '*'] : path, valueOf: null, typed };
    return { path: path.slice(0, -1), valueOf: frame.key, typed };
  }

  /** Leaves levels at or right of a column, for a key there. */
  #leave(column: number): void {
    while ((this.#levels.at(-1)?.column ?? -1) >= column) this.#levels.pop();
  }

  /** Enters the lists whose dashes begin a line. */
  #entries(line: string): { readonly column: number; readonly text: string } {
    let column = indentOf(line);
    let text = line.slice(column);
    while (/^-(\s|$)/.test(text)) {
      const at = column;
      // a list may stand below its key without being indented
      while ((this.#levels.at(-1)?.column ?? -1) > at || this.#isEntryAt(at)) this.#levels.pop();
      this.#levels.push({ column: at, part: '*' });
      const after = text.slice(1);
      const spaces = after.length - after.trimStart().length;
      column += 1 + Math.max(spaces, after === '' ? 1 : 0);
      text = after.slice(spaces);
    }
    return { column, text };
  }

  #isEntryAt(column: number): boolean {
    const level = this.#levels.at(-1);
    return level?.column === column && level.part === '*';
  }

  #flow(text: string): void {
    for (const [token] of text.matchAll(flowTokens)) {
      const frame = this.#frames.at(-1);
      if (token === '{' || token === '[') this.#frames.push({ isList: token === '[', key: null });
      else if (frame === undefined) continue;
      else if (token === '}' || token === ']') this.#frames.pop();
      else if (token === ',') frame.key = null;
      else if (token === ':') frame.key = plain(this.#word);
      else this.#word = token;
    }
  }
}

const partsOf = ({ isList, key }: Frame, index: number, frames: readonly Frame[]): readonly string[] => {
  if (isList) return index < frames.length - 1 ? ['*'] : [];
  return key === null ? [] : [key];
};

/** Null: in a comment or a text, where nothing is completed. */
export function contextAt(text: string, caret: number): Context | null {
  const lines = text.slice(0, caret).split('\n');
  const reader = new Reader();
  for (const line of lines.slice(0, -1)) reader.read(line);
  return reader.at(lines.at(-1) ?? '');
}
