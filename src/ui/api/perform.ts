import { signal } from '@preact/signals';
import type { Call } from './call';

/** Wall time of the first unanswered call. null: the newest call was answered. */
export const unreachableSinceMs = signal<number | null>(null);

/** One refused member of a request. */
interface ProblemIssue {
  readonly in: string;
  /** JSON pointer for members of the body, such as `/points/1/v_pct` */
  readonly name: string;
  readonly detail: string;
  readonly allowed?: readonly string[];
}

/** The failure of a call, in the daemon's words (RFC 9457). */
export class Problem extends Error {
  /** 0: no answer */
  readonly status: number;
  readonly code: string;
  readonly issues: readonly ProblemIssue[];

  constructor(status: number, code: string, detail: string, issues: readonly ProblemIssue[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.issues = issues;
  }

  /** The objection to one member of the body. null: none. */
  about(pointer: string): string | null {
    return this.issues.find(({ name }) => name === pointer || name.startsWith(`${pointer}/`))?.detail ?? null;
  }
}

/** Timeouts, ms, after which the connection counts as lost. */
const timeoutsMs = { GET: 15_000, POST: 60_000, DELETE: 15_000 };

/** A step may run 100 000 ticks of many devices before it answers. */
const stepTimeoutMs = 3_600_000;

function timeoutOf({ method, address }: Call): number {
  return address.endsWith('/controls/time/step') ? stepTimeoutMs : timeoutsMs[method];
}

/**
 * Makes a call.
 * @throws Problem when the daemon refuses it or cannot be reached
 */
export async function perform<R>(call: Call<R>): Promise<R> {
  const answer = await send(call);
  const text = await answer.text().catch(() => '');
  const isJson = /json/.test(answer.headers.get('content-type') ?? '');
  let content: unknown = text;
  try {
    if (isJson) content = JSON.parse(text);
  } catch {
    throw new Problem(0, 'unreadable', `The answer to ${call.method} ${call.address} was cut off.`);
  }
  if (!answer.ok) throw problemOf(answer.status, content);
  return content as R;
}

/** The raw answer, for texts and downloads. @throws Problem without an answer */
export async function send(call: Call): Promise<Response> {
  const { method, address, body } = call;
  const headers: Record<string, string> = { 'X-Derbench-Client': 'dashboard' };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const init: RequestInit = { method, headers, signal: AbortSignal.timeout(timeoutOf(call)), cache: 'no-store' };
  if (body !== undefined) init.body = JSON.stringify(body);
  try {
    const answer = await fetch(address, init);
    unreachableSinceMs.value = null;
    return answer;
  } catch {
    unreachableSinceMs.value ??= Date.now();
    throw new Problem(0, 'unreachable', 'The daemon does not answer.');
  }
}

function problemOf(status: number, content: unknown): Problem {
  const { code, detail, errors } = (content ?? {}) as { code?: string; detail?: string; errors?: ProblemIssue[] };
  return new Problem(status, code ?? 'unknown', detail ?? `The daemon answers with status ${status}.`, errors);
}
