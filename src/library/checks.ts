/** Refuses invalid arguments: unknown members, and numbers that are not finite. */
import { DerbenchError } from './error.ts';
import type { DeviceOption } from './options.ts';

/** A value in an error message. */
function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** @param allowed description of valid values, with an example */
export function refusal(given: unknown, allowed: string, cause?: unknown): DerbenchError {
  return new DerbenchError({
    code: 'validation',
    detail: `given ${shownValue(given)}; allowed: ${allowed}`,
    ...(cause !== undefined && { cause }),
  });
}

/** Checks that the options of a method are an object with no members but `names`. @throws DerbenchError `validation` */
export function checkedOptions<T extends object>(options: T, names: readonly (keyof T & string)[]): T {
  const allowed = `an object with ${names.join(', ')}`;
  if (typeof options !== 'object' || (options as unknown) === null || Array.isArray(options))
    throw refusal(options, allowed);
  const unknown = Object.keys(options).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) throw refusal(unknown, names.length === 1 ? `the option ${names[0] ?? ''}` : allowed);
  return options;
}

export function deviceOf(options: DeviceOption): number | undefined {
  return checkedOptions(options, ['device']).device;
}

/** @throws DerbenchError `validation` for anything but a finite number of at least `min` */
export function checkedNumber(name: string, value: unknown, min = -Infinity): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= min) return value;
  throw refusal(value, `a finite number of ${name}${min === -Infinity ? '' : ` from ${min} on`}`);
}

/** @throws DerbenchError `validation` for anything but a whole number */
export function checkedWhole(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw refusal(value, `a whole number of ${name}`);
}

/** The address of a simulator without a trailing slash. @throws DerbenchError `validation` */
export function checkedAddress(url: unknown): string {
  const example = 'an address as http://localhost:8111';
  if (typeof url !== 'string') throw refusal(url, example);
  if (!url.includes('://')) throw refusal(url, `${example}; did you mean http://${url}?`);
  if (!/^https?:\/\/[^?#]+$/i.test(url) || !URL.canParse(url)) throw refusal(url, example);
  return url.replace(/\/+$/, '');
}

/** Encodes a path segment. @throws DerbenchError `validation` for unpaired surrogates */
export function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw refusal(text, 'text without unpaired surrogates', cause);
  }
}

function refuseNonFinite(_name: string, value: unknown): unknown {
  // JSON would have null in its place, which has another meaning
  if (typeof value === 'number' && !Number.isFinite(value)) throw refusal(value, 'finite numbers');
  return value;
}

/** A body as JSON. @throws DerbenchError `validation` if JSON cannot represent it */
export function jsonOf(body: unknown): string {
  let text: unknown;
  try {
    text = JSON.stringify(body, refuseNonFinite);
  } catch (cause) {
    if (cause instanceof DerbenchError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw refusal(body, `a body that JSON can hold (${reason})`, cause);
  }
  // functions and undefined have no JSON
  if (typeof text !== 'string') throw refusal(body, 'a body that JSON can hold');
  return text;
}
