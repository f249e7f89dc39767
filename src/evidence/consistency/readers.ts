/** Readers of quantities, by protocol: each reads the values that a peer received last, or would receive next. */
import type { CsipClient } from '../../contract/csip-client.ts';
import type { CsipReadingSet, CsipReadings, CsipSentDocument } from '../../contract/csip-reports.ts';
import { shownAs, tidy, decimalsOf } from './model.ts';
import type {
  CsipDocumentPlace,
  CsipMember,
  CsipReadingPlace,
  Presented,
  QuantityRow,
  Shown,
  Value,
  Dnp3Place,
  Moment,
  OcppPlace,
  RestPlace,
  RestRead,
} from './model.ts';
import type { Device } from '../../contract/device.ts';
import type { Dnp3Outstations, Dnp3PointView } from '../../contract/dnp3.ts';
import type { OcppMeterReading, OcppSampledValue, OcppStation } from '../../contract/ocpp.ts';
import type { Plant } from '../../contract/plant.ts';
import type { Sources } from '../sources.ts';

/** FlowDirectionType for power delivered by the device. */
const reverse = 19;
/** by UomType */
const units: Readonly<Record<number, string>> = { 29: 'V', 33: 'Hz', 38: 'W', 63: 'var' };

/** The value as the server reads it, by the multiplier that was sent. */
function readByServer({ multiplier, sentMultiplier }: CsipReadingSet, value: number): number {
  const sent = sentMultiplier ?? multiplier;
  return sent === multiplier ? value : tidy(value * 10 ** (sent - multiplier));
}

function shownReading(set: CsipReadingSet, value: number): Shown {
  const sent = set.sentMultiplier ?? set.multiplier;
  return shownAs(set.description ?? `uom ${set.uom}`, Math.round(value * 10 ** -set.multiplier), {
    multiplier: Number(`1e${sent}`),
    unit: units[set.uom] ?? `uom ${set.uom}`,
  });
}

export class CsipReader {
  readonly #readings: CsipReadings;
  readonly #documents: ReturnType<CsipClient['der']>;

  /** @throws SimError UNKNOWN_DEVICE: no client stands for the device */
  constructor(client: CsipClient, deviceIndex: number) {
    this.#readings = client.readings(deviceIndex);
    this.#documents = client.der(deviceIndex);
  }

  read({ csip: place }: QuantityRow): Presented | null {
    if (place === undefined) return null;
    return 'uom' in place ? this.#reading(place) : this.#document(place);
  }

  /** The sets of both directions together are one quantity. */
  #reading({ uom, phase }: CsipReadingPlace): Presented | null {
    const sets = this.#readings.sets.filter(
      (set) => set.meter === 'device' && set.uom === uom && (phase === undefined || set.phase === phase),
    );
    const [first] = sets;
    if (first === undefined) return null;
    const common = {
      presenter: 'csip',
      place: `reading of uom ${uom}${phase === undefined ? '' : `, phase ${phase}`}`,
    } as const;
    const last = first.values.at(-1);
    if (last === undefined)
      return {
        ...common,
        value: null,
        missing: 'no reading has been sent yet',
        resolution: null,
        atMs: null,
        shown: [],
      };
    const value = sets.reduce((sum, set) => {
      const reading = readByServer(set, set.values.at(-1)?.value ?? 0);
      return sum + (isDirected(set) && set.flowDirection !== reverse ? -reading : reading);
    }, 0);
    return {
      ...common,
      value: tidy(value),
      missing: null,
      resolution: Number(`1e${first.sentMultiplier ?? first.multiplier}`),
      atMs: null,
      ...(first.lastPostMs !== null && { sentAtMs: first.lastPostMs }),
      interval: { startMs: last.startServerMs, endMs: last.startServerMs + 1000 * last.durationS },
      shown: sets.map((set) => shownReading(set, set.values.at(-1)?.value ?? 0)),
      ...(sets.some(({ sentMultiplier }) => sentMultiplier !== undefined) && { disturbed: true as const }),
    };
  }

  #document({ document: name, member: usual, others = [], read }: CsipDocumentPlace): Presented | null {
    const sent = this.#documents[name];
    if (sent === null) return null;
    const member = [usual, ...others].find((each) => sent.body[each] !== undefined) ?? usual;
    const common = { presenter: 'csip', place: `${name}.${member}`, atMs: null, sentAtMs: sent.sentAtMs } as const;
    const disturbed = sent.arrived === undefined ? {} : { disturbed: true as const };
    const none = (missing: string) => ({ ...common, ...disturbed, value: null, missing, resolution: null, shown: [] });
    if (sent.result !== 'accepted') return none(`the server has not accepted the last document (${sent.result})`);
    if (sent.arrived === null) return none('the server has received nothing that can be read');
    const decoded = read((sent.arrived ?? sent.body)[member]);
    // the device has no such value, or a fault has removed the member
    if (decoded === undefined)
      return disturbed.disturbed && hasMember(sent, member) ? none('the member is missing') : null;
    const { raw, multiplier, value } = decoded;
    return {
      ...common,
      ...disturbed,
      value,
      missing: null,
      resolution: multiplier,
      shown: [shownAs(`${name}.${member}`, raw, { multiplier })],
    };
  }
}

