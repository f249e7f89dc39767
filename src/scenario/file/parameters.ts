/** Parameters of scenarios: `${name}`, or a formula of numbers and parameters, in texts. */
import jsep from 'jsep';
import { errorText } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { SignalValue } from '../model.ts';

const maxLength = 500;
/** Significant digits of results: 0.1 * 3 gives 0.3. */
const digits = 12;

const operators: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

const functions: Readonly<Record<string, (...values: number[]) => number>> = {
  min: Math.min,
  max: Math.max,
  round: (value = 0) => Math.round(value),
};

/** @throws Error whose message is for the user */
function refuse(message: string): never {
  throw new Error(message);
}

/** @param nameValue value of a name; throws for an unknown name and for a value that is not a number */
function nodeValue(node: jsep.Expression, nameValue: (name: string) => number): number {
  const inner = (child: unknown) => nodeValue(child as jsep.Expression, nameValue);
  switch (node.type) {
    case 'Literal': {
      const { value, raw } = node as jsep.Literal;
      return typeof value === 'number' ? value : refuse(`${raw} is not a number`);
    }
    case 'Identifier':
      return nameValue((node as jsep.Identifier).name);
    case 'UnaryExpression': {
      const { operator, argument } = node as jsep.UnaryExpression;
      if (operator !== '-' && operator !== '+') refuse(`unknown sign ${operator}; allowed: + -`);
      return operator === '-' ? -inner(argument) : inner(argument);
    }
    case 'BinaryExpression': {
      const { operator, left, right } = node as jsep.BinaryExpression;
      const apply = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
      return apply ? apply(inner(left), inner(right)) : refuse(`unknown operator ${operator}; allowed: + - * / %`);
    }
    case 'CallExpression': {
      const { callee, arguments: values } = node as jsep.CallExpression;
      const name = callee.type === 'Identifier' ? (callee as jsep.Identifier).name : '';
      const apply = Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (values.length === 0) refuse(`${name}() needs a number`);
      return apply
        ? apply(...values.map(inner))
        : refuse(`unknown function${name === '' ? '' : ` ${name}`}; allowed: min, max, round`);
    }
    default:
      return refuse('is not arithmetic; allowed: numbers, parameters, + - * / %, parentheses, min, max, round');
  }
}

/**
 * The value of a formula such as `limit_pct / 100 * 5000`.
 * @throws Error whose message is for the user: the formula is invalid, or has no finite value
 */
function formulaValue(text: string, nameValue: (name: string) => number): number {
  if (text.length > maxLength) refuse(`is longer than ${maxLength} characters`);
  const value = nodeValue(jsep(text), nameValue);
  return Number.isFinite(value) ? Number(value.toPrecision(digits)) : refuse('has no finite value');
}

export type Parameters = Readonly<Record<string, SignalValue>>;

/** Names of parameters and marks. */
export const nameForm = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

const wholeReference = /^\$\{([^{}]*)\}$/;
const references = /\$\{([^{}]*)\}/g;

/** A `${...}` without a value, or too many octets, with a message for the user. */
export class ParameterError extends Error {
  readonly path: readonly PropertyKey[];

  constructor(message: string, path: readonly PropertyKey[]) {
    super(message);
    this.path = path;
  }
}

function parameterValue(name: string, parameters: Parameters): SignalValue {
  if (Object.hasOwn(parameters, name)) return parameters[name] ?? null;
  const names = Object.keys(parameters);
  const list = names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`;
  throw new Error(`no parameter is named "${name}"${didYouMean(name, names)}; ${list}`);
}

function numericParameter(name: string, parameters: Parameters): number {
  const value = parameterValue(name, parameters);
  if (typeof value === 'number') return value;
  throw new Error(`the parameter ${name} is ${JSON.stringify(value)}, which is not a number`);
}

/** @param text a name, or a formula */
function valueOf(text: string, parameters: Parameters, path: readonly PropertyKey[]): SignalValue {
  const inner = text.trim();
  try {
    if (nameForm.test(inner)) return parameterValue(inner, parameters);
    return formulaValue(inner, (name) => numericParameter(name, parameters));
  } catch (error) {
    throw new ParameterError(nameForm.test(inner) ? errorText(error) : `\${${text}}: ${errorText(error)}`, path);
  }
}

/**
 * Maximum octets of the entries of a scenario after substitution of parameters; entries of loops and included files
 * count each time. It is above the limit of a request body, which 10,000 ordinary steps of a loop exceed.
 */
export const maxFilledBytes = 16 * 1024 * 1024;
/** Octets that a value other than text counts for. */
const bytesOfMember = 8;

/** Counts the octets of entries after substitution; a text counts its characters. */
export class FilledBytes {
  #left = maxFilledBytes;

  /** true after the first value that did not fit */
  get exceeded(): boolean {
    return this.#left < 0;
  }

  get used(): number {
    return maxFilledBytes - this.#left;
  }

  /** @throws ParameterError */
  take(bytes: number, path: readonly PropertyKey[]): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    const size = `${maxFilledBytes / 1024 / 1024} MiB`;
    throw new ParameterError(
      `after substitution of parameters, with loops and included files counted each time, a scenario has at most ${size}`,
      path,
    );
  }
}

function filledText(value: string, parameters: Parameters, bytes: FilledBytes, path: readonly PropertyKey[]): unknown {
  bytes.take(value.length, path);
  const name = wholeReference.exec(value)?.[1];
  const filled = (inner: string) => {
    const result = valueOf(inner, parameters, path);
    if (typeof result === 'string') bytes.take(result.length, path);
    return result;
  };
  return name !== undefined ? filled(name) : value.replace(references, (_, inner: string) => String(filled(inner)));
}

/**
 * Substitutes parameters in a value. A text that is a single `${...}` becomes the typed value; inside a longer text the
 * value becomes characters. Parts without parameters are shared with the value, not copied.
 * @throws ParameterError
 */
export function withParameters(
  value: unknown,
  parameters: Parameters,
  bytes = new FilledBytes(),
  path: readonly PropertyKey[] = [],
): unknown {
  if (typeof value === 'string') return filledText(value, parameters, bytes, path);
  bytes.take(bytesOfMember, path);
  if (typeof value !== 'object' || value === null) return value;
  const filled = (member: unknown, key: PropertyKey): unknown =>
    withParameters(member, parameters, bytes, [...path, key]);
  if (Array.isArray(value)) {
    const items = value.map(filled);
    return items.every((item, n) => item === value[n]) ? (value as unknown) : items;
  }
  const entries = Object.entries(value).map(([key, member]): [string, unknown, boolean] => {
    bytes.take(key.length, path);
    const result = filled(member, key);
    return [key, result, result === member];
  });
  return entries.every(([, , isSame]) => isSame) ? value : Object.fromEntries(entries);
}
