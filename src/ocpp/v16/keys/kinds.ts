/** Kinds of values of configuration keys: how a text of the central system is checked and written. */
export type KeyKind =
  | { readonly type: 'boolean' }
  /** whole numbers, both ends included */
  | { readonly type: 'integer'; readonly from: number; readonly to: number }
  | { readonly type: 'text'; readonly maxLength: number }
  /** comma-separated; `max` members */
  | { readonly type: 'list'; readonly max: number; readonly allows: (member: string) => boolean }
  /** hexadecimal text of 16 to 20 octets */
  | { readonly type: 'octets' };

export const boolean: KeyKind = { type: 'boolean' };
export const octets: KeyKind = { type: 'octets' };
const maxInteger = 2 ** 31 - 1;

export function integer(from = 0, to = maxInteger): KeyKind {
  return { type: 'integer', from, to };
}

export function text(maxLength: number): KeyKind {
  return { type: 'text', maxLength };
}

export function list(max: number, allows: (member: string) => boolean): KeyKind {
  return { type: 'list', max, allows };
}

/** `2.RST`: how the phases of the grid arrive at a connector. */
export function isPhaseRotation(member: string): boolean {
  return /^\d{1,5}\.(NotApplicable|Unknown|RST|RTS|SRT|STR|TRS|TSR)$/.test(member);
}

export function members(value: string): readonly string[] {
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function normalInteger(value: string, from: number, to: number): string | null {
  if (!/^[+-]?\d{1,10}$/.test(value)) return null;
  const number = Number(value);
  return number >= from && number <= to ? String(number + 0) : null;
}

function normalList(value: string, kind: Extract<KeyKind, { type: 'list' }>): string | null {
  if (value.trim() !== '' && value.split(',').some((each) => each.trim() === '')) return null;
  const each = members(value);
  return each.length <= kind.max && new Set(each).size === each.length && each.every(kind.allows)
    ? each.join(',')
    : null;
}

/** The value as it is kept: `TRUE` as `true`, lists without spaces. Null: it is none of this kind. */
export function normalValue(kind: KeyKind, given: string): string | null {
  const value = given.trim();
  switch (kind.type) {
    case 'boolean': {
      const lower = value.toLowerCase();
      return lower === 'true' || lower === 'false' ? lower : null;
    }
    case 'integer':
      return normalInteger(value, kind.from, kind.to);
    case 'text':
      return given.length <= kind.maxLength ? given : null;
    case 'list':
      return normalList(value, kind);
    case 'octets':
      return /^(?:[0-9a-fA-F]{2}){16,20}$/.test(value) ? value : null;
  }
}
