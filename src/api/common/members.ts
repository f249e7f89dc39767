/**
 * Replies declared once: the table of a resource gives its schema, the type of its replies, and the function that makes them.
 *
 *     const queue = members<Queue>()('OcppQueue', () => ({
 *       calls: count('Calls that wait for the line.'),
 *       oldest_at: time.orNull('Begin of the oldest; null: none.', ({ first }) => first?.atMs),
 *     }));
 *     queue.schema(), queue.reply(source), ReplyOf<typeof queue>
 *
 * A member without a getter shows the member of the source with the same name in camel case; for a `time` member, that
 * name plus `Ms`. The compiler refuses a table whose source lacks it. Schemas are built at their first use: they take
 * memory in every process, but only tests check replies.
 */
import { memo } from '../../core/lazy.ts';
import { z } from '../description/zod.ts';
import { isoTime } from './schemas.ts';

/** `device_index` to `deviceIndex`. */
type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;

/** A kind of value. `C`: context of replies besides the source, such as the plant for its dates. */
export interface Kind<V, T, C> {
  readonly schema: () => z.ZodType<T>;
  /** makes the value in the reply from the value in the source; absent: both are the same */
  readonly reply?: (value: V, context: C) => T;
}

interface Read<S, T, C> extends Kind<never, T, C> {
  readonly read: (source: S, context: C) => unknown;
}

/** A member that reads a `V` in the source, named in camel case plus `Suffix`. */
interface Named<V, T, C, Suffix extends string> extends Kind<V, T, C> {
  readonly read?: undefined;
  readonly suffix: Suffix;
  /** never set; only carries `V` in the type */
  readonly inSource?: (value: V) => void;
}

type Members<S, C> = Readonly<Record<string, Read<S, unknown, C> | Named<never, unknown, C, string>>>;

type HasMember<S, K extends string, V> = K extends keyof S
  ? S[K] extends V
    ? unknown
    : NotInSource<K>
  : NotInSource<K>;

interface NotInSource<K> {
  readonly notInSource: K;
}

/** Type error for a member without a getter that the source lacks: the compiler's message names it. */
type Checked<S, M> = {
  readonly [K in keyof M]: M[K] extends Named<infer V, unknown, never, infer Suffix>
    ? HasMember<S, `${Camel<K> & string}${Suffix}`, V>
    : unknown;
};

interface IsOptional {
  readonly isOptional: true;
}

type OptionalNames<M> = { [K in keyof M]: M[K] extends IsOptional ? K : never }[keyof M];
type ValueOf<M> = M extends Kind<never, infer T, never> ? T : never;
type Reply<M> = { readonly [K in Exclude<keyof M, OptionalNames<M>>]: ValueOf<M[K]> } & {
  readonly [K in OptionalNames<M>]?: ValueOf<M[K]>;
};

export interface Table<S, M, C> {
  /** lets other tables include the same members */
  readonly members: () => M;
  readonly schema: () => z.ZodType<Reply<M>>;
  readonly reply: (source: S, ...context: unknown extends C ? [context?: C] : [context: C]) => Reply<M>;
}

/** The reply that a table makes. */
export type ReplyOf<T extends { readonly reply: (...args: never) => unknown }> = ReturnType<T['reply']>;

const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());

/** Generates one object literal, as fast as handwritten code; a loop over names is slower. Optional members last. */
function compile<S, C>(table: Members<S, C>): (source: S, context: C) => object {
  const constants: string[] = [];
  const required: string[] = [];
  const optional: string[] = [];
  for (const [i, [name, member]] of Object.entries(table).entries()) {
    constants.push(`const { read: read${i}, reply: reply${i} } = members[${i}];`);
    const key = JSON.stringify(name);
    const value = member.read
      ? `read${i}(source, context)`
      : `source[${JSON.stringify(camelCase(name) + member.suffix)}]`;
    const replyCode = (from: string) => (member.reply ? `reply${i}(${from}, context)` : from);
    if ('isOptional' in member)
      optional.push(
        `const value${i} = ${value}; if (value${i} !== undefined) reply[${key}] = ${replyCode(`value${i}`)};`,
      );
    else required.push(`${key}: ${replyCode(value)}`);
  }
  const code = `${constants.join('\n')}
    return (source, context) => {
      const reply = { ${required.join(', ')} };
      ${optional.join('\n')}
      return reply;
    };`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code contains only names of this repository
  const make = new Function('members', code) as (members: readonly unknown[]) => (source: S, context: C) => object;
  return make(Object.values(table));
}

