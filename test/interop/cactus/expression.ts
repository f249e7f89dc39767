/** Variable expressions of the test definitions: `$(now + '5 minutes')`, `$(maxExportW * 2)`, `$(this <= rtgMaxVA)`. */
import type { Value } from './definitions.ts';

/** Values of names; undefined: the name has none. */
export type Names = (name: string) => number | undefined;

export class UnknownName extends Error {}

const unitS: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3600, day: 86_400 };

function durationS(text: string): number {
  const [, amount, unit] = /^(-?\d+) (second|minute|hour|day)s?$/.exec(text) ?? [];
  const factor = unitS[unit ?? ''];
  if (amount === undefined || factor === undefined) throw new Error(`${text}: no duration`);
  return Number(amount) * factor;
}

class Reader {
  readonly #tokens: readonly string[];
  readonly #names: Names;
  #at = 0;

  constructor(text: string, names: Names) {
    this.#tokens = text.match(/'[^']*'|[A-Za-z_]\w*|\d+(?:\.\d+)?|<=|>=|==|!=|[-+*/()<>]/g) ?? [];
    this.#names = names;
  }

  #take(...wanted: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#at += 1;
    return token;
  }

  whole(): number | boolean {
    const left = this.#sum();
    const sign = this.#take('<=', '>=', '==', '!=', '<', '>');
    const value = sign === undefined ? left : compare(sign, left, this.#sum());
    if (this.#at < this.#tokens.length) throw new Error(`${this.#tokens.join(' ')}: not understood`);
    return value;
  }

  #sum(): number {
    let value = this.#product();
    for (let sign = this.#take('+', '-'); sign !== undefined; sign = this.#take('+', '-')) {
      value += (sign === '+' ? 1 : -1) * this.#product();
    }
    return value;
  }

  #product(): number {
    let value = this.#atom();
    for (let sign = this.#take('*', '/'); sign !== undefined; sign = this.#take('*', '/')) {
      value = sign === '*' ? value * this.#atom() : value / this.#atom();
    }
    return value;
  }

  #atom(): number {
    if (this.#take('-') !== undefined) return -this.#atom();
    if (this.#take('(') !== undefined) {
      const value = this.#sum();
      this.#take(')');
      return value;
    }
    const token = this.#tokens[this.#at] ?? '';
    this.#at += 1;
    if (token.startsWith("'")) return durationS(token.slice(1, -1));
    if (/^\d/.test(token)) return Number(token);
    const value = this.#names(token);
    if (value === undefined) throw new UnknownName(`${token} has no value`);
    return value;
  }
}

function compare(sign: string, left: number, right: number): boolean {
  if (sign === '<=') return left <= right;
  if (sign === '>=') return left >= right;
  if (sign === '==') return left === right;
  if (sign === '!=') return left !== right;
  return sign === '<' ? left < right : left > right;
}

/** The value of a parameter; what is not an expression stays as it is. @throws UnknownName */
export function resolved(value: Value | undefined, names: Names): Value | undefined {
  const inner = typeof value === 'string' ? /^\$\((.*)\)$/.exec(value)?.[1] : undefined;
  return inner === undefined ? value : new Reader(inner, names).whole();
}
