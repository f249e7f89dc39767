/**
 * Views: typed accessors over the bytes of a bank. The accessors are created once per layout and live on
 * prototypes, so that a thousand devices of one shape share them.
 */
import { SimError } from '../../core/errors.ts';
import { didYouMean, givenText } from '../../core/nearest.ts';
import { applyScale, getText, isFloat, nearest, numberCodec, setText } from './codec.ts';
import { memoPerLayout } from './layout.ts';
import type { GroupPlace, Layout, ModelPlace, PointSlot } from './layout.ts';
import type { AccessMark, AnyPointValue, View, ViewAccess } from './types.ts';
import type { ClassicModelId, ServedModel } from '../models/served.ts';

/** Models that only some devices serve: 802 of a storage, the classic models, and the simulation models if enabled. */
type OptionalModelId = 802 | 64413 | 64414 | ClassicModelId;

/** Models by the name of their view, as `m701`. */
type ByViewName<M extends ServedModel> = { readonly [Each in M as `m${Each['id']}`]: Each };
type OptionalModels = ByViewName<Extract<ServedModel, { readonly id: OptionalModelId }>>;
/** The models that every device serves. */
type CommonModels = ByViewName<Exclude<ServedModel, { readonly id: OptionalModelId }>>;

/**
 * Models with RW points whose registers follow a value that is kept elsewhere: the address on the line (1), the
 * disconnect switch (123), the reserves of a storage (124, 802), the surroundings (64414).
 */
type FollowingModel = 'm1' | 'm123' | 'm124' | 'm802' | 'm64414';

type AccessOf<K, A extends ViewAccess> = A extends 'measurements' ? (K extends FollowingModel ? 'all' : A) : A;

type MapViewOf<A extends ViewAccess> = {
  readonly [K in keyof CommonModels]: View<CommonModels[K], AccessOf<K, A>>;
} & { readonly [K in keyof OptionalModels]?: View<OptionalModels[K], AccessOf<K, A>> } & AccessMark<A>;

/** Typed views of the models that a device serves, for reading. */
export type MapView = MapViewOf<'read'>;

/** Views for the device itself: measurements and status can be assigned; settings are written by transactions. */
export type MeasurementView = MapViewOf<'measurements'>;

/**
 * Views with every point assignable: in a transaction, where assignments are recorded, checked and committed together,
 * and on an image that no bank serves yet.
 */
export type WritableMapView = MapViewOf<'all'>;

/** Called by the views of a transaction for each assignment, before the bytes change. */
export type Recorder = (slotIndex: number) => void;

/** The place that an accessor works on: the bytes, the offset of its group, and the group's first slot. */
class Cursor {
  dv: DataView;
  offset: number;
  readonly firstSlot: number;
  readonly record: Recorder | undefined;

  constructor(dv: DataView, offset: number, firstSlot: number, record: Recorder | undefined) {
    this.dv = dv;
    this.offset = offset;
    this.firstSlot = firstSlot;
    this.record = record;
  }
}

type Getter = (this: Cursor) => AnyPointValue;
type Setter = (this: Cursor, value: AnyPointValue) => void;

/** `701.W`, or `203:2.W` in the second place of a model, as errors and logs name a point. */
export function pointName(slot: PointSlot): string {
  return `${slot.modelName}.${slot.path}`;
}

function badValue(slot: PointSlot, detail: string): SimError {
  const { symbols } = slot.def;
  const isEnumeration = symbols && slot.def.type.startsWith('enum');
  const issue = { name: pointName(slot), detail, ...(isEnumeration && { allowed: Object.keys(symbols) }) };
  return new SimError('MAP_BAD_VALUE', `${pointName(slot)}: ${detail}`, [issue]);
}

/** A longer list of symbols appears only in `allowed` of the issue. */
const maxListedSymbols = 12;

