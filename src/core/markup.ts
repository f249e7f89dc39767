/** Text of others in XML and HTML documents, where it must never become markup. */
import { createHash } from 'node:crypto';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\n': '&#10;',
};

const escaped = (text: string, characters: RegExp) =>
  documentText(text).replace(characters, (character) => escapes[character] ?? character);

/** Replaces characters that are invalid in XML 1.0 or HTML by question marks. */
export function documentText(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    '?',
  );
}

/** Escapes text for XML 1.0, including attributes. */
export const xmlText = (text: string): string => escaped(text, /[&<>"\n]/g);

/** Escapes text for HTML, including attributes. */
export const htmlText = (text: string): string => escaped(text, /[&<>"']/g);

const baseStyle = `
:root { color-scheme: light dark; --line: #8888; --good: #1a7f37; --bad: #cf222e; --muted: #666; --trace: #0969da; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #ff7b72; --muted: #999; --trace: #58a6ff; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td.number { text-align: right; font-variant-numeric: tabular-nums; } small { color: var(--muted); }
`;

/** Content security policy that permits the style sheet of a page, and nothing else. */
export function pagePolicy(page: string): string {
  const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page) ?? [];
  return `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`;
}

/** A page without scripts and external requests. @param style rules beside those of all pages @param body markup */
export function htmlDocument(title: string, style: string, body: string): string {
  const sheet = `<style>${baseStyle}${style}</style>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy(sheet)}">
<title>${htmlText(title)}</title>${sheet}</head><body><main>
${body}
</main></body></html>
`;
}
