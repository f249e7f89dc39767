import { useEffect, useRef } from 'preact/hooks';

interface ChosenCellProps {
  readonly left: number;
  readonly top: number;
  readonly sizePx: number;
  /** true: a key has chosen it, so that it may lie out of sight */
  readonly isByKey: boolean;
}

/** The frame around the chosen cell of a canvas, px of the map around it. */
export function ChosenCell({ left, top, sizePx, isByKey }: ChosenCellProps) {
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isByKey) frame.current?.scrollIntoView({ block: 'nearest' });
  }, [left, top, isByKey]);
  const style = { left: `${left}px`, top: `${top}px`, width: `${sizePx}px`, height: `${sizePx}px` };
  return <i ref={frame} class="chosen-cell" style={style} />;
}
