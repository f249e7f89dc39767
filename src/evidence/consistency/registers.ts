/** Quantities in registers: the truth of the map, and what a master reads of it over Modbus. */
import { Buffer } from 'node:buffer';
import type { RegisterWindow } from '../../contract/modbus-report.ts';
import type { Device } from '../../contract/device.ts';
import { SimError } from '../../core/errors.ts';
import { applyScale, isFloat, numberCodec } from '../../sunspec/map/codec.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import { shownAs, tidy } from './model.ts';
import type { Moment, Presented, Presenter, QuantityRow, RegisterPlace, Value } from './model.ts';

type Place = Required<Pick<RegisterPlace, 'point' | 'factor'>> & RegisterPlace;

function placesOf({ registers = [] }: QuantityRow): readonly Place[] {
  return registers.map((place) => (typeof place === 'string' ? { point: place, factor: 1 } : { factor: 1, ...place }));
}

/** The slot of a name such as `714.Prt[0].DCV` that the device implements. */
export function slotOf(layout: Layout, name: string): PointSlot | undefined {
  const slot = layout.named(name);
  return slot?.implemented === true ? slot : undefined;
}

/** Registers of a point, big-endian. @throws SimError where they cannot be read */
type WordsOf = (slot: PointSlot) => Buffer;

interface DecodedPoint {
  /** number in the register; null: "not implemented" */
  readonly raw: number | null;
  /** exponent of ten of the scale factor; null: the point has none */
  readonly exponent: number | null;
  /** in the unit of the point; a symbol of an enumeration */
  readonly value: number | string | null;
  /** step in the unit of the point; null: a float, or no quantity */
  readonly resolution: number | null;
}

function rawOf(slot: PointSlot, words: Buffer): number | null {
  const codec = numberCodec(slot.def.type);
  const octets = Buffer.from(words);
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  if (codec === undefined) return null;
  // 0 of an accumulator may mean "not implemented", but also that nothing was counted yet
  return codec.absent(view, 0) && !slot.def.type.startsWith('acc') ? null : codec.get(view, 0);
}

/** The scale-factor point of a point: in its own group, or at the top of the model. */
function scalePoint(layout: Layout, { modelId, path, def: { sf } }: PointSlot): PointSlot | undefined {
  if (typeof sf !== 'string') return undefined;
  const group = path.slice(0, path.lastIndexOf('.') + 1);
  return layout.slot(modelId, group + sf) ?? layout.slot(modelId, sf);
}

function exponentOf(layout: Layout, slot: PointSlot, wordsOf: WordsOf): number | null {
  const { sf } = slot.def;
  if (typeof sf === 'number') return sf;
  const scale = scalePoint(layout, slot);
  return scale === undefined ? null : rawOf(scale, wordsOf(scale));
}

/** @throws SimError as `wordsOf` */
function decodePoint(layout: Layout, slot: PointSlot, wordsOf: WordsOf): DecodedPoint {
  const { def } = slot;
  const raw = rawOf(slot, wordsOf(slot));
  if (def.symbols !== undefined) {
    const symbol = Object.entries(def.symbols).find(([, number]) => number === raw)?.[0];
    return { raw, exponent: null, value: symbol ?? raw, resolution: null };
  }
  const exponent = exponentOf(layout, slot, wordsOf);
  const value = raw === null ? null : applyScale(raw, exponent ?? 0);
  return { raw, exponent, value, resolution: isFloat(def.type) ? null : Number(`1e${exponent ?? 0}`) };
}

function valueOf({ value }: DecodedPoint, { factor, words = {} }: Place, { unit, on = 'ENABLED' }: QuantityRow): Value {
  if (value === null) return null;
  if (typeof value === 'number') return tidy(value * factor);
  return unit === 'flag' ? value === on : (words[value] ?? value.toLowerCase());
}

interface Reading {
  readonly presenter: Presenter;
  readonly wordsOf: WordsOf;
  /** reason why a point cannot be read; null: it can */
  readonly problem: (slot: PointSlot) => string | null;
}

function presented(device: Device, row: QuantityRow, place: Place, moment: Moment, reading: Reading): Presented | null {
  const { layout } = device.bank;
  const slot = slotOf(layout, place.point);
  if (slot === undefined) return null;
  const { presenter, wordsOf, problem } = reading;
  const atMs = row.measured ? moment.tickMs : moment.nowMs;
  const common = { presenter, place: place.point, atMs, ...(place.isMagnitude && { isMagnitude: true as const }) };
  const none = (missing: string) => ({ ...common, value: null, missing, resolution: null, shown: [] });
  const lacking = problem(slot);
  if (lacking !== null) return none(lacking);
  try {
    const point = decodePoint(layout, slot, wordsOf);
    const value = valueOf(point, place, row);
    const { raw, exponent, resolution } = point;
    const multiplier = exponent === null ? null : Number(`1e${exponent}`);
    return {
      ...common,
      value,
      missing: value === null ? 'the register says "not implemented"' : null,
      resolution: resolution === null ? null : tidy(resolution * place.factor),
      shown: [shownAs(place.point, raw, { multiplier, unit: slot.def.units ?? null })],
    };
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return none(`the read is refused: ${error.message}`);
  }
}

