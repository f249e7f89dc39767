/**
 * Definitions of the models that the client can read, and the places of their points in the registers of another
 * device, by its counts and length.
 */
import type { GroupDef, ModelDef, PointDef } from '../map/types.ts';
import { m125 } from '../models/m125.ts';
import { m126 } from '../models/m126.ts';
import { m803 } from '../models/m803.ts';
import { m804 } from '../models/m804.ts';
import { m805 } from '../models/m805.ts';
import { meterModels } from '../models/meters.ts';
import { classicModels, servedModels } from '../models/served.ts';

/** All models that the simulator serves, and models of older devices, batteries and meters. */
const all: readonly ModelDef[] = [...servedModels, ...classicModels, m125, m126, m803, m804, m805, ...meterModels];

const byId = new Map(all.map((def) => [def.id, def]));

/** The definition of a model; undefined: unknown. */
export function definitionOf(id: number): ModelDef | undefined {
  return byId.get(id);
}

/** Points, by model id, that count the groups whose definitions leave the count to the length. */
const countPoints: Readonly<Record<number, string>> = { 126: 'NCrv', 160: 'N', 805: 'NCell' };

/** ID and L */
export const headerRegisters = 2;

export interface Slot {
  /** with 0-based indices: `Crv[0].Pt[3].V` */
  readonly path: string;
  readonly def: PointDef;
  /** registers from ID on */
  readonly offset: number;
  /** exponent, or register of the scale factor; null: the scale factor is missing; undefined: unscaled */
  readonly scale: number | { readonly offset: number } | null | undefined;
}

export interface ShapeGroup {
  readonly path: string;
  readonly slots: readonly Slot[];
}

export interface Shape {
  readonly slots: readonly Slot[];
  /** groups of all levels, in the order of the registers */
  readonly groups: readonly ShapeGroup[];
  /** points of all levels, in the order of the registers */
  readonly all: readonly Slot[];
  /** the correct value of L; null: L is correct */
  readonly expectedLength: number | null;
  readonly notes: readonly string[];
}

/** Registers of the points before the groups. */
export function fixedRegisters(def: ModelDef): number {
  return def.points.reduce((sum, { size }) => sum + size, 0);
}

type Counts = Readonly<Record<string, number>>;

/** Values of the count points; 0 if not implemented. */
function countsOf(def: ModelDef, words: Buffer): Counts {
  const counts: Record<string, number> = {};
  let offset = 0;
  for (const { name, size } of def.points) {
    if (size === 1 && offset * 2 + 2 <= words.length) {
      const raw = words.readUInt16BE(offset * 2);
      counts[name] = raw === 0xffff ? 0 : raw;
    }
    offset += size;
  }
  return counts;
}

function timesOf(group: GroupDef, counts: Counts): number {
  return typeof group.count === 'number' ? group.count : (counts[group.count] ?? 0);
}

function sizeOf(group: GroupDef, counts: Counts): number {
  const pointRegisters = group.points.reduce((sum, { size }) => sum + size, 0);
  return (group.groups ?? []).reduce(
    (sum, inner) => sum + timesOf(inner, counts) * sizeOf(inner, counts),
    pointRegisters,
  );
}

/** Scale factors in the scope of a point: of its group and all enclosing ones. */
type Scales = ReadonlyMap<string, number>;

class Placing {
  readonly all: Slot[] = [];
  readonly #total: number;
  readonly #counts: Counts;
  offset = 0;

  constructor(total: number, counts: Counts) {
    this.#total = total;
    this.#counts = counts;
  }

  points(
    defs: readonly PointDef[],
    prefix: string,
    outer: Scales,
  ): { readonly slots: Slot[]; readonly scales: Scales } {
    const scales = new Map(outer);
    let ahead = this.offset;
    for (const { name, type, size } of defs) {
      if (type === 'sunssf' && ahead + size <= this.#total) scales.set(name, ahead);
      ahead += size;
    }
    const slots: Slot[] = [];
    for (const def of defs) {
      // registers after the end of the model do not exist
      if (this.offset + def.size <= this.#total)
        slots.push({ path: prefix + def.name, def, offset: this.offset, scale: scaleOf(def, scales) });
      this.offset += def.size;
    }
    this.all.push(...slots);
    return { slots, scales };
  }

  groups(defs: readonly GroupDef[] | undefined, prefix: string, scales: Scales): ShapeGroup[] {
    return (defs ?? []).flatMap((def) => {
      const size = sizeOf(def, this.#counts);
      const room = Math.max(0, Math.floor((this.#total - this.offset) / size));
      // without a count the group fills the rest of the model
      const times = def.count === 0 ? room : Math.min(timesOf(def, this.#counts), room);
      return Array.from({ length: times }, (_, i) =>
        this.#group(def, def.count === 1 ? '' : `[${i}]`, prefix, scales),
      ).flat();
    });
  }

  #group(def: GroupDef, index: string, prefix: string, outer: Scales): ShapeGroup[] {
    const path = prefix + def.name + index;
    const { slots, scales } = this.points(def.points, `${path}.`, outer);
    return [{ path, slots }, ...this.groups(def.groups, `${path}.`, scales)];
  }
}

function scaleOf({ sf }: PointDef, scales: Scales): Slot['scale'] {
  if (sf === undefined || typeof sf === 'number') return sf;
  const offset = scales.get(sf);
  return offset === undefined ? null : { offset };
}

/** The length by definition and counts. */
function lengthBy(def: ModelDef, counts: Counts, total: number): number {
  const fixed = fixedRegisters(def);
  const grown = (def.groups ?? []).reduce((sum, group) => {
    const size = sizeOf(group, counts);
    if (group.count !== 0) return sum + timesOf(group, counts) * size;
    const counter = countPoints[def.id];
    const counted = counter === undefined ? undefined : counts[counter];
    // without an implemented count the length decides
    return (
      sum + (counted !== undefined && counted > 0 ? counted : Math.floor(Math.max(0, total - fixed) / size)) * size
    );
  }, fixed);
  return grown - headerRegisters;
}

/** Further permitted lengths, by model id: model 1 of old devices lacks its pad. */
const alternativeLengths: Readonly<Record<number, number>> = { 1: 65 };

/** A further permitted length of a model; undefined: none. */
export function alternativeLength(id: number): number | undefined {
  return alternativeLengths[id];
}

/** The length of a model by its definition and the counts in its first registers; null: the counts lie beyond them. */
export function lengthOf(def: ModelDef, words: Buffer): number | null {
  return words.length >= fixedRegisters(def) * 2 ? lengthBy(def, countsOf(def, words), words.length / 2) : null;
}

/**
 * Places the points of a model as far as its registers reach.
 * @param words registers from ID on, at least those before the groups
 * @param total number of registers, ID and L included
 * @param length the L register
 */
export function shapeOf(def: ModelDef, words: Buffer, total: number, length: number): Shape {
  const counts = countsOf(def, words);
  const placing = new Placing(total, counts);
  const { slots, scales } = placing.points(def.points, '', new Map());
  const groups = placing.groups(def.groups, '', scales);
  const expected = lengthBy(def, counts, length + headerRegisters);
  const wrong = expected !== length && alternativeLengths[def.id] !== length;
  return {
    slots,
    groups,
    all: placing.all,
    expectedLength: wrong ? expected : null,
    notes: wrong ? [lengthNote(def, length, expected)] : [],
  };
}

function lengthNote(def: ModelDef, length: number, expected: number): string {
  const what =
    length < expected ? 'points after its end are left out' : `its last ${length - expected} registers have no meaning`;
  return `L of model ${def.id} is ${length}, by definition and counts ${expected}: ${what}`;
}
