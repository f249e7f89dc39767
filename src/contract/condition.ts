/** The condition of a device in one word, the limit that holds its power, and its power without that limit. */
import type { Device, DeviceDetail } from './device.ts';
import type { GridTrace } from './grid-trace.ts';
import type { LimitKey, PowerLimit } from './limit-chain.ts';
import type { BatteryDetail } from './kinds/battery.ts';
import type { EvseConnectorDetail, EvseDetail } from './kinds/evse.ts';
import { askedPowerW, freePowerW, idleReason, limitHolding } from './kinds/evse-power.ts';
import type { IdleReason } from './kinds/evse-power.ts';
import type { FuelCellState } from './kinds/fuelcell.ts';
import type { PvArrayDetail } from './kinds/table.ts';
import type { WindState } from './kinds/wind.ts';

/** Words of `Condition`; new ones are added at the end, since the stream sends their positions. */
export const kindStates = [
  'tripped',
  'fault',
  'waits to enter service',
  'out of service',
  'momentary cessation',
  'stops',
  'starts',
  'producing',
  'limited',
  'night',
  'too little wind',
  'too much wind',
  'charging',
  'charging, forced',
  'discharging',
  'discharging, forced',
  'resting',
  'resting, forced',
  'full',
  'empty',
  'idle',
  'electrolysis',
  'changes direction',
  'tank empty',
  'tank full',
  'no vehicle',
  'waits for authorisation',
  'paused',
  'session over',
  'producing at set-point',
  'electrolysis at set-point',
] as const;
export type KindState = (typeof kindStates)[number];

export interface Condition {
  readonly state: KindState;
  /**
   * the entry of `controls/why` that wins; of a station that is not held as a whole, that of its first connector with
   * one; null: nothing limits
   */
  readonly limitedBy: LimitKey | null;
  /** power without that limit, as in `controls/why`, W, positive into the grid */
  readonly possibleW: number;
}

type Observed = Pick<Device, 'detail' | 'powerLimit' | 'trace'>;

const negligibleW = 0.5;

/** The limits of a charging station count with what its vehicles ask for, also while they pause. */
export function limitAtTerminals({ powerLimit: limit, detail }: Observed): PowerLimit {
  if (detail.kind !== 'evse' || limit.direction === 'delivers' || limit.winner === null) return limit;
  return { ...limit, basis: { kind: 'available', powerW: Math.max(askedPowerW(detail), limit.deliveredW) } };
}

/** The trip whose consequences last; undefined: the device is in service, or out of it for another reason. */
export function lastingTrip({ service, transitions }: Pick<GridTrace, 'service' | 'transitions'>) {
  if (service !== 'tripped' && service !== 'waiting') return undefined;
  const last = transitions.findLast(({ to }) => to !== 'waiting');
  return last?.to === 'tripped' ? last : undefined;
}

/** The state of a device out of service; null: it is in service. */
function serviceState({ trace }: Observed): KindState | null {
  const { service } = trace;
  switch (service) {
    case 'in_service':
    case 'ramping':
      return null;
    case 'momentary_cessation':
      return 'momentary cessation';
    case 'shutting_down':
      return 'stops';
    case 'tripped':
      return lastingTrip(trace)?.cause === null ? 'fault' : 'tripped';
    case 'waiting':
      return lastingTrip(trace) ? 'tripped' : 'waits to enter service';
    default:
      return 'out of service';
  }
}

const arrayState = ({ mpptState }: Pick<PvArrayDetail, 'mpptState'>): KindState =>
  mpptState === 'off' ? 'night' : mpptState === 'start' ? 'starts' : 'producing';

function storageState({ mode, control, inhibit }: BatteryDetail): KindState {
  const moving = { charge: 'charging', discharge: 'discharging', idle: 'resting' } as const;
  if (control === 'forced') return `${moving[mode]}, forced`;
  if (mode !== 'idle') return moving[mode];
  return inhibit === 'soc_ceiling' ? 'full' : inhibit === 'soc_floor' ? 'empty' : 'resting';
}

