/** Facts about register maps that the judge of masters asks for; the only file of the judge that uses the map. */
import type { Buffer } from 'node:buffer';
import type { SetpointChange, SetpointGroup } from '../../../core/findings/setpoints.ts';
import { adoptionIssue } from '../../map/adoption.ts';
import type { AdoptionIssue } from '../../map/adoption.ts';
import type { PointBank } from '../../map/bank.ts';
import { numberCodec } from '../../map/codec.ts';
import {
  adoptionPoints,
  ignoresWrites,
  isAdoptionRequest,
  isClassicModel,
  isInSet1,
  memoPerLayout,
} from '../../map/layout.ts';
import type { Layout, PointSlot } from '../../map/layout.ts';
import { onSetpointChange, setpointGroupsOf, setpointSlots } from '../../map/setpoint-groups.ts';
import { pointName } from '../../map/view.ts';

/** Part of a write that belongs to the set-points of one enable. */
export interface GroupPart {
  /** position in the groups of the device */
  readonly group: number;
  readonly setsValue: boolean;
  readonly setsEnable: boolean;
}

/** Names of points that a write touches and should not, and what it sets; null: none. */
export interface WriteFacts {
  /** a point that can be written, and of which the write has a part */
  readonly cut: string | null;
  /** a point of models 700 to 799 that nobody may write */
  readonly readOnly: string | null;
  readonly scaleFactor: string | null;
  /** a setting of the set in force */
  readonly setInForce: string | null;
  readonly groups: readonly GroupPart[];
  /** models of which it adopts a stored set */
  readonly requests: readonly number[];
  /** stored sets of which it has settings */
  readonly staged: readonly StoredSet[];
  /** true: it sets points that devices store */
  readonly isSettings: boolean;
  /** true: the rights on all of its points are published */
  readonly hasPublishedRights: boolean;
}

/** A stored set of a curve model. */
export interface StoredSet {
  readonly modelId: number;
  /** from 1; the set in force is 1 */
  readonly number: number;
}

/** Scale factors and scaled values of a read. */
export interface ScaleFacts {
  /** numbers of the scale factors that it has */
  readonly scales: readonly number[];
  /** numbers of the scale factors of its values, each with the name of one of these */
  readonly scaled: ReadonlyMap<number, string>;
}

/** A value that its model does not define. */
export interface ValueFault {
  readonly kind: 'not_implemented' | 'undefined';
  readonly point: string;
  readonly detail: string;
}

interface LayoutFacts {
  /** by register from the base: 1 where a point begins */
  readonly boundaries: Uint8Array;
  /** by register from the base: number of markers and model ids before it */
  readonly heads: Uint16Array;
  /** by first register and count */
  readonly writes: Map<number, WriteFacts>;
  readonly reads: Map<number, ScaleFacts>;
  readonly scales: readonly PointSlot[];
}

/** False for models of makers, and of this simulator. */
const isStandard = ({ modelId }: PointSlot) => modelId < 64_000;

const factsOf = memoPerLayout((layout): LayoutFacts => {
  const { base, size, models, slots } = layout;
  const boundaries = new Uint8Array(size).fill(1);
  const heads = new Uint16Array(size + 1);
  for (const { address, def } of slots.filter(isStandard))
    boundaries.fill(0, address - base + 1, address - base + def.size);
  const headAt = new Set([0, ...models.map(({ address }) => address - base)]);
  for (let at = 0; at < size; at += 1) heads[at + 1] = (heads[at] ?? 0) + (headAt.has(at) ? 1 : 0);
  const scales = slots.filter((slot) => slot.def.type === 'sunssf' && slot.implemented && isStandard(slot));
  return { boundaries, heads, writes: new Map(), reads: new Map(), scales };
});

/** Spans of requests whose facts are kept for a layout. */
const maxSpans = 256;

function slotsIn({ base, size, slots, slotAt }: Layout, address: number, count: number): readonly PointSlot[] {
  const touched = new Set<PointSlot>();
  for (let at = Math.max(address, base); at < Math.min(address + count, base + size); at += 1) {
    const slot = slots[slotAt[at - base] ?? slots.length];
    if (slot !== undefined) touched.add(slot);
  }
  return [...touched];
}

/** The facts about registers, made at their first request. */
function kept<T>(facts: Map<number, T>, address: number, count: number, make: () => T): T {
  const key = address * 128 + count;
  const existing = facts.get(key);
  if (existing !== undefined) return existing;
  const fresh = make();
  if (facts.size >= maxSpans) facts.clear();
  facts.set(key, fresh);
  return fresh;
}

function scaleFactsOf(layout: Layout, scales: readonly PointSlot[], address: number, count: number): ScaleFacts {
  const slots = slotsIn(layout, address, count).filter(({ implemented }) => implemented);
  const scaled = new Map<number, string>();
  for (const slot of slots) {
    const { sf } = slot.def;
    const scale = scales.findIndex(({ modelName, path }) => modelName === slot.modelName && path === sf);
    if (scale >= 0 && !scaled.has(scale)) scaled.set(scale, pointName(slot));
  }
  return { scales: slots.flatMap((slot) => (scales.includes(slot) ? [scales.indexOf(slot)] : [])), scaled };
}

