/** A device's one-line diagram by its kind. Powers in kW; positive flows go from left to right. */
import { show, fixed, words } from '../../look/format';
import type { DeviceEntry } from '../../store/site';
import { useFigures } from '../../store/figures';
import { snapshotOf } from '../../store/stream';
import type { Snapshot } from '../../store/stream';
import { get } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { useLive } from '../../store/live';

interface Node {
  readonly id: string;
  readonly title: string;
  /** at most three are drawn */
  readonly lines: readonly string[];
  /** column and row in a grid of four columns */
  readonly at: readonly [column: number, row: number];
  readonly off?: boolean;
}

interface Flow {
  readonly from: string;
  readonly to: string;
  /** null: not measured */
  readonly powerKw: number | null;
  /** true: the switch between the two nodes is open */
  readonly open?: boolean;
}

interface Diagram {
  readonly nodes: readonly Node[];
  readonly flows: readonly Flow[];
}

/** A part of a diagram: sources and stores, or the inverter with the grid. */
interface Side {
  readonly nodes: readonly Node[];
  readonly flows: readonly Flow[];
}

function dcLines({ metrics: { dc_voltage_v, dc_current_a } }: Snapshot): readonly string[] {
  return [show(dc_voltage_v, 'voltage'), show(dc_current_a, 'current')];
}

function pvSide(snapshot: Snapshot, irradiance: number | null | undefined): Side {
  const { dc_power_kw } = snapshot.metrics;
  return {
    nodes: [
      { id: 'source', title: 'Sun', lines: [show(irradiance, 'irradiance')], at: [0, 0] },
      { id: 'dc', title: 'PV array', lines: [show(dc_power_kw, 'activePower'), ...dcLines(snapshot)], at: [1, 0] },
    ],
    flows: [
      { from: 'source', to: 'dc', powerKw: dc_power_kw },
      { from: 'dc', to: 'inverter', powerKw: dc_power_kw },
    ],
  };
}

function batterySide(snapshot: Snapshot): Side {
  const { dc_power_kw, state_of_charge_pct } = snapshot.metrics;
  const lines = [
    `SoC ${show(state_of_charge_pct, 'soc')}`,
    show(dc_power_kw, 'activePower'),
    ...dcLines(snapshot).slice(0, 1),
  ];
  return {
    nodes: [{ id: 'dc', title: 'Battery', lines, at: [1, 0] }],
    flows: [{ from: 'dc', to: 'inverter', powerKw: dc_power_kw }],
  };
}

function windSide(snapshot: Snapshot, wind: ReplyOf<'wind'> | undefined): Side {
  const { dc_power_kw } = snapshot.metrics;
  const rotor = [
    show(wind?.mechanical_power_kw, 'activePower'),
    show(wind?.rotor_rpm, 'speed'),
    `pitch ${show(wind?.pitch_deg, 'angle')}`,
  ];
  return {
    nodes: [
      {
        id: 'source',
        title: 'Wind',
        lines: [show(wind?.wind_speed_m_s, 'windSpeed'), words(wind?.source)],
        at: [0, 0],
      },
      { id: 'dc', title: 'Rotor', lines: rotor, at: [1, 0] },
    ],
    flows: [
      { from: 'source', to: 'dc', powerKw: wind?.mechanical_power_kw ?? null },
      { from: 'dc', to: 'inverter', powerKw: wind?.electrical_power_kw ?? dc_power_kw },
    ],
  };
}

function fuelCellSide(snapshot: Snapshot, cell: ReplyOf<'fuelcell'> | undefined): Side {
  const { dc_power_kw } = snapshot.metrics;
  const fuel =
    cell?.fuel === 'continuous'
      ? ['supply']
      : [show(cell?.tank_level_pct, 'percent'), `${fixed(cell?.tank_mass_kg, 2)} kg`];
  return {
    nodes: [
      { id: 'source', title: 'Hydrogen', lines: [...fuel, `${fixed(cell?.h2_flow_kg_h, 3)} kg/h`], at: [0, 0] },
      {
        id: 'dc',
        title: 'Stack',
        lines: [show(cell?.stack_power_kw, 'activePower'), show(cell?.stack_voltage_v, 'voltage'), words(cell?.mode)],
        at: [1, 0],
      },
    ],
    flows: [
      { from: 'source', to: 'dc', powerKw: cell?.stack_power_kw ?? null },
      { from: 'dc', to: 'inverter', powerKw: dc_power_kw },
    ],
  };
}

function hybridSide(hybrid: ReplyOf<'hybrid-dc'> | undefined): Side {
  const { pv, battery, inverter } = hybrid ?? {};
  return {
    nodes: [
      {
        id: 'pv',
        title: 'PV array',
        lines: [show(pv?.power_kw, 'activePower'), show(pv?.irradiance_w_m2, 'irradiance')],
        at: [0, 0],
      },
      {
        id: 'battery',
        title: 'Battery',
        lines: [show(battery?.power_kw, 'activePower'), `SoC ${show(battery?.soc_pct, 'soc')}`, words(battery?.mode)],
        at: [0, 1],
      },
      { id: 'dc', title: 'DC bus', lines: [show(hybrid?.bus_voltage_v, 'voltage'), words(hybrid?.policy)], at: [1, 0] },
    ],
    flows: [
      { from: 'pv', to: 'dc', powerKw: pv?.power_kw ?? null },
      { from: 'battery', to: 'dc', powerKw: battery?.power_kw ?? null },
      { from: 'dc', to: 'inverter', powerKw: inverter?.dc_power_kw ?? null },
    ],
  };
}

const maxConnectors = 3;

