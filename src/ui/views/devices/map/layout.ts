/** Places of the cells of a map, and the steps of the arrow keys. */

/** Number of devices above which cells are smaller and drawn on a canvas. */
export const canvasDevices = 300;

export const gapPx = 3;

export const cellPx = (devices: number) => (devices > canvasDevices ? 18 : 26);

/** Number of cells side by side. */
export function columnsOf(widthPx: number, sizePx: number): number {
  return Math.max(1, Math.floor((widthPx + gapPx) / (sizePx + gapPx)));
}

export interface Place {
  readonly group: number;
  /** position in its group */
  readonly at: number;
}

/** The nearest place that has a cell, after devices have gone or a filter has left others. */
export function placeWithin({ group, at }: Place, sizes: readonly number[]): Place {
  const within = Math.max(0, Math.min(group, sizes.length - 1));
  return { group: within, at: Math.max(0, Math.min(at, (sizes[within] ?? 1) - 1)) };
}

type Step = (place: Place, sizes: readonly number[], columns: number) => Place;

/** The nearest group with cells in a direction; -1: none. */
function nextGroup(from: number, direction: 1 | -1, sizes: readonly number[]): number {
  let group = from + direction;
  while (group >= 0 && group < sizes.length && sizes[group] === 0) group += direction;
  return group < sizes.length ? group : -1;
}

const sideways =
  (direction: 1 | -1): Step =>
  (place, sizes) => {
    const at = place.at + direction;
    if (at >= 0 && at < (sizes[place.group] ?? 0)) return { ...place, at };
    const group = nextGroup(place.group, direction, sizes);
    if (group < 0) return place;
    return { group, at: direction === 1 ? 0 : (sizes[group] ?? 1) - 1 };
  };

const down: Step = (place, sizes, columns) => {
  const size = sizes[place.group] ?? 0;
  const at = place.at + columns;
  if (at < size) return { ...place, at };
  const isLastRow = Math.floor(place.at / columns) === Math.floor((size - 1) / columns);
  if (!isLastRow) return { ...place, at: size - 1 };
  const group = nextGroup(place.group, 1, sizes);
  return group < 0 ? place : { group, at: Math.min(place.at % columns, (sizes[group] ?? 1) - 1) };
};

const up: Step = (place, sizes, columns) => {
  if (place.at >= columns) return { ...place, at: place.at - columns };
  const group = nextGroup(place.group, -1, sizes);
  if (group < 0) return place;
  const size = sizes[group] ?? 1;
  const rowStart = Math.floor((size - 1) / columns) * columns;
  return { group, at: Math.min(rowStart + (place.at % columns), size - 1) };
};

const ends =
  (isLast: boolean): Step =>
  (place, sizes) => ({ ...place, at: isLast ? (sizes[place.group] ?? 1) - 1 : 0 });

const steps: Readonly<Record<string, Step>> = {
  ArrowRight: sideways(1),
  ArrowLeft: sideways(-1),
  ArrowDown: down,
  ArrowUp: up,
  Home: ends(false),
  End: ends(true),
};

/** The place after a key; null: the key does not move. @param sizes numbers of cells of the groups */
export function afterKey(key: string, place: Place, sizes: readonly number[], columns: number): Place | null {
  return steps[key]?.(place, sizes, columns) ?? null;
}