/** The stored set that has the point; null: none, or the set in force. */
function storedSetOf({ modelId, path, writable }: PointSlot): StoredSet | null {
  const position = /(?:Crv|Ctl)\[(\d+)\]/.exec(path)?.[1];
  return writable && position !== undefined ? { modelId, number: Number(position) + 1 } : null;
}

/** The stored sets that have one of the points. */
function storedSetsOf(slots: readonly PointSlot[]): readonly StoredSet[] {
  const sets = slots.flatMap((slot) => storedSetOf(slot) ?? []);
  return [...new Map(sets.map((set) => [setKey(set), set])).values()];
}

/** A key of a stored set among all of a device. */
export const setKey = ({ modelId, number }: StoredSet) => `${modelId}.${number}`;

const isOf700 = ({ modelId }: PointSlot) => Math.floor(modelId / 100) === 7;
/** Models whose points a device stores: settings, trips and curves. */
const storedModels: ReadonlySet<number> = new Set([702, 703, 705, 706, 707, 708, 709, 710, 711, 712, 802]);

const isTimer = ({ path }: PointSlot) => path === 'RvrtTms';

/** True for a setting that a device stores; enables are commands. */
function isStored({ modelId, path, writable }: PointSlot): boolean {
  if (!writable || !storedModels.has(modelId)) return false;
  return modelId === 802 ? /rsv/i.test(path) : path !== 'ES' && path !== 'Ena';
}

const isStoredSetting = (slot: PointSlot) => isStored(slot) && !isAdoptionRequest(slot);

/** Models of the published table of rights, beside model 1. */
const isInRights = (modelId: number) => modelId >= 702 && modelId <= 715;

function writeFactsOf(layout: Layout, address: number, count: number): WriteFacts {
  const slots = slotsIn(layout, address, count);
  const nameOf = (fits: (slot: PointSlot) => boolean) => {
    const slot = slots.find((one) => isOf700(one) && !one.writable && fits(one));
    return slot === undefined ? null : pointName(slot);
  };
  const isScale = ({ def }: PointSlot) => def.type === 'sunssf';
  const isSetting = (slot: PointSlot) => isInSet1(slot) && slot.def.access === 'RW' && slot.implemented;
  const isCut = ({ address: from, def: { size } }: PointSlot) => from < address || from + size > address + count;
  const cut = slots.find((slot) => slot.writable && !ignoresWrites(slot) && isCut(slot));
  return {
    cut: cut === undefined ? null : pointName(cut),
    readOnly: nameOf((slot) => slot.def.access !== 'RW' && !isScale(slot)),
    scaleFactor: nameOf(isScale),
    setInForce: nameOf(isSetting),
    groups: setpointSlots(layout).flatMap(({ enable, timer, setpoints }, group) => {
      const setsValue = setpoints.some((slot) => slots.includes(slot));
      const setsEnable = slots.includes(enable);
      const isTouched = setsValue || setsEnable || slots.some((slot) => slot === timer);
      return isTouched ? [{ group, setsValue, setsEnable }] : [];
    }),
    requests: slots.filter(isAdoptionRequest).map(({ modelId }) => modelId),
    staged: storedSetsOf(slots),
    isSettings: slots.some(isStoredSetting) && !slots.some(isTimer),
    hasPublishedRights: slots.every(({ modelId, writable }) => !writable || modelId === 1 || isInRights(modelId)),
  };
}

/** The map of one device, as its layout has it. */
export class JudgedMap {
  readonly bank: PointBank;
  readonly #layout: Layout;
  readonly #facts: LayoutFacts;

  constructor(bank: PointBank) {
    this.bank = bank;
    this.#layout = bank.layout;
    this.#facts = factsOf(bank.layout);
  }

  get base(): number {
    return this.#layout.base;
  }

  /** the register behind the end model */
  get end(): number {
    return this.#layout.base + this.#layout.size;
  }

  /** False if registers of the map begin or end inside a point. */
  isWhole(address: number, count: number): boolean {
    const { boundaries } = this.#facts;
    const first = address - this.#layout.base;
    return boundaries[first] !== 0 && boundaries[first + count] !== 0;
  }

  /** True if the registers have the marker or the id of a model. */
  hasHead(address: number, count: number): boolean {
    const { heads } = this.#facts;
    const first = address - this.#layout.base;
    return (heads[first + count] ?? 0) > (heads[first] ?? 0);
  }

