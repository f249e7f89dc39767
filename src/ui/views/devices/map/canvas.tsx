/** The cells of one group on a canvas: a thousand elements cost more than their drawing. */
import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../../shell/theme';
import { shapeOf } from '../condition';
import type { Condition } from '../condition';
import { ownerLook, ownerOf, shareOf } from './groups';
import type { Colour } from './groups';
import { columnsOf, gapPx } from './layout';

interface CanvasProps {
  readonly members: readonly Condition[];
  readonly colour: Colour;
  readonly owners: readonly string[];
  /** indexes of the devices under local control */
  readonly local: ReadonlySet<number>;
  readonly sizePx: number;
  readonly widthPx: number;
  readonly onReach: (at: number) => void;
  readonly onPress: (at: number) => void;
}

type Paint = (name: string) => string;

/** Distance of the dot of local control from the edges. */
const dotPx = 5.5;

/** Look of a cell. */
interface Look {
  readonly fill: string;
  /** colour of letters and marks on the fill */
  readonly onFill: string;
  /** of the owner; empty: none */
  readonly letter: string;
  /** under local control */
  readonly isLocal: boolean;
}

function drawCell(pen: CanvasRenderingContext2D, sizePx: number, condition: Condition, look: Look, paint: Paint): void {
  const shape = shapeOf(condition);
  const isHollow = shape === 'tripped' || shape === 'idle';
  pen.fillStyle = isHollow ? paint('--surface') : look.fill;
  pen.fillRect(0, 0, sizePx, sizePx);
  if (isHollow) {
    const line = shape === 'tripped' ? 2.5 : 1;
    pen.strokeStyle = paint(shape === 'tripped' ? '--bad' : '--edge');
    pen.lineWidth = line;
    pen.strokeRect(line / 2, line / 2, sizePx - line, sizePx - line);
  }
  const text = shape === 'tripped' ? '×' : look.letter;
  pen.fillStyle = shape === 'tripped' ? paint('--bad') : isHollow ? paint('--text') : look.onFill;
  if (text !== '') pen.fillText(text, sizePx / 2, sizePx / 2);
  pen.fillStyle = paint('--text');
  if (shape === 'limited') pen.fill(new Path2D(`M${sizePx - 9} 0H${sizePx}V9Z`));
  if (look.isLocal) {
    pen.beginPath();
    pen.arc(dotPx, sizePx - dotPx, 2.5, 0, 2 * Math.PI);
    pen.fill();
  }
}

function lookOf(
  condition: Condition,
  { colour, owners, local }: Pick<CanvasProps, 'colour' | 'owners' | 'local'>,
  paint: Paint,
): Look {
  const isLocal = local.has(condition.device.device_index);
  if (colour === 'owner') {
    const [letter, kind] = ownerLook(ownerOf(condition), owners);
    return { fill: paint(`--${kind}`), onFill: paint('--surface'), letter, isLocal };
  }
  const share = Math.round(shareOf(condition, colour) ?? 0);
  const fill = `color-mix(in oklab, ${paint('--sunk')}, ${paint('--accent')} ${share}%)`;
  return { fill, onFill: paint('--text'), letter: '', isLocal };
}

export function CanvasCells(props: CanvasProps) {
  const { members, colour, owners, local, sizePx, widthPx, onReach, onPress } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const columns = columnsOf(widthPx, sizePx);
  const step = sizePx + gapPx;
  const rows = Math.ceil(members.length / columns);
  const heightPx = rows * step;
  const { value: look } = theme;
  useEffect(() => {
    const pen = canvas.current?.getContext('2d');
    if (!canvas.current || !pen || widthPx === 0) return;
    const ratio = devicePixelRatio;
    const styles = getComputedStyle(canvas.current);
    const paints = new Map<string, string>();
    const probe = canvas.current;
    const paint = (name: string) => {
      const present = paints.get(name);
      if (present !== undefined) return present;
      // the browser resolves `light-dark()` in a colour only
      probe.style.color = `var(${name})`;
      const resolved = styles.color;
      paints.set(name, resolved);
      return resolved;
    };
    canvas.current.width = widthPx * ratio;
    canvas.current.height = heightPx * ratio;
    pen.scale(ratio, ratio);
    pen.font = '700 12px system-ui, sans-serif';
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    members.forEach((condition, at) => {
      pen.save();
      pen.translate((at % columns) * step, Math.floor(at / columns) * step);
      drawCell(pen, sizePx, condition, lookOf(condition, { colour, owners, local }, paint), paint);
      pen.restore();
    });
  }, [members, colour, owners, local, widthPx, sizePx, look]);
  const positionAt = ({ offsetX, offsetY }: MouseEvent): number | null => {
    const [column, row] = [Math.floor(offsetX / step), Math.floor(offsetY / step)];
    const at = row * columns + column;
    return column < columns && at < members.length ? at : null;
  };
  return (
    <canvas
      ref={canvas}
      aria-hidden="true"
      style={{ width: `${widthPx}px`, height: `${heightPx}px` }}
      onPointerMove={(event) => {
        const at = positionAt(event);
        if (at !== null) onReach(at);
      }}
      onClick={(event) => {
        const at = positionAt(event);
        if (at !== null) onPress(at);
      }}
    />
  );
}
