import { z as zod } from 'zod';
import type { z } from 'zod';
import { pointerStep } from '../../core/errors.ts';
import type { ProblemIssue } from '../../core/http/problem.ts';
import { factsOf } from '../../core/zod-facts.ts';
import { issueWords, withInput } from '../../core/zod-issues.ts';
import { invalidAll } from './errors.ts';

type ZodIssue = z.core.$ZodIssue;

function nameOf(where: ProblemIssue['in'], path: readonly PropertyKey[]): string {
  return where === 'body' ? path.map(pointerStep).join('') : path.map(String).join('.');
}

function issuesOf(issue: ZodIssue, where: ProblemIssue['in'], schema: z.ZodType): ProblemIssue[] {
  const member = where === 'query' ? 'a parameter of this operation' : 'a member of this body';
  return issueWords(issue, member, factsOf(schema)).map(({ path, ...words }) => ({
    in: where,
    name: nameOf(where, path),
    ...words,
  }));
}

/** Whether an issue comes from a query parameter that is given several times. */
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
function markedBy(option: z.ZodType): readonly string[] {
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
  const meant = (schema.options as z.ZodType[]).filter((option) =>
    markedBy(option).some((name) => Object.hasOwn(input, name)),
  );
  return meant.length === 1 ? (meant[0] ?? schema) : schema;
}

/**
 * `input` as the schema gives it back.
 * @throws HttpProblem `validation` that names every invalid member
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, where: ProblemIssue['in']): z.output<S> {
  const result = schema.safeParse(input, withInput);
  if (result.success) return result.data;
  const meant = meantOption(schema, input);
  const { issues } = (meant === schema ? undefined : meant.safeParse(input, withInput).error) ?? result.error;
  throw invalidAll(
    issues.flatMap((issue) =>
      where === 'query' && isRepeated(input, issue)
        ? [{ in: where, name: nameOf(where, issue.path), detail: 'is given more than once' }]
        : issuesOf(issue, where, meant),
    ),
  );
}
