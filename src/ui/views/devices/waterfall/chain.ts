/** The chain of limits of `controls/why`: reading it, and names of its rows. */
import { get } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { useLive } from '../../../store/live';
import { deviceHref, href } from '../../../store/route';

export type Why = ReplyOf<'controls/why'>;
export type Limit = Why['chain'][number];
type Reactive = NonNullable<Why['reactive']>;
type ReactiveKey = Reactive['chain'][number]['key'];

/** @param connector of a charging station; absent: the terminals of the device */
export function useWhy(device: number, connector?: number): Why | undefined {
  return useLive(get('controls/why', { query: { device, ...(connector !== undefined && { connector }) } })).data;
}

interface Name {
  readonly title: string;
  /** shown while the limit has no writer */
  readonly note: string;
}

const limitNames: Readonly<Record<Limit['key'], Name>> = {
  w_max: { title: 'Maximum power', note: 'setting of the device' },
  charge_limit: { title: 'Charge limit', note: 'setting of the device' },
  discharge_limit: { title: 'Discharge limit', note: 'setting of the device' },
  max_power: { title: 'Active power limit', note: 'grid support' },
  active_power: { title: 'Power set-point', note: 'grid support' },
  freq_droop: { title: 'Frequency droop', note: 'grid support' },
  volt_watt: { title: 'Volt-watt', note: 'grid support' },
  second_limiter: { title: 'Hidden limit', note: 'injected fault' },
  enter_service: { title: 'Enter-service ramp', note: 'grid support' },
  ramp: { title: 'Ramp', note: 'on the way to a new value' },
  site: { title: 'Site limit', note: 'connection point' },
  apparent_power: { title: 'Rating in kVA', note: 'less reactive power' },
  cessation: { title: 'Momentary cessation', note: 'grid support' },
  out_of_service: { title: 'Out of service', note: 'no power at all' },
  hardware: { title: 'Station and cable', note: 'rating' },
  ev: { title: 'Vehicle', note: 'at most' },
  charging_profile: { title: 'Charging profile', note: 'central system' },
  local: { title: 'Local limit', note: 'set at the station' },
  sharing: { title: 'Shared station', note: 'several vehicles' },
  der: { title: 'Grid support', note: 'of the station' },
};

const nameOf = ({ key }: Pick<Limit, 'key'>): Name => limitNames[key];

const reactiveNames: Readonly<Record<ReactiveKey, Name>> = {
  volt_var: { title: 'Volt-var', note: 'grid support' },
  watt_var: { title: 'Watt-var', note: 'grid support' },
  constant_var: { title: 'Constant reactive power', note: 'grid support' },
  pf_inject: { title: 'Power factor while injecting', note: 'grid support' },
  pf_absorb: { title: 'Power factor while absorbing', note: 'grid support' },
  capability: { title: 'Reactive capability', note: 'setting of the device' },
  low_power: { title: 'Capability at low power', note: 'less below 20 % of the power' },
  apparent_power: { title: 'Rating in kVA', note: 'circle of P and Q' },
  cessation: limitNames.cessation,
  out_of_service: limitNames.out_of_service,
};

const basisTitles: Readonly<Record<Why['basis']['key'], string>> = {
  available: 'Available',
  asked: 'Asked for',
  forced: 'Forced',
  rest: 'At rest',
  dispatch: 'Dispatch',
};

const basisTitle = ({ basis }: Pick<Why, 'basis'>): string => basisTitles[basis.key];

/** The page that shows a limit and changes it. null: none. */
export function linkOf(device: number, key: Limit['key'] | ReactiveKey): string | null {
  switch (key) {
    case 'w_max':
    case 'charge_limit':
    case 'discharge_limit':
    case 'apparent_power':
    case 'capability':
    case 'low_power':
      return deviceHref(device, 'registers', { model: 702 });
    case 'volt_var':
    case 'watt_var':
    case 'constant_var':
    case 'pf_inject':
    case 'pf_absorb':
    case 'volt_watt':
    case 'freq_droop':
    case 'max_power':
    case 'active_power':
    case 'enter_service':
      return deviceHref(device, `grid-support/${key.replaceAll('_', '-')}`);
    case 'ramp':
      return deviceHref(device, 'grid-support/gradient');
    case 'der':
      return deviceHref(device, 'grid-support');
    case 'second_limiter':
      return deviceHref(device, 'faults');
    case 'site':
      return href('inputs/site');
    case 'charging_profile':
      return href('protocols/ocpp', { 'ocpp-part': 'schedules' });
    default:
      return null;
  }
}

/** The limit that sets the power. undefined: nothing limits. */
export function winnerOf(why: Why | undefined): Limit | undefined {
  return why?.chain.find(({ state }) => state === 'wins');
}

/** Limits that a device always has: the largest of them is its rating. */
const ratings: ReadonlySet<string> = new Set(['w_max', 'charge_limit', 'apparent_power', 'hardware']);

/** Power of 100 percent, kW; 0: not read. */
export function ratingOf(why: Why | undefined): number {
  const limits = why?.chain.filter(({ key }) => ratings.has(key)).map(({ kw }) => kw ?? 0) ?? [];
  return Math.max(0, ...limits);
}

/** One row of the drawing, a function or a limit. */
export interface DrawnLimit extends Name, Pick<Limit, 'by' | 'state' | 'until'> {
  readonly key: Limit['key'] | ReactiveKey;
  /** in the direction of flow; null: off */
  readonly value: number | null;
}

/** A chain as it is drawn: values in the direction of flow. */
export interface DrawnChain {
  readonly unit: 'kW' | 'kvar';
  readonly name: string;
  readonly sentence: string;
  readonly basis: { readonly title: string; readonly note: string; readonly value: number };
  readonly rows: readonly DrawnLimit[];
  readonly delivered: number;
  /** value of 100 percent; 0: not read */
  readonly rating: number;
}

export function drawnPower(why: Why): DrawnChain {
  return {
    unit: 'kW',
    name: 'Limits of the power',
    sentence: why.sentence,
    basis: { title: basisTitle(why), note: why.basis.text, value: why.basis.kw },
    rows: why.chain.map(({ kw, ...limit }) => ({ ...limit, ...nameOf(limit), value: kw })),
    delivered: why.delivered_kw,
    rating: ratingOf(why),
  };
}

const reactiveBasisTitles: Readonly<Record<Reactive['basis']['key'], string>> = {
  function: 'Asked for',
  loads: 'Of the loads',
  none: 'Not asked for',
};

export function drawnReactive({ basis, chain, delivered_kvar: delivered, sentence }: Reactive): DrawnChain {
  const side = (basis.kvar || delivered) < 0 ? -1 : 1;
  const along = (kvar: number) => side * kvar + 0;
  const ratings = chain.filter(
    ({ key, state }) => key === 'capability' || (key === 'apparent_power' && state !== 'wins'),
  );
  return {
    unit: 'kvar',
    name: 'Functions and limits of the reactive power',
    sentence,
    basis: { title: reactiveBasisTitles[basis.key], note: basis.text, value: along(basis.kvar) },
    rows: chain.map(({ kvar, ...limit }) => ({
      ...limit,
      ...reactiveNames[limit.key],
      value: kvar === null ? null : along(kvar),
    })),
    delivered: along(delivered),
    rating: Math.max(0, ...ratings.map(({ kvar }) => Math.abs(kvar ?? 0))),
  };
}
