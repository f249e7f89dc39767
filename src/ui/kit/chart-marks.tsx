/** Marks of instants on a chart: a letter on a flag at its upper edge, with a line through the chart. */
import { signal } from '@preact/signals';

export interface ChartMark {
  readonly id: number;
  /** instant, seconds since the epoch */
  readonly atS: number;
  readonly letter: string;
  /** time and sentence */
  readonly title: string;
  /** place of the cause */
  readonly to: string;
}

/** The part of the time axis in view, and the place of the lines in the chart, px. */
export interface ChartView {
  readonly fromS: number;
  readonly toS: number;
  readonly leftPx: number;
  readonly widthPx: number;
  readonly topPx: number;
  readonly heightPx: number;
}

/** Mark under the pointer or with the focus, on a chart or in a list; null: none. */
export const pointedMark = signal<number | null>(null);

/** Sets `pointedMark` while an element of the mark is under the pointer or has the focus. */
export function pointing(id: number) {
  const point = () => (pointedMark.value = id);
  const leave = () => (pointedMark.value = null);
  return { onMouseEnter: point, onMouseLeave: leave, onFocus: point, onBlur: leave };
}

const placePx = ({ fromS, toS, leftPx, widthPx }: ChartView, atS: number): number =>
  leftPx + ((atS - fromS) / (toS - fromS || 1)) * widthPx;

/** Width of a flag with two letters, px: a mark nearer than this to the one before shares its flag. */
const flagPx = 36;

/** The marks in view, oldest first, those of one flag together. */
export function flagsOf(marks: readonly ChartMark[], view: ChartView): readonly (readonly ChartMark[])[] {
  const groups: ChartMark[][] = [];
  for (const mark of marks) {
    if (mark.atS < view.fromS || mark.atS > view.toS) continue;
    const group = groups.at(-1);
    const isNear = group?.[0] !== undefined && placePx(view, mark.atS) - placePx(view, group[0].atS) < flagPx;
    if (isNear) group.push(mark);
    else groups.push([mark]);
  }
  return groups;
}

/** `A`, or `A–C` for marks that share a flag. */
export function flagText(group: readonly ChartMark[]): string {
  const [first, last] = [group[0]?.letter ?? '', group.at(-1)?.letter ?? ''];
  return first === last ? first : `${first}–${last}`;
}

/** Name of a flag, which begins with its text: a reader of the screen finds it by what is seen. */
function nameOf(group: readonly ChartMark[]): string {
  const all = group.map(({ letter, title }) => `${letter}: ${title}`).join('; ');
  return group.length === 1 ? all : `${flagText(group)}, ${all}`;
}

/** Links to the causes; the mark that is pointed at has its line in front. */
export function Flags({ marks, view }: { readonly marks: readonly ChartMark[]; readonly view: ChartView }) {
  const endPx = view.leftPx + view.widthPx;
  return (
    <div class="chart-flags">
      {flagsOf(marks, view).map((group) => {
        const [first] = group;
        if (first === undefined) return null;
        const atPx = placePx(view, first.atS);
        const isLate = atPx > view.leftPx + view.widthPx / 2;
        return (
          <a
            key={first.id}
            class={`chart-flag${group.some(({ id }) => id === pointedMark.value) ? ' pointed' : ''}`}
            href={first.to}
            style={{ left: `${Math.min(atPx, endPx - (group.length > 1 ? flagPx : flagPx / 2))}px` }}
            aria-label={nameOf(group)}
            {...pointing(first.id)}
          >
            {flagText(group)}
            <span class={`tip${isLate ? ' late' : ''}`} aria-hidden="true">
              {group.map(({ id, letter, title }) => (
                <span key={id}>
                  <b>{letter}</b> {title}
                </span>
              ))}
            </span>
          </a>
        );
      })}
    </div>
  );
}

/** The line of the mark that is pointed at. */
export function PointedLine({ marks, view }: { readonly marks: readonly ChartMark[]; readonly view: ChartView }) {
  const mark = marks.find(({ id }) => id === pointedMark.value);
  if (mark === undefined || mark.atS < view.fromS || mark.atS > view.toS) return null;
  const { topPx, heightPx } = view;
  return (
    <i
      class="chart-pointed"
      style={{ left: `${placePx(view, mark.atS)}px`, top: `${topPx}px`, height: `${heightPx}px` }}
    />
  );
}
