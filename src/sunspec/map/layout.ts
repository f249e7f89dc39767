/**
 * The layout of a register map: models, points and their addresses, sets of curve models, and the rules of classic
 * models.
 */
import { clearPoint, numberCodec, setText } from './codec.ts';
import { SimError } from '../../core/errors.ts';
import type { GroupDef, ModelDef, PointDef } from './types.ts';

/** One point at its place in a concrete map. */
export interface PointSlot {
  /** position in `Layout.slots` */
  readonly index: number;
  readonly modelId: number;
  /** as `ModelPlace.name` */
  readonly modelName: string;
  /** path inside the model: `W`, `PFWInj.PF`, `Crv[0].Pt[3].V` (0-based) */
  readonly path: string;
  readonly def: PointDef;
  /** PDU address of the first register */
  readonly address: number;
  /** exponent of ten of the scale factor; 0 without one */
  readonly sf: number;
  readonly implemented: boolean;
  /** RW in the definition, implemented, and not in the read-only set 1 of a curve model */
  readonly writable: boolean;
}

/** One repetition of a group, and the place of its points. Inner groups follow these points. */
export interface GroupPlace {
  readonly def: GroupDef;
  /** byte offset from the marker */
  readonly offset: number;
  readonly firstSlot: number;
  readonly registers: number;
  readonly groups: Readonly<Record<string, readonly GroupPlace[]>>;
}

/** One model at its place in a concrete map. */
export interface ModelPlace {
  readonly def: ModelDef;
  /** unique in the map: the id at the first place of a model, `203:2` at its second */
  readonly name: string;
  /** PDU address of the ID register */
  readonly address: number;
  /** the L register: registers after it */
  readonly length: number;
  readonly slots: readonly PointSlot[];
  readonly groups: Readonly<Record<string, readonly GroupPlace[]>>;
  /** values of the scale-factor points */
  readonly scale: Readonly<Record<string, number>>;
  /** true: masters do not find the model */
  readonly hidden: boolean;
}

/** The part of one model that a device serves. */
export interface ModelChoice {
  readonly def: ModelDef;
  /** repetitions: values of the count points (NPt, NCrv, ...), or by group where the length decides (`module` of 160) */
  readonly counts?: Readonly<Record<string, number>>;
  /** exponents of the scale-factor points; a missing one is "not implemented" */
  readonly scale?: Readonly<Record<string, number>>;
  /** points the device does not have, by path without indices (`Prt.Tmp`) */
  readonly omit?: ReadonlySet<string>;
  /** masters do not find the model: its registers lie after the end model */
  readonly hidden?: true;
}

/** The place of every point of a device; shared by all devices with the same shape. */
export interface Layout {
  /** PDU address of the `SunS` marker */
  readonly base: number;
  /** registers from the marker to the end model's L: the map that masters find */
  readonly size: number;
  /** `size` plus the registers of hidden models: the length of images */
  readonly imageSize: number;
  /** visible models in the order of the map, then the hidden ones */
  readonly models: readonly ModelPlace[];
  readonly slots: readonly PointSlot[];
  /** slot index by register offset from the base, as far as `size`; `noSlot` for the marker and the end model */
  readonly slotAt: Uint16Array;
  /** the slot of a point by model and path, in the first place of the model; undefined: not in the map */
  slot(modelId: number, path: string): PointSlot | undefined;
  /** the slot of a point by its whole name, `705.Crv[1].Pt[0].V` or `203:2.W`; undefined: not in the map */
  named(pointName: string): PointSlot | undefined;
  /** a fresh register image: headers and scale factors set, implemented points 0, the rest "not implemented" */
  blank(): Buffer;
}

export const noSlot = 0xffff;
const defaultBase = 40000;
const markerRegisters = 2;
const endRegisters = 2;

/** `Crv[0].Pt[3].V` -> `Crv.Pt.V`: the name under which rules and omissions are written. */
export function plainPath(path: string): string {
  return path.replace(/\[\d+\]/g, '');
}