/** Text of the refusal of a value that is not a symbol of its point, with the symbols and the nearest of them. */
export function notASymbol(value: unknown, symbols: Readonly<Record<string, number>>): string {
  const names = Object.keys(symbols);
  const listed = names.length > maxListedSymbols ? '' : `, which are ${names.join(', ')}`;
  return `${givenText(value)} is not one of its symbols${listed}${typeof value === 'string' ? didYouMean(value, names) : ''}`;
}

/** Text of the refusal of a value that is not a finite number. */
export function notANumber(value: unknown): string {
  return `must be a finite number; given ${givenText(value)}`;
}

function doesNotFit(slot: PointSlot, given: number, min: number, max: number): SimError {
  const name = pointName(slot);
  const detail = `${given} does not fit ${min}..${max}`;
  return new SimError('MAP_BAD_VALUE', `${name}: ${detail}`, [{ name, detail, outside: { given, min, max } }]);
}

function symbolNames(symbols: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(symbols).map(([name, value]) => [value, name]));
}

interface Accessor {
  readonly get: Getter;
  readonly set: Setter;
}

/** The repetition of a point that a cursor selects: all repetitions share accessors, but messages name one of them. */
type SlotAtCursor = (cursor: Cursor) => PointSlot;

/** A point that the device does not have keeps its "not implemented" value. */
const absentAccessor: Accessor = {
  get: () => null,
  set: () => undefined,
};

function textAccessor(slot: PointSlot, at: number, slotAt: SlotAtCursor): Accessor {
  const { size } = slot.def;
  return {
    get() {
      return getText(this.dv, this.offset + at, size);
    },
    set(value) {
      if (typeof value !== 'string' && (value !== null || this.record)) throw badValue(slotAt(this), 'must be text');
      const text = value ?? '';
      if (this.record && Buffer.byteLength(text) > size * 2)
        throw badValue(slotAt(this), `is longer than ${size * 2} bytes`);
      setText(this.dv, this.offset + at, size, text);
    },
  };
}

function enumAccessor(
  slot: PointSlot,
  at: number,
  symbols: Readonly<Record<string, number>>,
  slotAt: SlotAtCursor,
): Accessor {
  const names = symbolNames(symbols);
  // a map, unlike the object, has no inherited members such as 'constructor'
  const rawValues = new Map(Object.entries(symbols));
  const codec = numberCodec(slot.def.type);
  if (!codec) throw new SimError('INTERNAL', `${pointName(slot)}: no codec`);
  const optional = slot.def.mandatory !== true;
  return {
    get() {
      const raw = codec.get(this.dv, this.offset + at);
      if (optional && raw === codec.absentRaw) return null;
      return names.get(raw) ?? raw;
    },
    set(value) {
      if (value === null) {
        codec.clear(this.dv, this.offset + at);
        return;
      }
      const raw = typeof value === 'string' ? rawValues.get(value) : names.has(value) ? value : undefined;
      if (raw === undefined) throw badValue(slotAt(this), notASymbol(value, symbols));
      codec.set(this.dv, this.offset + at, raw);
    },
  };
}

/** Values of physics saturate at the limits of the type; in a transaction a value beyond them is refused. */
function numberAccessor(slot: PointSlot, at: number, slotAt: SlotAtCursor): Accessor {
  const codec = numberCodec(slot.def.type);
  if (!codec) throw new SimError('INTERNAL', `${pointName(slot)}: no codec`);
  const { sf, def } = slot;
  const { min, max, absentRaw } = codec;
  const whole = !isFloat(def.type);
  const isSigned = min < 0;
  // some hundred points are read or written per tick and device: short integers without the call of a codec
  const wholeRegisters = whole ? def.size : 0;
  const up = sf < 0 ? 10 ** -sf : 1;
  const down = sf > 0 ? 10 ** sf : 1;
  return {
    get() {
      const { dv } = this;
      const position = this.offset + at;
      let raw: number;
      if (wholeRegisters === 1) raw = isSigned ? dv.getInt16(position) : dv.getUint16(position);
      else if (wholeRegisters === 2) raw = isSigned ? dv.getInt32(position) : dv.getUint32(position);
      else if (codec.absent(dv, position)) return null;
      else raw = codec.get(dv, position);
      return raw === absentRaw ? null : (raw * down) / up;
    },
    set(value) {
      const position = this.offset + at;
      if (value === null) {
        codec.clear(this.dv, position);
        return;
      }
      if (typeof value !== 'number' || !Number.isFinite(value)) throw badValue(slotAt(this), notANumber(value));
      const raw = whole ? nearest((value * up) / down) : value;
      if (raw < min || raw > max) {
        if (this.record) throw doesNotFit(slotAt(this), value, applyScale(min, sf), applyScale(max, sf));
        codec.set(this.dv, position, raw < min ? min : max);
      } else if (wholeRegisters === 1) this.dv.setInt16(position, raw);
      else if (wholeRegisters === 2) this.dv.setInt32(position, raw);
      else codec.set(this.dv, position, raw);
    },
  };
}

