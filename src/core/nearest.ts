/** Finds the known name nearest to a given name: of flags, keys, members, points, words of an enumeration, paths. */
import damerauLevenshtein from 'damerau-levenshtein';

/** Characters of a name that are compared; the rest is ignored. */
const comparedLength = 64;
/** Maximum number of known names that a search reads. */
const maxKnown = 4096;
/** Maximum number of known names whose edit distance is computed: a search ends within milliseconds. */
const maxCompared = 256;
/** Maximum edit distance of a similar name. */
const maxSteps = 4;

const plain = (text: string) => text.slice(0, comparedLength).replace(/^-+/, '').replaceAll('-', '_').toLowerCase();

/** A lower bound of the edit distance of two texts from the counts of their letters, cheaper than the distance. */
function minSteps(counts: Int8Array, length: number, other: string): number {
  let shared = 0;
  for (let i = 0; i < other.length; i += 1) {
    const letter = other.charCodeAt(i) & 0xff;
    const left = counts[letter] ?? 0;
    counts[letter] = left - 1;
    if (left > 0) shared += 1;
  }
  for (let i = 0; i < other.length; i += 1) {
    const letter = other.charCodeAt(i) & 0xff;
    counts[letter] = (counts[letter] ?? 0) + 1;
  }
  return Math.max(length, other.length) - shared;
}

/** Minimum length of an abbreviation; `beginning` accepts longer known names only. */
const minStart = 3;

/**
 * The known name that the given one abbreviates word by word: web_port is website_port. Of several, it is the only one
 * with the fewest words: voltage is voltage_pu, not voltage_a_pu. Sought before the edit distance, by which a short
 * name is closer to unrelated short names than to its long form.
 */
function abbreviated(plainName: string, names: readonly string[]): string | null {
  if (plainName.length < minStart) return null;
  const words = plainName.split('_');
  const [first = ''] = words;
  const matches = names.slice(0, maxKnown).filter((name) => {
    const text = plain(name);
    if (!text.startsWith(first)) return false;
    const whole = text.split('_');
    return words.every((word, i) => whole[i]?.startsWith(word));
  });
  const wordsOf = (name: string) => plain(name).split('_').length;
  const fewest = Math.min(...matches.map(wordsOf));
  const shortest = matches.filter((name) => wordsOf(name) === fewest);
  return shortest.length === 1 ? (shortest[0] ?? null) : null;
}

/** The longest known name that the given name begins with: Batt for Battery. */
function beginning(plainName: string, names: readonly string[]): string | null {
  const matches = names
    .slice(0, maxKnown)
    .filter((name) => name.length > minStart && plainName.startsWith(plain(name)) && plainName[name.length] !== '_');
  return matches.sort((a, b) => b.length - a.length)[0] ?? null;
}

const changingPrefix = /^(?:re|un|de|dis|non)$/;

/**
 * True if two texts differ by a prefix that changes the meaning (restart, start), or `wanted` has all words of `text`,
 * at least two, and more between or around them (setpoint_ac_kw, setpoint_kw).
 */
function isOtherWord(wanted: string, text: string): boolean {
  const [short = '', long = ''] = [wanted, text].sort((a, b) => a.length - b.length);
  if (long.endsWith(short) && changingPrefix.test(long.slice(0, long.length - short.length))) return true;
  const [wantedWords, textWords] = [wanted.split('_'), text.split('_')];
  if (textWords.length < 2 || wantedWords.length <= textWords.length) return false;
  let next = 0;
  for (const word of wantedWords) if (word === textWords[next]) next += 1;
  return next === textWords.length;
}

/** The known name nearest to `given`; null: none is close. */
export function nearest(given: string, names: readonly string[]): string | null {
  const plainName = plain(given);
  const same = names.slice(0, maxKnown).find((name) => plain(name) === plainName);
  return same ?? abbreviated(plainName, names) ?? closest(plainName, names) ?? beginning(plainName, names);
}

/** The known name with the smallest edit distance. */
function closest(plainName: string, names: readonly string[]): string | null {
  const counts = new Int8Array(256);
  for (let i = 0; i < plainName.length; i += 1) {
    const letter = plainName.charCodeAt(i) & 0xff;
    counts[letter] = (counts[letter] ?? 0) + 1;
  }
  let compared = 0;
  let closestName: string | null = null;
  // a single letter is close to every name: it matches only itself
  let bestSteps = plainName.length < 2 ? 1 : Math.min(maxSteps, Math.max(1, Math.floor(plainName.length / 3))) + 1;
  for (const name of names.slice(0, maxKnown)) {
    const text = plain(name);
    if (Math.abs(text.length - plainName.length) >= bestSteps) continue;
    if (minSteps(counts, plainName.length, text) >= bestSteps) continue;
    compared += 1;
    if (compared > maxCompared) break;
    // a swap of neighbours is one step, as are an insertion, a deletion and a replacement
    const { steps } = damerauLevenshtein(plainName, text);
    if (steps < bestSteps && !isOtherWord(plainName, text)) {
      closestName = name;
      bestSteps = steps;
    }
  }
  return closestName;
}

/** True if a word has enough letters to be a recognisable typing error: not 1.1 for 1.2, nor AC for A. */
const canBeTypo = (given: string) => given.length > 2 && /[a-z]{2}/i.test(given.slice(0, comparedLength));

/** Unit signs, by the last word of a name. */
const unitSigns: Readonly<Record<string, string>> = {
  w: 'W',
  kw: 'kW',
  mw: 'MW',
  va: 'VA',
  kva: 'kVA',
  var: 'var',
  kvar: 'kvar',
  wh: 'Wh',
  kwh: 'kWh',
  v: 'V',
  kv: 'kV',
  a: 'A',
  hz: 'Hz',
  ms: 'ms',
  s: 's',
  min: 'min',
  h: 'h',
  pct: 'percent',
  pu: 'per unit',
};

/** `, in kW` if the given name has another unit than the known one: the value must change with the name. */
function otherUnit(given: string, near: string): string {
  const [givenUnit = '', unit = ''] = [given, near].map((name) => plain(name).split('_').at(-1));
  const sign = unitSigns[unit];
  return sign === undefined || givenUnit === unit || unitSigns[givenUnit] === undefined ? '' : `, in ${sign}`;
}

/** `; did you mean setpoint_kw?`, to append to a refusal; empty if no known name is close. */
export function didYouMean(given: string, names: readonly string[]): string {
  const near = nearest(given, names);
  return near === null || near === given || !(canBeTypo(given) || plain(given) === plain(near))
    ? ''
    : `; did you mean ${near}${otherUnit(given, near)}?`;
}

/** Maximum number of names in one request that get a suggestion: a request can have thousands of wrong names. */
const maxSought = 10;

/**
 * `didYouMean` for the wrong names of one request; only the first 10 get a suggestion.
 * @param listNames returns the known names; called at the first wrong name
 */
export function suggestions(listNames: () => readonly string[]): (given: string) => string {
  let names: readonly string[] | undefined;
  let sought = 0;
  return (given) => {
    sought += 1;
    return sought > maxSought ? '' : didYouMean(given, (names ??= listNames()));
  };
}

const maxShown = 60;

/** A given value in a refusal: text quoted and cut if long, objects and lists without content. */
export function givenText(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > maxShown ? `${value.slice(0, maxShown - 1)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
