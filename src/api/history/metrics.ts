/**
 * The metrics of each sample. Each list of names stands beside the function that writes the values, in
 * the same order. These functions write all values themselves: passing a number from function to function would box it,
 * and recording would leave more garbage than data.
 */
import { connectionStates, inverterStates, serviceStates } from '../../contract/snapshot.ts';
import { conditionOf } from '../../contract/condition.ts';
import type { AssetType, Device, DeviceDetail } from '../../contract/device.ts';
import type { Snapshot } from '../../contract/snapshot.ts';
import type { EvseDetail } from '../../contract/kinds/evse.ts';
import type { PvDetail } from '../../contract/kinds/pv.ts';
import { tightestLimitW } from '../../contract/tightest-limit.ts';
import type { Bank } from '../../sunspec/map/bank.ts';
import { kilo, rounded } from '../common/members.ts';

/** One column of a device's history. */
export interface Metric {
  readonly name: string;
  /** words behind the numbers of the column, in the order of their codes; absent: plain numbers */
  readonly words?: readonly string[];
}

/** The columns of one device. */
export interface DeviceMetrics {
  readonly metrics: readonly Metric[];
  /** Writes the values of a sample from `at` on; NaN for null. */
  put(to: Float64Array, at: number, snapshot: Snapshot, detail: DeviceDetail, device: RecordedDevice): void;
}

/** The state of a device at the end of the tick, as far as the snapshot lacks it. */
export type RecordedDevice = Pick<Device, 'bank' | 'detail' | 'limitChain' | 'trace'>;

export const numericNames = [
  'power_kw',
  'reactive_power_kvar',
  'apparent_power_kva',
  'voltage_ll_v',
  'voltage_ln_v',
  'current_a',
  'frequency_hz',
  'power_factor',
  'dc_power_kw',
  'dc_voltage_v',
  'dc_current_a',
  'state_of_charge_pct',
  'soc_reserve_min_pct',
  'soc_reserve_max_pct',
  'soc_min_pct',
  'soc_max_pct',
] as const satisfies readonly (keyof Snapshot['metrics'])[];

const sharedMetrics: readonly Metric[] = [
  ...numericNames.map((name) => ({ name })),
  { name: 'service_state', words: serviceStates },
  { name: 'inverter_state', words: inverterStates },
  { name: 'connection_state', words: connectionStates },
];

function putShared(to: Float64Array, at: number, { metrics: m, status }: Snapshot): void {
  let i = at;
  to[i++] = m.power_kw;
  to[i++] = m.reactive_power_kvar;
  to[i++] = m.apparent_power_kva;
  to[i++] = m.voltage_ll_v ?? NaN;
  to[i++] = m.voltage_ln_v;
  to[i++] = m.current_a;
  to[i++] = m.frequency_hz;
  to[i++] = m.power_factor;
  to[i++] = m.dc_power_kw ?? NaN;
  to[i++] = m.dc_voltage_v ?? NaN;
  to[i++] = m.dc_current_a ?? NaN;
  to[i++] = m.state_of_charge_pct ?? NaN;
  to[i++] = m.soc_reserve_min_pct ?? NaN;
  to[i++] = m.soc_reserve_max_pct ?? NaN;
  to[i++] = m.soc_min_pct ?? NaN;
  to[i++] = m.soc_max_pct ?? NaN;
  to[i++] = serviceStates.indexOf(status.service_state);
  to[i++] = inverterStates.indexOf(status.inverter_state);
  to[i++] = connectionStates.indexOf(status.connection_state);
}

/** Powers that the chain of limits has, with their description. */
export const limitMetrics = {
  limit_kw:
    'The tightest limit on the active power, kW, positive into the grid, in the direction of flow; of a charging station ' +
    'also those of its connectors with a vehicle. Null: there is no limit.',
  possible_kw: 'The power without the limit that holds it, kW, as in `overview`.',
} as const;

function putLimits(to: Float64Array, at: number, { limitChain, detail, trace }: RecordedDevice): void {
  const limitW = tightestLimitW(limitChain, detail);
  to[at] = limitW === null ? NaN : kilo(limitW);
  to[at + 1] = kilo(conditionOf({ detail, trace, powerLimit: limitChain }).possibleW);
}

const namesOf = (metrics: object): Metric[] => Object.keys(metrics).map((name) => ({ name }));

/**
 * Metrics of each kind, with their unit for the description of the interface. The metrics of an EVSE depend on its
 * connectors, see `connectorMetrics`.
 */
