/** The time range of the charts in words: extent of the samples, a zoom outside of them, a paused picture. */
import type { Zoom } from '../../kit/chart';
import { dateAndTime } from '../../look/format';
import type { Samples } from './samples';

interface SightProps {
  readonly samples: ReadonlyMap<number, Samples>;
  readonly zoom: Zoom;
  /** samples since the picture was paused; null: it is live */
  readonly waiting: number | null;
}

const instant = (seconds: number) => dateAndTime(new Date(seconds * 1000).toISOString());

function zoomText([from, to]: readonly [number, number], first: number, last: number): string {
  const span = `${instant(from)} to ${instant(to)}`;
  if (from > last) return `No samples in sight: ${span} lies after the newest one, of ${instant(last)}.`;
  if (to < first) return `No samples in sight: ${span} lies before the oldest one that is drawn, of ${instant(first)}.`;
  if (to > last)
    return `In sight: ${span}. The newest sample is of ${instant(last)}; what comes after it is drawn here.`;
  if (from < first) return `In sight: ${span}. The samples that are drawn begin at ${instant(first)}.`;
  return `In sight: ${span}. Newer samples lie outside.`;
}

export function Sight({ samples, zoom, waiting }: SightProps) {
  const all = [...samples.values()];
  const kept = all.flatMap(({ keptSince }) => keptSince ?? []);
  const first = Math.min(...all.flatMap(({ times }) => times[0] ?? []));
  const last = Math.max(...all.flatMap(({ times }) => times.at(-1) ?? []));
  const leftOut = Math.max(0, ...all.map((one) => one.leftOut));
  return (
    <div class="muted" data-test="sight" role="status">
      {leftOut > 0 && <p>The clock was set back: {leftOut} earlier samples stand in the CSV only.</p>}
      {kept.length > 0 && (
        <p>
          Kept since {instant(Math.max(...kept))}: the window reaches further back, but the simulator keeps{' '}
          {Math.max(...all.map(({ capacity }) => capacity))} samples per device. The CSV begins there as well.
        </p>
      )}
      {waiting !== null && (
        <p>
          The picture is held at {instant(last)}; {waiting} newer {waiting === 1 ? 'sample waits' : 'samples wait'}.
        </p>
      )}
      {zoom !== null && Number.isFinite(last) && <p>{zoomText(zoom, first, last)}</p>}
    </div>
  );
}
