/** Sentences of Markdown prose. */
import { proseLines } from './markdown.ts';

export interface Sentence {
  /** line on which its paragraph begins */
  readonly line: number;
  readonly words: number;
  readonly text: string;
}

const startsParagraph = /^\s*(?:[-*] |\d+\. |>|$)/;
const isNoProse = /^\s*(?:\||#|<!--)/;

interface Paragraph {
  readonly line: number;
  text: string;
}

/** Paragraphs and items of lists, each as one line. */
function paragraphsOf(text: string): readonly Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let isOpen = false;
  for (const [line, prose] of proseLines(text)) {
    const last = paragraphs.at(-1);
    if (isNoProse.test(prose) || prose.trim() === '') isOpen = false;
    else if (isOpen && last && !startsParagraph.test(prose)) last.text += ` ${prose.trim()}`;
    else {
      paragraphs.push({ line, text: prose.replace(startsParagraph, '').trim() });
      isOpen = true;
    }
  }
  return paragraphs;
}

/** A link counts as its text, code as one word. */
const readable = (text: string) =>
  text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/`[^`]*`/g, (code) => code.replaceAll(' ', '\u00a0'));

/** Sentences with the number of their words; a colon or semicolon ends none. */
export const sentencesOf = (text: string): readonly Sentence[] =>
  paragraphsOf(text).flatMap(({ line, text: paragraph }) =>
    readable(paragraph)
      .split(/(?<=[.!?][)"]?)\s+(?=[A-Z`"([*])/)
      .map((sentence) => ({ line, words: sentence.split(/[ \n]+/).length, text: sentence.replaceAll('\u00a0', ' ') })),
  );
