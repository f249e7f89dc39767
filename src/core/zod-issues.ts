/** Reading of the issues of zod, for the words of configuration and interface alike. */
import type { z } from 'zod';
import type { Fault } from './errors.ts';
import { pointerStep } from './json-pointer.ts';

type Issue = z.core.$ZodIssue;

/** Of the branches of a union, the one that the value was meant for: the only one that does not refuse it as a whole. */
export function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const asWhole = ({ code, path }: Issue) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  const fitting = branches.filter((issues) => !issues.some(asWhole));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Whether the schema brings words of its own for this issue. */
export function hasOwnWords({ message }: Issue): boolean {
  return !message.startsWith('Invalid ');
}

/** What one issue says to who gave the value. */
export interface IssueWords {
  readonly path: readonly PropertyKey[];
  readonly detail: string;
  readonly allowed?: readonly (string | number)[];
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

/** Texts and numbers among values, as they are shown. */
export function scalarValues(values: readonly unknown[]): (string | number)[] {
  return values.filter((value) => typeof value === 'string' || typeof value === 'number');
}

/**
 * An issue in words.
 * @param member what an unknown member is not: `a member of this body`
 * @param members those that there are at the root, where they are known
 */
export function issueWords(issue: Issue, member: string, members?: readonly string[]): IssueWords[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const allowed = path.length === 0 ? members : undefined;
      return issue.keys.map((key) => ({ path: [...path, key], detail: `is not ${member}`, ...(allowed && { allowed }) }));
    }
    case 'invalid_value': {
      const allowed = scalarValues(issue.values);
      return [{ path, detail: hasOwnWords(issue) ? issue.message : `must be one of ${allowed.join(', ')}`, allowed }];
    }
    case 'invalid_union': {
      const branch = meantBranch(issue.errors);
      if (branch) return branch.flatMap((inner) => issueWords({ ...inner, path: [...path, ...inner.path] }, member, members));
      if ('options' in issue) {
        const allowed = scalarValues(issue.options ?? []);
        return [{ path, detail: hasOwnWords(issue) ? issue.message : `must be one of ${allowed.join(', ')}`, allowed }];
      }
      const words = issue.errors.flat().flatMap((inner) => (inner.code === 'invalid_value' ? scalarValues(inner.values) : []));
      return [{ path, detail: issue.message, ...(hasOwnWords(issue) && words.length > 0 && { allowed: words }) }];
    }
    case 'invalid_type': {
      if (issue.input === undefined && issue.message.includes('received undefined')) return [{ path, detail: 'is required' }];
      return [{ path, detail: `must be ${expectations[issue.expected] ?? `a ${issue.expected}`}` }];
    }
    case 'invalid_key':
      return [{ path, detail: `is not a name that a member can have here; it must be ${issue.issues[0]?.message ?? 'another one'}` }];
    case 'too_big':
    case 'too_small':
      return [{ path, detail: bound(issue) }];
    default:
      return [{ path, detail: issue.message }];
  }
}

/** An issue as faults that are named by JSON pointers; the root is the empty pointer. */
export function issueFaults(issue: Issue, member: string): Fault[] {
  return issueWords(issue, member).map(({ path, ...words }) => ({ name: path.map(pointerStep).join(''), ...words }));
}
