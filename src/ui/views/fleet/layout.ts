/** Places and pixels of the cells of a map of up to some hundred thousand devices: shard after shard, row after row. */

/** The cells of a shard in the map. */
export interface Block {
  /** position of its first cell among all cells */
  readonly start: number;
  readonly count: number;
  /** upper edge of its first row, px; its label stands above */
  readonly topPx: number;
}

export interface Layout {
  readonly cellPx: number;
  readonly columns: number;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly blocks: readonly Block[];
}

export const labelPx = 24;
/** Height that the cells of a large map share, px. */
const heightGoalPx = 700;
const [minCellPx, maxCellPx] = [3, 16];

/** @param counts numbers of devices of the shards */
export function layoutOf(counts: readonly number[], widthPx: number): Layout {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const fitting = Math.floor(Math.sqrt((widthPx * heightGoalPx) / Math.max(1, total)));
  const cellPx = Math.min(maxCellPx, Math.max(minCellPx, fitting));
  const columns = Math.max(1, Math.floor(widthPx / cellPx));
  let [start, topPx] = [0, 0];
  const blocks = counts.map((count) => {
    const block = { start, count, topPx: topPx + labelPx };
    start += count;
    topPx = block.topPx + Math.ceil(count / columns) * cellPx;
    return block;
  });
  return { cellPx, columns, widthPx, heightPx: topPx, blocks };
}

/** The block of a cell. Undefined: there is no such cell. */
const blockOf = ({ blocks }: Layout, at: number) =>
  blocks.find(({ start, count }) => at >= start && at < start + count);

/** Left and upper edge of a cell, px. */
export function placeOf(layout: Layout, at: number): { readonly left: number; readonly top: number } | null {
  const block = blockOf(layout, at);
  if (block === undefined) return null;
  const inBlock = at - block.start;
  const { cellPx, columns } = layout;
  return { left: (inBlock % columns) * cellPx, top: block.topPx + Math.floor(inBlock / columns) * cellPx };
}

/** The cell at a place, by its position among all cells. null: there is none. */
export function cellAt({ blocks, cellPx, columns }: Layout, leftPx: number, topPx: number): number | null {
  const column = Math.floor(leftPx / cellPx);
  if (column < 0 || column >= columns) return null;
  for (const { start, count, topPx: top } of blocks) {
    const row = Math.floor((topPx - top) / cellPx);
    const inBlock = row * columns + column;
    if (row >= 0 && inBlock < count) return start + inBlock;
  }
  return null;
}

/** The cell after a key. null: the key does not move. */
export function cellAfter(key: string, at: number, layout: Layout): number | null {
  const block = blockOf(layout, at);
  if (block === undefined) return null;
  const last = block.start + block.count - 1;
  const total = layout.blocks.reduce((sum, { count }) => sum + count, 0);
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + layout.columns > last ? last + 1 : at + layout.columns,
    ArrowUp: at - layout.columns < block.start ? block.start - 1 : at - layout.columns,
    Home: block.start,
    End: last,
  };
  const next = steps[key];
  return next === undefined ? null : Math.min(Math.max(0, next), total - 1);
}

/**
 * Draws all cells.
 * @param pixels of the whole map, row by row
 * @param looks of the cells: positions in `stamps`
 * @param stamps pixels of one cell of each look
 */
export function paintCells(
  pixels: Uint32Array,
  { blocks, cellPx, columns, widthPx }: Layout,
  looks: Uint8Array,
  stamps: readonly Uint32Array[],
): void {
  const rowsOf = stamps.map((stamp) =>
    Array.from({ length: cellPx }, (_none, row) => stamp.subarray(row * cellPx, (row + 1) * cellPx)),
  );
  for (const { start, count, topPx } of blocks)
    for (let at = 0; at < count; at += 1) {
      const rows = rowsOf[looks[start + at] ?? 0];
      if (rows === undefined) continue;
      let to = (topPx + Math.floor(at / columns) * cellPx) * widthPx + (at % columns) * cellPx;
      for (const row of rows) {
        pixels.set(row, to);
        to += widthPx;
      }
    }
}
