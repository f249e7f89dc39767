import { assetTypes } from '../../contract/device.ts';
import { inverterStates } from '../../contract/snapshot.ts';
import type { AlarmSeverity } from '../../contract/device.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import { bit, info } from './family.ts';
import type { Family, MetricsView, Sample } from './family.ts';
import { rounded } from '../common/members.ts';

/**
 * Maximum number of devices with separate series; larger fleets have series per kind only, because series cost
 * memory in Prometheus.
 */
export const maxDevicesWithSeries = 100;

type Read = (snapshot: Snapshot) => number | null;
interface Quantity {
  readonly name: string;
  readonly help: string;
  readonly read: Read;
  /**
   * how the devices of a kind are aggregated; `counted`: help text of the number of devices with 1; null: not at all
   */
  readonly together: 'sum' | 'mean' | { readonly counted: string } | null;
}

const times = (factor: number, value: number | null) => (value === null ? null : rounded(value * factor));

const quantities: readonly Quantity[] = [
  {
    name: 'active_power_watts',
    help: 'Active power, positive into the grid.',
    read: ({ metrics }) => times(1000, metrics.power_kw),
    together: 'sum',
  },
  {
    name: 'reactive_power_vars',
    help: 'Reactive power, positive into the grid.',
    read: ({ metrics }) => times(1000, metrics.reactive_power_kvar),
    together: 'sum',
  },
  {
    name: 'apparent_power_voltamperes',
    help: 'Apparent power.',
    read: ({ metrics }) => times(1000, metrics.apparent_power_kva),
    together: null,
  },
  {
    name: 'voltage_line_to_line_volts',
    help: 'Voltage between lines; absent on single phase.',
    read: ({ metrics }) => metrics.voltage_ll_v,
    together: null,
  },
  {
    name: 'voltage_line_to_neutral_volts',
    help: 'Voltage from line to neutral.',
    read: ({ metrics }) => metrics.voltage_ln_v,
    together: null,
  },
  {
    name: 'current_amperes',
    help: 'Sum of the phase currents.',
    read: ({ metrics }) => metrics.current_a,
    together: null,
  },
  { name: 'frequency_hertz', help: 'Frequency.', read: ({ metrics }) => metrics.frequency_hz, together: 'mean' },
  {
    name: 'power_factor_ratio',
    help: 'Power factor with the sign of the active power.',
    read: ({ metrics }) => metrics.power_factor,
    together: null,
  },
  {
    name: 'dc_power_watts',
    help: 'DC power, positive from the source into the inverter.',
    read: ({ metrics }) => times(1000, metrics.dc_power_kw),
    together: 'sum',
  },
  { name: 'dc_voltage_volts', help: 'DC voltage.', read: ({ metrics }) => metrics.dc_voltage_v, together: null },
  {
    name: 'dc_current_amperes',
    help: 'DC current, positive from the source into the inverter.',
    read: ({ metrics }) => metrics.dc_current_a,
    together: null,
  },
  {
    name: 'state_of_charge_ratio',
    help: 'State of charge of a storage, 0 to 1.',
    read: ({ metrics }) => times(0.01, metrics.state_of_charge_pct),
    together: 'mean',
  },
  {
    name: 'in_service',
    help: '1 while the device is in service (701.St).',
    read: ({ status }) => bit(status.service_state === 'on'),
    together: { counted: 'Devices of a kind that are in service (701.St).' },
  },
  {
    name: 'connected',
    help: '1 while the device is connected to the grid (701.ConnSt).',
    read: ({ status }) => bit(status.connection_state === 'connected'),
    together: { counted: 'Devices of a kind that are connected to the grid (701.ConnSt).' },
  },
];

const severities: readonly AlarmSeverity[] = ['info', 'warning', 'error'];

function devicesWithSeries({ devices }: MetricsView): MetricsView['devices'] {
  return devices.length <= maxDevicesWithSeries ? devices : [];
}

