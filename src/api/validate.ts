import type { z } from 'zod';
import { pointerStep } from '../core/json-pointer.ts';
import type { ProblemFault } from '../core/problem.ts';
import { hasOwnWords, meantBranch } from '../core/zod-issues.ts';
import { invalidAll } from './errors.ts';

type Issue = z.core.$ZodIssue;

function nameOf(where: ProblemFault['in'], path: readonly PropertyKey[]): string {
  return where === 'body' ? path.map(pointerStep).join('') : path.map(String).join('.');
}

function bound(issue: Extract<Issue, { code: 'too_big' | 'too_small' }>): string {
  const unit = issue.origin === 'string' ? ' characters' : issue.origin === 'array' || issue.origin === 'set' ? ' items' : '';
  const verb = unit === '' ? 'must be' : 'must have';
  if (issue.code === 'too_big') {
    return `${verb} ${issue.inclusive === false ? 'less than' : 'at most'} ${String(issue.maximum)}${unit}`;
  }
  return `${verb} ${issue.inclusive === false ? 'more than' : 'at least'} ${String(issue.minimum)}${unit}`;
}

const expectations: Readonly<Record<string, string>> = {
  int: 'an integer', integer: 'an integer', array: 'an array', object: 'an object', record: 'an object',
};

function scalarValues(values: readonly unknown[]): (string | number)[] {
  return values.filter((value) => typeof value === 'string' || typeof value === 'number');
}

/** Member names of an object schema, where there is one at the root. */
function knownMembers(schema: z.ZodType): string[] | undefined {
  const { shape } = schema as { shape?: unknown };
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : undefined;
}

function faultsOf(issue: Issue, where: ProblemFault['in'], schema: z.ZodType): ProblemFault[] {
  const name = nameOf(where, issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const allowed = issue.path.length === 0 ? knownMembers(schema) : undefined;
      return issue.keys.map((key) => ({
        in: where,
        name: nameOf(where, [...issue.path, key]),
        detail: where === 'query' ? 'is not a parameter of this operation' : 'is not a member of this body',
        ...(allowed && { allowed }),
      }));
    }
    case 'invalid_value': {
      const allowed = scalarValues(issue.values);
      return [{ in: where, name, detail: hasOwnWords(issue) ? issue.message : `must be one of ${allowed.join(', ')}`, allowed }];
    }
    case 'invalid_union': {
      const branch = meantBranch(issue.errors);
      if (branch) return branch.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }, where, schema));
      const words = issue.errors.flat().flatMap((inner) => (inner.code === 'invalid_value' ? scalarValues(inner.values) : []));
      return [{ in: where, name, detail: issue.message, ...(hasOwnWords(issue) && words.length > 0 && { allowed: words }) }];
    }
    case 'invalid_type': {
      if (issue.input === undefined && issue.message.includes('received undefined')) {
        return [{ in: where, name, detail: 'is required' }];
      }
      return [{ in: where, name, detail: `must be ${expectations[issue.expected] ?? `a ${issue.expected}`}` }];
    }
    case 'invalid_key':
      return [{ in: where, name, detail: `is not a name that a member can have here; it must be ${issue.issues[0]?.message ?? 'another one'}` }];
    case 'too_big':
    case 'too_small':
      return [{ in: where, name, detail: bound(issue) }];
    default:
      return [{ in: where, name, detail: issue.message }];
  }
}

/** Whether a fault comes from a query parameter that stands there several times. */
function isRepeated(query: unknown, { path: [name] }: Issue): boolean {
  return name !== undefined && typeof query === 'object' && query !== null
    && Object.hasOwn(query, name) && Array.isArray((query as Record<PropertyKey, unknown>)[name]);
}

/**
 * `input` as the schema gives it back.
 * @throws HttpProblem `validation` that names every faulty member
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, where: ProblemFault['in']): z.output<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw invalidAll(result.error.issues.flatMap((issue) => (
    where === 'query' && isRepeated(input, issue)
      ? [{ in: where, name: nameOf(where, issue.path), detail: 'is given more than once' }]
      : faultsOf(issue, where, schema)
  )));
}
