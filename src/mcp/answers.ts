/** Results of tools within their size, and errors with code, detail, pointers and allowed values. */
import { z } from 'zod';
import { UsageError } from '../client-commands/call.ts';
import { SimError } from '../core/errors.ts';
import type { Issue as SimIssue } from '../core/errors.ts';
import { pointerIssues } from '../core/zod-issues.ts';
import { DerbenchError } from '../library/error.ts';
import type { Issue } from '../library/error.ts';
import type { Answer } from './tool.ts';

/** Maximum of the text, and of the structured content as JSON, octets. */
const maxBytes = 8000;

const bytesOf = (text: string) => Buffer.byteLength(text);

/** Cuts a text at a whole character. */
function cutText(text: string, limit: number): string {
  if (bytesOf(text) <= limit) return text;
  return `${Buffer.from(text)
    .subarray(0, limit - 4)
    .toString('utf8')
    .replace(/\uFFFD$/, '')} ...`;
}

/** An element without its peer's text beyond the limit; null: it has no such text. */
function shortened(element: unknown, limit: number): unknown {
  if (typeof element !== 'object' || element === null || !('from_peer' in element)) return null;
  // JSON in JSON doubles its quotes
  return { ...element, from_peer: cutText(JSON.stringify(element.from_peer), limit / 2) };
}

/** A member that is too large in the form that fits: fewer elements of a list, the beginning of JSON otherwise. */
function fitted(value: unknown, limit: number): { readonly value: unknown; readonly note: string } {
  if (!Array.isArray(value)) {
    const text = JSON.stringify(value);
    return { value: cutText(text, limit / 2), note: `the first part of ${bytesOf(text)} octets of JSON, as text` };
  }
  let bytes = 0;
  const count = value.findIndex((element) => {
    bytes += bytesOf(JSON.stringify(element)) + 1;
    return bytes > limit;
  });
  const kept = count < 0 ? value.length : count;
  const first = kept === 0 ? shortened(value[0], limit) : null;
  if (first !== null) return { value: [first], note: `the beginning of the first of ${value.length}` };
  return { value: value.slice(0, kept), note: `${kept} of ${value.length}` };
}

export interface Result {
  [member: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** Cuts the largest members until all fit. */
function cutData(data: Answer['data']): { readonly data: Answer['data']; readonly notes: readonly string[] } {
  const sizes = Object.entries(data).map(([name, value]) => ({ name, bytes: bytesOf(JSON.stringify(value)) }));
  let total = bytesOf(JSON.stringify(data));
  let shorter = data;
  const notes: string[] = [];
  for (const { name, bytes } of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (total <= maxBytes) break;
    const { value, note } = fitted(data[name], Math.max(500, maxBytes - (total - bytes) - 300));
    shorter = { ...shorter, [name]: value };
    total = bytesOf(JSON.stringify(shorter));
    notes.push(`${name} has ${note}`);
  }
  return { data: shorter, notes };
}

export function resultOf({ sentence, data: whole, narrower }: Answer): Result {
  const { data, notes } = cutData(whole);
  const ask = narrower === undefined ? '' : `; ask with ${narrower}`;
  const cut = notes.length === 0 ? '' : `Cut: ${notes.join(', ')}${ask}.`;
  const structuredContent = { ...data, ...(cut !== '' && { cut }) };
  const isLong = bytesOf(sentence) > maxBytes - 400;
  const shown = cutText(sentence, maxBytes - 400);
  const more = cut || (isLong ? `Cut: the sentence${ask}.` : '');
  return { content: [{ type: 'text', text: more === '' ? shown : `${shown} ${more}` }], structuredContent };
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly (Issue | SimIssue)[];
}

/** Null: an error of the program itself. */
function problemOf(error: unknown): Problem | null {
  if (error instanceof DerbenchError) return { code: error.code, detail: error.detail, errors: error.issues };
  if (error instanceof UsageError) return { code: 'validation', detail: error.message, errors: [] };
  if (error instanceof SimError)
    return { code: error.code.toLowerCase().replaceAll('_', '-'), detail: error.message, errors: error.issues };
  if (!(error instanceof z.ZodError)) return null;
  const errors = error.issues.flatMap((issue) => pointerIssues(issue, 'an argument of this tool'));
  return { code: 'validation', detail: errors.map(({ name, detail }) => `${name}: ${detail}`).join('; '), errors };
}

/** An error as a result of the tool, for the model to read. */
export function errorResult(error: unknown): Result {
  const { code, detail, errors } = problemOf(error) ?? {
    code: 'internal',
    detail: error instanceof Error ? error.message : String(error),
    errors: [],
  };
  const issues = errors.slice(0, 20).map(({ name, detail: about, allowed }) => ({
    pointer: name,
    detail: cutText(about, 500),
    ...(allowed !== undefined && { allowed: allowed.slice(0, 40) }),
  }));
  const problem = JSON.stringify({ code, detail: cutText(detail, 2000), errors: issues });
  return { isError: true, content: [{ type: 'text', text: cutText(problem, maxBytes) }] };
}
