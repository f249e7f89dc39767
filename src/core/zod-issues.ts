/** Turns issues of zod into words, for the configuration and the HTTP interface alike. */
import { z } from 'zod';
import { pointerStep } from './errors.ts';
import type { Issue } from './errors.ts';
import { didYouMean, givenText } from './nearest.ts';

type ZodIssue = z.core.$ZodIssue;

/** The branch of a union that a value was meant for: the only branch that does not refuse the value as a whole. */
export function meantBranch(branches: readonly (readonly ZodIssue[])[]): readonly ZodIssue[] | undefined {
  const asWhole = ({ code, path }: ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
  const fitting = branches.filter((issues) => !issues.some(asWhole));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** True if the schema has its own message for this issue. */
export function hasOwnWords({ message }: ZodIssue): boolean {
  return !message.startsWith('Invalid ');
}

/** One issue in words for the user. */
interface IssueWords {
  readonly path: readonly PropertyKey[];
  readonly detail: string;
  readonly allowed?: readonly (string | number)[];
}

/** Context of the text of an issue. */
interface Wording {
  /** completes `is not ...` for an unknown member: `a member of this body` */
  readonly member: string;
  readonly facts?: SchemaFacts | undefined;
  /** leaves the given value out: for words that become part of a sentence, and for a secret value */
  readonly short?: true;
}

/** `; given "abc"` if zod reports the input; empty for a missing value. */
function givenSuffix(issue: ZodIssue, { short }: Wording): string {
  return issue.input === undefined || short ? '' : `; given ${givenText(issue.input)}`;
}

/** The given value, to follow the text of a schema, which may already name it. */
function givenBehind(issue: ZodIssue, wording: Wording): string {
  const scalar = typeof issue.input === 'string' || typeof issue.input === 'number';
  return scalar && issue.message.startsWith('must be ') ? givenSuffix(issue, wording) : '';
}

function sizeWords(issue: Extract<ZodIssue, { code: 'too_big' | 'too_small' }>, { short }: Wording): string {
  const unit = issue.origin === 'string' ? 'character' : 'item';
  const [word, count] = issue.code === 'too_big' ? ['at most', issue.maximum] : ['at least', issue.minimum];
  const { input } = issue;
  const size = !short && (typeof input === 'string' || Array.isArray(input)) ? `; given ${input.length}` : '';
  return `must have ${word} ${String(count)} ${unit}${Number(count) === 1 ? '' : 's'}${size}`;
}

function bound(issue: Extract<ZodIssue, { code: 'too_big' | 'too_small' }>, wording: Wording): string {
  if (issue.origin === 'string' || issue.origin === 'array' || issue.origin === 'set') return sizeWords(issue, wording);
  const bound: NumberRange =
    issue.code === 'too_big'
      ? { max: Number(issue.maximum), below: issue.inclusive === false }
      : { min: Number(issue.minimum), above: issue.inclusive === false };
  // of several alternatives the one that has this bound
  const whole = (wording.facts?.ranges(issue.path) ?? []).filter(({ min, max }) =>
    bound.max === undefined ? min === bound.min : max === bound.max,
  );
  const { min, max, above = false, below = false } = whole.length === 1 ? (whole[0] ?? bound) : bound;
  if (min !== undefined && max !== undefined && !above && !below)
    return `must be from ${min} to ${max}${givenSuffix(issue, wording)}`;
  const lowerBound = min === undefined ? [] : [`${above ? 'more than' : 'at least'} ${min}`];
  const most = max === undefined ? [] : [`${below ? 'less than' : 'at most'} ${max}`];
  return `must be ${[...lowerBound, ...most].join(' and ')}${givenSuffix(issue, wording)}`;
}

/** The discriminating member in place of the object that it stands in. */
function discriminating(issue: Extract<ZodIssue, { code: 'invalid_union' }>): ZodIssue {
  const { input, discriminator } = issue;
  if (discriminator === undefined || typeof input !== 'object' || input === null) return issue;
  return { ...issue, input: (input as Readonly<Record<string, unknown>>)[discriminator] };
}

/** The refusal of a word: the words that are taken, and the nearest of them. */
function notOneOf(issue: ZodIssue, allowed: readonly (string | number)[], wording: Wording): string {
  const near = !wording.short && typeof issue.input === 'string' ? didYouMean(issue.input, allowed.map(String)) : '';
  return `must be one of ${allowed.join(', ')}${givenSuffix(issue, wording)}${near}`;
}

/** Own words of a schema for a refused word, and the nearest of those that are taken. */
function ownWords({ message, input }: ZodIssue, allowed: readonly (string | number)[], { short }: Wording): string {
  return !short && typeof input === 'string' ? `${message}${didYouMean(input, allowed.map(String))}` : message;
}

/** Unknown members of one object for which the nearest known one is sought. */
const maxSought = 20;

const expectations: Readonly<Record<string, string>> = {
  int: 'an integer',
  integer: 'an integer',
  array: 'an array',
  tuple: 'an array',
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

/** True if no value was given at all; for an enumeration only `withInput` shows it. */
function isMissing(issue: ZodIssue): boolean {
  return issue.input === undefined && ('input' in issue || issue.message.includes('received undefined'));
}

/** The values accepted by one branch of a union, according to its issues. */
function branchWords(issues: readonly ZodIssue[], member: string): readonly string[] {
  const whole = issues.find(({ path }) => path.length === 0);
  if (whole?.code === 'invalid_type') return [expected(whole.expected)];
  if (whole?.code === 'invalid_value') return whole.values.map(String);
  const words = issues
    .filter(({ code }) => code !== 'unrecognized_keys')
    .flatMap((issue) => wordsOf(issue, { member, short: true }));
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
 * @param facts of the schema, for the members that are known and the whole range of a number
 * @param secret leaves the given value out
 */
export function issueWords(issue: ZodIssue, member: string, facts?: SchemaFacts, secret = false): IssueWords[] {
  return wordsOf(issue, { member, facts, ...(secret && { short: true }) });
}

function wordsOf(issue: ZodIssue, wording: Wording): IssueWords[] {
  const { path } = issue;
  const { member, facts } = wording;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const memberNames = facts?.members(path);
      return issue.keys.map((key, i) => ({
        path: [...path, key],
        detail: `is not ${member}${memberNames && i < maxSought ? didYouMean(key, memberNames) : ''}`,
        ...(memberNames && { allowed: memberNames }),
      }));
    }
    case 'invalid_value': {
      if (isMissing(issue)) return [{ path, detail: required }];
      const allowed = scalarValues(issue.values);
      return [{ path, detail: (hasOwnWords(issue) ? ownWords : notOneOf)(issue, allowed, wording), allowed }];
    }
    case 'invalid_union': {
      const branch = meantBranch(issue.errors);
      if (branch) return branch.flatMap((inner) => wordsOf({ ...inner, path: [...path, ...inner.path] }, wording));
      if ('options' in issue) {
        const allowed = scalarValues(issue.options ?? []);
        return [
          {
            path,
            detail: hasOwnWords(issue) ? issue.message : notOneOf(discriminating(issue), allowed, wording),
            allowed,
          },
        ];
      }
      // messages about members do not help where the value is no object at all
      if (issue.errors.length > 0 && issue.errors.every(wantsObject)) return [{ path, detail: 'must be an object' }];
      if (!hasOwnWords(issue))
        return [{ path, detail: `must be ${anyOf(issue.errors.flatMap((inner) => branchWords(inner, member)))}` }];
      const words = issue.errors
        .flat()
        .flatMap((inner) => (inner.code === 'invalid_value' ? scalarValues(inner.values) : []));
      return [{ path, detail: ownWords(issue, words, wording), ...(words.length > 0 && { allowed: words }) }];
    }
    case 'invalid_type': {
      if (isMissing(issue)) return [{ path, detail: required }];
      return [{ path, detail: `must be ${expected(issue.expected)}${givenSuffix(issue, wording)}` }];
    }
    case 'invalid_key':
      return [
        {
          path,
          detail: `is not a name that a member can have here; it must be ${issue.issues[0]?.message.replace(/^must be /, '') ?? 'another one'}`,
        },
      ];
    case 'too_big':
    case 'too_small':
      return [{ path, detail: bound(issue, wording) }];
    default:
      return [{ path, detail: `${issue.message}${givenBehind(issue, wording)}` }];
  }
}

/** An issue of zod as ours, named by JSON pointers; the root is the empty pointer. */
export function pointerIssues(issue: ZodIssue, member: string, facts?: SchemaFacts): Issue[] {
  return issueWords(issue, member, facts).map(({ path, ...words }) => ({
    name: path.map(pointerStep).join(''),
    ...words,
  }));
}

/** Facts of a zod schema at a place of its input, for refusals: members, range of a number. */
interface NumberRange {
  readonly min?: number;
  readonly max?: number;
  /** the bound itself is outside */
  readonly above?: boolean;
  readonly below?: boolean;
}

/** Facts about places in the input of a schema. */
export interface SchemaFacts {
  /** names that members may have there; undefined: any, or no object */
  members(path: readonly PropertyKey[]): readonly string[] | undefined;
  /** ranges of the numbers that alternatives of the schema take there, each once; a number without bounds has none */
  ranges(path: readonly PropertyKey[]): readonly NumberRange[];
}

type Schema = z.core.$ZodType;

/** A schema without its wrappers; of a union every alternative. */
function bare(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return bare(schema.def.innerType);
  if (schema instanceof z.ZodReadonly || schema instanceof z.ZodPrefault) return bare(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return bare(schema.def.in);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap(bare);
  return [schema];
}

function inside(schema: Schema, step: PropertyKey): readonly Schema[] {
  if (schema instanceof z.ZodArray) return typeof step === 'number' ? bare(schema.def.element) : [];
  if (schema instanceof z.ZodRecord) return bare(schema.def.valueType);
  if (!(schema instanceof z.ZodObject)) return [];
  const shape: Readonly<Record<string, Schema>> = schema.def.shape;
  const member = Object.hasOwn(shape, step) ? shape[String(step)] : undefined;
  return member === undefined ? [] : bare(member);
}

/** The bounds that a number was given; those that make an integer a safe one are none. */
function rangeOf(schema: Schema): NumberRange {
  if (!(schema instanceof z.ZodNumber)) return {};
  const checks = (schema.def.checks ?? []).map((check): object => check._zod.def);
  const range: { min?: number; max?: number; above?: boolean; below?: boolean } = {};
  for (const check of checks as { check?: unknown; value?: unknown; inclusive?: unknown }[]) {
    if (typeof check.value !== 'number') continue;
    if (check.check === 'greater_than' && check.value >= (range.min ?? -Infinity))
      Object.assign(range, { min: check.value, above: check.inclusive === false });
    if (check.check === 'less_than' && check.value <= (range.max ?? Infinity))
      Object.assign(range, { max: check.value, below: check.inclusive === false });
  }
  return range;
}

export function factsOf(schema: Schema): SchemaFacts {
  const at = (path: readonly PropertyKey[]) =>
    path.reduce<readonly Schema[]>((schemas, step) => schemas.flatMap((each) => inside(each, step)), bare(schema));
  return {
    members(path) {
      const names = at(path).flatMap((each) => (each instanceof z.ZodObject ? Object.keys(each.def.shape) : []));
      return names.length === 0 ? undefined : [...new Set(names)];
    },
    ranges(path) {
      const ranges = at(path)
        .map(rangeOf)
        .filter(({ min, max }) => min !== undefined || max !== undefined);
      return [...new Map(ranges.map((range) => [Object.values(range).join(), range])).values()];
    },
  };
}
