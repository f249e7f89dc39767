/** Looks of the cells of a map: colour and shape by state, or by the share of the power that a device could have. */
import type { ReplyOf } from '../../api/call';

export type FleetMap = ReplyOf<'fleet/map'>;
export type MapShard = FleetMap['shards'][number];

/** Fills by the share of power. */
const shades = 5;

/** Looks by their position in the stamps: shades of giving and taking first. */
const named = { plain: 2 * shades, warning: 2 * shades + 1, fault: 2 * shades + 2, idle: 2 * shades + 3 } as const;
export const missingLook = 2 * shades + 4;
export const lookCount = missingLook + 1;

export const colours = { state: 'State', power: 'Power' } as const;
export type Colour = keyof typeof colours;

export type CellState = keyof typeof named;
const idleStates = new Set(['off', 'sleeping', 'standby']);
const changing = new Set(['throttled', 'starting', 'shutting_down']);

/** The state of a cell, by the words of the codes. */
export function cellState(inverter: string | undefined, alarm: string | undefined): CellState {
  if (inverter === 'fault' || alarm === 'error') return 'fault';
  if (alarm === 'warning' || changing.has(inverter ?? '')) return 'warning';
  return idleStates.has(inverter ?? '') ? 'idle' : 'plain';
}

/** Number of cells of a shard: a lost one keeps those of its devices. */
export const cellsOf = ({ index, count }: MapShard): number => (index.length > 0 ? index.length : count);

/** The index of the device of a cell. */
export const deviceOf = ({ index, first }: MapShard, at: number): number => index[at] ?? first + at;

function powerLook(powerKw: number, sharePct: number): number {
  const shade = Math.min(shades - 1, Math.floor((sharePct / 100) * shades));
  return powerKw < 0 ? shades + shade : shade;
}

/** Looks of all cells, in the order of their devices. */
export function looksOf({ codes, shards }: FleetMap, colour: Colour): Uint8Array {
  const looks = new Uint8Array(shards.reduce((sum, shard) => sum + cellsOf(shard), 0));
  let to = 0;
  for (const shard of shards) {
    const end = to + cellsOf(shard);
    if (shard.index.length === 0) looks.fill(missingLook, to, end);
    shard.index.forEach((_index, at) => {
      const state = cellState(
        codes.inverter_state[shard.inverter_state[at] ?? -1],
        codes.alarm_severity[shard.alarm_severity[at] ?? -1],
      );
      looks[to + at] =
        colour === 'power' && state !== 'fault'
          ? powerLook(shard.power_kw[at] ?? 0, shard.share_pct[at] ?? 0)
          : named[state];
    });
    to = end;
  }
  return looks;
}

/** Colours of a look as names of the style sheet: fill, and the mark on it. */
function inkOf(look: number): {
  readonly fill: string;
  readonly share?: number;
  readonly shape?: 'cross' | 'hollow' | 'corner';
} {
  if (look < 2 * shades)
    return { fill: look < shades ? '--accent' : '--storage', share: 15 + ((look % shades) * 85) / (shades - 1) };
  if (look === named.plain) return { fill: '--good' };
  if (look === named.warning) return { fill: '--warn', shape: 'corner' };
  if (look === named.fault) return { fill: '--bad', shape: 'cross' };
  return look === named.idle ? { fill: '--edge', shape: 'hollow' } : { fill: '--sunk', shape: 'hollow' };
}

/** Cells from this size on have marks. */
const markedPx = 6;

/** Draws one cell. @param colourOf resolves a colour of the style sheet */
export function drawLook(
  pen: CanvasRenderingContext2D,
  look: number,
  cellPx: number,
  colourOf: (text: string) => string,
): void {
  const { fill, share = 100, shape } = inkOf(look);
  const sizePx = cellPx > 3 ? cellPx - 1 : cellPx;
  const colour = colourOf(`color-mix(in oklab, var(--surface), var(${fill}) ${share}%)`);
  pen.fillStyle = colourOf('var(--surface)');
  pen.fillRect(0, 0, cellPx, cellPx);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, sizePx, sizePx);
  if (shape === undefined || cellPx < markedPx) return;
  pen.fillStyle = colourOf('var(--surface)');
  if (shape === 'hollow') pen.fillRect(1, 1, sizePx - 2, sizePx - 2);
  else if (shape === 'corner') {
    for (let row = 0; row < sizePx / 2; row += 1) pen.fillRect(sizePx / 2 + row, row, sizePx / 2 - row, 1);
  } else
    for (let at = 1; at < sizePx - 1; at += 1) {
      pen.fillRect(at, at, 1, 1);
      pen.fillRect(sizePx - 1 - at, at, 1, 1);
    }
}
