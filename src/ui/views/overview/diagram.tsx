import { show } from '../../look/format';
import type { DeviceEntry } from '../../store/site';
import { useFrame, snapshotOf } from '../../store/stream';
import { useDiagram } from './flows';
import type { Flow, Node } from './flows';

const [boxWidth, boxHeight, stepX, stepY] = [128, 78, 164, 96];

function corner({ at: [column, row] }: Node): readonly [number, number] {
  return [column * stepX + 4, row * stepY + 4];
}

/** The device on one line from source to grid; dashes move with the power. */
export function DeviceDiagram({ device }: { readonly device: DeviceEntry }) {
  useFrame();
  const diagram = useDiagram(device, snapshotOf(device.device_index));
  if (!diagram) return <p class="empty">The first telemetry comes with the next tick.</p>;
  const rows = Math.max(...diagram.nodes.map(({ at }) => at[1])) + 1;
  const said = diagram.flows.map(
    ({ from, to, powerKw, open }) => `${from} to ${to}: ${open ? 'switch open' : show(powerKw, 'activePower')}`,
  );
  return (
    <div class="diagram">
      <svg
        viewBox={`0 0 ${3 * stepX + boxWidth + 8} ${(rows - 1) * stepY + boxHeight + 8}`}
        role="img"
        aria-label={`One-line diagram. ${said.join('; ')}`}
      >
        {diagram.flows.map((flow) => (
          <Wire key={`${flow.from}-${flow.to}`} flow={flow} nodes={diagram.nodes} />
        ))}
        {diagram.nodes.map((node) => (
          <Box key={node.id} node={node} />
        ))}
      </svg>
    </div>
  );
}

function Box({ node }: { readonly node: Node }) {
  const [x, y] = corner(node);
  return (
    <g class={node.off ? 'node off' : 'node'} data-node={node.id}>
      <rect x={x} y={y} width={boxWidth} height={boxHeight} rx={6} />
      <text x={x + 10} y={y + 18} font-weight="600">
        {node.title}
      </text>
      {node.lines.slice(0, 3).map((line, index) => (
        <text key={index} x={x + 10} y={y + 36 + index * 16} class={index === 0 ? undefined : 'note'}>
          {line}
        </text>
      ))}
    </g>
  );
}

/** Smaller powers, kW, are drawn as no flow. */
const flowingKw = 0.0005;

function Wire({ flow: { from, to, powerKw, open }, nodes }: { readonly flow: Flow; readonly nodes: readonly Node[] }) {
  const [a, b] = [nodes.find(({ id }) => id === from), nodes.find(({ id }) => id === to)];
  if (!a || !b) return null;
  const [ax, ay] = corner(a);
  const [bx, by] = corner(b);
  const [x1, y1, x2, y2] = [ax + boxWidth, ay + boxHeight / 2, bx, by + boxHeight / 2];
  const middle = (x1 + x2) / 2;
  const path = `M${x1},${y1} H${middle} V${y2} H${x2}`;
  const flows = open !== true && powerKw !== null && Math.abs(powerKw) >= flowingKw;
  return (
    <g data-flow={`${from}-${to}`}>
      <path class="wire" d={path} />
      {flows && <path class={powerKw < 0 ? 'flow back' : 'flow'} d={path} />}
      {open && (
        <path
          class="open"
          d={`M${middle - 6},${y2 - 8} L${middle + 6},${y2 + 8} M${middle - 6},${y2 + 8} L${middle + 6},${y2 - 8}`}
        />
      )}
    </g>
  );
}
