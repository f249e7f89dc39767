/** Names and numbers of compared quantities, in the unit of a row. */
import type { ReplyOf } from '../../api/call';
import { capitalized, dash, fixed, words } from '../../look/format';

export type Consistency = ReplyOf<'consistency'>;
export type Quantity = Consistency['quantities'][number];
export type Presentation = Quantity['presentations'][number];
export type Protocol = Consistency['protocols'][number];

interface Scale {
  readonly unit: string;
  readonly divisor: number;
  readonly decimals: number;
}

const thousand = (unit: string): Scale => ({ unit, divisor: 1000, decimals: 2 });

/** By the unit of the answer; other units stay. */
const scales: Readonly<Record<string, Scale>> = {
  W: thousand('kW'),
  var: thousand('kvar'),
  VA: thousand('kVA'),
  Wh: thousand('kWh'),
  varh: thousand('kvarh'),
  V: { unit: 'V', divisor: 1, decimals: 1 },
  A: { unit: 'A', divisor: 1, decimals: 1 },
  Hz: { unit: 'Hz', divisor: 1, decimals: 3 },
  '%': { unit: '%', divisor: 1, decimals: 1 },
  '': { unit: '', divisor: 1, decimals: 3 },
};

/** Unit of a row; empty: a word, on or off, or a number without one. */
export const unitOf = ({ unit }: Quantity): string => scales[unit ?? '']?.unit ?? '';

/** A value in the unit of its row. */
export function valueText({ unit }: Quantity, { value }: Presentation): string {
  if (value === null) return dash;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string') return words(value.toLowerCase());
  const scale = scales[unit ?? ''];
  return scale === undefined ? fixed(value, 0) : fixed(value / scale.divisor, scale.decimals);
}

/** Names of measurands and members are long: a line may end after a dot or an underscore. */
const breakable = (name: string) => name.replace(/([._])/g, '$1\u200b');

/** Members of REST and of the stream by their last name. */
const shortName = ({ protocol }: Presentation, name: string) =>
  protocol === 'rest' || protocol === 'stream' ? name.slice(name.lastIndexOf('.') + 1) : name;

/** The value as the protocol encodes it, a line for each place: `701.W −600 ×10`. */
export function rawTexts(presentation: Presentation): readonly string[] {
  const { shown, place } = presentation;
  if (shown.length === 0) return [breakable(place)];
  return shown.map(({ name, raw, multiplier }) => {
    const times = multiplier === null || multiplier === 1 ? '' : ` ×${multiplier}`;
    const rawText = raw === null ? 'not implemented' : String(raw).replace('-', '−');
    return `${breakable(shortName(presentation, name))} ${rawText}${times}`;
  });
}

const names: Readonly<Record<string, string>> = {
  voltage_ln: 'Voltage, line to neutral',
  voltage_ll: 'Voltage, line to line',
  dc_power: 'DC power',
  dc_voltage: 'DC voltage',
  dc_current: 'DC current',
  power_set_point_pct: 'Power set-point in %',
  power_set_point: 'Power set-point',
  reactive_set_point_pct: 'Reactive set-point in %',
  reactive_set_point: 'Reactive set-point',
  power_factor_set_point: 'Power factor set-point',
};

const enabledName = (name: string) => {
  const parts =
    /^(volt_var|volt_watt|watt_var)_enabled$/.exec(name)?.[1] ?? /^([lh][vf])_trip_enabled$/.exec(name)?.[1];
  if (parts === undefined) return undefined;
  const trips = { lv: 'Low-voltage', hv: 'High-voltage', lf: 'Low-frequency', hf: 'High-frequency' } as const;
  const trip = trips[parts as keyof typeof trips] as string | undefined;
  return trip === undefined ? words(parts).replace(' ', '-') : `${trip} trip`;
};

/** `Active power`, `Voltage L1 to L2`, `Volt-var` */
export function nameOf({ quantity }: Quantity): string {
  const name = names[quantity] ?? enabledName(quantity) ?? words(quantity.replace(/_enabled$/, ''));
  return capitalized(name)
    .replace(/ l(\d) l(\d)/, ' L$1 to L$2')
    .replace(/ l(\d)/, ' L$1');
}

export const protocolNames = {
  registers: 'Registers',
  modbus: 'Modbus',
  rest: 'REST',
  stream: 'Stream',
  dnp3: 'DNP3',
  ocpp: 'OCPP',
  csip: 'CSIP',
} as const satisfies Record<Protocol['protocol'], string>;

/** Why a protocol that presents the device does not have a quantity. */
export const missing = {
  registers: 'no register',
  modbus: 'no register',
  rest: 'no member',
  stream: 'no member',
  dnp3: 'no point',
  ocpp: 'not sent',
  csip: 'not sent',
} as const satisfies Record<Protocol['protocol'], string>;

/** True for what is no rounding and no earlier value. */
export const isWrong = ({ cause }: Presentation): boolean => cause === 'fault' || cause === 'unexplained';
