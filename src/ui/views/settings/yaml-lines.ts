/** Lines of a configuration file that objections are about. */

const indentOf = (line: string) => line.length - line.trimStart().length;

interface Line {
  /** from 1 */
  readonly number: number;
  readonly indent: number;
  /** keys and dashes without their indent */
  readonly text: string;
}

/** Lines with content; a dash before a key counts as a line of its own, since it begins an entry of a list. */
function linesOf(text: string): readonly Line[] {
  return text.split('\n').flatMap((raw, index) => {
    const lines: Line[] = [];
    let indent = indentOf(raw);
    let rest = raw.trim();
    while (/^-(\s|$)/.test(rest)) {
      lines.push({ number: index + 1, indent, text: '-' });
      const next = rest.slice(1).trimStart();
      indent += rest.length - next.length;
      rest = next;
    }
    if (rest !== '' && !rest.startsWith('#')) lines.push({ number: index + 1, indent, text: rest });
    return lines;
  });
}

const hasKey = ({ text }: Line, key: string) =>
  text.replace(/^["']/, '').startsWith(key) && /^["']?\s*:/.test(text.replace(/^["']/, '').slice(key.length));

/** Positions of the lines of a block: those behind `from` that are indented as its first one. */
function childrenOf(lines: readonly Line[], from: number, parentIndent: number): readonly number[] {
  const first = lines[from];
  // entries of a list may stand at the indent of their key
  if (first === undefined || first.indent < parentIndent || (first.indent === parentIndent && first.text !== '-'))
    return [];
  const children: number[] = [];
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at];
    if (line === undefined || line.indent < first.indent) break;
    if (line.indent === first.indent && (first.text !== '-' || line.text === '-')) children.push(at);
    else if (line.indent === first.indent) break;
  }
  return children;
}

/**
 * The line that an objection is about: that of its deepest member that the text has in block form.
 * @param pointer JSON pointer, such as `/devices/1/device_type`
 * @param detail may name a line itself
 */
export function lineOf(text: string, pointer: string, detail = ''): number | null {
  const [, inDetail] = /\bline (\d+)/.exec(detail) ?? [];
  if (inDetail !== undefined) return Number(inDetail);
  const lines = linesOf(text);
  let children = childrenOf(lines, 0, -1);
  let line: number | null = null;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const isList = lines[children[0] ?? -1]?.text === '-';
    const at = isList ? children[Number(key)] : children.find((child) => hasKey(lines[child] as Line, key));
    const here = at === undefined ? undefined : lines[at];
    if (at === undefined || here === undefined) break;
    line = here.number;
    children = childrenOf(lines, at + 1, here.indent);
  }
  return line;
}