/** Groups that hold the stored sets of the curve and control models (705-712). */
const setGroups = ['Crv', 'Ctl'] as const;
const set1 = new RegExp(`^(${setGroups.join('|')})\\[0\\]`);

/** True if a path lies in set 1 of a curve or control model: the set in force, read only on the wire. */
function isSet1Path(path: string): boolean {
  return set1.test(path);
}

/** The sets of a curve or control model, the one in force first; none in other models. */
export function setsOf({ groups }: Pick<ModelPlace, 'groups'>): readonly GroupPlace[] {
  return setGroups.flatMap((name) => groups[name] ?? []);
}

/** Caches `make` per layout: one result for all devices that share the layout. */
export function memoPerLayout<T>(make: (layout: Layout) => T): (layout: Layout) => T {
  const entries = new WeakMap<Layout, { readonly value: T }>();
  return (layout) => {
    let entry = entries.get(layout);
    if (entry === undefined) {
      entry = { value: make(layout) };
      entries.set(layout, entry);
    }
    return entry.value;
  };
}

/** Caches `make` per layout and key, such as the target of a fault. */
export function memoPerLayoutAndKey<K extends object, T>(
  make: (layout: Layout, key: K) => T,
): (layout: Layout, key: K) => T {
  const functions = new WeakMap<K, (layout: Layout) => T>();
  return (layout, key) => {
    let ofKey = functions.get(key);
    if (ofKey === undefined) {
      ofKey = memoPerLayout((one) => make(one, key));
      functions.set(key, ofKey);
    }
    return ofKey(layout);
  };
}

interface Draft {
  address: number;
  readonly base: number;
  readonly slots: PointSlot[];
  /** places so far, by model */
  readonly placeCounts: Map<number, number>;
}

/** A model of a map that is being laid out, with its name. */
interface NamedChoice extends ModelChoice {
  readonly name: string;
}

/** The choice with the name of the next place of its model. */
function named(choice: ModelChoice, { placeCounts }: Draft): NamedChoice {
  const { id } = choice.def;
  const count = (placeCounts.get(id) ?? 0) + 1;
  placeCounts.set(id, count);
  return { ...choice, name: count === 1 ? `${id}` : `${id}:${count}` };
}

function scaleOf(point: PointDef, choice: ModelChoice): number | undefined {
  if (point.sf === undefined) return 0;
  return typeof point.sf === 'number' ? point.sf : choice.scale?.[point.sf];
}

function placePoints(draft: Draft, choice: NamedChoice, points: readonly PointDef[], prefix: string): void {
  for (const def of points) {
    const path = prefix + def.name;
    const sf = scaleOf(def, choice);
    const omitted =
      choice.omit?.has(plainPath(path)) === true ||
      (def.type === 'sunssf' && choice.scale?.[def.name] === undefined) ||
      def.type === 'pad';
    if (!omitted && sf === undefined) {
      throw new SimError('INTERNAL', `${choice.def.id}.${path} is implemented but its scale factor is not`);
    }
    draft.slots.push({
      index: draft.slots.length,
      modelId: choice.def.id,
      modelName: choice.name,
      path,
      def,
      address: draft.address,
      sf: sf ?? 0,
      implemented: !omitted,
      writable: def.access === 'RW' && !omitted && !isSet1Path(path),
    });
    draft.address += def.size;
  }
}

function countOf(group: GroupDef, choice: ModelChoice): number {
  if (typeof group.count === 'number' && group.count > 0) return group.count;
  const count = choice.counts?.[group.count === 0 ? group.name : group.count];
  if (count === undefined) throw new SimError('INTERNAL', `model ${choice.def.id}: no value for count ${group.count}`);
  return count;
}