const turbineStates: Readonly<Record<WindState, KindState>> = {
  stopped: 'too little wind',
  starting: 'starts',
  run_mppt: 'producing',
  run_rated: 'producing',
  high_wind_stop: 'too much wind',
};

const fuelCellStates: Readonly<Record<FuelCellState, KindState>> = {
  off: 'idle',
  standby: 'idle',
  idle: 'idle',
  heatup: 'starts',
  transition: 'changes direction',
  fc: 'producing',
  el: 'electrolysis',
  tank_empty: 'tank empty',
  tank_full: 'tank full',
};

const idleStates: Readonly<Record<IdleReason, KindState>> = {
  no_vehicle: 'no vehicle',
  error: 'out of service',
  full: 'full',
  unauthorised: 'waits for authorisation',
  starting: 'starts',
  ended: 'session over',
};

function connectorState(connector: EvseConnectorDetail): KindState {
  const { errorCode, operative, powerW } = connector;
  const reason = idleReason(connector);
  if (reason === 'no_vehicle' && (errorCode !== 'NoError' || !operative)) return 'out of service';
  if (reason !== null) return idleStates[reason];
  if (Math.abs(powerW) < negligibleW) return 'paused';
  return powerW > 0 ? 'charging' : 'discharging';
}

/** States of connectors; the first one of these that a connector has is that of the station. */
const stationStates: readonly KindState[] = [
  'charging',
  'discharging',
  'paused',
  'starts',
  'waits for authorisation',
  'session over',
  'full',
  'no vehicle',
  'out of service',
];

function stationState({ connectors }: EvseDetail): KindState {
  const ranks = connectors.map((connector) => stationStates.indexOf(connectorState(connector)));
  return stationStates[Math.min(...ranks)] ?? 'out of service';
}

/** The state by the kind of the source, apart from limits. */
function sourceState(detail: DeviceDetail): KindState {
  switch (detail.kind) {
    case 'pv':
      return arrayState(detail);
    case 'wind':
      return turbineStates[detail.state];
    case 'battery':
      return storageState(detail);
    case 'hybrid-dc': {
      const state = storageState(detail.battery);
      const isIdle = detail.battery.mode === 'idle' && detail.battery.control !== 'forced';
      return isIdle && detail.pv.powerW > negligibleW ? 'producing' : state;
    }
    case 'fuelcell':
      return fuelCellStates[detail.state];
    case 'evse':
      return stationState(detail);
  }
}

/** The first limit that holds a connector, with the power of the station without the limits of connectors. */
function limitOfConnectors({ connectors, standbyW }: EvseDetail): Omit<Condition, 'state'> | null {
  let limitedBy: LimitKey | null = null;
  let takenW = standbyW;
  for (const connector of connectors) {
    const limit = limitHolding(connector);
    limitedBy ??= limit;
    takenW += Math.sign(connector.wantedW || connector.powerW) * freePowerW(connector, limit);
  }
  return limitedBy === null ? null : { limitedBy, possibleW: -takenW };
}

function limitOf(device: Observed): Omit<Condition, 'state'> {
  const { detail } = device;
  const { winner, basis, direction } = limitAtTerminals(device);
  const ofConnectors = detail.kind === 'evse' && winner === null ? limitOfConnectors(detail) : null;
  return ofConnectors ?? { limitedBy: winner, possibleW: direction === 'delivers' ? basis.powerW : -basis.powerW };
}

/** The state together with the limit that holds the power. */
function withLimit(state: KindState, kind: DeviceDetail['kind'], limitedBy: LimitKey | null): KindState {
  // a fuel cell runs at a set-point: it is not held below what it would do by itself
  if (kind === 'fuelcell' && limitedBy === 'active_power' && (state === 'producing' || state === 'electrolysis'))
    return `${state} at set-point`;
  const givesAll = kind === 'pv' || kind === 'wind' || kind === 'hybrid-dc';
  return state === 'producing' && limitedBy !== null && givesAll ? 'limited' : state;
}

export function conditionOf(device: Observed): Condition {
  const { limitedBy, possibleW } = limitOf(device);
  const state = serviceState(device) ?? sourceState(device.detail);
  return { state: withLimit(state, device.detail.kind, limitedBy), limitedBy, possibleW };
}
