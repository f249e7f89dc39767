import type { z } from 'zod';
import { printable } from '../../core/log/log.ts';
import type { Issue, SimError } from '../../core/errors.ts';
import { didYouMean, nearest } from '../../core/nearest.ts';
import { hasOwnWords, issueWords, meantBranch, scalarValues } from '../../core/zod-issues.ts';

const maxGivenLength = 80;

/** A URL after its scheme. */
const address = /:\/\/[^\s"]*/g;

/** Removes user name, password and query, which may contain secrets. */
function withoutSecrets(url: string): string {
  const at = url.lastIndexOf('@');
  const plain = at < 0 ? url : `://...@${url.slice(at + 1)}`;
  const query = plain.indexOf('?');
  return query < 0 ? plain : `${plain.slice(0, query)}?...`;
}

/** A given value as an issue shows it: quoted when text, cut when long, URLs without credentials and query. */
export function quoted(value: unknown): string {
  // JSON has no infinity: it would show as null
  const fullText = value === undefined ? 'nothing' : typeof value === 'number' ? String(value) : JSON.stringify(value);
  const text = fullText.replace(address, withoutSecrets);
  return text.length > maxGivenLength ? `${text.slice(0, maxGivenLength - 1)}…` : text;
}

/**
 * The issue of a refused value. With `secret` it does not repeat the value; `remark` describes the value, if `allowed`
 * does not explain the refusal.
 */
export function refused(
  name: string,
  value: unknown,
  allowed: string | readonly (string | number)[],
  { secret = false, remark = null }: { readonly secret?: boolean; readonly remark?: string | null } = {},
): Issue {
  const valueText = secret ? 'a secret value' : `${quoted(value)}${remark === null ? '' : `, ${remark}`}`;
  const text = typeof allowed === 'string' ? allowed : allowed.join(', ');
  const near = typeof allowed === 'string' || secret ? '' : didYouMean(String(value), allowed.map(String));
  const issue: Issue = { name, detail: `given ${valueText}; allowed: ${text}${near}` };
  return typeof allowed === 'string' ? issue : { ...issue, allowed };
}

const maxListedNames = 20;

/**
 * The issue of an unknown name: with the nearest known name, or with all known names if there are few.
 * @param what sort of name, for example `flag`
 */
export function unknownName(
  name: string,
  what: string,
  unknown: string,
  names: readonly string[],
  maxListed = maxListedNames,
): Issue {
  const nearestName = nearest(unknown, names);
  if (nearestName !== null) return { name, detail: `unknown ${what}; nearest known: ${nearestName}`, allowed: names };
  const allowed = names.length > maxListed ? 'those that derbench --help lists' : names.join(', ');
  return { name, detail: `unknown ${what}; allowed: ${allowed}`, allowed: names };
}

/** The part of a JSON Schema that issue texts are made of. */
interface SchemaNode {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
}

function child(node: SchemaNode, step: PropertyKey): SchemaNode | undefined {
  if (node.anyOf) return node.anyOf.map((branch) => child(branch, step)).find((schema) => schema !== undefined);
  if (typeof step === 'number') return node.items;
  if (node.properties && Object.hasOwn(node.properties, step)) return node.properties[String(step)];
  return typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
}

function rangeText(node: SchemaNode): string {
  const safe = (limit?: number) =>
    limit === undefined || Math.abs(limit) >= Number.MAX_SAFE_INTEGER ? undefined : limit;
  const [low, high] = [safe(node.minimum), safe(node.maximum)];
  if (node.exclusiveMinimum !== undefined)
    return ` above ${node.exclusiveMinimum}${high === undefined ? '' : ` up to ${high}`}`;
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  return low === undefined ? (high === undefined ? '' : ` up to ${high}`) : ` from ${low}`;
}

function nodeText(node: SchemaNode): string {
  if (node.anyOf) return node.anyOf.map(nodeText).join(', or ');
  if (node.enum) return node.enum.join(', ');
  switch (node.type) {
    case 'number':
      return `a number${rangeText(node)}`;
    case 'integer':
      return `a whole number${rangeText(node)}`;
    case 'boolean':
      return 'true or false';
    case 'object':
      return 'a mapping';
    case 'array':
      return `a list of ${node.minItems ?? 0} to ${node.maxItems ?? 'any number of'} entries`;
    case 'string':
      return node.maxLength === undefined ? 'text' : `text of 1 to ${node.maxLength} characters`;
    default:
      return 'another value';
  }
}

/** `devices[1].profile` from path steps. */
export function keyPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as Record<PropertyKey, unknown>)[step]
        : undefined,
    input,
  );
}

type ZodIssue = z.core.$ZodIssue;

/**
 * Issues of a value that a zod schema refused, with the allowed values.
 * @param check.schema the same schema as JSON Schema, without references
 * @param check.where prefix of each key, for example the name of the file
 * @param check.absent text for an unknown key; null: the issue names the nearest known key
 */
export function zodIssues(
  issues: readonly ZodIssue[],
  check: {
    readonly input: unknown;
    readonly schema: object;
    readonly where: string;
    readonly absent?: (path: readonly PropertyKey[]) => string | null;
  },
  base: readonly PropertyKey[] = [],
): Issue[] {
  const nameOf = (path: readonly PropertyKey[]) =>
    path.length === 0 ? check.where : `${check.where}: ${keyPath(path)}`;
  return issues.flatMap((issue): Issue[] => {
    const path = [...base, ...issue.path];
    const node = path.reduce<SchemaNode | undefined>((at, step) => at && child(at, step), check.schema);
    if (issue.code === 'unrecognized_keys') {
      const owner = node?.anyOf?.find((branch) => branch.properties) ?? node;
      const names = Object.keys(owner?.properties ?? {});
      if (names.length === 0) return issue.keys.map((key) => ({ name: nameOf([...path, key]), detail: 'unknown key' }));
      return issue.keys.map((key) => {
        const name = nameOf([...path, key]);
        const detail = check.absent?.([...path, key]) ?? null;
        // the help has settings alone, so that members of files are listed however many there are
        return detail === null ? unknownName(name, 'key', key, names, names.length) : { name, detail, allowed: names };
      });
    }
    if (issue.code === 'invalid_union') {
      const branch = meantBranch(issue.errors);
      if (branch) return zodIssues(branch, check, path);
      if (hasOwnWords(issue)) return [refused(nameOf(path), valueAt(check.input, path), issue.message)];
      if ('options' in issue)
        return [refused(nameOf(path), valueAt(check.input, path), scalarValues(issue.options ?? []))];
    }
    if (issue.code === 'invalid_key') {
      return [
        {
          name: nameOf(path),
          detail: `not a valid key; allowed: ${issue.issues[0]?.message ?? 'another name'}`,
        },
      ];
    }
    if (!node && issue.code !== 'custom' && issue.code !== 'invalid_format') {
      return issueWords(issue, 'a key here').map(({ path: steps, ...words }) => ({
        name: nameOf([...base, ...steps]),
        ...words,
      }));
    }
    const allowed =
      issue.code === 'custom' || issue.code === 'invalid_format' || !node
        ? issue.message
        : (node.enum ?? nodeText(node));
    return [refused(nameOf(path), valueAt(check.input, path), allowed)];
  });
}

/** All issues of a configuration error as text for a terminal, one line each. */
export function formatIssues(error: SimError): string {
  const lines = error.issues.map((issue) => `  ${printable(`${issue.name}: ${issue.detail}`)}`);
  return [printable(error.message), ...lines].join('\n');
}
