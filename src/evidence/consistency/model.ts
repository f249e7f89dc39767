/** A quantity of a device as each protocol presents it. */
import type { AssetType } from '../../contract/device.ts';
import type { CsipDerDocument } from '../../contract/csip-reports.ts';
import type { Dnp3PointType } from '../../contract/dnp3.ts';
import type { Plant } from '../../contract/plant.ts';

/** A number in the unit of the quantity, a state in words, or whether something is on; null: there is none. */
export type Value = number | string | boolean | null;

/** Ways by which a quantity leaves a device. `registers` are the truth: the map without faults. */
export const presenters = ['registers', 'modbus', 'rest', 'stream', 'dnp3', 'ocpp', 'csip'] as const;
export type Presenter = (typeof presenters)[number];

/**
 * `equal`: the same value; `rounding`: steps of the encodings explain it; `earlier`: a mean, or a document that was sent
 * before; `fault`: a fault of the protocol explains it; `unexplained`; `no_value`: there is nothing to compare.
 */
export const causes = ['equal', 'rounding', 'earlier', 'fault', 'unexplained', 'no_value'] as const;
export type Cause = (typeof causes)[number];

/** One value as the protocol encodes it: raw x multiplier, in the unit beside it. */
export interface Shown {
  /** point, member or measurand */
  readonly name: string;
  readonly raw: Value;
  /** null: the encoding has none */
  readonly multiplier: number | null;
  readonly unit: string | null;
  /** decimal places of a textual value; null: the value is not text */
  readonly decimals: number | null;
  /** octet of flags of DNP3; null: the protocol has none */
  readonly flags: number | null;
  /** true where the configuration of a charge point asks for it; null: nothing is asked for */
  readonly listed: boolean | null;
}

/** Period of a mean that a server of IEEE 2030.5 has received, ms since the epoch by its clock. */
export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

/** A value under its name, with what its encoding has. */
export function shownAs(name: string, raw: Value, encoding: Partial<Shown> = {}): Shown {
  return { name, raw, multiplier: null, unit: null, decimals: null, flags: null, listed: null, ...encoding };
}

/** A quantity as one protocol presents it. */
export interface Presented {
  readonly presenter: Presenter;
  /** `701.W`, `metrics.power_kw`, `AI537`, `Power.Active.Import` */
  readonly place: string;
  readonly value: Value;
  /** reason why there is no value; null: there is one */
  readonly missing: string | null;
  /** step of the encoding in the unit of the quantity; null: it has none of its own */
  readonly resolution: number | null;
  /** the encoding drops what is below a step; absent: it rounds */
  readonly floors?: true;
  /** the encoding has no sign */
  readonly isMagnitude?: true;
  /** simulated date of the state that it shows, ms since the epoch; null: known by the clock of a server alone */
  readonly atMs: number | null;
  /** wall time of the last message to the peer, ms since the epoch; absent: the peer reads */
  readonly sentAtMs?: number;
  readonly interval?: Interval;
  readonly shown: readonly Shown[];
  /** a fault has changed the transmitted value */
  readonly disturbed?: true;
}

/** Where a register has a quantity; a text alone: the point with factor 1. */
export interface RegisterPlace {
  /** `701.W` */
  readonly point: string;
  /** value of the point x factor = value of the quantity; default 1 */
  readonly factor?: number;
  readonly isMagnitude?: true;
  /** words in place of symbols in lower case */
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
  /** the point shows something else while this register has this symbol */
  readonly unless?: readonly [point: string, symbol: string];
}

/** A measurand of the meter at the inlet of a station; less the other one where it has two directions. */
export interface OcppPlace {
  readonly measurand: string;
  readonly less?: string;
  /** of `less` or of the measurand, whichever is not 0: they are magnitudes of one quantity */
  readonly matchesAnyOf?: true;
  readonly phase?: string;
  readonly isMagnitude?: true;
  /** of the only connector of the station, not of its inlet */
  readonly ofConnector?: true;
}

/** A reading of the mirror by unit of measurement and phase, export less import. */
export interface CsipReadingPlace {
  readonly uom: number;
  readonly phase?: number;
}

export interface CsipDocumentPlace {
  readonly document: CsipDerDocument;
  readonly member: string;
  /** in its place where the document does not have it */
  readonly others?: readonly string[];
  /** undefined: the member says nothing about it */
  readonly read: (member: unknown) => CsipMember | undefined;
}

/** A member of a document as it is encoded. */
export interface CsipMember {
  readonly raw: Value;
  readonly multiplier: number | null;
  readonly value: Value;
}

export const units = ['W', 'var', 'VA', 'V', 'A', 'Hz', 'Wh', 'varh', '%', '', 'word', 'flag'] as const;
/** '' has none; `word`: a state in words; `flag`: on or off */
export type Unit = (typeof units)[number];

/** A row of the table of quantities. What a protocol does not have is absent. */
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
  readonly least?: { readonly point: string; readonly share: number; readonly of: string };
  /** symbol of a register that stands for on; default ENABLED */
  readonly on?: string;
  /** in order of preference: current models, then classic ones; missing points are skipped */
  readonly registers?: readonly (string | RegisterPlace)[];
  readonly rest?: RestPlace;
  /** member of the messages of the stream */
  readonly stream?: Omit<RestPlace, 'read'>;
  readonly dnp3?: Dnp3Place;
  readonly ocpp?: OcppPlace;
  readonly csip?: CsipReadingPlace | CsipDocumentPlace;
}

/** The instant at which a device is looked at. */
export interface Moment {
  /** simulated dates, ms since the epoch: of the last tick, which has the measurements, and of now */
  readonly tickMs: number;
  readonly nowMs: number;
}

export function momentOf(plant: Plant): Moment {
  return { tickMs: plant.dateMs(plant.latest.sim), nowMs: plant.time.dateMs };
}

/** Without the digits that binary fractions add to a decimal one. */
export function tidy(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(12)) + 0 : value;
}

/** Digits after the decimal point of a number as JSON writes it. */
export function decimalsOf(value: number | string): number {
  const text = String(value);
  const dot = text.indexOf('.');
  return dot < 0 ? 0 : text.length - dot - 1;
}