function accessorOf(slot: PointSlot, at: number, slotAt: SlotAtCursor): Accessor {
  const { def } = slot;
  if (!slot.implemented) return absentAccessor;
  if (def.type.startsWith('enum') && def.symbols) return enumAccessor(slot, at, def.symbols, slotAt);
  return numberCodec(def.type) ? numberAccessor(slot, at, slotAt) : textAccessor(slot, at, slotAt);
}

type CursorClass = new (dv: DataView, offset: number, firstSlot: number, record: Recorder | undefined) => Cursor;

interface PlaceShape {
  readonly slots: readonly PointSlot[];
  readonly offset: number;
  readonly groups: Readonly<Record<string, readonly GroupPlace[]>>;
}

/** Defines a member with the inner views of a group, created at first use: a list, or one view if it occurs once. */
function defineGroup(
  prototype: object,
  name: string,
  places: readonly GroupPlace[],
  inner: CursorClass,
  outer: number,
): void {
  Object.defineProperty(prototype, name, {
    configurable: true,
    get(this: Cursor) {
      const make = (place: GroupPlace) =>
        new inner(this.dv, this.offset + place.offset - outer, this.firstSlot + place.firstSlot, this.record);
      const [first] = places;
      const value = first?.def.count === 1 ? make(first) : places.map(make);
      Object.defineProperty(this, name, { value });
      return value;
    },
  });
}

/** @param recorded true: views of a transaction, which report each assignment before the bytes change */
function makeClass(layout: Layout, shape: PlaceShape, base: number, recorded: boolean): CursorClass {
  class GroupCursor extends Cursor {}
  shape.slots.forEach((slot, position) => {
    const slotAt: SlotAtCursor = (cursor) => layout.slots[cursor.firstSlot + position] ?? slot;
    const { get, set } = accessorOf(slot, (slot.address - layout.base) * 2 - shape.offset, slotAt);
    Object.defineProperty(GroupCursor.prototype, slot.def.name, {
      get,
      // physics writes some fifty points per tick and device: straight to the accessor
      set: !recorded
        ? set
        : function report(this: Cursor, value: AnyPointValue) {
            this.record?.(this.firstSlot + position);
            set.call(this, value);
          },
    });
  });
  for (const [name, places] of Object.entries(shape.groups)) {
    const [first] = places;
    if (!first) {
      Object.defineProperty(GroupCursor.prototype, name, { value: [] });
      continue;
    }
    const { firstSlot } = first;
    const slots = layout.slots.slice(firstSlot, firstSlot + first.def.points.length);
    // inner places are relative to the first repetition: all repetitions have the same shape
    const inner = makeClass(layout, { slots, offset: first.offset, groups: first.groups }, firstSlot, recorded);
    const relative = places.map((place) => ({ ...place, firstSlot: place.firstSlot - base }));
    defineGroup(GroupCursor.prototype, name, relative, inner, shape.offset);
  }
  return GroupCursor;
}

