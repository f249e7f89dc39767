/** The condition of a device in words and marks. */
import type { Tone } from '../../kit/panel';
import { alike, show } from '../../look/format';
import type { DeviceEntry } from '../../store/site';
import type { Figures, KindState, LimitKey } from '../../store/stream';

/** A device of the overview with newer figures of the stream. */
export interface Condition {
  readonly device: DeviceEntry;
  readonly state: KindState;
  readonly limitedBy: LimitKey | null;
  readonly powerKw: number;
  readonly socPct: number | null;
}

export function conditionOf(device: DeviceEntry, figures: Figures | undefined): Condition {
  const isFleet = figures !== undefined && figures.state !== null;
  return {
    device,
    state: (isFleet && figures.state) || device.kind_state,
    limitedBy: isFleet ? figures.limitedBy : device.limited_by,
    powerKw: figures?.powerKw ?? device.power_kw,
    socPct: figures?.socPct ?? device.state_of_charge_pct,
  };
}

export const limitWords: Readonly<Record<LimitKey, string>> = {
  w_max: 'maximum power',
  charge_limit: 'charge limit',
  discharge_limit: 'discharge limit',
  max_power: 'power limit',
  active_power: 'power set-point',
  freq_droop: 'frequency droop',
  volt_watt: 'volt-watt',
  second_limiter: 'second limiter',
  enter_service: 'return to service',
  ramp: 'ramp',
  site: 'site limit',
  apparent_power: 'apparent power',
  cessation: 'cessation',
  out_of_service: 'out of service',
  hardware: 'station limit',
  ev: 'limit of the vehicle',
  charging_profile: 'charging profile',
  local: 'local limit',
  sharing: 'shared station',
  der: 'limit of the device',
};

/** Limits that belong to every working device, so that nobody looks for their cause. */
const ordinaryLimits: readonly LimitKey[] = [
  'w_max',
  'charge_limit',
  'discharge_limit',
  'ramp',
  'hardware',
  'ev',
  'cessation',
  'out_of_service',
];

/** The power is that of a set-point, as is usual for the kind. */
export const isAtSetpoint = ({ state }: Pick<Condition, 'state'>): boolean => state.endsWith(' at set-point');

/** A limit that somebody or something set. */
export const isHeld = ({ limitedBy, state }: Pick<Condition, 'limitedBy' | 'state'>): boolean =>
  limitedBy !== null && !ordinaryLimits.includes(limitedBy) && !isAtSetpoint({ state });

const tones: Readonly<Record<KindState, Tone>> = {
  tripped: 'bad',
  fault: 'bad',
  'waits to enter service': 'warn',
  'out of service': 'off',
  'momentary cessation': 'warn',
  stops: 'warn',
  starts: 'warn',
  producing: 'good',
  limited: 'warn',
  night: 'off',
  'too little wind': 'off',
  'too much wind': 'warn',
  charging: 'good',
  'charging, forced': 'good',
  discharging: 'good',
  'discharging, forced': 'good',
  resting: 'off',
  'resting, forced': 'off',
  full: 'off',
  empty: 'off',
  idle: 'off',
  electrolysis: 'good',
  'changes direction': 'warn',
  'tank empty': 'warn',
  'tank full': 'off',
  'no vehicle': 'off',
  'waits for authorisation': 'warn',
  paused: 'off',
  'session over': 'off',
  'producing at set-point': 'good',
  'electrolysis at set-point': 'good',
};

/** The mark of a device: shape and colour. */
export function toneOf(condition: Pick<Condition, 'state' | 'limitedBy'>): Tone {
  const tone = tones[condition.state];
  return tone === 'good' && isHeld(condition) ? 'warn' : tone;
}

/** Shape of a cell of the map. */
export type CellShape = 'plain' | 'limited' | 'tripped' | 'idle';

export function shapeOf(condition: Pick<Condition, 'state' | 'limitedBy'>): CellShape {
  const tone = tones[condition.state];
  if (tone === 'bad') return 'tripped';
  if (tone === 'off') return 'idle';
  return isHeld(condition) ? 'limited' : 'plain';
}

/** Powers for lines with little room: kW stand without their unit. */
function power(...kw: readonly number[]): string {
  const { texts, unit } = alike(kw.map(Math.abs), 'activePower');
  return `${texts.join(' of ')}${unit === 'kW' ? '' : `\u00a0${unit}`}`;
}

function limitText({ device, limitedBy, powerKw }: Condition): string {
  return limitedBy === null ? '' : `${limitWords[limitedBy]}, ${power(powerKw, device.possible_kw)}`;
}

function sourceLine(condition: Condition): string {
  const { state } = condition;
  if (state !== 'producing' && state !== 'limited') return state;
  return condition.limitedBy === null ? 'nothing limits' : limitText(condition);
}

function storageLine({ state, socPct }: Condition): string {
  return socPct === null ? state : `${state}, ${show(socPct, 'soc')}`;
}

function chargerLine(condition: Condition): string {
  const { device, state, powerKw } = condition;
  const { vehicle } = device;
  if (vehicle === null || state === 'no vehicle') return state;
  const name = `${vehicle.name ?? 'vehicle'} ${show(vehicle.soc_pct, 'soc')}`;
  if (state !== 'charging' && state !== 'discharging') return `${name}, ${state}`;
  return isHeld(condition) ? `${name}, limit ${power(powerKw)}` : name;
}

/**
 * One line about a device, in the words of its kind.
 * @param detail what only the resource of the kind has, such as the level of a tank
 */
export function stateLine(condition: Condition, detail: string | null = null): string {
  const { state, powerKw } = condition;
  const withDetail = (text: string) => (detail === null ? text : `${text}, ${detail}`);
  switch (condition.device.asset_type) {
    case 'pv':
    case 'wind':
      return withDetail(sourceLine(condition));
    case 'battery':
      return withDetail(storageLine(condition));
    case 'fuelcell':
      return withDetail(/^(producing|electrolysis)/.test(state) ? `${state} ${power(powerKw)}` : state);
    case 'hybrid-dc':
      return detail !== null && toneOf({ state, limitedBy: null }) === 'good'
        ? detail
        : withDetail(storageLine(condition));
    case 'evse':
      return withDetail(chargerLine(condition));
  }
}
