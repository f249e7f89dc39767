/** Mutations of valid inputs by chance. */
import type { RandomStream } from '../../src/core/random.ts';

const maxOctets = 256 * 1024;
const oddOctets = [0, 1, 0x7f, 0x80, 0xfe, 0xff, 0x0a, 0x22, 0x5b, 0x7b, 0x3c, 0x05, 0x64];
const oddNumbers = [
  ...['0', '-0', '-1', '1', '127', '255', '256', '32767', '32768', '65535', '65536', '2147483647', '2147483648'],
  ...['4294967295', '4294967296', '9007199254740993', '1e300', '1e309', '-1e309', '1e-320', '0.1', '00', '0x10', '1_0'],
  ...['NaN', 'Infinity', '.5', '1.', '99999999999999999999'],
];
const oddTexts = [
  ...[
    'null',
    'true',
    '{}',
    '[]',
    '""',
    '"',
    '}',
    ']',
    ',',
    ':',
    '\\',
    '\u0000',
    '\ufeff',
    '\u2028',
    '\ud800',
    '&',
    '*',
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '<![CDATA[',
    '<!DOCTYPE a>',
    '&#0;',
    '- ',
    '? ',
    '|',
    '>',
    '#',
    '\r',
    '\t',
  ],
  ...['${x}', '../..', '%00', '!!js/function', '<<: *a', ';', '"\n'],
];

const below = (random: RandomStream, count: number) => Math.floor(random.next() * count);
const chosen = <T>(random: RandomStream, list: readonly T[], otherwise: T): T =>
  list[below(random, list.length)] ?? otherwise;

type Mutation = (input: Buffer, random: RandomStream, samples: readonly Buffer[]) => Buffer;

/** A range of up to `maxLength` octets. */
function range({ length }: Buffer, random: RandomStream, maxLength: number): readonly [from: number, to: number] {
  const from = below(random, length + 1);
  return [from, Math.min(length, from + below(random, maxLength + 1))];
}

const replaced = (input: Buffer, [from, to]: readonly [number, number], by: Uint8Array) =>
  Buffer.concat([input.subarray(0, from), by, input.subarray(to)]);

const ofOctets: readonly Mutation[] = [
  // one bit
  (input, random) => {
    const copy = Buffer.from(input);
    const at = below(random, copy.length);
    if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << below(random, 8));
    return copy;
  },
  // one octet
  (input, random) => {
    const copy = Buffer.from(input);
    const octet = random.next() < 0.5 ? chosen(random, oddOctets, 0) : below(random, 256);
    if (copy.length > 0) copy[below(random, copy.length)] = octet;
    return copy;
  },
  // a cut
  (input, random) => input.subarray(0, below(random, input.length + 1)),
  (input, random) => replaced(input, range(input, random, 16), Buffer.alloc(0)),
  // octets more
  (input, random) => {
    const at = below(random, input.length + 1);
    const octets = Array.from({ length: 1 + below(random, 8) }, () => below(random, 256));
    return replaced(input, [at, at], Buffer.from(octets));
  },
  // a part again, seldom many times
  (input, random) => {
    const [from, to] = range(input, random, 200);
    const times = random.next() < 0.1 ? 1 + below(random, 2000) : 1 + below(random, 3);
    const part = input.subarray(from, to);
    return replaced(input, [to, to], Buffer.concat(Array.from({ length: times }, () => part)));
  },
  // the end of another input
  (input, random, samples) => {
    const other = chosen(random, samples, input);
    return Buffer.concat([
      input.subarray(0, below(random, input.length + 1)),
      other.subarray(below(random, other.length + 1)),
    ]);
  },
];

/** Replaces one match of a pattern, where there is one. */
function withMatch(input: Buffer, random: RandomStream, pattern: RegExp, by: string): Buffer {
  const text = input.toString();
  const matches = [...text.matchAll(pattern)];
  const match = matches[below(random, matches.length)];
  if (match === undefined) return input;
  return Buffer.from(text.slice(0, match.index) + by + text.slice(match.index + match[0].length));
}

const ofText: readonly Mutation[] = [
  (input, random) => withMatch(input, random, /-?\d+(\.\d+)?/g, chosen(random, oddNumbers, '0')),
  (input, random) => withMatch(input, random, /\w+/g, chosen(random, oddTexts, '')),
  (input, random) => withMatch(input, random, /"[^"]*"/g, chosen(random, oddTexts, '')),
  (input, random) => {
    const at = below(random, input.length + 1);
    return replaced(input, [at, at], Buffer.from(chosen(random, oddTexts, '')));
  },
  // a line away, or a line twice
  (input, random) => {
    const lines = input.toString().split('\n');
    const at = below(random, lines.length);
    lines.splice(at, 1, ...(random.next() < 0.5 ? [] : [lines[at] ?? '', lines[at] ?? '']));
    return Buffer.from(lines.join('\n'));
  },
];

/** A sample with one to four mutations, of at most 256 KiB. */
export function mutated(samples: readonly Buffer[], isText: boolean, random: RandomStream): Buffer {
  let input = chosen(random, samples, Buffer.alloc(0));
  for (let count = 1 + below(random, 4); count > 0; count -= 1) {
    const mutations = isText && random.next() < 0.6 ? ofText : ofOctets;
    const mutation = mutations[below(random, mutations.length)];
    if (mutation !== undefined) input = mutation(input, random, samples).subarray(0, maxOctets);
  }
  return input;
}