/** Powers have a direction, voltage and frequency do not. */
const isDirected = ({ flowDirection }: CsipReadingSet) => flowDirection !== null && flowDirection !== 0;

const hasMember = ({ body }: CsipSentDocument, member: string) => body[member] !== undefined;

// members of documents, decoded as by a server

type ReadMember = (member: unknown) => CsipMember | undefined;

function objectOf(member: unknown): Readonly<Record<string, unknown>> {
  return typeof member === 'object' && member !== null ? (member as Readonly<Record<string, unknown>>) : {};
}

/** value x 10^multiplier: ActivePower and similar types. */
export function scaledMember(): ReadMember {
  return (member) => {
    const { value, multiplier = 0 } = objectOf(member);
    if (typeof value !== 'number' || typeof multiplier !== 'number') return undefined;
    return { raw: value, multiplier: Number(`1e${multiplier}`), value: Number(`${value}e${multiplier}`) };
  };
}

/** A status whose value counts hundredths: PerCent. */
export const hundredthsMember: ReadMember = (member) => {
  const { value } = objectOf(member);
  return typeof value === 'number' ? { raw: value, multiplier: 0.01, value: value / 100 } : undefined;
};

/** A status whose value is a code. */
export function wordMember(words: Readonly<Record<number, Value>>): ReadMember {
  return (member) => {
    const { value } = objectOf(member);
    return typeof value === 'number' ? { raw: value, multiplier: null, value: words[value] ?? value } : undefined;
  };
}

/** A status whose value is a bit field in hexadecimal. */
export function flagMember(bit: number, [off, on]: readonly [Value, Value]): ReadMember {
  return (member) => {
    const { value } = objectOf(member);
    if (typeof value !== 'string') return undefined;
    return { raw: value, multiplier: null, value: (parseInt(value, 16) & (1 << bit)) === 0 ? off : on };
  };
}

const nameOf = ({ type, index }: Dnp3PointView) => `${type}${index}`;

function firstRegister({ registers: [first] = [] }: QuantityRow): string | undefined {
  return typeof first === 'object' ? first.point : first;
}

/** The binding of the point, as the outstation names it. */
function boundOf(row: QuantityRow, { bound }: Dnp3Place): string | undefined {
  return bound ?? firstRegister(row);
}

export class Dnp3Reader {
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #points: readonly Dnp3PointView[];

  /** @param rows quantities that will be read */
  constructor(outstations: Dnp3Outstations, device: Device, moment: Moment, rows: readonly QuantityRow[]) {
    this.#device = device;
    this.#moment = moment;
    // only the required points, of a thousand in an outstation
    const bound = new Set(rows.flatMap((row) => (row.dnp3 && boundOf(row, row.dnp3)) ?? []));
    this.#points = outstations.points(device.index, { coverage: 'served', bound });
  }

  read(row: QuantityRow): Presented | null {
    const { dnp3: place } = row;
    if (place === undefined || this.#showsOther(place)) return null;
    const view = this.#find(place, boundOf(row, place));
    if (view === undefined) return null;
    const { factor = 1, isInverse = false } = place;
    const { value: raw, engineeringValue, multiplier, unit, flags, online } = view;
    const isBinary = view.type === 'BI';
    let value: Value = null;
    if (online && raw !== null) value = isBinary ? (raw !== 0) !== isInverse : tidy((engineeringValue ?? 0) * factor);
    const isNumber = typeof value === 'number';
    return {
      presenter: 'dnp3',
      place: nameOf(view),
      value,
      missing: value === null ? 'the point is not online' : null,
      resolution: isNumber ? tidy(Math.abs(multiplier * factor)) : null,
      ...(view.type === 'CTR' && { floors: true as const }),
      // an outstation updates measurements at the end of a tick, all other points before each answer
      atMs: row.measured ? this.#moment.tickMs : this.#moment.nowMs,
      shown: [shownAs(nameOf(view), raw, { multiplier: isBinary ? null : multiplier, unit, flags })],
    };
  }

  /** The point of the built-in map, or, with a map from a file, a point with the same binding. */
  #find({ point }: Dnp3Place, bound: string | undefined): Dnp3PointView | undefined {
    const type = point.replace(/\d+$/, '');
    const candidates = this.#points.filter((view) => view.type === type && view.boundTo === bound);
    return candidates.find((view) => nameOf(view) === point) ?? candidates[0];
  }