export const kindMetrics: Readonly<Record<AssetType, Readonly<Record<string, string>>>> = {
  pv: {
    irradiance_w_m2: 'PV: irradiance in the plane of the array, W/m2.',
    cell_temperature_c: 'PV: cell temperature, deg C.',
  },
  battery: {
    battery_temperature_c: 'Battery: cell temperature, deg C.',
    cell_voltage_min_v: 'Battery: 802.CellVMin, V.',
    cell_voltage_max_v: 'Battery: 802.CellVMax, V.',
  },
  wind: {
    wind_speed_m_s: 'Wind: speed at hub height, turbulence included, m/s.',
    rotor_rpm: 'Wind: rotor speed, 1/min.',
    pitch_deg: 'Wind: blade angle, degrees.',
    cp: 'Wind: power coefficient of the rotor.',
  },
  fuelcell: {
    stack_voltage_v: 'Fuel cell: stack voltage, V.',
    stack_current_a: 'Fuel cell: stack current, A; negative in electrolysis.',
    h2_flow_kg_h: 'Fuel cell: hydrogen consumed, kg/h; negative: produced.',
    tank_level_pct: 'Fuel cell: fill level of the tank, percent; null without a tank.',
    stack_temperature_c: 'Fuel cell: stack temperature, deg C.',
  },
  'hybrid-dc': {
    pv_power_kw: 'Hybrid: power from the array into the DC bus, kW.',
    battery_power_kw: 'Hybrid: power of the battery at the DC bus, kW; positive = discharge.',
    bus_voltage_v: 'Hybrid: voltage of the DC bus, V.',
  },
  evse: {},
};

/**
 * Writes the values of `kindMetrics` as the path of the kind shows them.
 * @param connectors numbers of the connectors of an EVSE
 */
function putOfKind(to: Float64Array, at: number, d: DeviceDetail, bank: Bank, connectors: readonly number[]): void {
  let i = at;
  switch (d.kind) {
    case 'pv':
      to[i++] = rounded(d.irradianceWm2);
      to[i++] = rounded(d.cellTemperatureC);
      putInputs(to, i, d);
      return;
    case 'battery':
      to[i++] = rounded(d.temperatureC);
      to[i++] = rounded(bank.map.m802?.CellVMin ?? d.cellVoltageMinV);
      to[i++] = rounded(bank.map.m802?.CellVMax ?? d.cellVoltageMaxV);
      return;
    case 'wind':
      to[i++] = rounded(d.windSpeedMS);
      to[i++] = rounded(d.rotorRpm);
      to[i++] = rounded(d.pitchDeg);
      to[i++] = rounded(d.cp);
      return;
    case 'fuelcell':
      to[i++] = rounded(d.stackVoltageV);
      to[i++] = rounded(d.stackCurrentA);
      to[i++] = rounded(d.h2FlowKgH);
      to[i++] = rounded(d.tankLevelPct ?? NaN);
      to[i++] = rounded(d.stackTemperatureC);
      return;
    case 'hybrid-dc':
      to[i++] = kilo(d.pv.powerW);
      to[i++] = kilo(d.batteryPowerW);
      to[i++] = rounded(d.busVoltageV);
      return;
    case 'evse':
      putConnectors(to, at, d, connectors);
  }
}

/** Description of the metrics for each connector of an EVSE, and for each of several inputs of PV. */
export const partDescription =
  'EVSE, for each connector: `connector_<id>_power_kw`, kW, positive into the vehicle; ' +
  '`connector_<id>_soc_pct`, percent, null without a vehicle. PV with several inputs, for each, numbered as `port` of ' +
  '`dc-iv`: `input_<n>_power_kw`, kW; `input_<n>_voltage_v`, V.';

function connectorMetrics(connectors: readonly number[]): Metric[] {
  return connectors.flatMap((id) => [{ name: `connector_${id}_power_kw` }, { name: `connector_${id}_soc_pct` }]);
}

function putConnectors(to: Float64Array, at: number, detail: EvseDetail, connectors: readonly number[]): void {
  let i = at;
  for (const id of connectors) {
    const connector = detail.connectors.find(({ connectorId }) => connectorId === id);
    to[i++] = kilo(connector?.powerW ?? NaN);
    to[i++] = rounded(connector?.ev?.socPct ?? NaN);
  }
}

function inputMetrics({ inputs = [] }: PvDetail): Metric[] {
  return inputs.flatMap((_, n) => [{ name: `input_${n}_power_kw` }, { name: `input_${n}_voltage_v` }]);
}

function putInputs(to: Float64Array, at: number, { inputs }: PvDetail): void {
  if (!inputs) return;
  let i = at;
  for (const { operatingPoint } of inputs) {
    to[i++] = kilo(operatingPoint.p);
    to[i++] = rounded(operatingPoint.v);
  }
}

/** The metrics of a device, in the order of an answer that names none. */
export function metricsOf(detail: DeviceDetail): DeviceMetrics {
  const connectors = detail.kind === 'evse' ? detail.connectors.map(({ connectorId }) => connectorId) : [];
  const ofKind = [
    ...namesOf(kindMetrics[detail.kind]),
    ...connectorMetrics(connectors),
    ...(detail.kind === 'pv' ? inputMetrics(detail) : []),
  ];
  return {
    metrics: [...sharedMetrics, ...ofKind, ...namesOf(limitMetrics)],
    put(to, at, snapshot, present, device) {
      putShared(to, at, snapshot);
      putOfKind(to, at + sharedMetrics.length, present, device.bank, connectors);
      putLimits(to, at + sharedMetrics.length + ofKind.length, device);
    },
  };
}
