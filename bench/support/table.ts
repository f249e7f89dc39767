export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}

/** A number with about three significant digits. */
export function figure(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '-';
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** One aim: its figure, the comparison in words, and whether it is met; a missed aim is no failure. */
export function aimRow(
  what: string,
  value: number | null,
  unit: string,
  aim: { readonly atMost?: number; readonly atLeast?: number },
): string[] {
  const { atMost = Infinity, atLeast = -Infinity } = aim;
  const wanted = aim.atMost === undefined ? `>= ${atLeast}${unit}` : `<= ${atMost}${unit}`;
  if (value === null || Number.isNaN(value)) return [what, '-', wanted, 'not measured'];
  return [what, `${figure(value)}${unit}`, wanted, value <= atMost && value >= atLeast ? 'yes' : 'NO'];
}

const aimTitle = /^(.*): aims$/;

/** The table that compares figures with aims. */
export function aimTable(group: string, rows: readonly (readonly string[])[]): Table {
  return { title: `${group}: aims`, head: ['', 'measured', 'aim', 'met'], rows };
}

/** The figures of a table of aims by `group: name`; none of another table or of an aim that was not measured. */
export function measuredAims({ title, rows }: Table): Record<string, number> {
  const group = aimTitle.exec(title)?.[1];
  if (group === undefined) return {};
  const figures = rows.map(([name, measured]) => [`${group}: ${name}`, Number.parseFloat(measured ?? '')] as const);
  return Object.fromEntries(figures.filter(([, value]) => Number.isFinite(value)));
}

/** Columns aligned: the first to the left, the others to the right. */
export function formatTable({ title, head, rows, notes = [] }: Table): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return [title, line(head), rule, ...rows.map(line), ...notes.map((note) => `  ${note}`), ''].join('\n');
}
