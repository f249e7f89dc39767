import { signal } from '@preact/signals';
import type { Call } from './call';

/** Wall time of the first call without an answer; null while the newest call had one. */
export const unreachableSinceMs = signal<number | null>(null);

/** One member of a request that the daemon refuses. */
interface ProblemIssue {
  readonly in: string;
  /** JSON pointer for members of the body, such as `/points/1/v_pct` */
  readonly name: string;
  readonly detail: string;
  readonly allowed?: readonly string[];
}

/** Why a call failed, in the words of the daemon (RFC 9457). */
export class Problem extends Error {
  /** 0: there was no answer */
  readonly status: number;
  readonly code: string;
  readonly issues: readonly ProblemIssue[];

  constructor(status: number, code: string, detail: string, issues: readonly ProblemIssue[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.issues = issues;
  }

  /** The sentence about one member of the body; null if that member is not at fault. */
  about(pointer: string): string | null {
    return this.issues.find(({ name }) => name === pointer || name.startsWith(`${pointer}/`))?.detail ?? null;
  }
}

/** No answer within this time counts as a lost connection. */
const timeoutsMs = { GET: 15_000, POST: 60_000, DELETE: 15_000 };

/** A step may run 100 000 ticks of many devices, and answers after the last one. */
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

/** The answer as it came, for texts and downloads. @throws Problem without an answer */
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
