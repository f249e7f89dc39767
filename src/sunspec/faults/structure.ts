/**
 * Structure faults: changes of the marker, the chain of models and its end, and the origin of each register that a
 * master sees.
 */
import { Buffer } from 'node:buffer';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import type { FaultKind } from '../../core/faults/kinds.ts';
import {
  baseFault,
  chainEndFault,
  commonLength65Fault,
  hideModelFault,
  modelIdFault,
  modelLengthFault,
  modbusStructureFaults,
  shiftFault,
} from '../../fault-kinds/modbus-map.ts';
import type { Layout } from '../map/layout.ts';
import { SimError } from '../../core/errors.ts';
import { notInMap } from '../map/layout.ts';

/** Consecutive registers that are all real or all filler. */
interface Run {
  readonly count: number;
  /** map address of the first register, or the words of the filler */
  readonly from: number | readonly number[];
}

/** A run with its address. */
interface Span extends Run {
  /** address used by a master */
  readonly address: number;
}

/** A span of registers of the map. */
export type RealSpan = Span & { readonly from: number };

/** The registers served by a device, in their order. No real register is served twice. */
export class AddressShape {
  /** address of the first register */
  readonly base: number;
  /** number of registers */
  readonly size: number;
  readonly #spans: readonly Span[];

  constructor(base: number, runs: readonly Run[]) {
    this.base = base;
    const spans: Span[] = [];
    let address = base;
    for (const { count, from } of runs) {
      const last = spans.at(-1);
      if (count === 0) continue;
      // adjacent registers of the map form one span
      if (last !== undefined && typeof from === 'number' && isReal(last) && last.from + last.count === from) {
        spans[spans.length - 1] = { ...last, count: last.count + count };
      } else {
        spans.push({ address, count, from });
      }
      address += count;
    }
    this.#spans = spans;
    this.size = address - base;
  }

  /**
   * The spans of `count` registers from `address`, cut to them.
   * @throws SimError MAP_ILLEGAL_ADDRESS
   */
  spans(address: number, count: number): readonly Span[] {
    const end = address + count;
    if (count < 1 || address < this.base || end > this.base + this.size) {
      throw notInMap(address, count);
    }
    return this.within(address, count);
  }

  /** The spans of the existing registers among `count` from `address`. */
  within(address: number, count: number): readonly Span[] {
    const end = address + count;
    return this.#spans
      .filter((span) => span.address < end && span.address + span.count > address)
      .map((span) => cut(span, address, end));
  }

  /**
   * Map address of registers to be written.
   * @throws SimError MAP_ILLEGAL_ADDRESS, MAP_READ_ONLY for registers that are not consecutive in the map: between two
   * pieces there is always a read-only header
   */
  mapAddress(address: number, count: number): number {
    const [first, ...others] = this.spans(address, count);
    if (first === undefined || typeof first.from !== 'number' || others.length > 0) {
      throw new SimError(
        'MAP_READ_ONLY',
        `registers ${address}..${address + count - 1} are not all registers of points`,
      );
    }
    return first.from;
  }
}

function cut(span: Span, address: number, end: number): Span {
  const skipped = Math.max(0, address - span.address);
  const count = Math.min(span.address + span.count, end) - span.address - skipped;
  const from = typeof span.from === 'number' ? span.from + skipped : span.from.slice(skipped, skipped + count);
  return { address: span.address + skipped, count, from };
}

/**
 * The bytes of spans.
 * @param image all registers of the map
 * @param imageBase address of its first register
 * @returns a view of the image for a single real span, otherwise a copy
 */
export function bytesOf(spans: readonly Span[], image: Buffer, imageBase: number): Buffer {
  const [first] = spans;
  const piece = ({ from, count }: RealSpan) => image.subarray(2 * (from - imageBase), 2 * (from - imageBase + count));
  if (spans.length === 1 && first !== undefined && isReal(first)) return piece(first);
  return Buffer.concat(spans.map((span) => (isReal(span) ? piece(span) : wordsOf(span.from as readonly number[]))));
}

/** True if the registers of a span belong to the map. */
export function isReal(span: Span): span is RealSpan {
  return typeof span.from === 'number';
}

function wordsOf(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * words.length);
  words.forEach((word, at) => bytes.writeUInt16BE(word, 2 * at));
  return bytes;
}

/** The marker, a model, filler registers, or the end of the chain. */
interface Piece {
  readonly what: 'marker' | 'end' | 'filler' | number;
  /** map address of the first register; 0 for a filler */
  readonly address: number;
  readonly count: number;
  /** words that replace registers, by offset */
  readonly changedWords: ReadonlyMap<number, number>;
  /** content of a filler's registers */
  readonly fill?: number;
}

/** a chain of models and the address of its marker */
interface Chain {
  readonly base: number;
  readonly pieces: readonly Piece[];
}

