/** Conversion between texts of members or attributes and values. */
import type { ScalarFacts } from './tables.ts';
import { noXmlCharacter } from './tree.ts';

export type Scalar = string | number | boolean;

/** A value, with a note if it differs from the text; or the reason for its absence. */
export type ReadScalar =
  | { readonly value: Scalar; readonly note?: string }
  | { readonly value?: never; readonly note: string };

const shown = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
/** 64-bit types end at the maximum safe integer in the table; peers send larger numbers for "far away". */
const isWide = (max: number) => max === Number.MAX_SAFE_INTEGER;

function readInteger(text: string, { min = 0, max = 0 }: ScalarFacts): ReadScalar {
  if (!/^[+-]?[0-9]{1,40}$/u.test(text)) return { note: `${shown(text)} is no integer` };
  // turns -0 into 0
  const value = Number(text) + 0;
  const [least, most] = isWide(max) ? [min < 0 ? -(2 ** 63) : 0, 2 ** 64] : [min, max];
  return value < least || value > most ? { note: `${text} is outside ${min}..${max}` } : { value };
}

function readBoolean(text: string): ReadScalar {
  const word = text.toLowerCase();
  if (word === 'true' || word === '1') return { value: true };
  return word === 'false' || word === '0' ? { value: false } : { note: `${shown(text)} is no boolean` };
}

function readHex(text: string, max: number): ReadScalar {
  if (!/^[0-9a-f]+$/iu.test(text)) return { note: `${shown(text)} is not hexadecimal` };
  const value = text.length % 2 === 0 ? text : `0${text}`;
  if (value.length > 2 * max) return { note: `${shown(text)} has more than ${max} octets` };
  return value === text ? { value } : { value, note: `${text} has half an octet; it is read as ${value}` };
}

function readText(text: string, max: number): ReadScalar {
  const characters = text.length > max ? Array.from(text) : [];
  if (characters.length <= max) return { value: text };
  return {
    value: characters.slice(0, max).join(''),
    note: `has ${characters.length} characters; the first ${max} are read`,
  };
}

/**
 * The value of a text from a peer. Surrounding space is removed except from strings; 64-bit numbers beyond 2^53 are
 * rounded to the nearest double; hex keeps its case; strings that are too long are cut.
 */
export function readScalar(text: string, facts: ScalarFacts): ReadScalar {
  const { kind, max = 0 } = facts;
  if (kind === 'text') return readText(text, max);
  const trimmed = text.trim();
  if (kind === 'integer') return readInteger(trimmed, facts);
  if (kind === 'boolean') return readBoolean(trimmed);
  if (kind === 'hex') return readHex(trimmed, max);
  return trimmed === '' ? { note: 'is an empty URI' } : { value: trimmed };
}

const everyNoXmlCharacter = new RegExp(noXmlCharacter, 'gu');

/** Keeps valid XML characters only, and writes markup characters as references. */
export function escaped(text: string): string {
  return text
    .replace(everyNoXmlCharacter, '')
    .replace(/[&<>"\t\n\r]/gu, (character) => `&#${character.charCodeAt(0)};`);
}

/** The text of a value; or the reason why the schema does not allow it. */
export function writeScalar(
  value: unknown,
  { kind, min = 0, max = 0 }: ScalarFacts,
): { readonly text: string } | { readonly reason: string } {
  if (kind === 'integer') {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return { reason: `${String(value)} is no integer` };
    return value < min || value > max ? { reason: `${value} is outside ${min}..${max}` } : { text: String(value) };
  }
  if (kind === 'boolean')
    return typeof value === 'boolean' ? { text: String(value) } : { reason: `${String(value)} is no boolean` };
  if (typeof value !== 'string') return { reason: `a ${typeof value} is no text` };
  if (kind === 'hex') {
    const isHex = /^(?:[0-9a-f]{2})+$/iu.test(value) && value.length <= 2 * max;
    return isHex ? { text: value } : { reason: `${shown(value)} is not 1..${max} octets in hex` };
  }
  if (kind === 'uri') return /^\S+$/u.test(value) ? { text: escaped(value) } : { reason: `${shown(value)} is no URI` };
  if (Array.from(value.replace(everyNoXmlCharacter, '')).length > max)
    return { reason: `${shown(value)} has more than ${max} characters` };
  return { text: escaped(value) };
}