interface MapRoot {
  readonly dv: DataView;
  readonly record: Recorder | undefined;
}

function defineModel(prototype: object, layout: Layout, place: ModelPlace, recorded: boolean): void {
  const offset = (place.address - layout.base) * 2;
  const firstSlot = place.slots[0]?.index ?? 0;
  const slots = place.slots.slice(0, place.def.points.length);
  const view = makeClass(layout, { slots, offset, groups: place.groups }, firstSlot, recorded);
  const name = `m${place.name}`;
  Object.defineProperty(prototype, name, {
    configurable: true,
    get(this: MapRoot) {
      const value = new view(this.dv, offset, firstSlot, this.record);
      Object.defineProperty(this, name, { value });
      return value;
    },
  });
}

type MapClass = new (dv: DataView, record?: Recorder) => WritableMapView;
function makeMapClass(layout: Layout, recorded: boolean): MapClass {
  class Root {
    readonly dv: DataView;
    readonly record: Recorder | undefined;
    constructor(dv: DataView, recorder?: Recorder) {
      this.dv = dv;
      this.record = recorder;
    }
  }
  for (const place of layout.models) defineModel(Root.prototype, layout, place, recorded);
  return Root as unknown as MapClass;
}

const plainClass = memoPerLayout((layout) => makeMapClass(layout, false));
const recordedClass = memoPerLayout((layout) => makeMapClass(layout, true));

/**
 * Typed views over the bytes of one bank. With `record`, every assignment is reported and values that do not
 * fit are refused (`MAP_BAD_VALUE`); without it they saturate.
 */
export function createMapView(layout: Layout, bytes: Buffer, record?: Recorder): WritableMapView {
  const viewClass = (record ? recordedClass : plainClass)(layout);
  return new viewClass(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), record);
}

const accessorsAtOrigin = new WeakMap<PointSlot, Accessor>();

function accessorAtOrigin(slot: PointSlot): Accessor {
  let accessor = accessorsAtOrigin.get(slot);
  if (!accessor) {
    accessor = accessorOf(slot, 0, () => slot);
    accessorsAtOrigin.set(slot, accessor);
  }
  return accessor;
}

const noBytes: Buffer = Buffer.alloc(0);
let lastBytes = noBytes;
/** shared by all reads: they are synchronous and do not nest */
const readCursor = new Cursor(new DataView(noBytes.buffer), 0, 0, undefined);

/** Decoded value of one point in the bytes of a bank: number, symbol or text; null when not implemented. */
export function readPoint(layout: Layout, bytes: Buffer, slot: PointSlot): AnyPointValue {
  // consecutive reads are usually of the same bytes
  if (bytes !== lastBytes) {
    lastBytes = bytes;
    readCursor.dv = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  readCursor.offset = (slot.address - layout.base) * 2;
  return accessorAtOrigin(slot).get.call(readCursor);
}

/** `readPoint` of one point that is read again and again. */
export function pointReader(layout: Layout, bytes: Buffer, slot: PointSlot): () => AnyPointValue {
  const dv = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cursor = new Cursor(dv, (slot.address - layout.base) * 2, slot.index, undefined);
  const { get } = accessorAtOrigin(slot);
  return () => get.call(cursor);
}

/** Encodes one value into the bytes of a bank or candidate. @throws SimError MAP_BAD_VALUE */
export function writePoint(layout: Layout, bytes: Buffer, slot: PointSlot, value: AnyPointValue): void {
  const dv = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const strict: Recorder = () => undefined;
  accessorAtOrigin(slot).set.call(new Cursor(dv, (slot.address - layout.base) * 2, slot.index, strict), value);
}

/** Registers of one point in the bytes of a bank, as unsigned 16-bit words. */
export function wordsOf(layout: Layout, bytes: Buffer, { address, def }: PointSlot): number[] {
  const at = (address - layout.base) * 2;
  return Array.from({ length: def.size }, (_, i) => bytes.readUInt16BE(at + 2 * i));
}