  /** Names of the points that the registers cut. */
  cutPoints(address: number, count: number): readonly string[] {
    const isCut = ({ address: from, def: { size } }: PointSlot) => from < address || from + size > address + count;
    return slotsIn(this.#layout, address, count).filter(isCut).map(pointName);
  }

  /** Facts about a write of registers; null: they are not all in the map. */
  writeFacts(address: number, count: number): WriteFacts | null {
    if (address < this.base || address + count > this.end) return null;
    return kept(this.#facts.writes, address, count, () => writeFactsOf(this.#layout, address, count));
  }

  /** Number of scale factors of the map. */
  get scaleCount(): number {
    return this.#facts.scales.length;
  }

  scalesIn(address: number, count: number): ScaleFacts {
    const { reads, scales } = this.#facts;
    return kept(reads, address, count, () => scaleFactsOf(this.#layout, scales, address, count));
  }

  scaleName(scale: number): string {
    const slot = this.#facts.scales[scale];
    return slot === undefined ? '' : pointName(slot);
  }

  scaleValue(scale: number): number {
    const slot = this.#facts.scales[scale];
    return Number(slot && this.bank.value(slot));
  }

  /** Positions of the groups of set-points of which the registers have one. */
  setpointsIn(address: number, count: number): readonly number[] {
    const isRead = ({ address: at }: PointSlot) => at >= address && at < address + count;
    return setpointSlots(this.#layout).flatMap(({ setpoints }, group) => (setpoints.some(isRead) ? [group] : []));
  }

  /**
   * The refused value, if its model does not define it; null: it does, or models 101 to 199 ignore it.
   * @param refused names of the points for which the write was refused
   */
  valueFault(address: number, words: Buffer, refused: ReadonlySet<string>): ValueFault | null {
    const dv = new DataView(words.buffer, words.byteOffset, words.length);
    const count = words.length / 2;
    for (const slot of slotsIn(this.#layout, address, count)) {
      const isWhole = slot.address >= address && slot.address + slot.def.size <= address + count;
      if (!slot.writable || !isWhole || !refused.has(pointName(slot))) continue;
      const fault = this.#faultAt(slot, dv, 2 * (slot.address - address));
      if (fault !== null) return fault;
    }
    return null;
  }

  #faultAt(slot: PointSlot, dv: DataView, at: number): ValueFault | null {
    const codec = numberCodec(slot.def.type);
    if (codec === undefined || isClassicModel(slot.modelId)) return null;
    const point = pointName(slot);
    if (codec.absent(dv, at))
      return slot.path.includes('.Pt[')
        ? null
        : { kind: 'not_implemented', point, detail: 'the value that means absent' };
    const raw = codec.get(dv, at);
    const { symbols, type } = slot.def;
    if (symbols !== undefined && type.startsWith('enum') && !Object.values(symbols).includes(raw))
      return { kind: 'undefined', point, detail: `${raw}, which is none of its values` };
    const max = this.#countFor(slot);
    return max !== null && raw > max ? { kind: 'undefined', point, detail: `${raw} of ${max}` } : null;
  }

  /** Number of sets or points that the device has, for the points that choose among them; null: any other point. */
  #countFor(slot: PointSlot): number | null {
    const { modelId, path } = slot;
    const names = isAdoptionRequest(slot) ? ['NCrv', 'NCrvSet', 'NCtl'] : path.endsWith('.ActPt') ? ['NPt'] : [];
    const count = names.map((name) => this.#layout.slot(modelId, name)).find((one) => one !== undefined);
    const value = count && this.bank.value(count);
    return typeof value === 'number' ? value : null;
  }

  /** PDU address of the result of an adoption; null: the model adopts nothing. */
  adoptionResultAt(modelId: number): number | null {
    return adoptionPoints(this.#layout, modelId)?.result.address ?? null;
  }

  /** Number of the set that was last asked for; null: the model adopts nothing. */
  adoptedSet(modelId: number): number | null {
    const points = adoptionPoints(this.#layout, modelId);
    return points === null ? null : Number(this.bank.value(points.request));
  }

  /** True while the function of a curve model is switched on. */
  isEnabled(modelId: number): boolean {
    const enable = this.#layout.slot(modelId, 'Ena');
    return enable !== undefined && this.bank.value(enable) === 'ENABLED';
  }

  /** The contradiction in a stored set for which its adoption has just failed; null: it has not, or for another reason. */
  adoptionContradiction(modelId: number): AdoptionIssue | null {
    const points = adoptionPoints(this.#layout, modelId);
    if (points === null || this.bank.value(points.result) !== 'FAILED') return null;
    const number = Number(this.bank.value(points.request));
    const issue = adoptionIssue(this.#layout, this.bank.image(), modelId, number);
    return issue?.isInconsistent === true ? issue : null;
  }
}

/** The set-points of a device, and the changes of them from now on. @param changed as in `onSetpointChange` */
export function followSetpoints(
  bank: PointBank,
  changed: (group: SetpointGroup, how: SetpointChange) => void,
): readonly SetpointGroup[] {
  const groups = setpointGroupsOf(bank);
  onSetpointChange(bank, groups, 'modbus', changed);
  return groups;
}

/** Calls `changed` when somebody else than a master, or a restart, changes settings that the device stores. */
export function followSettings(bank: PointBank, changed: () => void): void {
  bank.onReload(changed);
  bank.onChange(({ points, by }) => {
    if (by.source !== 'modbus' && points.some(isStoredSetting)) changed();
  });
}
