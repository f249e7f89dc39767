/** Values of variables as texts: how a text of the central system is checked and written. */
import type { DataType } from './model.ts';

/** What a value must keep to. */
export interface ValueRule {
  readonly type: DataType;
  /** of a number; of a text its shortest length */
  readonly min?: number;
  /** of a number; of a text or list its longest length */
  readonly max?: number;
  /** members that a list may have; absent: it may have every text */
  readonly values?: readonly string[];
}

const maxInteger = 2 ** 31 - 1;
const instant = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** The members of a comma-separated list. */
export function members(value: string): readonly string[] {
  if (value === '') return [];
  return value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function inRange(number: number, { min = -Infinity, max = Infinity }: ValueRule): boolean {
  return Number.isFinite(number) && number >= min && number <= max;
}

function normalNumber(value: string, rule: ValueRule, pattern: RegExp): string | null {
  if (!pattern.test(value)) return null;
  const number = Number(value);
  // + 0: there is no negative zero
  return inRange(number, rule) ? String(number + 0) : null;
}

function normalList(value: string, { values }: ValueRule): string | null {
  if (value !== '' && value.split(',').some((each) => each.trim() === '')) return null;
  const each = members(value);
  const isKnown = (member: string): boolean => values === undefined || values.includes(member);
  return new Set(each).size === each.length && each.every(isKnown) ? each.join(',') : null;
}

function fits(value: string, { min = 0, max = Infinity }: ValueRule): boolean {
  return value.length >= min && value.length <= max;
}

/** The value as it is kept: `TRUE` as `true`, lists without spaces. Null: the rule does not allow it. */
export function normalValue(rule: ValueRule, given: string): string | null {
  const value = given.trim();
  switch (rule.type) {
    case 'boolean': {
      const lower = value.toLowerCase();
      return lower === 'true' || lower === 'false' ? lower : null;
    }
    case 'integer': {
      const { min = -maxInteger - 1, max = maxInteger } = rule;
      return normalNumber(value, { ...rule, min, max }, /^[+-]?\d{1,10}$/);
    }
    case 'decimal':
      return normalNumber(value, rule, /^[+-]?\d{1,15}(\.\d{1,15})?$/);
    case 'dateTime':
      return instant.test(value) && Number.isFinite(Date.parse(value)) ? value : null;
    case 'string':
      return fits(given, rule) ? given : null;
    case 'OptionList':
      return rule.values === undefined || rule.values.includes(value) ? value : null;
    case 'SequenceList':
    case 'MemberList': {
      const list = normalList(value, rule);
      return list !== null && fits(list, rule) ? list : null;
    }
  }
}
