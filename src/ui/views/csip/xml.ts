/** XML with one element a line, indented. Text that is not XML stays as it is. */
export function prettyXml(text: string): string {
  if (!/^\s*</.test(text)) return text;
  let depth = 0;
  const lines: string[] = [];
  for (const piece of text.replace(/>\s*</g, '>\n<').split('\n')) {
    if (piece.startsWith('</')) depth = Math.max(0, depth - 1);
    lines.push('  '.repeat(depth) + piece);
    const opens = /^<[^!?/]/.test(piece) && !piece.endsWith('/>') && !piece.includes('</');
    if (opens) depth += 1;
  }
  return lines.join('\n');
}
