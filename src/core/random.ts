import { keptRecord } from './kept.ts';
import type { Kept } from './kept.ts';

const twoTo32 = 0x1_0000_0000;

/** A reproducible stream of random numbers. */
export interface RandomStream {
  /** uniform in [0, 1), 32 bits of it random */
  next(): number;
  /** standard normal: mean 0, standard deviation 1 */
  normal(): number;
  /** the position in the stream */
  kept(): Kept;
}

/** The finaliser of splitmix32 on one word: every input bit reaches every output bit. */
function mix(word: number): number {
  let z = word | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return z ^ (z >>> 15);
}

function absorb(state: number, word: number): number {
  return mix((state ^ word) + 0x9e3779b9);
}

function absorbNumber(state: number, value: number): number {
  const low = value | 0;
  const high = Math.floor(value / twoTo32) | 0;
  const fraction = Math.floor((value - Math.floor(value)) * twoTo32) | 0;
  return absorb(absorb(absorb(absorb(state, 1), low), high), fraction);
}

function absorbText(state: number, text: string): number {
  let hash = absorb(absorb(state, 2), text.length);
  for (let at = 0; at < text.length; at++) hash = absorb(hash, text.charCodeAt(at));
  return hash;
}

/** sfc32: 128 bits of state, passes the usual test batteries, no 64-bit arithmetic. */
class Sfc32 implements RandomStream {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spare = 0;
  #hasSpare = false;

  constructor(a: number, b: number, c: number) {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    // The first outputs still resemble the seed words.
    for (let round = 0; round < 12; round++) this.next();
  }

  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / twoTo32;
  }

  normal(): number {
    if (this.#hasSpare) {
      this.#hasSpare = false;
      return this.#spare;
    }
    // Box-Muller; 1 - next() is never 0, so the logarithm stays finite.
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    const angle = 2 * Math.PI * this.next();
    this.#spare = radius * Math.sin(angle);
    this.#hasSpare = true;
    return radius * Math.cos(angle);
  }

  kept(): Kept {
    return keptRecord(
      () => ({
        words: [this.#a, this.#b, this.#c, this.#counter] as const,
        spare: this.#hasSpare ? this.#spare : null,
      }),
      ({ words, spare }) => {
        [this.#a, this.#b, this.#c, this.#counter] = words;
        this.#hasSpare = spare !== null;
        this.#spare = spare ?? 0;
      },
    );
  }
}

/** Hashes seed and names into one word, from a given start. */
function hash(start: number, seed: number, names: readonly (string | number)[]): number {
  let state = absorbNumber(start, seed);
  for (const name of names) state = typeof name === 'string' ? absorbText(state, name) : absorbNumber(state, name);
  return state;
}

/**
 * A stream for one purpose: the same seed and names give the same numbers on every machine, other names give an
 * independent stream. Names state the purpose, for example a device index and `clouds`; the number 1 and the text
 * `1` are different names.
 */
export function createRandom(seed: number, ...names: readonly (string | number)[]): RandomStream {
  // Three words: with one, two devices of a large fleet could share a stream.
  return new Sfc32(hash(0, seed, names), hash(0x5bd1e995, seed, names), hash(0x1b873593, seed, names));
}
