/** Lines of a scenario text. Values are JSON, which is YAML too; texts of others become comments of one line. */

/** Characters that end a line of YAML, or that it must not have. */
const notPrintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]+/g;

export const commentLine = (text: string): string => `# ${text.replace(notPrintable, ' ')}`;

/** A value in flow style; names need no quotes. */
export function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return value === undefined ? 'null' : JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${nameOf(name)}: ${flow(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const nameOf = (name: string) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

/** One step of `steps`: its members in their order. */
export function stepLines(members: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(members).map(([name, value], n) => `${n === 0 ? '  - ' : '    '}${name}: ${flow(value)}`);
}

/** Maximum length of a text that a request may have. */
const maxLength = 100_000;

/** A part of the list of steps: a step, or a comment about what is none. */
export type Part = { readonly step: Readonly<Record<string, unknown>> } | { readonly comment: string };

/**
 * Makes a text, and yields after each part, when other work may run. Parts beyond the maximum length are not made.
 * @param last steps at the end, whatever the length
 */
export function* makingText(
  { name, description }: { readonly name: string; readonly description: string },
  parts: Iterable<Part>,
  last: readonly Readonly<Record<string, unknown>>[] = [],
): Generator<undefined, string> {
  const head = [`name: ${JSON.stringify(name)}`, `description: ${JSON.stringify(description)}`, 'steps:'];
  const ends = last.flatMap(stepLines);
  let left = maxLength - [...head, ...ends].join('\n').length - 200;
  const body: string[] = [];
  let hasStep = last.length > 0;
  for (const part of parts) {
    yield;
    const lines = 'step' in part ? stepLines(part.step) : [`  ${commentLine(part.comment)}`];
    left -= lines.join('\n').length + 1;
    if (left < 0) {
      body.push(`  ${commentLine('the rest is left out: the text would be too long')}`);
      break;
    }
    body.push(...lines);
    hasStep ||= 'step' in part;
  }
  const none = hasStep ? [] : stepLines({ name: 'nothing that can be repeated', after: 1 });
  return `${[...head, ...body, ...none, ...ends].join('\n')}\n`;
}
