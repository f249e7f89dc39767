/** Structure faults: changes of the marker, the chain of models and its end. */
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
} from '../../fault-kinds/modbus-structure.ts';
import type { Layout } from '../map/layout.ts';
import { AddressShape } from './structure-shape.ts';
import type { Run } from './structure-shape.ts';

/** The marker, a model, filler registers, or the end of the chain. */
interface Piece {
  readonly what: 'marker' | 'end' | 'filler' | number;
  /** map address of the first register; 0 for a filler */
  readonly address: number;
  readonly count: number;
  /** words that replace registers, by offset */
  readonly shown: ReadonlyMap<number, number>;
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
      { what: 'marker', address: base, count: headerRegisters, shown: untouched },
      ...models
        .filter(({ hidden }) => !hidden)
        .map(({ def, address, length }) => ({
          what: def.id,
          address,
          count: length + headerRegisters,
          shown: untouched,
        })),
      { what: 'end', address: end, count: headerRegisters, shown: untouched },
    ],
  };
}

function changed({ base, pieces }: Chain, what: Piece['what'], change: (piece: Piece) => readonly Piece[]): Chain {
  return { base, pieces: pieces.flatMap((piece) => (piece.what === what ? change(piece) : [piece])) };
}

const showing = (piece: Piece, offset: number, word: number): Piece => ({
  ...piece,
  shown: new Map([...piece.shown, [offset, word]]),
});

function chainEnd(chain: Chain, variant: 'zeros' | 'exception' | 'absent_length'): Chain {
  return changed(chain, 'end', (end) => {
    switch (variant) {
      case 'zeros':
        return [showing(showing(end, idOffset, 0), lengthOffset, 0)];
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
      { what: 'filler', address: 0, count: registers, shown: untouched, fill },
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

/** Number of registers by which a model can cover the piece before it. */
export function room(layout: Layout, model: number): number {
  const { pieces } = chainOf(layout);
  const before = pieces[pieces.findIndex(({ what }) => what === model) - 1];
  return before === undefined ? 0 : before.count - headerRegisters;
}

/** Applies one fault to the chain under the earlier ones; has no effect on a removed model. */
function changedBy(chain: Chain, fault: ActiveFault): Chain {
  if (fault.isOf(baseFault)) return { ...chain, base: fault.parameters.address };
  if (fault.isOf(hideModelFault)) return changed(chain, fault.parameters.model, () => []);
  if (fault.isOf(modelIdFault)) {
    const { model, id } = fault.parameters;
    return changed(chain, model, (piece) => [showing(piece, idOffset, id)]);
  }
  if (fault.isOf(modelLengthFault)) {
    const { model, length } = fault.parameters;
    return changed(chain, model, (piece) => [showing(piece, lengthOffset, length)]);
  }
  if (fault.isOf(commonLength65Fault)) {
    return changed(chain, 1, (piece) => [
      { ...showing(piece, lengthOffset, shortCommon.length), count: Math.min(piece.count, shortCommon.registers) },
    ]);
  }
  if (fault.isOf(shiftFault))
    return shifted(chain, fault.parameters.model, fault.parameters.registers, fault.parameters.fill);
  return fault.isOf(chainEndFault) ? chainEnd(chain, fault.parameters.variant) : chain;
}

function runsOf({ address, count, shown, fill }: Piece): Run[] {
  if (fill !== undefined) return [{ count, from: Array.from({ length: count }, () => fill) }];
  const runs: Run[] = [];
  let offset = 0;
  for (const [at, word] of [...shown].sort(([a], [b]) => a - b)) {
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