const ofDevices: readonly Family[] = [
  info(
    'derbench_device_info',
    `Identity of the device; always 1. Series per device exist up to ${maxDevicesWithSeries} devices.`,
    ['device', 'name', 'device_type', 'device_profile', 'asset_type', 'dc_mode'],
    (view) =>
      devicesWithSeries(view).map(({ device }) => [
        String(device.index),
        device.name,
        device.deviceType,
        device.profileName ?? '',
        device.assetType,
        device.dcMode,
      ]),
  ),
  ...quantities.map(
    ({ name, help, read }): Family => ({
      type: 'gauge',
      name: `derbench_device_${name}`,
      help,
      labels: ['device'],
      samples: (view) => devicesWithSeries(view).map(({ snapshot }) => [read(snapshot), String(snapshot.device_index)]),
    }),
  ),
  {
    type: 'gauge',
    name: 'derbench_device_inverter_state',
    help: '1 for the state of the inverter (701.InvSt), 0 for every other.',
    labels: ['device', 'state'],
    samples: (view) =>
      devicesWithSeries(view).flatMap(({ snapshot }) =>
        inverterStates.map(
          (state) => [bit(snapshot.status.inverter_state === state), String(snapshot.device_index), state] as const,
        ),
      ),
  },
  {
    type: 'gauge',
    name: 'derbench_device_alarms',
    help: 'Active alarms.',
    labels: ['device', 'severity'],
    samples: (view) =>
      devicesWithSeries(view).flatMap(({ device }) =>
        severities.map(
          (severity) =>
            [
              device.alarms.filter((alarm) => alarm.severity === severity).length,
              String(device.index),
              severity,
            ] as const,
        ),
      ),
  },
  {
    type: 'gauge',
    name: 'derbench_device_latched_alarms',
    help: 'Alarms that stay until a reset.',
    labels: ['device'],
    samples: (view) => devicesWithSeries(view).map(({ device }) => [device.latchedAlarmCount, String(device.index)]),
  },
];

function aggregate(values: readonly number[], how: 'sum' | 'mean'): number | null {
  if (values.length === 0) return null;
  const sum = values.reduce((total, value) => total + value, 0);
  return rounded(how === 'mean' ? sum / values.length : sum);
}

/** Samples of each kind that has devices. */
function* byKind(
  view: MetricsView,
  samplesOf: (devices: MetricsView['devices'], assetType: string) => Iterable<Sample>,
): Iterable<Sample> {
  for (const assetType of assetTypes) {
    const devices = view.devices.filter(({ device }) => device.assetType === assetType);
    if (devices.length > 0) yield* samplesOf(devices, assetType);
  }
}

function ofKind({ name, help, read, together }: Quantity): Family[] {
  if (together === null) return [];
  const [how, words] =
    typeof together === 'object'
      ? ['sum' as const, { name: `${name}_devices`, help: together.counted }]
      : [together, { name, help: `${together === 'sum' ? 'Sum' : 'Mean'} over the devices of a kind. ${help}` }];
  return [
    {
      type: 'gauge',
      name: `derbench_fleet_${words.name}`,
      help: words.help,
      labels: ['asset_type'],
      samples: (view) =>
        byKind(view, (devices, assetType) => [
          [
            aggregate(
              devices.flatMap(({ snapshot }) => read(snapshot) ?? []),
              how,
            ),
            assetType,
          ],
        ]),
    },
  ];
}

const ofKinds: readonly Family[] = [
  ...quantities.flatMap(ofKind),
  {
    type: 'gauge',
    name: 'derbench_fleet_inverter_state_devices',
    help: 'Devices of a kind whose inverter is in a state (701.InvSt).',
    labels: ['asset_type', 'state'],
    samples: (view) =>
      byKind(view, (devices, assetType) =>
        inverterStates.map((state) => [
          devices.filter(({ snapshot }) => snapshot.status.inverter_state === state).length,
          assetType,
          state,
        ]),
      ),
  },
  {
    type: 'gauge',
    name: 'derbench_fleet_alarms',
    help: 'Active alarms of the devices of a kind.',
    labels: ['asset_type', 'severity'],
    samples: (view) =>
      byKind(view, (devices, assetType) =>
        severities.map((severity) => [
          devices.reduce(
            (sum, { device }) => sum + device.alarms.filter((alarm) => alarm.severity === severity).length,
            0,
          ),
          assetType,
          severity,
        ]),
      ),
  },
];

/** Telemetry of each device, and of the devices of each kind together. */
export const deviceFamilies: readonly Family[] = [...ofDevices, ...ofKinds];
