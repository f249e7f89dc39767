import type { Origin } from '../../core/origin.ts';
import type { ProblemCode } from '../../core/http/problem.ts';
import type { RouteContext } from './context.ts';
import { HttpProblem } from './errors.ts';
import { validate } from './validate.ts';
import { z } from '../description/zod.ts';

export const tags = [
  'Core',
  'Controls',
  'Grid Support',
  'Battery',
  'Wind',
  'Fuel Cell',
  'Hybrid DC',
  'EVSE / OCPP',
  'CSIP Client',
  'SunSpec Client',
  'DC I/V',
  'DNP3',
  'Exchange',
] as const;
type Tag = (typeof tags)[number];

export const apiPrefix = '/api/sim';

/** A reply that is JSON text already; `T` is the type of its content. */
export class JsonText<T> {
  readonly bytes: Buffer;
  declare readonly holds?: T;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/** A reply in a media type other than JSON; the reply schema does not describe it. */
export class TextReply {
  /** `Content-Type` of the answer */
  readonly type: string;
  readonly bytes: Buffer;

  constructor(type: string, text: string | Buffer) {
    this.type = type;
    this.bytes = typeof text === 'string' ? Buffer.from(text) : text;
  }
}

/**
 * A reply that is made while it is sent, no faster than the client reads. The pieces are ASCII text, or octets of a
 * binary file; pieces of JSON are text, and fit the reply schema when joined.
 */
export class StreamedReply {
  /** `Content-Type` of the answer */
  readonly type: string;
  readonly pieces: Iterable<string | Buffer>;

  constructor(type: string, pieces: Iterable<string | Buffer>) {
    this.type = type;
    this.pieces = pieces;
  }
}

type Body<T> = T | JsonText<T> | TextReply | StreamedReply;

/** A reply with another status, headers, or work to do once its response has closed. */
export class Answer<T> {
  readonly body: Body<T>;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly afterwards: (() => void) | undefined;

  constructor(
    body: Body<T>,
    options: { status?: number; headers?: Readonly<Record<string, string>>; afterwards?: () => void } = {},
  ) {
    this.body = body;
    this.status = options.status;
    this.headers = options.headers ?? {};
    this.afterwards = options.afterwards;
  }
}

type Reply<T> = Body<T> | Answer<T>;

/**
 * A schema, or a function that builds it at its first use and keeps it: large schemas take memory in every process, but
 * few processes check bodies with them, and only tests check replies.
 */
export type Late<S> = S | (() => S);

function schemaOf<S extends z.ZodType>(late: Late<S>): S {
  return typeof late === 'function' ? late() : late;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : S extends () => infer M ? z.output<M> : undefined;

/** Checked input of one request. */
interface RouteInput<P, Q, B> {
  readonly params: Parsed<P>;
  readonly query: Parsed<Q>;
  readonly body: Parsed<B>;
  /** origin of the request, recorded as the provenance of what it changes */
  readonly by: Origin;
}

export interface RouteBase {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** below the prefix, with `{name}` parameters */
  readonly path: string;
  readonly tag: Tag;
  /** snake_case, unique */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** maximum characters of one text in the body; default 1,000 */
  readonly maxTextLength?: number;
  /** a body that may be as large as a file: 5 MiB, and more members than other bodies */
  readonly isImport?: true;
  /** maximum bytes of a body with long lists; default that of the interface */
  readonly maxBodyBytes?: number;
  /** problems besides those that follow from the shape of the route */
  readonly problems?: readonly ProblemCode[];
  /** further statuses that carry the reply schema */
  readonly alsoStatus?: readonly number[];
  /** media type of a text reply; absent: JSON */
  readonly media?: string;
  /** media types besides JSON in which the reply is available */
  readonly otherMedia?: readonly string[];
  /**
   * Polled so often that `src/api/http/hot-reads.ts` answers it in front of Express: with bytes kept in the reply cache
   * until the next tick, or built for each request. Requests with a parameter other than `device` go to Express; its
   * handler is synchronous.
   */
  readonly hot?: 'per_tick' | 'per_request';
  /** a routine POST, or one that changes nothing: logged at `debug` only */
  readonly routine?: true;
  /** members of the body, at any depth, whose values neither the log nor a refusal repeats */
  readonly secretMembers?: readonly string[];
  /** served to clients of this machine or over TLS alone: private keys travel, or are lost; never to scenarios */
  readonly isPrivate?: true;
  /** changes the set-up of the lab: refused with `settings-locked` by `--settings_locked yes` */
  readonly isSetup?: true;
  /** headers that the reply carries besides those of every answer */
  readonly replyHeaders?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
}

interface RouteSpec<P, Q, B, R extends z.ZodType> extends RouteBase {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly reply: Late<R>;
  readonly status?: number;
  handle(ctx: RouteContext, input: RouteInput<P, Q, B>): Reply<z.output<R>> | Promise<Reply<z.output<R>>>;
}

export interface RawInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly by: Origin;
}

/** One operation: routing, validation and description are derived from it. */
export interface Route extends RouteBase {
  readonly params: z.ZodObject | undefined;
  /** an empty object where the operation has no parameters: every operation refuses unknown parameters */
  readonly query: z.ZodObject;
  readonly body: z.ZodType | undefined;
  readonly reply: z.ZodType;
  readonly status: number;
  /** Checks the input by the schemas only. @throws HttpProblem `validation` */
  check(raw: Omit<RawInput, 'by'>): void;
  /** Synchronous where the handler is. @throws HttpProblem, SimError */
  answer(ctx: RouteContext, raw: RawInput): Answer<unknown> | Promise<Answer<unknown>>;
}

const noMembers = z.strictObject({});

/** True if requests of the operation may have a body. */
export function hasBody({ method }: Pick<RouteBase, 'method'>): boolean {
  return method === 'post' || method === 'patch';
}

function wrapped<T>(reply: Reply<T>): Answer<unknown> {
  return reply instanceof Answer ? reply : new Answer<unknown>(reply);
}

const locked = () =>
  new HttpProblem(
    'settings-locked',
    'The settings of this simulator can only be read: it was started with --settings_locked yes.',
  );

/** Declares an operation; the handler's types follow from its schemas. */
export function route<
  R extends z.ZodType,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends Late<z.ZodType> | undefined = undefined,
>(spec: RouteSpec<P, Q, B, R>): Route {
  const { params, query = noMembers } = spec;
  const body = spec.body ?? (hasBody(spec) ? noMembers : undefined);
  const checked = (raw: Omit<RawInput, 'by'>) => ({
    params: params && validate(params, raw.params, 'path'),
    query: validate(query, raw.query, 'query'),
    body: body && validate(schemaOf<z.ZodType>(body), raw.body, 'body', spec.secretMembers),
  });
  return {
    ...spec,
    params,
    query,
    get body() {
      return spec.body && schemaOf<z.ZodType>(spec.body);
    },
    get reply() {
      return schemaOf(spec.reply);
    },
    status: spec.status ?? 200,
    check(raw) {
      checked(raw);
    },
    answer(ctx, raw) {
      if (spec.isSetup && ctx.settings.isLocked) throw locked();
      const reply = spec.handle(ctx, { ...checked(raw), by: raw.by } as RouteInput<P, Q, B>);
      return reply instanceof Promise ? reply.then(wrapped) : wrapped(reply);
    },
  };
}
