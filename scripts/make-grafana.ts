/**
 * Writes deploy/grafana/dashboards/derbench.json, the dashboard of Grafana, from the table below:
 *
 *   npm run generate:grafana [-- --check]
 */
import { fileURLToPath } from 'node:url';
import { deliver } from './generated.ts';

const path = 'deploy/grafana/dashboards/derbench.json';

interface Query {
  readonly expr: string;
  /** text of a series, with its labels in `{{}}` */
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly queries: readonly Query[];
  /** identifier of Grafana, such as `watt` */
  readonly unit: string;
  /** of the 24 columns of a row */
  readonly columns: number;
  /** `value` and `name` are one field for each series: its last value, or its legend; default: lines over time */
  readonly shows?: 'value' | 'name';
  /** the values from here on are red */
  readonly redFrom?: number;
  readonly range?: readonly [min: number, max: number];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Matchers of the simulators that the reader has chosen. */
const chosen = 'instance=~"$instance",job=~"$job"';
const family = (name: string) => `derbench_${name}{${chosen}}`;

/** A quantity of the chosen devices, with their names, which the families of quantities lack. */
const ofDevices = (quantity: string): Query => ({
  expr: `${family(`device_${quantity}`)} * on (instance, job, device) group_left (name) derbench_device_info{${chosen},name=~"$device"}`,
  legend: '{{name}}',
});

/** Series of the protocols that the process runs. */
const ofProtocols = (expr: string, legend = '{{protocol}}'): Query => ({
  expr: `${expr} and on (instance, job, protocol) ${family('protocol_enabled')} == 1`,
  legend,
});

const perSecond = (name: string) => `rate(${family(name)}[$__rate_interval])`;

/** Families of `GET metrics` as panels. */
const rows: readonly Row[] = [
  {
    title: 'Site',
    panels: [
      {
        title: 'Active power',
        queries: [{ expr: `sum(${family('fleet_active_power_watts')})`, legend: 'into the grid' }],
        unit: 'watt',
        columns: 8,
        shows: 'value',
      },
      {
        title: 'Devices in service',
        queries: [
          { expr: `sum(${family('fleet_in_service_devices')})`, legend: 'in service' },
          { expr: `sum(${family('devices')})`, legend: 'of' },
        ],
        unit: 'short',
        columns: 8,
        shows: 'value',
      },
      {
        title: 'Active alarms',
        queries: [{ expr: `sum by (severity) (${family('fleet_alarms')})`, legend: '{{severity}}' }],
        unit: 'short',
        columns: 8,
        shows: 'value',
        redFrom: 1,
      },
      {
        title: 'Active power by kind, positive into the grid',
        queries: [{ expr: `sum by (asset_type) (${family('fleet_active_power_watts')})`, legend: '{{asset_type}}' }],
        unit: 'watt',
        columns: 24,
      },
    ],
  },
  {
    title: 'Devices',
    panels: [
      { title: 'Active power P', queries: [ofDevices('active_power_watts')], unit: 'watt', columns: 12 },
      { title: 'Reactive power Q', queries: [ofDevices('reactive_power_vars')], unit: 'voltampreact', columns: 12 },
      { title: 'Voltage V', queries: [ofDevices('voltage_line_to_neutral_volts')], unit: 'volt', columns: 8 },
      { title: 'Frequency f', queries: [ofDevices('frequency_hertz')], unit: 'hertz', columns: 8 },
      {
        title: 'State of charge SoC',
        queries: [ofDevices('state_of_charge_ratio')],
        unit: 'percentunit',
        columns: 8,
        range: [0, 1],
      },
    ],
  },
  {
    title: 'Protocols',
    panels: [
      {
        title: 'State',
        queries: [ofProtocols(`${family('protocol_state')} == 1`, '{{protocol}}: {{state}}')],
        unit: 'short',
        columns: 24,
        shows: 'name',
      },
      { title: 'Received', queries: [ofProtocols(perSecond('protocol_received_total'))], unit: 'reqps', columns: 8 },
      { title: 'Errors', queries: [ofProtocols(perSecond('protocol_errors_total'))], unit: 'reqps', columns: 8 },
      { title: 'Connected peers', queries: [ofProtocols(family('protocol_peers'))], unit: 'short', columns: 8 },
      {
        title: 'Findings at central systems of OCPP since the start',
        queries: [{ expr: `sum by (kind) (${family('ocpp_findings_total')})`, legend: '{{kind}}' }],
        unit: 'short',
        columns: 12,
      },
      {
        title: 'Events of DNP3 lost since the start',
        queries: [{ expr: family('dnp3_events_lost_total'), legend: '{{instance}}' }],
        unit: 'short',
        columns: 12,
        redFrom: 1,
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'Delay of the event loop',
        queries: ['p50', 'p99'].map((part) => ({
          expr: `nodejs_eventloop_lag_${part}_seconds{${chosen}}`,
          legend: `${part} {{instance}}`,
        })),
        unit: 's',
        columns: 12,
        redFrom: 0.1,
      },
      {
        title: 'Age of the last tick',
        queries: [
          { expr: family('tick_age_seconds'), legend: 'age {{instance}}' },
          { expr: family('tick_interval_seconds'), legend: 'interval {{instance}}' },
        ],
        unit: 's',
        columns: 12,
      },
      {
        title: 'Stalls since the start',
        queries: [{ expr: family('event_loop_stalls_total'), legend: '{{instance}}' }],
        unit: 'short',
        columns: 12,
        redFrom: 1,
      },
      {
        title: 'Ticks skipped since the start',
        queries: [{ expr: family('ticks_skipped_total'), legend: '{{instance}}' }],
        unit: 'short',
        columns: 12,
        redFrom: 1,
      },
    ],
  },
];

const datasource = { type: 'prometheus', uid: '${datasource}' };

/** A variable with the values of a label; the reader chooses some of them. */
const labelVariable = (name: string, query: string) => ({
  type: 'query',
  name,
  datasource,
  query: { qryType: 1, query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  current: { selected: true, text: ['All'], value: ['$__all'] },
});

const variables = [
  {
    type: 'datasource',
    name: 'datasource',
    label: 'Data source',
    query: 'prometheus',
    current: {},
  },
  labelVariable('job', 'label_values(derbench_build_info, job)'),
  labelVariable('instance', 'label_values(derbench_build_info{job=~"$job"}, instance)'),
  labelVariable('device', `label_values(derbench_device_info{${chosen}}, name)`),
];

function thresholdsOf({ redFrom }: Panel): object {
  const steps = [{ color: 'green', value: null }, ...(redFrom === undefined ? [] : [{ color: 'red', value: redFrom }])];
  return { mode: 'absolute', steps };
}

const lastValue = { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, graphMode: 'none' };

function displayOf({ shows, redFrom }: Panel): object {
  if (shows !== undefined)
    return {
      type: 'stat',
      options: { ...lastValue, textMode: shows === 'name' ? 'name' : 'value_and_name', colorMode: 'value' },
    };
  return {
    type: 'timeseries',
    options: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } },
    ...(redFrom !== undefined && { custom: { thresholdsStyle: { mode: 'dashed' } } }),
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

const heightOf = ({ shows }: Panel) => (shows === undefined ? 8 : 4);

function panelDocument(panel: Panel, id: number, { x, y }: Place): object {
  const { title, queries, unit, columns, range } = panel;
  const { custom = {}, ...display } = displayOf(panel) as { custom?: object };
  return {
    id,
    title,
    ...display,
    datasource,
    gridPos: { h: heightOf(panel), w: columns, x, y },
    fieldConfig: {
      defaults: {
        unit,
        ...(range !== undefined && { min: range[0], max: range[1] }),
        thresholds: thresholdsOf(panel),
        custom,
      },
      overrides: [],
    },
    targets: queries.map(({ expr, legend }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource,
      expr,
      legendFormat: legend,
    })),
  };
}

/** Panels one after the other in lines of 24 columns, each row below its title. */
function panelDocuments(): readonly object[] {
  const documents: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    documents.push({
      id: documents.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { h: 1, w: 24, x: 0, y },
      panels: [],
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of panels) {
      if (x + panel.columns > 24) {
        x = 0;
        y += height;
      }
      documents.push(panelDocument(panel, documents.length + 1, { x, y }));
      x += panel.columns;
      height = heightOf(panel);
    }
    y += height;
  }
  return documents;
}

function dashboard(): object {
  return {
    uid: 'derbench',
    title: 'derbench',
    tags: ['derbench'],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: '5s',
    time: { from: 'now-15m', to: 'now' },
    timezone: 'browser',
    templating: { list: variables },
    panels: panelDocuments(),
  };
}

/** The text of the file. */
export const dashboardText = (): string => `${JSON.stringify(dashboard(), null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = deliver(new Map([[path, dashboardText()]]), process.argv);
}
