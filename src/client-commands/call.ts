/** Arguments and result of a command that asks a running simulator. */
import type { Client } from '../library/client.ts';

export interface Arguments {
  readonly words: readonly string[];
  /** values by flag, such as `--url`; of a switch an empty text */
  readonly options: ReadonlyMap<string, readonly string[]>;
}

/** Wrong use of a command: exit code 2. */
export class UsageError extends Error {}

export interface Call extends Arguments {
  readonly client: Client;
  /** index of `--device`; absent: the first device, or the common values */
  readonly device: { readonly device?: number };
  /** Prints a line of a command that goes on; `document` in its place with `--json`. */
  readonly print: (line: string, document: unknown) => void;
}

/** Result of a command. */
export interface Result {
  /** for `--json`: the answer, or a list of answers */
  readonly document: unknown;
  readonly lines: readonly string[];
  /** absent: 0 */
  readonly code?: number;
}

export type ClientCommand = (call: Call) => Promise<Result>;

/** The only value of a flag; null: it is absent. */
export function optionOf({ options }: Arguments, flag: string): string | null {
  return options.get(flag)?.[0] ?? null;
}

/** The address of a text: `localhost:8111` means `http://localhost:8111`. */
export const addressOf = (text: string): string =>
  (/^[\w.-]+(:\d+)?(\/|$)|^\[[\da-f:.]+\]/i.test(text) ? `http://${text}` : text).replace(/\/+$/, '');

const plainNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;

/** @param what the quantity, for the refusal @throws UsageError */
export function numberOf(text: string, what: string, min = -Infinity): number {
  const value = plainNumber.test(text) ? Number(text) : Number.NaN;
  if (Number.isFinite(value) && value >= min) return value;
  throw new UsageError(
    `${what} is ${JSON.stringify(text)}. Give a number${min === -Infinity ? '' : ` from ${min} on`}.`,
  );
}

const secondsByUnit: Readonly<Record<string, number>> = { '': 1, s: 1, min: 60, h: 3600 };

/** Seconds of `60`, `60s`, `5min` or `1h`. @param what the quantity, for the refusal @throws UsageError */
export function durationOf(text: string, what: string): number {
  const [, number = '', unit = ''] = /^(.*?)(s|min|h|)$/i.exec(text) ?? [];
  if (plainNumber.test(number) && Number(number) >= 0) return Number(number) * (secondsByUnit[unit.toLowerCase()] ?? 1);
  throw new UsageError(`${what} is ${JSON.stringify(text)}. Give seconds, or a time such as 60s, 5min or 1h.`);
}

/** Seconds of an option that is a time; null: it is absent. @throws UsageError */
export function secondsOf(call: Arguments, flag = '--for'): number | null {
  const text = optionOf(call, flag);
  return text === null ? null : durationOf(text, flag);
}

/** A value of a word NAME=VALUE: a number if it looks like one. */
export const valueOf = (text: string): number | string => (plainNumber.test(text) ? Number(text) : text);

/** Pairs of words NAME=VALUE. @throws UsageError for another form and for a name given twice */
export function pairsOf(words: readonly string[], form = 'NAME=VALUE'): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const word of words) {
    const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(word) ?? [];
    if (name === '') throw new UsageError(`${JSON.stringify(word)} is not ${form}.`);
    if (pairs.has(name)) throw new UsageError(`${name} is given twice.`);
    pairs.set(name, value);
  }
  return pairs;
}

/** @throws UsageError if there are words @param form what is allowed */
export function noWords(words: readonly string[], form: string): void {
  if (words.length > 0)
    throw new UsageError(`${JSON.stringify(words.join(' '))} has no meaning there. Usage: derbench ${form}.`);
}
