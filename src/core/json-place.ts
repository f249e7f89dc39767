/**
 * Finds the first error in a JSON text (RFC 8259). The messages of the built-in parser do not always name its place.
 */

/** Place of the first error in a JSON text. */
export interface JsonPlace {
  /** counted from 1 */
  readonly line: number;
  /** counted from 1, in UTF-16 units */
  readonly column: number;
  /** text naming the permitted tokens */
  readonly expected: string;
  /** the character there; null: the text ends */
  readonly character: string | null;
}

type State = 'value' | 'item' | 'name' | 'firstName' | 'colon' | 'next' | 'end';

const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const wordForm = /true|false|null/y;
const spaceForm = /[ \t\n\r]*/y;
const escapeForm = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const plainForm = /[^"\\\u0000-\u001f]*/y;

/** End of the match of a form at an index; the index itself without a match. */
function endOf(form: RegExp, text: string, at: number): number {
  form.lastIndex = at;
  return form.test(text) ? form.lastIndex : at;
}

/** End of the JSON string that begins at an index, or the place of its first error. */
function endOfText(text: string, start: number): number | { readonly at: number; readonly expected: string } {
  let at = start + 1;
  for (;;) {
    at = endOf(plainForm, text, at);
    if (text[at] === '"') return at + 1;
    const escaped = endOf(escapeForm, text, at);
    if (escaped === at)
      return { at, expected: text[at] === '\\' ? 'an escape that JSON has' : 'the closing quote of a text' };
    at = escaped;
  }
}

const expectations: Readonly<Record<State, string>> = {
  value: 'a value',
  item: 'a value or ]',
  name: 'a member name in double quotes',
  firstName: 'a member name in double quotes or }',
  colon: 'a colon',
  next: '', // depends on the enclosing object or list
  end: 'the end',
};

/** Scans a text up to its first error. */
class Scanner {
  readonly #text: string;
  /** closing brackets of the open objects and lists */
  readonly #open: string[] = [];
  #state: State = 'value';
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Index of the error and the expected token; null: no error. */
  error(): { readonly at: number; readonly expected: string } | null {
    for (;;) {
      this.#at = endOf(spaceForm, this.#text, this.#at);
      const letter = this.#text[this.#at];
      if (this.#state === 'end' && letter === undefined) return null;
      const error = this.#step(letter);
      if (error) return error;
    }
  }

  #step(letter: string | undefined): { readonly at: number; readonly expected: string } | null {
    const close = this.#open.at(-1);
    const state = this.#state;
    if (letter !== undefined && letter === close && (state === 'item' || state === 'firstName' || state === 'next')) {
      this.#open.pop();
      return this.#advance(1);
    }
    if (state === 'next' && letter === ',') return this.#advance(1, close === '}' ? 'name' : 'value');
    if (state === 'colon' && letter === ':') return this.#advance(1, 'value');
    if (letter === '"' && (state === 'name' || state === 'firstName')) return this.#string('colon');
    if (state === 'value' || state === 'item') return this.#value(letter);
    return this.#fail(state === 'next' ? `a comma or ${close ?? ''}` : expectations[state]);
  }

  #value(letter: string | undefined) {
    if (letter === '{' || letter === '[') {
      this.#open.push(letter === '{' ? '}' : ']');
      return this.#advance(1, letter === '{' ? 'firstName' : 'item');
    }
    if (letter === '"') return this.#string();
    const end = Math.max(endOf(numberForm, this.#text, this.#at), endOf(wordForm, this.#text, this.#at));
    return end === this.#at ? this.#fail(expectations[this.#state]) : this.#advance(end - this.#at);
  }

  #string(state?: State) {
    const end = endOfText(this.#text, this.#at);
    return typeof end === 'number' ? this.#advance(end - this.#at, state) : end;
  }

  #fail(expected: string) {
    return { at: this.#at, expected };
  }

  #advance(length: number, state: State = this.#open.length === 0 ? 'end' : 'next'): null {
    this.#at += length;
    this.#state = state;
    return null;
  }
}

/** The first error in a JSON text; null: none. The time is linear in the length. */
export function jsonPlace(text: string): JsonPlace | null {
  const error = new Scanner(text).error();
  if (error === null) return null;
  const before = text.slice(0, error.at);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  const codePoint = text.codePointAt(error.at);
  return {
    line,
    column: error.at - lineStart + 1,
    expected: error.expected,
    character: codePoint === undefined ? null : String.fromCodePoint(codePoint),
  };
}
