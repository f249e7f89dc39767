/** A capture as lanes over one axis of time: thresholds, numbered marks, one cursor, zoom. */
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { instantText, scaleOf } from './axes';
import { Axes, Cursor, Curves, foot, Instant, Key, Labels, left, Marks, placed, TimeAxis } from './drawing-parts';
import type { Frame } from './drawing-parts';
import type { Lane } from './lanes';
import type { Span } from './steps';
import type { Capture } from './verdict-words';
import { rowAway, showing, zoomed } from './window';

const labelWidth = 164;
/** Width below which labels stand in a key, px. */
const narrowPx = 520;

/** Width of an element, followed. */
function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = () => {
      if (element.clientWidth > 0) setWidth(element.clientWidth);
    };
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return { box, width };
}

interface DrawingProps {
  readonly capture: Capture;
  readonly lanes: readonly Lane[];
  /** ends of the rows, ascending */
  readonly instants: readonly number[];
  readonly whole: Span;
  /** spans to choose, the first of which is in view at first */
  readonly views: readonly { readonly title: string; readonly to: Span }[];
  readonly height: number;
}

interface ZoomButtonsProps {
  readonly views: DrawingProps['views'];
  readonly span: Span;
  readonly onChoice: (span: Span) => void;
  readonly onZoom: (isIn: boolean) => void;
}

function ZoomButtons({ views, span, onChoice, onZoom }: ZoomButtonsProps) {
  return (
    <span class="row zoom">
      {views.map(({ title, to }) => (
        <button
          key={title}
          type="button"
          class="small"
          aria-pressed={to.from === span.from && to.to === span.to}
          onClick={() => onChoice(to)}
        >
          {title}
        </button>
      ))}
      <button type="button" class="small" aria-label="Zoom in" onClick={() => onZoom(true)}>
        +
      </button>
      <button type="button" class="small" aria-label="Zoom out" onClick={() => onZoom(false)}>
        −
      </button>
    </span>
  );
}

interface MarkListProps {
  readonly marks: Capture['marks'];
  readonly onChoice: (at: number) => void;
}

/** The marks in words; a press moves the cursor there. */
function MarkList({ marks, onChoice }: MarkListProps) {
  return (
    <ol class="capture-marks" aria-label="Marks">
      {marks.map(({ number, text, t_s }) => (
        <li key={number}>
          <button type="button" class="quiet small" onClick={() => onChoice(t_s)}>
            <b>{number}</b> {text}
            {t_s !== 0 && `, ${instantText(t_s)}`}
          </button>
        </li>
      ))}
    </ol>
  );
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };

export function Drawing({ capture, lanes, instants, whole, views, height }: DrawingProps) {
  const { box, width } = useWidth();
  const [zoom, setZoom] = useState<Span | null>(null);
  const cursor = useSignal<number | null>(null);
  const span = zoom ?? views[0]?.to ?? whole;
  const isNarrow = width < narrowPx;
  const right = isNarrow ? width - 12 : width - labelWidth;
  const bottom = height - foot;
  const x = scaleOf(span, left, right);
  const frame: Frame = { width, right, bottom, x, span };
  const rows = placed(lanes, height);
  const latest = useRef({ span, x, cursor });
  latest.current = { span, x, cursor };
  const instantAt = (event: MouseEvent) => {
    const { left: boxLeft } = (box.current ?? document.body).getBoundingClientRect();
    const { span: view } = latest.current;
    const at = view.from + ((event.clientX - boxLeft - left) / (right - left)) * (view.to - view.from);
    return Math.min(Math.max(at, view.from), view.to);
  };
  const zoomAt = (at: number, isIn: boolean) => {
    const before = latest.current.span;
    const next = zoomed(before, at, isIn, whole);
    if (next.from === before.from && next.to === before.to) return false;
    setZoom(next);
    return true;
  };
  useEffect(() => {
    const element = box.current;
    // where there is nothing to zoom, the wheel scrolls the page
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY !== 0 && zoomAt(instantAt(event), event.deltaY < 0)) event.preventDefault();
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, [whole.from, whole.to, right]);
  const moveTo = (at: number | null) => {
    cursor.value = at;
    if (at !== null) setZoom(showing(span, at, whole));
  };
  const onKey = (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step !== undefined) moveTo(rowAway(instants, cursor.peek(), event.shiftKey ? 10 * step : step));
    else if (event.key === '+' || event.key === '=' || event.key === '-')
      zoomAt(cursor.peek() ?? (span.from + span.to) / 2, event.key !== '-');
    else if (event.key === 'Home' || event.key === 'End') moveTo(event.key === 'Home' ? whole.from : whole.to);
    else if (event.key === 'Escape' || event.key === '0') {
      cursor.value = null;
      setZoom(null);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  // the cursor moves without drawing the curves again
  const curves = useMemo(
    () =>
      rows.map((lane) => (
        <g key={lane.name}>
          <Axes lane={lane} frame={frame} />
          <g clip-path="url(#capture-clip)">
            <Curves lane={lane} frame={frame} />
          </g>
        </g>
      )),
    [lanes, span.from, span.to, width, height],
  );
  return (
    <div class="stack capture-drawing">
      <div class="row">
        <Instant cursor={cursor} startedAt={capture.started_at} />
        <ZoomButtons
          views={views.length > 1 || zoom !== null ? views : []}
          span={span}
          onChoice={setZoom}
          onZoom={(isIn) => zoomAt(cursor.peek() ?? (span.from + span.to) / 2, isIn)}
        />
      </div>
      <div
        ref={box}
        class="drawing-box"
        tabIndex={0}
        role="group"
        aria-label="Drawing. Arrow keys move the cursor, plus and minus zoom, 0 resets"
        onKeyDown={onKey}
        onPointerMove={(event) => (cursor.value = instantAt(event))}
        onPointerDown={(event) => (cursor.value = instantAt(event))}
        onDblClick={() => setZoom(null)}
      >
        <svg
          class="capture"
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          role="img"
          aria-label={`${lanes.map(({ title }) => title).join(', ')} from ${instantText(span.from)} to ${instantText(span.to)}`}
        >
          <clipPath id="capture-clip">
            <rect x={left} y={0} width={right - left} height={height} />
          </clipPath>
          {curves}
          <Marks marks={capture.marks} frame={frame} />
          {!isNarrow && rows.map((lane) => <Labels key={lane.name} lane={lane} frame={frame} cursor={cursor} />)}
          <TimeAxis frame={frame} y={height - 6} />
          <Cursor cursor={cursor} frame={frame} />
        </svg>
      </div>
      {isNarrow && <Key lanes={lanes} cursor={cursor} />}
      <MarkList marks={capture.marks} onChoice={moveTo} />
    </div>
  );
}
