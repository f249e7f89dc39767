/** Answers in parts: headers of the parts, how an answer is cut, and how it is put together. */
import { headers } from '@nats-io/transport-node';
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import { FleetError } from '../link.ts';
import type { FleetMessage } from '../link.ts';

const partBytes = 512 * 1024;
const maxParts = 64;

/** on an answer of one part; without it an empty message is the last part */
const lastHeader = 'Derbench-Last';
/** on the first of several parts */
const firstHeader = 'Derbench-First';
/** on an empty message that only says that the answer is still being made */
const waitHeader = 'Derbench-Wait';
/** headers of the service protocol of NATS */
const errorCodeHeader = 'Nats-Service-Error-Code';
const errorHeader = 'Nats-Service-Error';
const partHeaders = new Set([lastHeader, firstHeader, waitHeader, errorCodeHeader, errorHeader]);

const tooLargeCode = 413;
const tooLargeText = `the answer is larger than ${(maxParts * partBytes) / 1024 / 1024} MiB: ask for a page of it`;
const empty = new Uint8Array(0);

/** @throws FleetError `refused`: a header that cannot be sent */
export function headersOf(entries: Readonly<Record<string, string>>): MsgHdrs {
  const result = headers();
  try {
    for (const [name, value] of Object.entries(entries)) result.set(name, value);
  } catch (error) {
    throw new FleetError('refused', 'a header has characters that NATS cannot send', { cause: error });
  }
  return result;
}

/** Headers of a message without those of this file. */
export function entriesOf(message: Msg): Record<string, string> {
  const names = message.headers?.keys().filter((name) => !partHeaders.has(name)) ?? [];
  return Object.fromEntries(names.map((name) => [name, message.headers?.get(name) ?? '']));
}

function errorHeaders(code: number, text: string): MsgHdrs {
  const result = headers();
  result.set(errorCodeHeader, String(code));
  // a header is one line
  result.set(errorHeader, text.replaceAll(/[\r\n]+/g, ' '));
  return result;
}

/** Sends an answer, in parts where it is long. */
export function sendAnswer(request: Msg, answer: FleetMessage): void {
  const head = headersOf(answer.headers);
  const { body } = answer;
  if (body.length > maxParts * partBytes) {
    sendFailure(request, new FleetError('too-large', tooLargeText));
    return;
  }
  if (body.length <= partBytes) {
    head.set(lastHeader, '1');
    request.respond(body, { headers: head });
    return;
  }
  head.set(firstHeader, '1');
  for (let from = 0; from < body.length; from += partBytes) {
    const part = body.subarray(from, from + partBytes);
    request.respond(part, from === 0 ? { headers: head } : {});
  }
  request.respond(empty);
}

export function sendFailure(request: Msg, error: unknown): void {
  const code = error instanceof FleetError && error.code === 'too-large' ? tooLargeCode : 500;
  const text = error instanceof Error ? error.message : String(error);
  request.respond(empty, { headers: errorHeaders(code, text) });
}

export function sendSignOfLife(request: Msg): void {
  const head = headers();
  head.set(waitHeader, '1');
  request.respond(empty, { headers: head });
}

export const isSignOfLife = (message: Msg): boolean => message.headers?.has(waitHeader) ?? false;

/** The answer of the server itself that nobody serves the subject. */
export const isNoResponder = (message: Msg): boolean => message.data.length === 0 && message.headers?.code === 503;

/** The failure in an answer; null: it is none. */
export function failureIn(message: Msg): FleetError | null {
  const code = message.headers?.get(errorCodeHeader) ?? '';
  if (code === '') return null;
  const text = message.headers?.get(errorHeader) ?? '';
  return new FleetError(code === String(tooLargeCode) ? 'too-large' : 'refused', text);
}

/**
 * An answer of one message.
 *
 * @returns FleetError: it is a failure, or the first of several parts; undefined: a further part
 */
export function wholeAnswer(message: Msg): FleetMessage | FleetError | undefined {
  const failure = failureIn(message);
  if (failure) return failure;
  if (message.headers?.has(lastHeader)) return { headers: entriesOf(message), body: message.data };
  if (!message.headers?.has(firstHeader)) return undefined;
  return new FleetError('too-large', 'an answer in parts to a request to all');
}

/** Puts an answer together. */
export class PartsReader {
  readonly #parts: Uint8Array[] = [];
  #headers: Record<string, string> = {};

  /**
   * @returns the answer; undefined: further parts follow
   * @throws FleetError the answer is a failure, or too large
   */
  add(message: Msg): FleetMessage | undefined {
    const failure = failureIn(message);
    if (failure) throw failure;
    if (this.#parts.length === 0) this.#headers = entriesOf(message);
    if (message.headers?.has(lastHeader)) return { headers: this.#headers, body: message.data };
    if (message.data.length === 0) return { headers: this.#headers, body: Buffer.concat(this.#parts) };
    if (this.#parts.length === maxParts) throw new FleetError('too-large', tooLargeText);
    this.#parts.push(message.data);
    return undefined;
  }
}
