/** Reads models: whole points at a time, in smaller pieces where the device refuses larger ones. */
import type { FoundModel, GroupReading, ModelReading, PointReading } from '../../contract/sunspec-client.ts';
import type { ModelDef } from '../map/types.ts';
import { definitionOf, fixedRegisters, headerRegisters, shapeOf } from './shape.ts';
import type { Connection } from './connection.ts';
import { exceptionIn, exceptionText, peerError } from './peer.ts';
import { decode, scaleIn } from './point-bridge.ts';
import type { Shape, ShapeGroup, Slot } from './shape.ts';

/** Maximum number of registers read of one model; the rest is left out. */
export const maxModelRegisters = 8192;
/** After this many refused pieces of one model the rest of it is not read. */
const maxRefusals = 40;
/** Modbus exception: no right to the function, or no such function */
const illegalFunction = 1;
/** Maximum attempts to read a model whose scale factors change meanwhile. */
const maxAttempts = 3;

/** The map has changed since the chain was walked. */
export class MapChanged extends Error {}

/** Exception code with which the device refused a register, or `notAsked` after `maxRefusals` other refusals. */
type Refusal = number | typeof notAsked;
export const notAsked = 'not asked';

/** Registers of a model, and the registers that were not read. */
export interface ModelWords {
  readonly words: Buffer;
  /** by register */
  readonly refused: ReadonlyMap<number, Refusal>;
  readonly shape: Shape | null;
  readonly notes: readonly string[];
}

class Gathering {
  readonly words: Buffer;
  readonly refused = new Map<number, Refusal>();
  readonly #connection: Connection;
  readonly #address: number;
  /** number of the answer that contained a register */
  readonly #answerOf: Uint16Array;
  #answers = 0;
  #refusals = 0;
  #firstRefusal: Error | null = null;
  #anyRead = false;

  constructor(connection: Connection, { address }: FoundModel, total: number) {
    this.#connection = connection;
    this.#address = address;
    this.words = Buffer.alloc(total * 2);
    this.#answerOf = new Uint16Array(total);
  }