function evseSide(station: ReplyOf<'evse'>['evses'][number] | undefined): Side {
  const connectors = station?.connectors.slice(0, maxConnectors) ?? [];
  return {
    nodes: connectors.map(({ connector_id, status, power_kw, ev }, row) => ({
      id: `connector${connector_id}`,
      title: `Connector ${connector_id}`,
      lines: [
        show(power_kw, 'activePower'),
        words(status),
        ev === null ? 'no vehicle' : `SoC ${show(ev.soc_pct, 'soc')}`,
      ],
      at: [1, row] as const,
      off: ev === null,
    })),
    // charging is positive: power flows from the station to the vehicle
    flows: connectors.map(({ connector_id, power_kw }) => ({
      from: `connector${connector_id}`,
      to: 'inverter',
      powerKw: -power_kw,
    })),
  };
}

/** Titles of the node between source and grid by kind of device; default `Inverter`. */
const nodeTitles: Readonly<Record<string, string>> = { evse: 'Station' };

function gridSide(snapshot: Snapshot, loadKw: number | undefined, closed: boolean): Side {
  const { metrics, status, asset_type } = snapshot;
  const grid = [
    show(metrics.voltage_ln_v, 'voltage'),
    show(metrics.frequency_hz, 'frequency'),
    direction(metrics.power_kw),
  ];
  const nodes: Node[] = [
    {
      id: 'inverter',
      title: nodeTitles[asset_type] ?? 'Inverter',
      lines: [
        show(metrics.power_kw, 'activePower'),
        show(metrics.reactive_power_kvar, 'reactivePower'),
        words(status.inverter_state),
      ],
      at: [2, 0],
      off: status.service_state === 'off',
    },
    { id: 'grid', title: 'Grid', lines: grid, at: [3, 0] },
  ];
  const flows: Flow[] = [{ from: 'inverter', to: 'grid', powerKw: metrics.power_kw, open: !closed }];
  if (loadKw !== undefined && loadKw > 0) {
    nodes.push({ id: 'load', title: 'Load', lines: [show(loadKw, 'activePower')], at: [3, 1] });
    flows.push({ from: 'inverter', to: 'load', powerKw: loadKw });
  }
  return { nodes, flows };
}

/** The direction of power in words. */
export function direction(powerKw: number | null | undefined): string {
  if (powerKw === null || powerKw === undefined || Math.abs(powerKw) < 0.0005) return 'no power';
  return powerKw > 0 ? '▲ to grid' : '▼ from grid';
}

/** The diagram of a device, updated at each tick. undefined: no telemetry yet. */
function useDiagram({ device_index, asset_type }: DeviceEntry, snapshot: Snapshot | undefined): Diagram | undefined {
  const query = { device: device_index };
  const is = (kind: DeviceEntry['asset_type']) => asset_type === kind;
  const environment = useLive(get('controls/environment', { query })).data;
  const service = useLive(get('controls', { query })).data?.service;
  const wind = useLive(is('wind') ? get('wind', { query }) : null).data;
  const cell = useLive(is('fuelcell') ? get('fuelcell', { query }) : null).data;
  const hybrid = useLive(is('hybrid-dc') ? get('hybrid-dc', { query }) : null).data;
  const stations = useLive(is('evse') ? get('evse') : null).data;
  if (snapshot === undefined) return undefined;
  const sides: Readonly<Record<DeviceEntry['asset_type'], () => Side>> = {
    pv: () => pvSide(snapshot, environment?.irradiance_w_m2),
    battery: () => batterySide(snapshot),
    wind: () => windSide(snapshot, wind),
    fuelcell: () => fuelCellSide(snapshot, cell),
    'hybrid-dc': () => hybridSide(hybrid),
    evse: () => evseSide(stations?.evses.find((station) => station.device_index === device_index)),
  };
  const source = sides[asset_type]();
  const grid = gridSide(snapshot, environment?.load_kw, service?.switch_closed ?? true);
  return { nodes: [...source.nodes, ...grid.nodes], flows: [...source.flows, ...grid.flows] };
}

const [boxWidth, boxHeight, stepX, stepY] = [128, 78, 164, 96];

function corner({ at: [column, row] }: Node): readonly [number, number] {
  return [column * stepX + 4, row * stepY + 4];
}

/** The device on one line from source to grid; dashes move with the power. */
export function DeviceDiagram({ device }: { readonly device: DeviceEntry }) {
  useFigures();
  const diagram = useDiagram(device, snapshotOf(device.device_index));
  if (!diagram) return <p class="empty">The first telemetry comes with the next tick.</p>;
  const rows = Math.max(...diagram.nodes.map(({ at }) => at[1])) + 1;
  const flowTexts = diagram.flows.map(
    ({ from, to, powerKw, open }) => `${from} to ${to}: ${open ? 'switch open' : show(powerKw, 'activePower')}`,
  );
  return (
    <div class="diagram">
      <svg
        viewBox={`0 0 ${3 * stepX + boxWidth + 8} ${(rows - 1) * stepY + boxHeight + 8}`}
        role="img"
        aria-label={`One-line diagram. ${flowTexts.join('; ')}`}
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

/** Minimum power that is drawn as a flow, kW. */
const minFlowKw = 0.0005;

function Wire({ flow: { from, to, powerKw, open }, nodes }: { readonly flow: Flow; readonly nodes: readonly Node[] }) {
  const [a, b] = [nodes.find(({ id }) => id === from), nodes.find(({ id }) => id === to)];
  if (!a || !b) return null;
  const [ax, ay] = corner(a);
  const [bx, by] = corner(b);
  const [x1, y1, x2, y2] = [ax + boxWidth, ay + boxHeight / 2, bx, by + boxHeight / 2];
  const middle = (x1 + x2) / 2;
  const path = `M${x1},${y1} H${middle} V${y2} H${x2}`;
  const flows = open !== true && powerKw !== null && Math.abs(powerKw) >= minFlowKw;
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