/** offsets in a model */
const [idOffset, lengthOffset] = [0, 1];
const headerRegisters = 2;
/** model 1 without its pad */
const shortCommon = { length: 65, registers: 67 } as const;
const untouched: ReadonlyMap<number, number> = new Map();

function chainOf({ base, size, models }: Layout): Chain {
  const end = base + size - headerRegisters;
  return {
    base,
    pieces: [
      { what: 'marker', address: base, count: headerRegisters, changedWords: untouched },
      ...models
        .filter(({ hidden }) => !hidden)
        .map(({ def, address, length }) => ({
          what: def.id,
          address,
          count: length + headerRegisters,
          changedWords: untouched,
        })),
      { what: 'end', address: end, count: headerRegisters, changedWords: untouched },
    ],
  };
}

function changed({ base, pieces }: Chain, what: Piece['what'], change: (piece: Piece) => readonly Piece[]): Chain {
  return { base, pieces: pieces.flatMap((piece) => (piece.what === what ? change(piece) : [piece])) };
}

const withWord = (piece: Piece, offset: number, word: number): Piece => ({
  ...piece,
  changedWords: new Map([...piece.changedWords, [offset, word]]),
});

function chainEnd(chain: Chain, variant: 'zeros' | 'exception' | 'absent_length'): Chain {
  return changed(chain, 'end', (end) => {
    switch (variant) {
      case 'zeros':
        return [withWord(withWord(end, idOffset, 0), lengthOffset, 0)];
      case 'exception':
        return [];
      case 'absent_length':
        return [{ ...end, count: 1 }];
    }
  });
}

/** Moves a model: up by filler registers before it, or down over the last registers of the piece before it. */
function shifted(chain: Chain, model: number, registers: number, fill: number): Chain {
  if (registers > 0) {
    return changed(chain, model, (piece) => [
      { what: 'filler', address: 0, count: registers, changedWords: untouched, fill },
      piece,
    ]);
  }
  const { base, pieces } = chain;
  // a model keeps at least its header, the marker all its registers
  const covered = (piece: Piece) => ({
    ...piece,
    count: Math.max(Math.min(piece.count, headerRegisters), piece.count + registers),
  });
  return { base, pieces: pieces.map((piece, at) => (pieces[at + 1]?.what === model ? covered(piece) : piece)) };
}

/** Number of registers by which a model can cover the piece before it, at each of its places. */
export function room(layout: Layout, model: number): number {
  const { pieces } = chainOf(layout);
  const before = pieces.filter((_, at) => pieces[at + 1]?.what === model);
  return before.length === 0 ? 0 : Math.min(...before.map(({ count }) => count - headerRegisters));
}

/** Applies one fault to the chain that earlier faults have changed; has no effect on a removed model. */
function changedBy(chain: Chain, fault: ActiveFault): Chain {
  if (fault.isOf(baseFault)) return { ...chain, base: fault.parameters.address };
  if (fault.isOf(hideModelFault)) return changed(chain, fault.parameters.model, () => []);
  if (fault.isOf(modelIdFault)) {
    const { model, id } = fault.parameters;
    return changed(chain, model, (piece) => [withWord(piece, idOffset, id)]);
  }
  if (fault.isOf(modelLengthFault)) {
    const { model, length } = fault.parameters;
    return changed(chain, model, (piece) => [withWord(piece, lengthOffset, length)]);
  }
  if (fault.isOf(commonLength65Fault)) {
    return changed(chain, 1, (piece) => [
      { ...withWord(piece, lengthOffset, shortCommon.length), count: Math.min(piece.count, shortCommon.registers) },
    ]);
  }
  if (fault.isOf(shiftFault))
    return shifted(chain, fault.parameters.model, fault.parameters.registers, fault.parameters.fill);
  return fault.isOf(chainEndFault) ? chainEnd(chain, fault.parameters.variant) : chain;
}

function runsOf({ address, count, changedWords, fill }: Piece): Run[] {
  if (fill !== undefined) return [{ count, from: Array.from({ length: count }, () => fill) }];
  const runs: Run[] = [];
  let offset = 0;
  for (const [at, word] of [...changedWords].sort(([a], [b]) => a - b)) {
    if (at >= count) break;
    runs.push({ count: at - offset, from: address + offset }, { count: 1, from: [word] });
    offset = at + 1;
  }
  return [...runs, { count: count - offset, from: address + offset }];
}

/** The shape of a map under structure faults, in their order. */
export function shapeOf(layout: Layout, faults: readonly ActiveFault[]): AddressShape {
  const { base, pieces } = faults.reduce(changedBy, chainOf(layout));
  return new AddressShape(base, pieces.flatMap(runsOf));
}

const kinds: ReadonlySet<FaultKind> = new Set<FaultKind>(modbusStructureFaults as readonly FaultKind[]);

/** True if a fault changes the shape of the map. */
export function isStructureFault({ facts }: ActiveFault): boolean {
  return kinds.has(facts.kind);
}
