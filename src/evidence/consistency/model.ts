/** A quantity of a device as each protocol presents it. */
import type { AssetType } from '../../contract/device.ts';
import type { CsipDerDocument } from '../../contract/csip-reports.ts';
import type { Dnp3PointType } from '../../contract/dnp3.ts';
import type { Plant } from '../../contract/plant.ts';

/** A number in the unit of the quantity, a state in words, or true for on; null: no value. */
export type Value = number | string | boolean | null;

/** Interfaces that present a quantity of a device. `registers` are the truth: the map without faults. */
export const presenters = ['registers', 'modbus', 'rest', 'stream', 'dnp3', 'ocpp', 'csip'] as const;
export type Presenter = (typeof presenters)[number];

/**
 * `equal`: the same value; `rounding`: steps of the encodings explain it, or hardly any power flows; `earlier`: a mean,
 * or a document that was sent before; `fault`: a fault of the protocol explains it; `unexplained`: a difference without
 * such a reason; `no_value`: nothing to compare.
 */
export const causes = ['equal', 'rounding', 'earlier', 'fault', 'unexplained', 'no_value'] as const;
export type Cause = (typeof causes)[number];

/** One value as the protocol encodes it: `raw` x `multiplier`, in `unit`. */
export interface Shown {
  /** point, member or measurand */
  readonly name: string;
  readonly raw: Value;
  /** null: none in the encoding */
  readonly multiplier: number | null;
  readonly unit: string | null;
  /** decimal places of a number as text or JSON; null: another encoding */
  readonly decimals: number | null;
  /** octet of flags of DNP3; null: the protocol has none */
  readonly flags: number | null;
  /** true: a list of measurands in the configuration of the charge point contains it; null: not OCPP */
  readonly listed: boolean | null;
}

/** Period of a mean that a server of IEEE 2030.5 has received, ms since the epoch by its clock. */
export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** A value with its name and its encoding, whose absent members are null. */
export function shownAs(name: string, raw: Value, encoding: Partial<Shown> = {}): Shown {
  return { name, raw, multiplier: null, unit: null, decimals: null, flags: null, listed: null, ...encoding };
}

/** A quantity as one protocol presents it. */
export interface Presented {
  readonly presenter: Presenter;
  /** `701.W`, `metrics.power_kw`, `AI537`, `Power.Active.Import` */
  readonly place: string;
  readonly value: Value;
  /** reason why `value` is null; else null */
  readonly missing: string | null;
  /** step of the encoding in the unit of the quantity; null: none */
  readonly resolution: number | null;
  /** the encoding rounds down to a step; absent: to the nearest step */
  readonly floors?: true;
  /** the encoding has no sign */
  readonly isMagnitude?: true;
  /** simulated date of the presented state, ms since the epoch; null: known by the clock of a server alone */
  readonly atMs: number | null;
  /** wall time of the last message to the peer, ms since the epoch; absent: the peer reads */
  readonly sentAtMs?: number;
  readonly interval?: Interval;
  readonly shown: readonly Shown[];
  /** a fault has changed the transmitted value */
  readonly disturbed?: true;
}

/** A register that has a quantity. */
export interface RegisterPlace {
  /** `701.W` */
  readonly point: string;
  /** value of the point x factor = value of the quantity; default 1 */
  readonly factor?: number;
  readonly isMagnitude?: true;
  /** words by symbol; default: the symbol in lower case */
  readonly words?: Readonly<Record<string, string>>;
}

/** Operations whose replies are read. */
export type RestRead =
  | 'list_devices'
  | 'get_controls'
  | 'get_available_power'
  | 'get_grid_support'
  | 'get_nameplate'
  | 'get_evse';

export interface RestPlace {
  readonly read: RestRead;
  /** names from the root of the reply, or of the one device in it: `metrics.power_kw` */
  readonly member: string;
  readonly factor?: number;
  readonly unit?: string;
}

export interface Dnp3Place {
  /** of the built-in map */
  readonly point: `${Dnp3PointType}${number}`;
  /** binding as the outstation names it; default: the first register of the quantity */
  readonly bound?: string;
  readonly factor?: number;
  /** the point is on where the quantity is off */
  readonly isInverse?: true;
  /** the point does not show the quantity while this register has this symbol */
  readonly unless?: readonly [point: string, symbol: string];
}

/** A measurand of the meter at the inlet of a station. */
export interface OcppPlace {
  readonly measurand: string;
  /** measurand of the other direction, which is subtracted */
  readonly less?: string;
  /** `less` is added: both are magnitudes of one quantity, and one of them is 0 */
  readonly isSum?: true;
  readonly phase?: string;
  readonly isMagnitude?: true;
  /** at the only connector of the station, not at its inlet */
  readonly ofConnector?: true;
}

/** A reading of the mirror by unit of measurement and phase, export minus import. */
export interface CsipReadingPlace {
  readonly uom: number;
  readonly phase?: number;
}

export interface CsipDocumentPlace {
  readonly document: CsipDerDocument;
  readonly member: string;
  /** members in place of `member`, where the document does not have it */
  readonly others?: readonly string[];
  /** undefined: the member has no such value */
  readonly read: (member: unknown) => CsipMember | undefined;
}

/** A member of a document as it is encoded. */
export interface CsipMember {
  readonly raw: Value;
  readonly multiplier: number | null;
  readonly value: Value;
}

export const units = ['W', 'var', 'VA', 'V', 'A', 'Hz', 'Wh', 'varh', '%', '', 'word', 'flag'] as const;
/** '': no unit; `word`: a state in words; `flag`: on or off */
export type Unit = (typeof units)[number];

/** A row of the table of quantities. A protocol without the quantity is absent. */
export interface QuantityRow {
  readonly about: string;
  readonly unit: Unit;
  /** a measurement, which changes with ticks only */
  readonly measured?: true;
  /** only of devices whose map has this point */
  readonly needs?: string;
  /** only of devices of this kind */
  readonly kind?: AssetType;
  /** REST is the reference: the registers are coarser, and not all maps have them */
  readonly hasCoarseResolution?: true;
  /** share of the rated power that must flow for the quantity to mean anything; protocols may differ below it */
  readonly minPower?: { readonly point: string; readonly share: number; readonly of: string };
  /** symbol of a register that stands for on; default ENABLED */
  readonly on?: string;
  /** in order of preference: current models, then classic ones; missing points are skipped. A string has factor 1 */
  readonly registers?: readonly (string | RegisterPlace)[];
  readonly rest?: RestPlace;
  /** member of the messages of the stream */
  readonly stream?: Omit<RestPlace, 'read'>;
  readonly dnp3?: Dnp3Place;
  readonly ocpp?: OcppPlace;
  readonly csip?: CsipReadingPlace | CsipDocumentPlace;
}

/** The instant of a comparison, as simulated dates, ms since the epoch. */
export interface Moment {
  /** end of the last tick, which has the measurements */
  readonly tickMs: number;
  /** the present */
  readonly nowMs: number;
}

export function momentOf(plant: Plant): Moment {
  return { tickMs: plant.dateMs(plant.latest.sim), nowMs: plant.time.dateMs };
}

/** Rounds to 12 digits, which hide the errors of binary fractions. */
export function tidy(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(12)) + 0 : value;
}

/** Digits after the decimal point of a number as JSON writes it. */
export function decimalsOf(value: number | string): number {
  const text = String(value);
  const dot = text.indexOf('.');
  return dot < 0 ? 0 : text.length - dot - 1;
}
