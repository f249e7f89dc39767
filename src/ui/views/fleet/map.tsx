/** Every device of a fleet as a cell of one canvas. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get } from '../../api/call';
import { useBox } from '../../kit/box';
import { ChosenCell } from '../../kit/chosen-cell';
import { Empty, Panel } from '../../kit/panel';
import { Segments } from '../../kit/segments';
import { duration, show } from '../../look/format';
import { theme } from '../../shell/theme';
import { rangeText } from '../../store/fleet';
import { useLive } from '../../store/live';
import { go, param, setParam } from '../../store/route';
import { cellAfter, cellAt, labelPx, layoutOf, paintCells, placeOf } from './layout';
import type { Layout } from './layout';
import { cellsOf, cellState, colours, deviceOf, drawLook, lookCount, looksOf } from './looks';
import type { Colour, FleetMap, MapShard } from './looks';
import { DeviceSearch } from './search';

/** Time between two readings of the map, ms. */
const readEveryMs = 5000;

/** The pixels of one cell of each look. */
function stampsOf(canvas: HTMLCanvasElement, cellPx: number): readonly Uint32Array[] {
  const pad = document.createElement('canvas');
  pad.width = cellPx * lookCount;
  pad.height = cellPx;
  const pen = pad.getContext('2d', { willReadFrequently: true });
  if (pen === null) return [];
  const styles = getComputedStyle(canvas);
  // the browser resolves `light-dark()` and `color-mix()` in a colour only
  const colourOf = (text: string) => {
    canvas.style.color = text;
    return styles.color;
  };
  return Array.from({ length: lookCount }, (_none, look) => {
    pen.setTransform(1, 0, 0, 1, look * cellPx, 0);
    drawLook(pen, look, cellPx, colourOf);
    return new Uint32Array(pen.getImageData(look * cellPx, 0, cellPx, cellPx).data.buffer);
  });
}

function draw(canvas: HTMLCanvasElement, layout: Layout, looks: Uint8Array): void {
  const pen = canvas.getContext('2d');
  if (pen === null || layout.widthPx === 0 || layout.heightPx === 0) return;
  const startMs = performance.now();
  canvas.width = layout.widthPx;
  canvas.height = layout.heightPx;
  const image = pen.createImageData(layout.widthPx, layout.heightPx);
  paintCells(new Uint32Array(image.data.buffer), layout, looks, stampsOf(canvas, layout.cellPx));
  pen.putImageData(image, 0, 0);
  canvas.dataset['drawMs'] = (performance.now() - startMs).toFixed(1);
}

/** The shard of a cell, and the position in it. */
function shardOfCell(
  shards: readonly MapShard[],
  at: number,
): { readonly shard: MapShard; readonly inShard: number } | null {
  let start = 0;
  for (const shard of shards) {
    const count = cellsOf(shard);
    if (at < start + count) return { shard, inShard: at - start };
    start += count;
  }
  return null;
}

function textOf({ codes, shards }: FleetMap, at: number): string {
  const cell = shardOfCell(shards, at);
  if (cell === null) return '';
  const { shard, inShard } = cell;
  const name = `Device ${deviceOf(shard, inShard)}, shard ${shard.shard}`;
  if (shard.index.length === 0) return `${name}: no values`;
  const inverter = codes.inverter_state[shard.inverter_state[inShard] ?? -1];
  const alarm = codes.alarm_severity[shard.alarm_severity[inShard] ?? -1];
  const mark = cellState(inverter, alarm) === 'fault' && inverter !== 'fault' ? ', alarm' : '';
  return `${name}: ${show(shard.power_kw[inShard], 'activePower')}, ${(inverter ?? '').replaceAll('_', ' ')}${mark}`;
}

/** Range and age of the values of a shard. */
function labelOf(shard: MapShard): string {
  const range = `${shard.shard}: ${rangeText(shard.first, cellsOf(shard))}`;
  if (shard.state === 'lost') return `${range}, lost: no values`;
  return shard.tick_age_s === null ? `${range}, no tick yet` : `${range}, ${duration(shard.tick_age_s)} old when read`;
}