  /**
   * Reads the registers from the first to the last cut; requests begin and end at cuts.
   * @param cuts offsets, ascending
   */
  async gather(cuts: readonly number[]): Promise<void> {
    let from = 0;
    while (from < cuts.length - 1) {
      let to = from + 1;
      while (to < cuts.length - 1 && at(cuts, to + 1) - at(cuts, from) <= this.#connection.learnt.span) to += 1;
      await this.#readPiece(cuts, from, to);
      from = to;
    }
  }

  /** @throws the first refusal if no register could be read */
  check(): void {
    if (!this.#anyRead && this.#firstRefusal !== null) throw this.#firstRefusal;
  }

  /**
   * Reads again the scale factors that were in another answer than their points; true if they are unchanged. Some
   * devices change scale factors at any time.
   */
  async hasSameScales({ all }: Shape): Promise<boolean> {
    const scaleOffsets = all.flatMap(({ offset, scale }) =>
      typeof scale === 'object' && scale !== null && this.#isApart(offset, scale.offset) ? [scale.offset] : [],
    );
    for (const [offset, count] of consecutiveRuns([...new Set(scaleOffsets)], this.#connection.learnt.span)) {
      const reread = await this.#connection.read(this.#address + offset, count);
      if (!reread.equals(this.words.subarray(offset * 2, (offset + count) * 2))) return false;
    }
    return true;
  }

  #isApart(offset: number, scaleOffset: number): boolean {
    return (
      !this.refused.has(offset) &&
      !this.refused.has(scaleOffset) &&
      at(this.#answerOf, offset) !== at(this.#answerOf, scaleOffset)
    );
  }

  /**
   * @param around exception code with which a larger piece around this one was refused; null: none was. Exception 1
   * concerns the function, so that it holds for each part of the larger piece
   * @returns true if all of it was read
   */
  async #readPiece(cuts: readonly number[], from: number, to: number, around: number | null = null): Promise<boolean> {
    const [start, end] = [at(cuts, from), at(cuts, to)];
    if (this.#refusals >= maxRefusals)
      return this.#markRefused(start, end, around === illegalFunction ? around : notAsked);
    try {
      const words = await this.#connection.read(this.#address + start, end - start);
      words.copy(this.words, start * 2);
      this.#answers += 1;
      this.#answerOf.fill(this.#answers, start, end);
      this.#anyRead = true;
      return true;
    } catch (error) {
      const code = exceptionIn(error);
      if (code === null || !(error instanceof Error)) throw error;
      this.#firstRefusal ??= error;
      this.#refusals += 1;
      if (to - from === 1) return this.#markRefused(start, end, code);
      return this.#readHalves(cuts, from, to, code);
    }
  }

  /** @param refusal exception code for the whole */
  async #readHalves(cuts: readonly number[], from: number, to: number, refusal: number): Promise<boolean> {
    const [start, end] = [at(cuts, from), at(cuts, to)];
    const middle = middleOf(cuts, from, to);
    const both = [await this.#readPiece(cuts, from, middle, refusal), await this.#readPiece(cuts, middle, to, refusal)];
    // the piece was too large
    if (both.every(Boolean)) this.#connection.learnt.span = Math.max(at(cuts, middle) - start, end - at(cuts, middle));
    return both.every(Boolean);
  }

  #markRefused(start: number, end: number, refusal: Refusal): false {
    for (let register = start; register < end; register += 1) this.refused.set(register, refusal);
    return false;
  }
}

function at(cuts: ArrayLike<number>, index: number): number {
  return cuts[index] ?? 0;
}

/** Runs of consecutive registers, as first and count. @param max registers per run */
function consecutiveRuns(registers: readonly number[], max: number): [first: number, count: number][] {
  const runs: [number, number][] = [];
  for (const register of [...registers].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && run[0] + run[1] === register && run[1] < max) run[1] += 1;
    else runs.push([register, 1]);
  }
  return runs;
}

/** The cut nearest to the middle of a piece. */
function middleOf(cuts: readonly number[], from: number, to: number): number {
  const half = (at(cuts, from) + at(cuts, to)) / 2;
  let nearest = from + 1;
  for (let index = from + 1; index < to; index += 1) {
    if (Math.abs(at(cuts, index) - half) < Math.abs(at(cuts, nearest) - half)) nearest = index;
  }
  return nearest;
}

function cutsBetween(slots: readonly Slot[], from: number, to: number): number[] {
  const inner = slots.map(({ offset }) => offset).filter((offset) => offset > from && offset < to);
  const last = slots.reduce((end, { offset, def }) => Math.max(end, offset + def.size), from);
  // registers without a definition can be cut anywhere
  const rest = Array.from({ length: Math.max(0, to - Math.max(last, from)) }, (_, i) => Math.max(last, from) + i);
  return [...new Set([from, ...inner, ...rest.filter((offset) => offset > from), to])].sort((a, b) => a - b);
}

/** Reads a model in one request. @returns null: the model is too large for one, or the device refuses */
async function readInOneRequest(
  connection: Connection,
  { address }: FoundModel,
  total: number,
): Promise<Buffer | null> {
  if (total > connection.learnt.span) return null;
  try {
    return await connection.read(address, total);
  } catch (error) {
    if (exceptionIn(error) === null) throw error;
    return null;
  }
}

function checkHeader({ id, address, length }: FoundModel, words: Buffer, refused: ModelWords['refused']): void {
  if (refused.has(0) || refused.has(1)) return;
  const [presentId, presentLength] = [words.readUInt16BE(0), words.readUInt16BE(2)];
  if (presentId !== id || presentLength !== length) {
    throw new MapChanged(
      `at ${address} there was model ${id} of ${length} registers, now there is ${presentId} of ${presentLength}`,
    );
  }
}

/**
 * Reads the registers of a model.
 * @throws MapChanged if another model is at its address; SimError PEER_ERROR, PEER_TIMEOUT
 */
export async function readWords(connection: Connection, model: FoundModel): Promise<ModelWords> {
  const def = definitionOf(model.id);
  const whole = model.length + headerRegisters;
  const total = Math.min(whole, maxModelRegisters);
  const notes = whole > total ? [`only the first ${total} of its ${whole} registers are read`] : [];
  const single = await readInOneRequest(connection, model, total);
  if (single !== null) {
    checkHeader(model, single, new Map());
    return { words: single, refused: new Map(), shape: def ? shapeOf(def, single, total, model.length) : null, notes };
  }
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const gathering = new Gathering(connection, model, total);
    const shape = def ? await gatherShaped(gathering, def, model, total) : null;
    if (shape === null) await gathering.gather(cutsBetween([], 0, total));
    gathering.check();
    checkHeader(model, gathering.words, gathering.refused);
    if (shape === null || (await gathering.hasSameScales(shape)))
      return { words: gathering.words, refused: gathering.refused, shape, notes };
  }
  throw peerError(`the scale factors of model ${model.id} change while it is read`);
}

