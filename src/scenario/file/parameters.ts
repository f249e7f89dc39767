/** Parameters of scenarios: `${name}` in texts. */
import { didYouMean } from '../../core/nearest.ts';
import type { SignalValue } from '../model.ts';

export type Parameters = Readonly<Record<string, SignalValue>>;

/** Names of parameters and marks. */
export const nameForm = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

const whole = /^\$\{([^{}]*)\}$/;
const inside = /\$\{([^{}]*)\}/g;

/** A name that no parameter has. */
export class UnknownParameter extends Error {
  readonly path: readonly PropertyKey[];

  constructor(name: string, known: Parameters, path: readonly PropertyKey[]) {
    const names = Object.keys(known);
    const list = names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`;
    super(`no parameter is named "${name}"${didYouMean(name, names)}; ${list}`);
    this.path = path;
  }
}

function valueOf(name: string, parameters: Parameters, path: readonly PropertyKey[]): SignalValue {
  if (!Object.hasOwn(parameters, name)) throw new UnknownParameter(name, parameters, path);
  return parameters[name] ?? null;
}

/**
 * A value with its parameters put in. A text that is one `${name}` becomes the value with its type; inside a longer text
 * it becomes characters.
 * @throws UnknownParameter
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
