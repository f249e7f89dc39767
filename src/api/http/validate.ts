import { z as zod } from 'zod';
import type { z } from 'zod';
import { pointerStep } from '../../core/json-pointer.ts';
import type { ProblemFault } from '../../core/http/problem.ts';
import { issueWords, withInput } from '../../core/zod-issues.ts';
import { invalidAll } from './errors.ts';

type Issue = z.core.$ZodIssue;

function nameOf(where: ProblemFault['in'], path: readonly PropertyKey[]): string {
  return where === 'body' ? path.map(pointerStep).join('') : path.map(String).join('.');
}

/** Member names of an object schema, where there is one at the root. */
function knownMembers(schema: z.ZodType): string[] | undefined {
  const { shape } = schema as { shape?: unknown };
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : undefined;
}

function faultsOf(issue: Issue, where: ProblemFault['in'], schema: z.ZodType): ProblemFault[] {
  const member = where === 'query' ? 'a parameter of this operation' : 'a member of this body';
  return issueWords(issue, member, knownMembers(schema)).map(({ path, ...words }) => ({
    in: where,
    name: nameOf(where, path),
    ...words,
  }));
}

/** Whether a fault comes from a query parameter that stands there several times. */
function isRepeated(query: unknown, { path: [name] }: Issue): boolean {
  return (
    name !== undefined &&
    typeof query === 'object' &&
    query !== null &&
    Object.hasOwn(query, name) &&
    Array.isArray((query as Record<PropertyKey, unknown>)[name])
  );
}

/** Member names by which an alternative of a union is known: those that it requires. */
function markedBy(option: z.ZodType): readonly string[] {
  if (option instanceof zod.ZodDiscriminatedUnion) return [option.def.discriminator];
  if (!(option instanceof zod.ZodObject)) return [];
  return Object.entries(option.shape as Readonly<Record<string, z.ZodType>>)
    .filter(([, member]) => !member.safeParse(undefined).success)
    .map(([name]) => name);
}

/** Of a union of objects that are known by different members, the one that an input is meant for; else the schema itself. */
function meantOption(schema: z.ZodType, input: unknown): z.ZodType {
  if (
    !(schema instanceof zod.ZodUnion) ||
    schema instanceof zod.ZodDiscriminatedUnion ||
    typeof input !== 'object' ||
    input === null
  )
    return schema;
  const meant = (schema.options as z.ZodType[]).filter((option) =>
    markedBy(option).some((name) => Object.hasOwn(input, name)),
  );
  return meant.length === 1 ? (meant[0] ?? schema) : schema;
}

/**
 * `input` as the schema gives it back.
 * @throws HttpProblem `validation` that names every faulty member
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, where: ProblemFault['in']): z.output<S> {
  const result = schema.safeParse(input, withInput);
  if (result.success) return result.data;
  const meant = meantOption(schema, input);
  const { issues } = (meant === schema ? undefined : meant.safeParse(input, withInput).error) ?? result.error;
  throw invalidAll(
    issues.flatMap((issue) =>
      where === 'query' && isRepeated(input, issue)
        ? [{ in: where, name: nameOf(where, issue.path), detail: 'is given more than once' }]
        : faultsOf(issue, where, meant),
    ),
  );
}
