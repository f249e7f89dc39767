/** First uses of terms in a page, which lead to the glossary. */
import { proseLines } from './markdown.ts';

export interface Term {
  readonly text: string;
  readonly anchor: string;
}

/** Terms with an anchor in the table of the glossary: those that a newcomer cannot know. */
export const linkedTerms = (glossary: string): readonly Term[] =>
  [...glossary.matchAll(/^\| <a id="([^"]+)"><\/a>([^|]+?) \|/gm)].map(([, anchor = '', text = '']) => ({
    text,
    anchor,
  }));

/** What is neither read as a sentence nor can hold a link. */
const opaque = /`[^`]*`|<[^>]*>/g;
const links = /!?\[[^\]]*\]\([^)]*\)/g;

const blanked = (line: string, pattern: RegExp) => line.replaceAll(pattern, (text) => ' '.repeat(text.length));

/** Abbreviations are as they are; other terms may begin a sentence or have a plural. */
const patternOf = ({ text }: Term) =>
  /^[a-z]/.test(text) ? new RegExp(`(?<![\\w-])${text}s?(?![\\w-])`, 'i') : new RegExp(`(?<![\\w-])${text}(?![\\w-])`);

const isSentence = (line: string) => !/^\s*(#|\||!\[)/.test(line);

export interface Use {
  readonly term: Term;
  readonly line: number;
  readonly at: number;
  readonly length: number;
}

/** First uses of terms that lead nowhere; a use in the text of a link leads somewhere. */
export function unlinkedUses(page: string, terms: readonly Term[]): readonly Use[] {
  const lines = proseLines(page).filter(([, line]) => isSentence(line));
  return terms.flatMap((term) => {
    const pattern = patternOf(term);
    for (const [line, text] of lines) {
      const read = blanked(text, opaque);
      const use = pattern.exec(read);
      if (use === null) continue;
      const isLinked = !pattern.test(blanked(read, links).slice(0, use.index + use[0].length));
      return isLinked ? [] : [{ term, line, at: use.index, length: use[0].length }];
    }
    return [];
  });
}

/** The page with a link at each of these uses. @param glossary address of the glossary from the page */
export function linked(page: string, uses: readonly Use[], glossary: string): string {
  const lines = page.split('\n');
  // from the end of a line, so that places before stay as they are
  for (const { term, line, at, length } of uses.toSorted((a, b) => b.at - a.at)) {
    const text = lines[line - 1] ?? '';
    const use = text.slice(at, at + length);
    lines[line - 1] = `${text.slice(0, at)}[${use}](${glossary}#${term.anchor})${text.slice(at + length)}`;
  }
  return lines.join('\n');
}
