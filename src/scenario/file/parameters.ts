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

/** @throws Error in words for the user */
function refuse(words: string): never {
  throw new Error(words);
}

/** @param nameValue value of a name; throws if it is unknown or no number */
function nodeValue(node: jsep.Expression, nameValue: (name: string) => number): number {
  const inner = (each: unknown) => nodeValue(each as jsep.Expression, nameValue);
  switch (node.type) {
    case 'Literal': {
      const { value, raw } = node as jsep.Literal;
      return typeof value === 'number' ? value : refuse(`${raw} is no number`);
    }
    case 'Identifier':
      return nameValue((node as jsep.Identifier).name);
    case 'UnaryExpression': {
      const { operator, argument } = node as jsep.UnaryExpression;
      if (operator !== '-' && operator !== '+') refuse(`operator ${operator} is not known`);
      return operator === '-' ? -inner(argument) : inner(argument);
    }
    case 'BinaryExpression': {
      const { operator, left, right } = node as jsep.BinaryExpression;
      const apply = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
      return apply ? apply(inner(left), inner(right)) : refuse(`operator ${operator} is not known; known: + - * / %`);
    }
    case 'CallExpression': {
      const { callee, arguments: values } = node as jsep.CallExpression;
      const name = callee.type === 'Identifier' ? (callee as jsep.Identifier).name : '';
      const apply = Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (values.length === 0) refuse(`${name}() needs a number`);
      return apply ? apply(...values.map(inner)) : refuse('such a function is not known; known: min, max, round');
    }
    default:
      return refuse('is not arithmetic: numbers, parameters, + - * / %, parentheses, min, max, round');
  }
}

/**
 * The value of a formula such as `limit_pct / 100 * 5000`.
 * @throws Error in words for the user: invalid, or without a finite value
 */
function formulaValue(text: string, nameValue: (name: string) => number): number {
  if (text.length > maxLength) refuse(`is longer than ${maxLength} characters`);
  const value = nodeValue(jsep(text), nameValue);
  return Number.isFinite(value) ? Number(value.toPrecision(digits)) : refuse('has no finite value');
}

export type Parameters = Readonly<Record<string, SignalValue>>;

/** Names of parameters and marks. */
export const nameForm = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

const whole = /^\$\{([^{}]*)\}$/;
const inside = /\$\{([^{}]*)\}/g;

/** A `${...}` without a value, with a message for the user. */
export class ParameterError extends Error {
  readonly path: readonly PropertyKey[];

  constructor(words: string, path: readonly PropertyKey[]) {
    super(words);
    this.path = path;
  }
}

function named(name: string, parameters: Parameters): SignalValue {
  if (Object.hasOwn(parameters, name)) return parameters[name] ?? null;
  const names = Object.keys(parameters);
  const list = names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`;
  throw new Error(`no parameter is named "${name}"${didYouMean(name, names)}; ${list}`);
}

function numberNamed(name: string, parameters: Parameters): number {
  const value = named(name, parameters);
  if (typeof value === 'number') return value;
  throw new Error(`the parameter ${name} is ${JSON.stringify(value)}, which is no number`);
}

/** @param text a name, or a formula */
function valueOf(text: string, parameters: Parameters, path: readonly PropertyKey[]): SignalValue {
  const inner = text.trim();
  try {
    if (nameForm.test(inner)) return named(inner, parameters);
    return formulaValue(inner, (name) => numberNamed(name, parameters));
  } catch (error) {
    throw new ParameterError(nameForm.test(inner) ? errorText(error) : `\${${text}}: ${errorText(error)}`, path);
  }
}

/**
 * Octets of the entries of a scenario with parameters put in, those of loops and included files counted each time. One
 * limit for files and requests: 10,000 ordinary steps of a loop exceed the size that a body may have.
 */
export const maxFilledBytes = 16 * 1024 * 1024;
/** Octets that a number, a name or a place in a list counts for. */
const bytesOfMember = 8;

/** Octets that may still be put in. Texts count by their characters. */
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
      `with parameters put in, and with loops and included files counted each time, a scenario has at most ${size}`,
      path,
    );
  }
}

function filledText(value: string, parameters: Parameters, bytes: FilledBytes, path: readonly PropertyKey[]): unknown {
  bytes.take(value.length, path);
  const name = whole.exec(value)?.[1];
  const filled = (inner: string) => {
    const result = valueOf(inner, parameters, path);
    if (typeof result === 'string') bytes.take(result.length, path);
    return result;
  };
  return name !== undefined ? filled(name) : value.replace(inside, (_, inner: string) => String(filled(inner)));
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
