/** Tables and colours of the human form. */

const maxColumns = 100;
const gap = '  ';

export interface Column<Row> {
  /** with the unit */
  readonly head: string;
  readonly cell: (row: Row) => string;
  /** numbers end below each other */
  readonly isNumber?: true;
}

function pad(text: string, columns: number, isNumber: boolean): string {
  if (text.length > columns) return `${text.slice(0, columns - 1)}…`;
  return isNumber ? text.padStart(columns) : text.padEnd(columns);
}

/** Widths of columns; the widest column of text gives way where the row is too long. */
function widthsOf(cells: readonly (readonly string[])[], isNumber: readonly boolean[]): readonly number[] {
  const widths = isNumber.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const texts = widths.map((width, at) => (isNumber[at] === true ? 0 : width));
  const excess = widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1) - maxColumns;
  const widest = texts.indexOf(Math.max(...texts));
  if (excess <= 0 || widest < 0) return widths;
  return widths.map((width, at) => (at === widest ? Math.max(8, width - excess) : width));
}

/** Lines of at most 100 columns, the heads first. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly string[] {
  const isNumber = columns.map((column) => column.isNumber === true);
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = widthsOf(cells, isNumber);
  return cells.map((row) =>
    row
      .map((text, at) => pad(text, widths[at] ?? 0, isNumber[at] ?? false))
      .join(gap)
      .trimEnd(),
  );
}

/** A value of the interface as text; what a device does not have is a dash. */
export const shown = (value: number | string | null | undefined): string => String(value ?? '-');

/** Control characters of names and texts of peers, which a terminal would follow. */
export const printable = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '?');

type Environment = Readonly<Record<string, string | undefined>>;

/** True if a stream gets colours: a terminal, unless NO_COLOR, TERM=dumb or `--no-color`; FORCE_COLOR=1 overrides these. */
export function isColoured(stream: { readonly isTTY?: boolean }, env: Environment, isOff: boolean): boolean {
  if (isOff) return false;
  if (env['FORCE_COLOR'] === '1') return true;
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** Red text where colours are allowed. */
export const red = (text: string, coloured: boolean): string => (coloured ? `\u001b[31m${text}\u001b[39m` : text);