function placeGroups(
  draft: Draft,
  choice: NamedChoice,
  groups: readonly GroupDef[] | undefined,
  prefix: string,
): Record<string, GroupPlace[]> {
  const placed: Record<string, GroupPlace[]> = {};
  for (const def of groups ?? []) {
    const single = def.count === 1;
    placed[def.name] = Array.from({ length: countOf(def, choice) }, (_, i) => {
      const start = draft.address;
      const firstSlot = draft.slots.length;
      const inner = `${prefix}${def.name}${single ? '' : `[${i}]`}.`;
      placePoints(draft, choice, def.points, inner);
      const nested = placeGroups(draft, choice, def.groups, inner);
      return { def, offset: (start - draft.base) * 2, firstSlot, registers: draft.address - start, groups: nested };
    });
  }
  return placed;
}

function placeModel(draft: Draft, unnamed: ModelChoice): ModelPlace {
  const choice = named(unnamed, draft);
  const address = draft.address;
  const firstSlot = draft.slots.length;
  placePoints(draft, choice, choice.def.points, '');
  const groups = placeGroups(draft, choice, choice.def.groups, '');
  return {
    def: choice.def,
    name: choice.name,
    address,
    length: draft.address - address - 2,
    slots: draft.slots.slice(firstSlot),
    groups,
    scale: choice.scale ?? {},
    hidden: choice.hidden === true,
  };
}

/** Value of a point that follows from the shape of the map; undefined: the value of this point does not. */
function constantOf(slot: PointSlot, place: ModelPlace, choice: ModelChoice): number | undefined {
  if (slot.path === 'ID') return place.def.id;
  if (slot.path === 'L') return place.length;
  if (slot.def.type === 'sunssf') return place.scale[slot.def.name];
  return choice.counts?.[slot.path];
}

/** @param choices the choices of `layout.models`, in the same order */
function drawBlank(layout: Layout, choices: readonly ModelChoice[]): Buffer {
  const image = Buffer.alloc(layout.imageSize * 2);
  const dv = new DataView(image.buffer, image.byteOffset, image.byteLength);
  image.write('SunS', 0, 'latin1');
  layout.models.forEach((place, position) => {
    const choice = choices[position] ?? { def: place.def };
    for (const slot of place.slots) {
      const at = (slot.address - layout.base) * 2;
      const constant = constantOf(slot, place, choice);
      if (!slot.implemented) clearPoint(dv, at, slot.def);
      else if (numberCodec(slot.def.type)) numberCodec(slot.def.type)?.set(dv, at, constant ?? 0);
      else setText(dv, at, slot.def.size, '');
    }
    const [inForce] = setsOf(place);
    const readOnly = inForce && layout.slot(place.def.id, `${inForce.def.name}[0].ReadOnly`);
    if (readOnly) dv.setUint16((readOnly.address - layout.base) * 2, 1);
  });
  dv.setUint16((layout.size - endRegisters) * 2, 0xffff);
  return image;
}

/** Layouts in use by shape; held weakly, so that a layout is freed after the last device of its shape. */
const inUse = new Map<string, WeakRef<Layout>>();
const unused = new FinalizationRegistry((key: string) => {
  if (inUse.get(key)?.deref() === undefined) inUse.delete(key);
});
const defNumbers = new WeakMap<ModelDef, number>();
let lastDefNumber = 0;

function numberOfDef(def: ModelDef): number {
  let number = defNumbers.get(def);
  if (number === undefined) {
    number = lastDefNumber += 1;
    defNumbers.set(def, number);
  }
  return number;
}

const byName = (record: Readonly<Record<string, number>> = {}) =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

function shapeKey(choices: readonly ModelChoice[], base: number): string {
  const models = choices.map(({ def, counts, scale, omit = [], hidden = false }) => [
    numberOfDef(def),
    byName(counts),
    byName(scale),
    [...omit].sort(),
    hidden,
  ]);
  return JSON.stringify([base, models]);
}

/**
 * Lays out a chain of models after the `SunS` marker, with the end model after them, and hidden models after that.
 * Equal shapes share one layout, and with it its views.
 * @throws SimError INTERNAL when an implemented point lacks its scale factor or a group its count
 */
export function buildLayout(choices: readonly ModelChoice[], base: number = defaultBase): Layout {
  const key = shapeKey(choices, base);
  const cached = inUse.get(key)?.deref();
  if (cached) return cached;
  const layout = layOut(choices, base);
  inUse.set(key, new WeakRef(layout));
  unused.register(layout, key);
  return layout;
}

