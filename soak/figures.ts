/** Figures of a run beside what they must be. */
import { figure, formatTable } from '../bench/support/table.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  /** the run fails above; absent: the figure is only reported */
  readonly atMost?: number;
  readonly atLeast?: number;
  /** target on an otherwise idle machine, in words */
  readonly aim?: string;
  /** texts behind a figure that counts */
  readonly details?: readonly string[];
}

const boundOf = ({ atMost, atLeast, unit = '' }: Figure): string => {
  if (atMost !== undefined) return `<= ${atMost}${unit}`;
  return atLeast === undefined ? '' : `>= ${atLeast}${unit}`;
};

/** A figure that has a bound and could not be measured fails too. */
export function isMet({ value, atMost = Infinity, atLeast = -Infinity }: Figure): boolean {
  if (atMost === Infinity && atLeast === -Infinity) return true;
  return value <= atMost && value >= atLeast;
}

const shownDetails = 20;

/** One line for each figure out of its bounds, with what is behind it. */
export function reasons(figures: readonly Figure[]): readonly string[] {
  return figures
    .filter((each) => !isMet(each))
    .flatMap((each) => {
      const { name, value, unit = '', details = [] } = each;
      const lines = details.slice(0, shownDetails).map((line) => `    ${line}`);
      const more = details.length > shownDetails ? [`    and ${details.length - shownDetails} more`] : [];
      return [`${name}: ${figure(value)}${unit}, must be ${boundOf(each)}`, ...lines, ...more];
    });
}

export function figureTable(title: string, figures: readonly Figure[]): string {
  return formatTable({
    title,
    head: ['', 'measured', 'must be', 'aim', 'met'],
    rows: figures.map((each) => [
      each.name,
      `${Number.isInteger(each.value) ? String(each.value) : figure(each.value)}${each.unit ?? ''}`,
      boundOf(each),
      each.aim ?? '',
      boundOf(each) === '' ? '' : isMet(each) ? 'yes' : 'NO',
    ]),
  });
}
