/** A daemon that answers the calls of the page as its description says. */
import { description, operationAt } from './description.ts';
import type { Json } from './description.ts';
import { noteCall } from './settle.ts';
import { varied } from './variants.ts';
import type { Variant } from './variants.ts';

export interface Asked {
  readonly method: string;
  /** below `/api/sim/` */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
}

/** Content of an answer with status 200, or a whole answer (which may come later). */
type AnswerOf = (asked: Asked) => unknown;

export class Daemon {
  /** calls of the page, in order */
  readonly asked: Asked[] = [];
  /** calls that the API does not have, or members of a query that the operation does not */
  readonly strange: string[] = [];
  variant: Variant = 'example';
  readonly #answers = new Map<string, AnswerOf>();

  /** Takes the place of the network. */
  constructor() {
    globalThis.fetch = (address, init) => this.#answer(address as string, init ?? {});
  }

  /** Answers an operation in another way. @param name such as `GET overview` */
  on(name: string, answer: AnswerOf): this {
    this.#answers.set(name, answer);
    return this;
  }

  /** What `on` has set for an operation. @throws Error unless it has */
  answerOf(name: string): AnswerOf {
    const answer = this.#answers.get(name);
    if (answer === undefined) throw new Error(`no answer was set for ${name}`);
    return answer;
  }

  /** Calls that an operation got. @param name such as `POST controls/time` */
  to(name: string): readonly Asked[] {
    return this.asked.filter(({ method, path }) => `${method} ${path}` === name);
  }

  /** The reply of an operation in the variant of the daemon. */
  replyOf(method: string, path: string): Json {
    const operation = operationAt(method, path);
    return operation && varied(operation.replySchema, operation.replyExample, this.variant);
  }

  /** The reply of an operation as the description shows it. */
  exampleOf(method: string, path: string): Json {
    return operationAt(method, path)?.replyExample;
  }

  async #answer(address: string, init: RequestInit): Promise<Response> {
    noteCall();
    const { pathname, searchParams } = new URL(address, location.origin);
    const method = init.method ?? 'GET';
    const path = pathname.replace('/api/sim/', '');
    const asked: Asked = {
      method,
      path,
      query: Object.fromEntries(searchParams),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      headers: init.headers as Record<string, string>,
    };
    this.asked.push(asked);
    const answer = this.#answers.get(`${method} ${path}`);
    if (answer !== undefined) return responseOf(await answer(asked));
    if (pathname === '/openapi.json') return responseOf(description);
    const operation = operationAt(method, path);
    if (operation === undefined) this.strange.push(`${method} ${path}`);
    for (const name of searchParams.keys())
      if (operation && !operation.queryNames.includes(name)) this.strange.push(`${method} ${path} ?${name}`);
    return operation === undefined
      ? refusal(404, 'there is no such operation')
      : responseOf(this.replyOf(method, path));
  }
}

function responseOf(content: unknown): Response {
  if (content instanceof Response) return content;
  const isText = typeof content === 'string';
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json' };
  return new Response(isText ? content : JSON.stringify(content), { headers });
}

/** An answer that refuses. @param errors members that are at fault, see RFC 9457 */
export function refusal(status: number, detail: string, errors: readonly Json[] = [], code = 'invalid'): Response {
  return new Response(JSON.stringify({ code, detail, errors }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  });
}