function layOut(choices: readonly ModelChoice[], base: number): Layout {
  const draft: Draft = { address: base + markerRegisters, base, slots: [], placeCounts: new Map() };
  const visibleChoices = choices.filter(({ hidden }) => hidden !== true);
  const visibleModels = visibleChoices.map((choice) => placeModel(draft, choice));
  draft.address += endRegisters;
  const size = draft.address - base;
  const hiddenChoices = choices.filter(({ hidden }) => hidden === true);
  const models = [...visibleModels, ...hiddenChoices.map((choice) => placeModel(draft, choice))];
  const slotAt = new Uint16Array(size).fill(noSlot);
  const bySlotName = new Map<string, PointSlot>();
  for (const slot of draft.slots) {
    // slots of hidden models lie beyond the end of the array, where `fill` does nothing
    slotAt.fill(slot.index, slot.address - base, slot.address - base + slot.def.size);
    bySlotName.set(`${slot.modelName}.${slot.path}`, slot);
  }
  let image: Buffer | undefined;
  const layout: Layout = {
    base,
    size,
    imageSize: draft.address - base,
    models,
    slots: draft.slots,
    slotAt,
    slot: (modelId, path) => bySlotName.get(`${modelId}.${path}`),
    named: (pointName) => bySlotName.get(pointName),
    blank: () => Buffer.from((image ??= drawBlank(layout, [...visibleChoices, ...hiddenChoices]))),
  };
  return layout;
}

/** True for models 101 to 199. */
export function isClassicModel(modelId: number): boolean {
  return modelId >= 101 && modelId <= 199;
}

/**
 * True if a write that also reaches writable points leaves this one unchanged. The SunSpec Information Model
 * Specification 1.9 of the classic models ignores writes to read-only and unimplemented registers, so that a master may
 * write a whole model. The Device Information Model Specification 1.1 of the 700 series requires an exception instead
 * (sunspec/models issue 235 describes the difference).
 */
export function ignoresWrites({ modelId, writable }: PointSlot): boolean {
  return !writable && isClassicModel(modelId);
}

/** The error for a span of registers that the map does not have as a whole. */
export function notInMap(address: number, count: number): SimError {
  const end = address + count - 1;
  const text =
    count > 1 ? `registers ${address}..${end} are not all in the map` : `register ${address} is not in the map`;
  return new SimError('MAP_ILLEGAL_ADDRESS', text);
}

/** True if a point lies in set 1: the set in force, read only on the wire. */
export function isInSet1({ path }: PointSlot): boolean {
  return isSet1Path(path);
}

/** True if writing the point requests the adoption of a stored set. */
export function isAdoptionRequest({ def, path }: PointSlot): boolean {
  return def.effect === 'latch' && path.startsWith('Adpt');
}

/** The points by which one model adopts its stored sets. */
export interface AdoptionPoints {
  /** the number of the set, from 1 */
  readonly request: PointSlot;
  readonly result: PointSlot;
  /** the set that is adopted when the reversion time is over; absent: the model has no reversion */
  readonly reversion: PointSlot | undefined;
}

function pointsOf(layout: Layout, { def: { id } }: ModelPlace): AdoptionPoints | null {
  for (const sets of ['Crv', 'Ctl']) {
    const [request, result] = [layout.slot(id, `Adpt${sets}Req`), layout.slot(id, `Adpt${sets}Rslt`)];
    if (request && result) return { request, result, reversion: layout.slot(id, `Rvrt${sets}`) };
  }
  return null;
}

const pointsByModel = memoPerLayout(
  (layout) => new Map(layout.models.map((place) => [place.def.id, pointsOf(layout, place)])),
);

/** The adoption points of a model; null: it has no stored sets. */
export function adoptionPoints(layout: Layout, modelId: number): AdoptionPoints | null {
  return pointsByModel(layout).get(modelId) ?? null;
}