function Cells({ map, colour }: { readonly map: FleetMap; readonly colour: Colour }) {
  const box = useRef<HTMLDivElement>(null);
  const { widthPx } = useBox(box);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [reached, setReached] = useState(0);
  const [isByKey, setByKey] = useState(false);
  const [isShown, setShown] = useState(false);
  const layout = useMemo(() => layoutOf(map.shards.map(cellsOf), widthPx), [map, widthPx]);
  const cells = layout.blocks.reduce((sum, { count }) => sum + count, 0);
  const at = Math.min(reached, cells - 1);
  const { value: look } = theme;
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, layout, looksOf(map, colour));
  }, [map, layout, colour, look]);
  const place = isShown ? placeOf(layout, at) : null;
  const open = (cell: number) => {
    const target = shardOfCell(map.shards, cell);
    if (target !== null) go(`devices/${deviceOf(target.shard, target.inShard)}/picture`);
  };
  const reach = (next: number, byKey = false) => {
    setReached(next);
    setByKey(byKey);
    setShown(true);
  };
  return (
    <div
      ref={box}
      class="fleet-map"
      role="application"
      tabIndex={0}
      aria-label="Map of devices: arrow keys move, Enter opens"
      onKeyDown={(event) => {
        if (event.key === 'Escape') setShown(false);
        if (event.key === 'Enter' && isShown) open(at);
        const next = cellAfter(event.key, at, layout);
        if (next === null) return;
        event.preventDefault();
        reach(next, true);
      }}
      onFocusIn={() => setShown(true)}
      onFocusOut={() => setShown(false)}
      onPointerLeave={() => setShown(false)}
    >
      <canvas
        ref={canvas}
        aria-hidden="true"
        onPointerMove={({ offsetX, offsetY }) => {
          const next = cellAt(layout, offsetX, offsetY);
          if (next !== null) reach(next);
        }}
        onClick={({ offsetX, offsetY }) => {
          const next = cellAt(layout, offsetX, offsetY);
          if (next !== null) open(next);
        }}
      />
      {map.shards.map((shard, index) => (
        <span
          key={shard.shard}
          class="label muted"
          style={{ top: `${(layout.blocks[index]?.topPx ?? labelPx) - labelPx}px` }}
        >
          {labelOf(shard)}
        </span>
      ))}
      {place !== null && <ChosenCell {...place} sizePx={layout.cellPx} isByKey={isByKey} />}
      <p class="where" role="status">
        {isShown ? textOf(map, at) : ''}
      </p>
    </div>
  );
}

const legends: Readonly<Record<Colour, readonly (readonly [look: string, text: string])[]>> = {
  state: [
    ['good', 'works'],
    ['warn', 'throttled, starts, stops, or a warning'],
    ['bad', 'fault, or an alarm'],
    ['edge', 'idle'],
    ['sunk', 'no values'],
  ],
  power: [
    ['accent', 'gives power'],
    ['storage', 'takes power'],
    ['bad', 'fault, or an alarm'],
    ['sunk', 'no values'],
  ],
};

/** The map of a fleet, with a search by index or name. */
export function MapPanel() {
  const { data: map } = useLive(get('fleet/map'), readEveryMs);
  const colour: Colour = param('colour') === 'power' ? 'power' : 'state';
  const total = map?.shards.reduce((sum, shard) => sum + cellsOf(shard), 0) ?? 0;
  return (
    <Panel
      title={`Map of ${total} devices`}
      wide
      tools={
        <>
          <Segments
            label="Colour by"
            options={Object.entries(colours) as [Colour, string][]}
            value={colour}
            onChoice={(next) => setParam('colour', next === 'state' ? null : next)}
          />
          <DeviceSearch ranges={map?.shards ?? []} />
        </>
      }
    >
      {map !== undefined && total === 0 && <Empty>No device yet: start a shard.</Empty>}
      {map !== undefined && total > 0 && <Cells map={map} colour={colour} />}
      <p class="fleet-legend muted">
        {legends[colour].map(([look, text]) => (
          <span key={text}>
            <i style={{ background: `var(--${look})` }} />
            {text}
          </span>
        ))}
        <span>
          {colour === 'power' && 'The darker, the larger the share of what the device could have. '}
          Newest ticks, read every {readEveryMs / 1000} s.
        </span>
      </p>
    </Panel>
  );
}