/** @typeParam S the source that replies show @typeParam C context of the replies besides the source */
export function members<S, C = unknown>() {
  return <M extends Members<S, C>>(
    name: string | null,
    make: () => M & Checked<S, M>,
    about: { readonly description?: string } = {},
  ): Table<S, M, C> => {
    const table: () => M = memo(make);
    const compiled = memo(() => compile<S, C>(table()));
    return {
      members: table,
      schema: memo(() => {
        const shape = Object.entries(table()).map(([member, kind]) => [
          member,
          'isOptional' in kind ? kind.schema().optional() : kind.schema(),
        ]);
        const schema = z.strictObject(Object.fromEntries(shape));
        return (name === null ? schema : schema.openapi(name, about)) as unknown as z.ZodType<Reply<M>>;
      }),
      reply: ((source: S, context: C) => compiled()(source, context)) as Table<S, M, C>['reply'],
    };
  };
}

interface MemberCall<V, T, C, Suffix extends string, More> {
  (description?: string): Named<V, T, C, Suffix> & More;
  <S, D extends C>(read: (source: S, context: D) => V): Read<S, T, D> & More;
  <S, D extends C>(description: string, read: (source: S, context: D) => V): Read<S, T, D> & More;
}

/** Makes a member from its description and its getter; either may be absent. */
interface Builder<V, T, C, Suffix extends string = ''> extends MemberCall<V, T, C, Suffix, unknown> {
  /** a member that is null where the value is null or undefined */
  readonly orNull: MemberCall<V | null | undefined, T | null, C, Suffix, unknown>;
  /** a member that is absent where the value is undefined */
  readonly optional: MemberCall<V | undefined, T, C, Suffix, IsOptional>;
}

type Getter = (source: never, context: never) => unknown;

function memberCall<V, T, C>(kind: Kind<V, T, C>, suffix: string, more: Partial<IsOptional> = {}) {
  return (...args: readonly (string | Getter | undefined)[]) => {
    const description = args.find((each) => typeof each === 'string');
    const schema = description === undefined ? kind.schema : () => kind.schema().openapi({ description });
    return { ...kind, ...more, schema, suffix, read: args.find((each) => typeof each === 'function') };
  };
}

function nullable<V, T, C>({ schema, reply }: Kind<V, T, C>): Kind<V | null | undefined, T | null, C> {
  return {
    schema: () => schema().nullable(),
    reply: (value, context) => {
      if (value === null || value === undefined) return null;
      return reply ? reply(value, context) : (value as never);
    },
  };
}

function builder<V, T, C, Suffix extends string = ''>(kind: Kind<V, T, C>, suffix?: Suffix): Builder<V, T, C, Suffix> {
  const ending = suffix ?? '';
  return Object.assign(memberCall(kind, ending), {
    orNull: memberCall(nullable(kind), ending),
    optional: memberCall(kind, ending, { isOptional: true }),
  }) as unknown as Builder<V, T, C, Suffix>;
}

/** A member of any schema, with the value unchanged. */
export const member = <T>(schema: () => z.ZodType<T>) => builder<T, T, unknown>({ schema });

export const text = member(() => z.string());
export const flag = member(() => z.boolean());
export const number = member(() => z.number());
export const integer = member(() => z.int());
/** An integer from 0 on. */
export const count = member(() => z.int().min(0));
export const word = <const W extends string>(words: readonly W[]) => member(() => z.enum(words));
/** ms since the epoch, as ISO text. */
export const time = builder<number, string, unknown, 'Ms'>(
  { schema: () => isoTime, reply: (ms) => new Date(ms).toISOString() },
  'Ms',
);

/** A member that is itself an object, described by another table. */
export const nested = <V, T, C>(table: Kind<V, T, C>) => builder(table);

/** A list of objects described by a table, or of other values. */
export const list = <V, T, C>({ schema, reply }: Kind<V, T, C>) =>
  builder<readonly V[], readonly T[], C>({
    schema: () => z.array(schema()),
    ...(reply && { reply: (values, context) => values.map((each) => reply(each, context)) }),
  });

/** Members of a request under names in camel case; absent members stay absent. */
export function camelCased<B extends object>(
  body: B,
): { readonly [K in keyof B as Camel<K>]: Exclude<B[K], undefined> } {
  const present = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [camelCase(name), value])) as never;
}

/** Six decimals, and no negative zero. */
export function rounded(value: number): number {
  // large values have no room for decimals and must not overflow
  return Math.abs(value) < 1e9 ? Math.round(value * 1e6) / 1e6 + 0 : value;
}

/** W to kW, Wh to kWh, var to kvar. */
export function kilo(value: number): number {
  return rounded(value / 1000);
}

/** A quantity to six decimals. */
export const measured = nested({ schema: () => z.number(), reply: rounded });
/** A quantity in thousands of the unit of the source. */
export const inKilo = nested({ schema: () => z.number(), reply: kilo });
