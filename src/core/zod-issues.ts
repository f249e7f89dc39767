/** Turns issues of zod into words, for the configuration and the HTTP interface alike. */
import type { z } from 'zod';
import { pointerStep } from './errors.ts';
import type { Issue } from './errors.ts';

type ZodIssue = z.core.$ZodIssue;

/** The branch of a union that a value was meant for: the only branch that does not refuse the value as a whole. */
export function meantBranch(branches: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  const asWhole = ({ code, path }: ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  const fitting = branches.filter((issues) => !issues.some(asWhole));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Whether the schema has its own message for this issue. */
export function hasOwnWords({ message }: ZodIssue): boolean {
  return !message.startsWith('Invalid ');
}

/** One issue in words for the user. */
export interface IssueWords {
  readonly path: readonly PropertyKey[];
  readonly detail: string;
  readonly allowed?: readonly (string | number)[];
}

function bound(issue: Extract<ZodIssue, { code: 'too_big' | 'too_small' }>): string {
  const unit =
    issue.origin === 'string' ? ' characters' : issue.origin === 'array' || issue.origin === 'set' ? ' items' : '';
  const verb = unit === '' ? 'must be' : 'must have';
  if (issue.code === 'too_big') {
    return `${verb} ${issue.inclusive === false ? 'less than' : 'at most'} ${String(issue.maximum)}${unit}`;
  }
  return `${verb} ${issue.inclusive === false ? 'more than' : 'at least'} ${String(issue.minimum)}${unit}`;
}

const expectations: Readonly<Record<string, string>> = {
  int: 'an integer',
  integer: 'an integer',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

function expected(type: string): string {
  return expectations[type] ?? `a ${type}`;
}

/** `a, b or c` */
function anyOf(words: readonly string[]): string {
  const different = [...new Set(words)];
  const last = different.at(-1) ?? '';
  return different.length < 2 ? last : `${different.slice(0, -1).join(', ')} or ${last}`;
}

/** Texts and numbers among values, as they are shown. */
export function scalarValues(values: readonly unknown[]): (string | number)[] {
  return values.filter((value) => typeof value === 'string' || typeof value === 'number');
}

const required = 'is required';

/** Option of `safeParse`: lets issues distinguish a missing value from a wrong one. */
export const withInput = { reportInput: true } as const;

/** Whether no value was given at all; for an enumeration only `withInput` tells. */
function isMissing(issue: ZodIssue): boolean {
  return issue.input === undefined && ('input' in issue || issue.message.includes('received undefined'));
}

/** The values that one branch of a union accepts, as far as its issues tell. */
function branchWords(issues: readonly ZodIssue[], member: string): readonly string[] {
  const whole = issues.find(({ path }) => path.length === 0);
  if (whole?.code === 'invalid_type') return [expected(whole.expected)];
  if (whole?.code === 'invalid_value') return whole.values.map(String);
  const words = issues.filter(({ code }) => code !== 'unrecognized_keys').flatMap((issue) => issueWords(issue, member));
  const named = words.map(({ path, detail }) => ({ name: path.map(String).join('.'), detail }));
  const missing = named.filter(({ detail }) => detail === required).map(({ name }) => name);
  const wrong = named.filter(({ detail }) => detail !== required).map(({ name, detail }) => ` whose ${name} ${detail}`);
  const extra = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
  const listed = (word: string, names: readonly string[]) =>
    names.length === 0 ? '' : ` ${word} ${names.join(' and ')}`;
  return [`an object${listed('with', missing)}${listed('without', extra)}${wrong.join('')}`];
}

const wantsObject = (issues: readonly ZodIssue[]) =>
  issues.some(
    (issue) => issue.path.length === 0 && issue.code === 'invalid_type' && expected(issue.expected) === 'an object',
  );

/**
 * An issue in words.
 * @param member completes `is not ...` for an unknown member: `a member of this body`
 * @param members known member names at the root, if known
 */
export function issueWords(issue: ZodIssue, member: string, members?: readonly string[]): IssueWords[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const allowed = path.length === 0 ? members : undefined;
      return issue.keys.map((key) => ({
        path: [...path, key],
        detail: `is not ${member}`,
        ...(allowed && { allowed }),
      }));
    }
    case 'invalid_value': {
      if (isMissing(issue)) return [{ path, detail: required }];
      const allowed = scalarValues(issue.values);
      return [{ path, detail: hasOwnWords(issue) ? issue.message : `must be one of ${allowed.join(', ')}`, allowed }];
    }
    case 'invalid_union': {
      const branch = meantBranch(issue.errors);
      if (branch)
        return branch.flatMap((inner) => issueWords({ ...inner, path: [...path, ...inner.path] }, member, members));
      if ('options' in issue) {
        const allowed = scalarValues(issue.options ?? []);
        return [{ path, detail: hasOwnWords(issue) ? issue.message : `must be one of ${allowed.join(', ')}`, allowed }];
      }
      // messages about members do not help where the value is no object at all
      if (issue.errors.length > 0 && issue.errors.every(wantsObject)) return [{ path, detail: 'must be an object' }];
      if (!hasOwnWords(issue))
        return [{ path, detail: `must be ${anyOf(issue.errors.flatMap((inner) => branchWords(inner, member)))}` }];
      const words = issue.errors
        .flat()
        .flatMap((inner) => (inner.code === 'invalid_value' ? scalarValues(inner.values) : []));
      return [{ path, detail: issue.message, ...(words.length > 0 && { allowed: words }) }];
    }
    case 'invalid_type': {
      if (isMissing(issue)) return [{ path, detail: required }];
      return [{ path, detail: `must be ${expected(issue.expected)}` }];
    }
    case 'invalid_key':
      return [
        {
          path,
          detail: `is not a name that a member can have here; it must be ${issue.issues[0]?.message ?? 'another one'}`,
        },
      ];
    case 'too_big':
    case 'too_small':
      return [{ path, detail: bound(issue) }];
    default:
      return [{ path, detail: issue.message }];
  }
}

/** An issue of zod as ours, named by JSON pointers; the root is the empty pointer. */
export function pointerIssues(issue: ZodIssue, member: string): Issue[] {
  return issueWords(issue, member).map(({ path, ...words }) => ({ name: path.map(pointerStep).join(''), ...words }));
}
