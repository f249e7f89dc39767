/** Tables that sort, copy as CSV, and draw only visible rows. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { dash } from '../look/format';
import { copyOr } from './copies';
import { Icon } from './icons';
import { say } from './notice';

export interface Column<T> {
  readonly title: string;
  /** default: the value, or a dash without one */
  readonly cell?: (row: T) => ComponentChildren;
  /** value for sorting and CSV; absent: the column has neither */
  readonly value?: (row: T) => Cell;
  readonly numeric?: boolean;
  /** CSS width */
  readonly width?: string;
}

interface TableProps<T> {
  /** name for screen readers */
  readonly name: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  readonly empty?: ComponentChildren;
  /** maximum height, px: the table scrolls, and draws only visible rows; absent: all rows are drawn */
  readonly height?: number | undefined;
  readonly selected?: string | number | null;
  readonly onSelect?: (row: T) => void;
  /** true: scrolls to new rows */
  readonly follow?: boolean;
  /** absent: the table keeps its order itself */
  readonly order?: Order;
  readonly onOrder?: (order: Order) => void;
}

/** Row height of a scrolling table, px: its cells do not wrap, and a finger needs more than a pointer. */
export const rowPx = matchMedia('(pointer: coarse)').matches ? 44 : 28;
const spareRows = 8;

/** Title of the column that the rows are sorted by; null: as they came. */
export type Order = { readonly title: string; readonly down: boolean } | null;

type Cell = string | number | boolean | null | undefined;

// one collator for all: `localeCompare` with options makes one for each pair
const collator = new Intl.Collator(undefined, { numeric: true });

function compare(a: Cell, b: Cell): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
}

function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], order: Order): readonly T[] {
  const value = columns.find(({ title }) => title === order?.title)?.value;
  if (order === null || value === undefined) return rows;
  return [...rows].sort((a, b) => compare(value(a), value(b)) * (order.down ? -1 : 1));
}

/** Columns with a value, as lines of CSV. */
export function csvOf<T>(rows: readonly T[], columns: readonly Pick<Column<T>, 'title' | 'value'>[]): string {
  const withValues = columns.filter(({ value }) => value !== undefined);
  const field = (value: Cell) => {
    const text = String(value ?? '');
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => withValues.map(({ value }) => field(value?.(row))).join(','));
  return [withValues.map(({ title }) => field(title)).join(','), ...lines].join('\n');
}

/** Copies a text, or reports that the browser does not allow it. */
export function copyText(text: string, what: string): Promise<void> {
  return copyOr(text, `${what} copied`, () => say('The browser allows copying on https and localhost pages only.'));
}

/** Scrolls a row into sight below the head, which sticks; a row in sight stays where it is. */
function scrollTo(box: HTMLElement, topPx: number, heightPx: number): void {
  const isAbove = topPx < box.scrollTop;
  // the head is as high as a row
  const isBelow = topPx + 2 * rowPx > box.scrollTop + heightPx;
  if (isAbove || isBelow) box.scrollTop = topPx;
}

export function Table<T>({
  name,
  columns,
  rows,
  keyOf,
  empty = 'Nothing yet.',
  height,
  selected = null,
  onSelect,
  follow = false,
  order: outerOrder,
  onOrder,
}: TableProps<T>) {
  const [keptOrder, keepOrder] = useState<Order>(null);
  const order = outerOrder === undefined ? keptOrder : outerOrder;
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const all = sorted(rows, columns, order);
  const first = height === undefined ? 0 : Math.max(0, Math.floor(top / rowPx) - spareRows);
  const last = height === undefined ? all.length : Math.min(all.length, Math.ceil((top + height) / rowPx) + spareRows);
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follow, rows]);
  const place = height === undefined || selected === null ? -1 : all.findIndex((row) => keyOf(row) === selected);
  const isThere = place >= 0;
  useEffect(() => {
    if (isThere && box.current) scrollTo(box.current, place * rowPx, height ?? 0);
    // by the row and its order: rows that come later do not scroll back to it
  }, [selected, isThere, order?.title, order?.down]);
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  return (
    <div
      ref={box}
      class={height === undefined ? 'scroller' : 'scroller fixed-rows'}
      style={height === undefined ? {} : { maxHeight: `${height}px` }}
      tabIndex={height === undefined ? undefined : 0}
      role="group"
      aria-label={name}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table aria-label={name} aria-rowcount={all.length}>
        <Head
          name={name}
          columns={columns}
          order={order}
          onOrder={onOrder ?? keepOrder}
          csv={() => csvOf(all, columns)}
        />
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * rowPx}px` }} />}
          {all.slice(first, last).map((row) => {
            const key = keyOf(row);
            const style = height === undefined ? {} : { height: `${rowPx}px`, whiteSpace: 'nowrap' };
            return (
              <tr
                key={key}
                style={style}
                class={onSelect ? 'choosable' : undefined}
                aria-selected={onSelect ? key === selected : undefined}
                tabIndex={onSelect ? 0 : undefined}
                onClick={() => onSelect?.(row)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && event.target === event.currentTarget) onSelect?.(row);
                }}
              >
                {columns.map((column) => (
                  <td key={column.title} class={column.numeric ? 'num' : undefined}>
                    {column.cell ? column.cell(row) : (column.value?.(row) ?? dash)}
                  </td>
                ))}
              </tr>
            );
          })}
          {last < all.length && <tr aria-hidden="true" style={{ height: `${(all.length - last) * rowPx}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

interface HeadProps<T> {
  readonly name: string;
  readonly columns: readonly Column<T>[];
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
  readonly csv: () => string;
}

function Head<T>({ name, columns, order, onOrder, csv }: HeadProps<T>) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, value, numeric, width }, index) => {
          const columnOrder = order?.title === title ? order : null;
          const direction = columnOrder === null ? 'none' : columnOrder.down ? 'descending' : 'ascending';
          return (
            <th
              key={title}
              scope="col"
              class={numeric ? 'num' : undefined}
              style={width === undefined ? {} : { width }}
              aria-sort={value ? direction : undefined}
            >
              {value ? (
                <button
                  type="button"
                  class="sort"
                  onClick={() => onOrder(columnOrder?.down ? null : { title, down: columnOrder !== null })}
                >
                  {title}
                  {columnOrder === null ? '' : columnOrder.down ? ' ↓' : ' ↑'}
                </button>
              ) : (
                title
              )}
              {index === columns.length - 1 && (
                <button
                  type="button"
                  class="quiet csv"
                  aria-label={`Copy ${name} as CSV`}
                  title="Copy as CSV"
                  onClick={() => void copyText(csv(), 'CSV')}
                >
                  <Icon name="copy" />
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