/** The first register of a quantity as the map has it, without faults. */
export function trueRegister(device: Device, row: QuantityRow, moment: Moment): Presented | null {
  const { bank } = device;
  const wordsOf: WordsOf = (slot) => {
    const words = bank.raw(slot);
    const octets = Buffer.alloc(2 * words.length);
    words.forEach((word, i) => octets.writeUInt16BE(word, 2 * i));
    return octets;
  };
  const first = placesOf(row).find(({ point }) => slotOf(bank.layout, point) !== undefined);
  if (first === undefined) return null;
  return presented(device, row, first, moment, { presenter: 'registers', wordsOf, problem: () => null });
}

/** Addresses at which masters look for the marker. */
const bases = [40_000, 0, 50_000] as const;
const marker = 'SunS';
const endModel = 0xffff;
/** A chain with more models is a loop. */
const maxModels = 200;

/** The chain as a master walks it: addresses of models by id, or why it has found none. */
type Chain = { readonly models: ReadonlyMap<number, number> } | { readonly problem: string };

function peekOrNull(window: RegisterWindow, address: number, count: number): Buffer | null {
  try {
    return Buffer.from(window.peek(address, count));
  } catch (error) {
    if (error instanceof SimError) return null;
    throw error;
  }
}

/** @param layoutBase address of the undisturbed map, which a master of the site may know */
function walk(window: RegisterWindow, layoutBase: number): Chain {
  const base = [...new Set([layoutBase, ...bases])].find(
    (address) => peekOrNull(window, address, 2)?.toString('latin1') === marker,
  );
  if (base === undefined) return { problem: 'a master finds no SunSpec map' };
  const models = new Map<number, number>();
  let address = base + 2;
  for (let count = 0; count < maxModels; count += 1) {
    const header = peekOrNull(window, address, 2);
    const id = header?.readUInt16BE(0) ?? endModel;
    if (header === null || id === endModel) break;
    if (!models.has(id)) models.set(id, address);
    address += 2 + header.readUInt16BE(2);
  }
  return { models };
}

/** A master of SunSpec that reads a device through its window: it finds the models by the chain, as any master does. */
class Master {
  readonly #layout: Layout;
  readonly #window: RegisterWindow;
  #chain: Chain | null = null;

  constructor(layout: Layout, window: RegisterWindow) {
    this.#layout = layout;
    this.#window = window;
  }

  /** The reason why a point cannot be read; null: its model is in the chain. */
  problem({ modelId }: PointSlot): string | null {
    const chain = this.#walked;
    if ('problem' in chain) return chain.problem;
    return chain.models.has(modelId) ? null : `a master finds no model ${modelId}`;
  }

  /**
   * Registers of a point at its place in the chain; to be called only without a `problem`.
   * @throws SimError if refused
   */
  readonly wordsOf: WordsOf = ({ modelId, address, def }) => {
    const chain = this.#walked;
    const place = this.#layout.models.find((model) => model.def.id === modelId);
    const start = 'models' in chain ? chain.models.get(modelId) : undefined;
    if (place === undefined || start === undefined)
      throw new SimError('MAP_ILLEGAL_ADDRESS', `there is no model ${modelId}`);
    return Buffer.from(this.#window.peek(start + address - place.address, def.size));
  };

  get #walked(): Chain {
    return (this.#chain ??= walk(this.#window, this.#layout.base));
  }
}

/** The values that a master reads of a device now, faults of the map included. */
export class ModbusReader {
  readonly #device: Device;
  readonly #moment: Moment;
  readonly #master: Master;

  constructor(device: Device, window: RegisterWindow, moment: Moment) {
    this.#device = device;
    this.#moment = moment;
    this.#master = new Master(device.bank.layout, window);
  }

  /** One value for each register of the quantity in the map as masters see it. */
  read(row: QuantityRow): readonly Presented[] {
    const { layout } = this.#device.bank;
    const hidden = new Set(layout.models.flatMap((model) => (model.hidden ? [model.def.id] : [])));
    const master = this.#master;
    return placesOf(row).flatMap((place) => {
      const slot = slotOf(layout, place.point);
      if (slot === undefined || hidden.has(slot.modelId)) return [];
      const reading: Reading = {
        presenter: 'modbus',
        wordsOf: master.wordsOf,
        problem: (of) => master.problem(of),
      };
      return presented(this.#device, row, place, this.#moment, reading) ?? [];
    });
  }
}
