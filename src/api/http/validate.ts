/** Validation of requests. Lists that are too long are refused first: zod makes an issue for each wrong item. */
import { z as zod } from 'zod';
import type { z } from 'zod';
import { pointerStep } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { factsOf, issueWords, withInput } from '../../core/zod-issues.ts';
import { invalidAll, maxIssues } from './errors.ts';

type Schema = z.core.$ZodType;

interface LongList {
  /** JSON pointer */
  readonly name: string;
  readonly maxItems: number;
}

/** The alternatives of a schema, without wrappers and unions. */
function plain(schema: Schema): readonly Schema[] {
  if (
    schema instanceof zod.ZodOptional ||
    schema instanceof zod.ZodNullable ||
    schema instanceof zod.ZodDefault ||
    schema instanceof zod.ZodReadonly
  )
    return plain(schema.def.innerType);
  if (schema instanceof zod.ZodPipe) return plain(schema.def.in);
  if (schema instanceof zod.ZodUnion) return schema.def.options.flatMap(plain);
  return [schema];
}

/** The maximum length of a list; Infinity: no maximum. */
export function maxItems(list: z.ZodArray): number {
  const checks = (list.def.checks ?? []).map(
    (check) => check._zod.def as { readonly maximum?: number; readonly length?: number },
  );
  return Math.min(...checks.map(({ maximum = Infinity, length = Infinity }) => Math.min(maximum, length)));
}

function childrenOf(schema: Schema): readonly Schema[] {
  if (schema instanceof zod.ZodArray) return [schema.element];
  if (schema instanceof zod.ZodRecord) return [schema.valueType];
  return schema instanceof zod.ZodObject ? Object.values(membersOf(schema)) : [];
}

function membersOf({ shape }: z.ZodObject): Readonly<Record<string, Schema>> {
  return shape;
}

const withLists = new WeakMap<Schema, boolean>();

/** True if values of this schema can contain lists: most cannot. */
function hasLists(schema: Schema): boolean {
  let cached = withLists.get(schema);
  if (cached === undefined) {
    cached = plain(schema).some((part) => part instanceof zod.ZodArray || childrenOf(part).some(hasLists));
    withLists.set(schema, cached);
  }
  return cached;
}

function collect(schemas: readonly Schema[], input: unknown, pointer: string, tooLong: LongList[]): void {
  if (typeof input !== 'object' || input === null) return;
  const alternatives = schemas.flatMap(plain).filter(hasLists);
  if (Array.isArray(input)) {
    const lists = alternatives.filter((schema): schema is z.ZodArray => schema instanceof zod.ZodArray);
    const max = Math.max(-Infinity, ...lists.map(maxItems));
    if (lists.length > 0 && input.length > max) {
      tooLong.push({ name: pointer, maxItems: max });
      return;
    }
    const items = lists.map(({ element }) => element).filter(hasLists);
    if (items.length > 0)
      input.forEach((item, i) => {
        collect(items, item, `${pointer}/${i}`, tooLong);
      });
    return;
  }
  for (const [name, members] of membersWithLists(alternatives, input)) {
    collect(members, (input as Readonly<Record<string, unknown>>)[name], pointer + pointerStep(name), tooLong);
  }
}

/** The members of an object that may hold lists, with their schemas. */
function membersWithLists(schemas: readonly Schema[], input: object): ReadonlyMap<string, readonly Schema[]> {
  const members = new Map<string, Schema[]>();
  const add = (name: string, schema: Schema) => {
    if (Object.hasOwn(input, name) && hasLists(schema)) members.set(name, [...(members.get(name) ?? []), schema]);
  };
  for (const schema of schemas) {
    if (schema instanceof zod.ZodObject)
      for (const [name, member] of Object.entries(membersOf(schema))) add(name, member);
    if (schema instanceof zod.ZodRecord) for (const name of Object.keys(input)) add(name, schema.valueType);
  }
  return members;
}

/** The lists in `input` with more items than `schema` permits; items of a list that is too long are not visited. */
export function longLists(schema: z.ZodType, input: unknown): readonly LongList[] {
  if (!hasLists(schema)) return [];
  const tooLong: LongList[] = [];
  collect([schema], input, '', tooLong);
  return tooLong;
}

type ZodIssue = z.core.$ZodIssue;

function nameOf(where: ProblemIssue['in'], path: readonly PropertyKey[]): string {
  return where === 'body' ? path.map(pointerStep).join('') : path.map(String).join('.');
}