  #showsOther({ unless }: Dnp3Place): boolean {
    if (unless === undefined) return false;
    const [point, symbol] = unless;
    const slot = this.#device.bank.layout.named(point);
    return slot !== undefined && this.#device.bank.value(slot) === symbol;
  }
}

/** The meter of the station at its grid connection, where the device is measured. */
const stationMeter = 0;

function shownOf({ measurand, phase, unit, value, digits, listed }: OcppSampledValue): Shown {
  const name = phase === null ? measurand : `${measurand} ${phase}`;
  return shownAs(name, value, { unit, decimals: digits, listed });
}

export class OcppReader {
  readonly #inlet: OcppMeterReading;
  /** null: the station has no connector, or several */
  readonly #connector: OcppMeterReading | null;
  readonly #atMs: number;

  constructor(station: OcppStation, { detail }: Device, plant: Plant) {
    const [first, ...others] = detail.kind === 'evse' ? detail.connectors : [];
    this.#inlet = station.functions.meterReading(stationMeter);
    this.#connector =
      first === undefined || others.length > 0 ? null : station.functions.meterReading(first.connectorId);
    this.#atMs = plant.dateMs(this.#inlet.at);
  }

  read({ ocpp: place }: QuantityRow): Presented | null {
    if (place === undefined) return null;
    const sample = this.#find(place.measurand, place);
    if (sample === undefined) return null;
    const less = place.less === undefined ? undefined : this.#find(place.less, place);
    const [value, lessValue] = [Number(sample.value), Number(less?.value ?? 0)];
    return {
      presenter: 'ocpp',
      place: less === undefined ? sample.measurand : `${sample.measurand}, ${less.measurand}`,
      value: tidy(place.isSum ? value + lessValue : value - lessValue),
      missing: null,
      resolution: Number(`1e-${sample.digits}`),
      ...(place.isMagnitude && { isMagnitude: true as const }),
      atMs: this.#atMs,
      shown: [sample, ...(less === undefined ? [] : [less])].map(shownOf),
    };
  }

  #find(measurand: string, { phase, ofConnector }: OcppPlace): OcppSampledValue | undefined {
    const reading = ofConnector ? this.#connector : this.#inlet;
    return reading?.values.find((value) => value.measurand === measurand && value.phase === (phase ?? null));
  }
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** undefined: the reply has no such member */
function memberOf(reply: unknown, path: string): unknown {
  let value = reply;
  for (const name of path.split('.')) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

function presented(
  presenter: 'rest' | 'stream',
  reply: unknown,
  { member, factor = 1, unit = null }: Omit<RestPlace, 'read' | 'unit'> & { readonly unit?: string | null },
  atMs: number,
): Presented | null {
  const raw = memberOf(reply, member);
  if (raw === undefined || raw === null || isObject(raw)) return null;
  const value = raw as Exclude<Value, null>;
  return {
    presenter,
    place: member,
    atMs,
    value: typeof value === 'number' ? tidy(value * factor) : value,
    missing: null,
    resolution: null,
    shown: [shownAs(member, value, { unit, decimals: typeof value === 'number' ? decimalsOf(value) : null })],
  };
}

export class RestReader {
  readonly #sources: Sources;
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #replies = new Map<RestRead, unknown>();

  constructor(sources: Sources, device: Device, moment: Moment) {
    this.#sources = sources;
    this.#device = device;
    this.#moment = moment;
  }

  read({ rest, measured }: QuantityRow): Presented | null {
    if (rest === undefined) return null;
    if (!this.#replies.has(rest.read)) this.#replies.set(rest.read, this.#sources.reply(rest.read, this.#device));
    const { tickMs, nowMs } = this.#moment;
    return presented('rest', this.#replies.get(rest.read), rest, measured ? tickMs : nowMs);
  }
}

export class StreamReader {
  readonly #message: unknown;
  readonly #moment: Moment;

  constructor(message: unknown, moment: Moment) {
    this.#message = message;
    this.#moment = moment;
  }

  /** As in the last message about the device. */
  read({ stream }: QuantityRow): Presented | null {
    return stream === undefined ? null : presented('stream', this.#message, stream, this.#moment.tickMs);
  }
}
