/** Options of `npm run soak`. */
import { parseArgs } from 'node:util';

/** Promises that are checked after each restart. */
export const bookNames = ['ocpp', 'csip', 'rest', 'dnp3', 'energy'] as const;
export type BookName = (typeof bookNames)[number];

export interface SoakOptions {
  /** of the run after the start, the warm-up included */
  readonly seconds: number;
  readonly seed: number;
  readonly devices: number;
  /** Modbus masters, each at 10 Hz */
  readonly masters: number;
  /** stream clients, one of ten of which never reads */
  readonly streams: number;
  /** REST requests per second */
  readonly restPerS: number;
  readonly tickS: number;
  readonly chaos: boolean;
  /** null: no run of short lives */
  readonly kills: number | null;
  readonly books: ReadonlySet<BookName>;
  readonly jsonFile: string | null;
  readonly build: boolean;
}

function numberOf(name: string, text: string | undefined, usual: number, [low, high]: readonly [number, number]) {
  if (text === undefined) return usual;
  const value = text.trim() === '' ? NaN : Number(text);
  if (!(value >= low && value <= high)) throw new Error(`--${name} is ${text}; allowed: ${low} to ${high}`);
  return value;
}

function wholeOf(name: string, text: string | undefined, usual: number, range: readonly [number, number]) {
  const value = numberOf(name, text, usual, range);
  if (!Number.isInteger(value)) throw new Error(`--${name} is ${String(text)}; allowed: a whole number`);
  return value;
}

function booksOf(names: readonly string[] | undefined): ReadonlySet<BookName> {
  if (names === undefined) return new Set(bookNames);
  const books = names.flatMap((text) => text.split(','));
  const unknown = books.find((name) => !bookNames.some((each) => each === name));
  if (unknown !== undefined) throw new Error(`--books is ${unknown}; allowed: ${bookNames.join(', ')}`);
  return new Set(bookNames.filter((name) => books.includes(name)));
}

/** @throws Error that names the wrong argument and what is allowed */
export function soakOptions(args: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      devices: { type: 'string' },
      masters: { type: 'string' },
      streams: { type: 'string' },
      rest: { type: 'string' },
      tick: { type: 'string' },
      chaos: { type: 'boolean', default: false },
      kills: { type: 'string' },
      books: { type: 'string', multiple: true },
      json: { type: 'string' },
      'no-build': { type: 'boolean', default: false },
    },
  });
  const isShort = values.kills !== undefined;
  return {
    seconds: 60 * numberOf('minutes', values.minutes, 10, [0.1, 24 * 60]),
    seed: wholeOf('seed', values.seed, 1, [-(2 ** 31), 2 ** 31 - 1]),
    devices: wholeOf('devices', values.devices, isShort ? 4 : 50, [4, 200]),
    masters: wholeOf('masters', values.masters, 20, [0, 200]),
    streams: wholeOf('streams', values.streams, 50, [0, 500]),
    restPerS: numberOf('rest', values.rest, 5, [0, 100]),
    tickS: numberOf('tick', values.tick, 0.1, [0.05, 10]),
    chaos: values.chaos,
    kills: isShort ? wholeOf('kills', values.kills, 200, [1, 10_000]) : null,
    books: booksOf(values.books),
    jsonFile: values.json ?? null,
    build: !values['no-build'],
  };
}
