/** Parameters of scenarios: `${name}` or a formula in texts. */
import { errorText } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { SignalValue } from '../model.ts';
import { formulaValue } from './formula.ts';

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
 * Substitutes parameters in a value. A text that is a single `${...}` becomes the typed value; inside a longer text the
 * value becomes characters.
 * @throws ParameterError
 */
export function withParameters(value: unknown, parameters: Parameters, path: readonly PropertyKey[] = []): unknown {
  if (typeof value === 'string') {
    const name = whole.exec(value)?.[1];
    if (name !== undefined) return valueOf(name, parameters, path);
    return value.replace(inside, (_, inner: string) => String(valueOf(inner, parameters, path)));
  }
  if (Array.isArray(value)) return value.map((item, n) => withParameters(item, parameters, [...path, n]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withParameters(member, parameters, [...path, key])]),
  );
}
