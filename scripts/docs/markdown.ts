/** Headings and links of Markdown files, as GitHub and the site read them. */

export interface Link {
  readonly line: number;
  readonly target: string;
}

const fence = /^\s*(```|~~~)/;

/** Lines of a document by their numbers, without fenced code. */
export function proseLines(text: string): readonly (readonly [number: number, line: string])[] {
  let inCode = false;
  return text.split('\n').flatMap((line, at) => {
    if (fence.test(line)) {
      inCode = !inCode;
      return [];
    }
    return inCode ? [] : [[at + 1, line] as const];
  });
}

/** Anchor that GitHub gives a heading. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');

/** Text of a heading as it is displayed: links, code and emphasis are without their marks. */
const displayed = (heading: string) =>
  heading
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('`', '')
    .replaceAll(/\*\*?|(?<!\w)_|_(?!\w)/g, '');

/** Anchors of a document: its own, and those of headings, of which a repeated one ends with `-1`, `-2` and so on. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, anchor = '']) => anchor));
  for (const [, line] of proseLines(text)) {
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = slugOf(displayed(heading));
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Targets of the links and pictures of a document, in Markdown or as HTML. */
export function linksOf(text: string): readonly Link[] {
  return proseLines(text).flatMap(([line, written]) => {
    const prose = written.replaceAll(/`[^`]+`/g, '');
    const patterns = [
      /\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g,
      /<(https?:[^>\s]+)>/g,
      /\b(?:href|src(?:set)?)="([^"]+)"/g,
    ];
    return patterns.flatMap((pattern) => [...prose.matchAll(pattern)].map(([, target = '']) => ({ line, target })));
  });
}