function issuesOf(
  issue: ZodIssue,
  where: ProblemIssue['in'],
  schema: z.ZodType,
  secret: readonly string[],
): ProblemIssue[] {
  const member = where === 'query' ? 'a parameter of this operation' : 'a member of this body';
  const isSecret = issue.path.some((step) => secret.includes(String(step)));
  return issueWords(issue, member, factsOf(schema), isSecret).map(({ path, ...words }) => ({
    in: where,
    name: nameOf(where, path),
    ...words,
  }));
}

/** True if an issue comes from a query parameter that is given several times. */
function isRepeated(query: unknown, { path: [name] }: ZodIssue): boolean {
  return (
    name !== undefined &&
    typeof query === 'object' &&
    query !== null &&
    Object.hasOwn(query, name) &&
    Array.isArray((query as Record<PropertyKey, unknown>)[name])
  );
}

/** Member names that identify an alternative of a union: the required ones. */
function requiredMembers(option: z.ZodType): readonly string[] {
  if (option instanceof zod.ZodDiscriminatedUnion) return [option.def.discriminator];
  if (!(option instanceof zod.ZodObject)) return [];
  return Object.entries(option.shape as Readonly<Record<string, z.ZodType>>)
    .filter(([, member]) => !member.safeParse(undefined).success)
    .map(([name]) => name);
}

/** The alternative of a union of objects that an input is meant for, by its required members; otherwise the schema. */
function meantOption(schema: z.ZodType, input: unknown): z.ZodType {
  if (
    !(schema instanceof zod.ZodUnion) ||
    schema instanceof zod.ZodDiscriminatedUnion ||
    typeof input !== 'object' ||
    input === null
  )
    return schema;
  const candidates = (schema.options as z.ZodType[]).filter((option) =>
    requiredMembers(option).some((name) => Object.hasOwn(input, name)),
  );
  return candidates.length === 1 ? (candidates[0] ?? schema) : schema;
}

/** Number of problem issues that one issue of zod becomes: one for each unknown member. */
function countOf(issue: ZodIssue): number {
  return issue.code === 'unrecognized_keys' ? issue.keys.length : 1;
}

/** The issue for the first unknown members alone. @param count how many */
function shortened(issue: ZodIssue, count: number): ZodIssue {
  return issue.code === 'unrecognized_keys' ? { ...issue, keys: issue.keys.slice(0, count) } : issue;
}

/** Names in the message `at least one of ... is required` of a schema; none for other messages. */
function alternativesIn({ code, path, message }: ZodIssue): readonly string[] {
  const list =
    code === 'custom' && path.length === 0 ? /^(?:at least|exactly) one of (.+) is required$/.exec(message) : null;
  return list?.[1]?.split(', ') ?? [];
}

/** Omits `one of ... is required` where an unknown name is the likely reason: one mistake, one error. */
function withoutConsequences(issues: readonly ZodIssue[], input: unknown): readonly ZodIssue[] {
  if (!issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0)) return issues;
  const members = typeof input === 'object' && input !== null ? input : {};
  return issues.filter((issue) => {
    const alternatives = alternativesIn(issue);
    return alternatives.length === 0 || alternatives.some((name) => Object.hasOwn(members, name));
  });
}

/** Issues in words, at most as many as an answer lists: wording costs more than finding them. */
function firstInWords(issues: readonly ZodIssue[], inWords: (issue: ZodIssue) => readonly ProblemIssue[]) {
  const words: ProblemIssue[] = [];
  for (const issue of issues) {
    if (words.length >= maxIssues) break;
    words.push(...inWords(shortened(issue, maxIssues - words.length)));
  }
  return words;
}

/**
 * `input` as parsed by the schema.
 * @param secret names of members whose values a refusal must not repeat
 * @throws HttpProblem `validation` that names every invalid member, or the lists that are too long
 */
export function validate<S extends z.ZodType>(
  schema: S,
  input: unknown,
  where: ProblemIssue['in'],
  secret: readonly string[] = [],
): z.output<S> {
  const tooLong = where === 'body' ? longLists(schema, input) : [];
  if (tooLong.length > 0)
    throw invalidAll(
      tooLong.map(({ name, maxItems }) => ({ in: where, name, detail: `must have at most ${maxItems} items` })),
    );
  const result = schema.safeParse(input, withInput);
  if (result.success) return result.data;
  const option = meantOption(schema, input);
  const allIssues = ((option === schema ? undefined : option.safeParse(input, withInput).error) ?? result.error).issues;
  const issues = withoutConsequences(allIssues, input);
  const words = firstInWords(issues, (issue) =>
    where === 'query' && isRepeated(input, issue)
      ? [{ in: where, name: nameOf(where, issue.path), detail: 'is given more than once' }]
      : issuesOf(issue, where, option, secret),
  );
  const count = issues.reduce((sum, issue) => sum + countOf(issue), 0);
  throw invalidAll(words, Math.max(count, words.length));
}