/** Reads the points before the groups first: they hold the counts. */
async function gatherShaped(
  gathering: Gathering,
  def: ModelDef,
  { length }: FoundModel,
  total: number,
): Promise<Shape> {
  const withoutCounts = shapeOf(def, Buffer.alloc(0), total, length);
  const fixed = Math.min(fixedRegisters(def), total);
  await gathering.gather(cutsBetween(withoutCounts.slots, 0, fixed));
  const shape = shapeOf(def, gathering.words, total, length);
  // registers after the last point are not shown
  const end = shape.all.reduce((last, { offset, def: { size } }) => Math.max(last, offset + size), 0);
  if (end > fixed) await gathering.gather(cutsBetween(shape.all, fixed, end));
  return shape;
}

/** The exponent in force for a point; null: no usable scale factor; undefined: unscaled. */
export function scaleOf({ scale }: Slot, { words, refused }: ModelWords): number | null | undefined {
  if (scale === undefined || scale === null || typeof scale === 'number') return scale;
  return refused.has(scale.offset) ? null : scaleIn(words.subarray(scale.offset * 2, scale.offset * 2 + 2));
}

/** Why the scale factor of a point was not read; undefined: it was read. */
export function scaleRefusal({ scale }: Slot, { refused }: ModelWords): Refusal | undefined {
  return typeof scale === 'object' && scale !== null ? refused.get(scale.offset) : undefined;
}

/** `exception 2 (illegal data address)`, or that the device was not asked. */
export function refusalText(refusal: Refusal): string {
  return refusal === notAsked
    ? `not asked for after ${maxRefusals} refused reads of this model`
    : exceptionText(refusal);
}

const noteOf = (refusal: Refusal) => (refusal === notAsked ? '' : 'not readable: ') + refusalText(refusal);

export function pointReading(slot: Slot, model: FoundModel, read: ModelWords): PointReading {
  const { def, offset, path } = slot;
  const sf = scaleOf(slot, read);
  const words = read.words.subarray(offset * 2, (offset + def.size) * 2);
  const refusal = Array.from({ length: def.size }, (_, i) => read.refused.get(offset + i)).find(
    (code) => code !== undefined,
  );
  const head = {
    name: path,
    label: def.label,
    type: def.type,
    address: model.address + offset,
    size: def.size,
    scaleFactor: sf ?? null,
    unit: def.units ?? null,
    access: def.access ?? 'R',
  } as const;
  if (refusal !== undefined) return { ...head, raw: null, value: null, implemented: false, note: noteOf(refusal) };
  return { ...head, raw: registersOf(words), ...decode(def, words, sf === undefined ? 0 : sf) };
}

export function registersOf(words: Buffer): number[] {
  return Array.from({ length: words.length / 2 }, (_, i) => words.readUInt16BE(i * 2));
}

function groupReading({ path, slots }: ShapeGroup, model: FoundModel, read: ModelWords): GroupReading {
  return { path, points: slots.map((slot) => pointReading(slot, model, read)) };
}

/** Decodes the registers of a model. @param readAtMs wall time, ms since the epoch */
export function modelReading(model: FoundModel, read: ModelWords, readAtMs: number): ModelReading {
  const { shape } = read;
  const unasked = [...read.refused.values()].filter((refusal) => refusal === notAsked).length;
  const refused = read.refused.size - unasked;
  const refusals = [
    ...(refused > 0 ? [`${refused} registers cannot be read`] : []),
    ...(unasked > 0 ? [`${unasked} registers were ${refusalText(notAsked)}`] : []),
  ];
  return {
    ...model,
    points: (shape?.slots ?? []).map((slot) => pointReading(slot, model, read)),
    groups: (shape?.groups ?? []).map((group) => groupReading(group, model, read)),
    registers: shape === null ? registersOf(read.words) : null,
    expectedLength: shape?.expectedLength ?? null,
    notes: [...read.notes, ...(shape?.notes ?? []), ...refusals],
    readAtMs,
  };
}

/** @throws as `readWords` */
export async function readModel(connection: Connection, model: FoundModel, nowMs: () => number): Promise<ModelReading> {
  return modelReading(model, await readWords(connection, model), nowMs());
}

/**
 * Reads `count` registers from an address on, in as many requests as needed.
 * @throws SimError PEER_ERROR, PEER_TIMEOUT
 */
export async function readRaw(connection: Connection, address: number, count: number): Promise<number[]> {
  const registers: number[] = [];
  while (registers.length < count) {
    const piece = Math.min(connection.learnt.span, count - registers.length);
    const words = await connection.read(address + registers.length, piece);
    if (words.length === 0) throw peerError('the device answered without registers');
    registers.push(...registersOf(words));
  }
  return registers;
}
