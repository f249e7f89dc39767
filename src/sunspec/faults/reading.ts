/** Reading faults: the effect of each kind on the registers that a request sees. */
import { Buffer } from 'node:buffer';
import type { ActiveFault } from '../../core/faults/active-fault.ts';
import { addSeconds, secondsBetween } from '../../core/time/clock.ts';
import type { SimTime } from '../../core/time/clock.ts';
import type { FaultKind, FaultTarget } from '../../core/faults/kinds.ts';
import { createRandom } from '../../core/random.ts';
import {
  bitsFault,
  dynamicScaleFault,
  falsifyFault,
  freezeFault,
  lagFault,
  noiseFault,
  notImplementedFault,
  scaleFault,
  strictPointsFault,
  valueFault,
} from '../../fault-kinds/modbus-map.ts';
import type { PointBank } from '../map/bank.ts';
import { numberCodec } from '../map/codec.ts';
import { memoPerLayoutAndKey, memoPerLayout } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { falsify } from './falsify.ts';
import { Sample } from './image.ts';
import type { MapImage, ReadingEffect } from './image.ts';
import { slotsNamed, slotsUnder } from './targets.ts';
import type { Issue } from '../../core/errors.ts';
import { mapTargetOf } from '../../fault-kinds/rows.ts';
import type { GroupDef } from '../map/types.ts';
import { pointName } from '../map/view.ts';

/** types of measured, counted and set quantities, as opposed to enumerations, bits and texts */
const quantities: ReadonlySet<string> = new Set([
  'int16',
  'uint16',
  'acc16',
  'int32',
  'uint32',
  'acc32',
  'int64',
  'uint64',
  'acc64',
  'float32',
  'float64',
]);

/** True if a point holds a measured, counted or set quantity. */
export function isQuantity({ def }: PointSlot): boolean {
  return quantities.has(def.type);
}

export function isBitField({ def }: PointSlot): boolean {
  return def.type === 'bitfield16' || def.type === 'bitfield32';
}

/** Number of a bit given by number or name; null: no such bit. The highest bit is reserved. */
function bitNumber({ def }: PointSlot, bit: number | string): number | null {
  const number = typeof bit === 'number' ? bit : symbolValue(def.symbols, bit);
  return number !== undefined && number < 16 * def.size - 1 ? number : null;
}

/** The reason why a field cannot show a bit, without a pointer; null: it can. */
export function bitIssue(slot: PointSlot, bit: number | string): Omit<Issue, 'name'> | null {
  if (bitNumber(slot, bit) !== null) return null;
  const { def } = slot;
  return typeof bit === 'number'
    ? { detail: `${pointName(slot)} has bits 0 to ${16 * def.size - 2}` }
    : { detail: `${pointName(slot)} has no bit ${bit}`, allowed: Object.keys(def.symbols ?? {}) };
}

const symbolValue = (symbols: PointSlot['def']['symbols'], name: string) =>
  symbols !== undefined && Object.hasOwn(symbols, name) ? symbols[name] : undefined;

/** Names of the points that count groups; where the length decides, N. */
function countsOf(groups: readonly GroupDef[] = []): string[] {
  return groups.flatMap((group) => [
    ...(typeof group.count === 'string' ? [group.count] : group.count === 0 ? ['N'] : []),
    ...countsOf(group.groups),
  ]);
}

/** Points needed to read the others: headers, repetitions, scale factors, pads. */
const frameOf = memoPerLayout(
  (layout): ReadonlySet<PointSlot> =>
    new Set(
      layout.models.flatMap(({ def, slots }) => {
        const paths = new Set(['ID', 'L', ...countsOf(def.groups)]);
        return slots.filter((slot) => paths.has(slot.path) || slot.def.type === 'sunssf' || slot.def.type === 'pad');
      }),
    ),
);

/** Points that hold data; all faults without a target share the array. */
const allContents = memoPerLayout((layout) => layout.slots.filter((slot) => !frameOf(layout).has(slot)));

/**
 * Points of a target, in map order. A whole model or group, or no target, means its data points; headers, scale factors
 * and pads only if they or their registers are named.
 */
export const targetedPoints = memoPerLayoutAndKey((layout, target: FaultTarget): readonly PointSlot[] => {
  const { points, registers } = mapTargetOf(target);
  const frame = frameOf(layout);
  const contents = (slots: readonly PointSlot[]) => slots.filter((slot) => !frame.has(slot));
  if (points === undefined && registers === undefined) return allContents(layout);
  const targeted = new Set(
    (points ?? []).flatMap((name) => {
      const point = layout.named(name);
      return point === undefined ? contents(slotsNamed(layout, name)) : [point];
    }),
  );
  if (registers !== undefined)
    for (const slot of slotsUnder(layout, registers.address, registers.count)) targeted.add(slot);
  return [...targeted].sort((a, b) => a.index - b.index);
});

/** Value shown by a `value` fault. */
interface ShownValue {
  readonly value?: number | string | undefined;
  readonly raw?: readonly number[] | undefined;
  readonly extreme?: string | undefined;
}

/** The reason why a point cannot show a value; null: it can. */
export function valueIssue({ def }: PointSlot, { value, raw }: ShownValue): string | null {
  if (raw !== undefined) return raw.length === def.size ? null : `has ${def.size} registers, not ${raw.length}`;
  if (typeof value !== 'string') return numberCodec(def.type) === undefined ? 'is no number' : null;
  if (def.symbols !== undefined && def.type.startsWith('enum'))
    return Object.hasOwn(def.symbols, value) ? null : `has no value ${JSON.stringify(value)}`;
  if (def.type !== 'string') return 'is no text';
  return Buffer.byteLength(value) <= 2 * def.size ? null : `has room for ${2 * def.size} bytes of text`;
}

/** Points changed by a `value` fault; of a whole model or group only points that can show the value. */
export function valuePoints(layout: Layout, target: FaultTarget, falseValue: ShownValue): readonly PointSlot[] {
  const named = new Set((mapTargetOf(target).points ?? []).map((name) => layout.named(name)));
  const isNumber = falseValue.extreme !== undefined || typeof falseValue.value === 'number';
  return targetedPoints(layout, target).filter(
    (slot) => valueIssue(slot, falseValue) === null && (!isNumber || named.has(slot) || isQuantity(slot)),
  );
}

/** Parameters of a moving scale factor. */
interface DynamicScale {
  readonly scale_factor: string;
  readonly steps: readonly { readonly above_pct: number; readonly shift: number }[];
}

/** limits of a scale factor (Device Information Model Specification) */
const maxScaleFactor = 10;

function scaledBy(layout: Layout, factor: PointSlot): readonly PointSlot[] {
  const model = layout.models.find(({ name }) => name === factor.modelName);
  return (model?.slots ?? []).filter(({ def }) => def.sf === factor.def.name);
}

/** Scale factors that can move: those of read-only points, since a master scales writes by the factor it has read. */
function movable(layout: Layout): readonly PointSlot[] {
  return layout.slots.filter(
    (slot) =>
      slot.def.type === 'sunssf' && slot.implemented && scaledBy(layout, slot).every(({ writable }) => !writable),
  );
}

const loadPoint = '701.W';

/** Reasons why a scale factor of a device cannot move; empty: it can. */
export function dynamicScaleIssues(layout: Layout, { scale_factor: name }: DynamicScale): Issue[] {
  if (layout.named(loadPoint) === undefined) {
    return [{ name: '/kind', detail: `the map has no ${loadPoint}, which moves the factor` }];
  }
  const slot = layout.named(name);
  const allowed = movable(layout);
  if (slot !== undefined && allowed.includes(slot)) return [];
  const detail =
    slot?.def.type === 'sunssf' && slot.implemented
      ? `${name} scales points that can be written`
      : `${name} is no scale factor that the device implements`;
  return [{ name: '/parameters/scale_factor', detail, allowed: allowed.map(pointName) }];
}

/** Active power in either direction, % of the rating; 0 if not implemented. */
function loadPct(bank: PointBank): number {
  const [w, rating] = [loadPoint, '702.WMaxRtg'].map((name) => {
    const slot = bank.layout.named(name);
    return slot === undefined ? null : bank.value(slot);
  });
  return typeof w === 'number' && typeof rating === 'number' && rating > 0 ? (100 * Math.abs(w)) / rating : 0;
}

/** The shift nearest to the requested one with which all values fit their types. */
function fittingShift(image: MapImage, slots: readonly PointSlot[], requestedShift: number): number {
  const fits = (shift: number) =>
    slots.every((slot) => {
      const [raw, codec] = [image.raw(slot), numberCodec(slot.def.type)];
      if (raw === null || codec === undefined) return true;
      const moved = Math.round(raw * 10 ** -shift);
      return moved >= codec.min && moved <= codec.max;
    });
  let shift = requestedShift;
  while (shift < 0 && !fits(shift)) shift += 1;
  return shift;
}

/** The factor and its points; null: the layout lacks the factor, or it cannot move. */
const scaleAndPoints = memoPerLayoutAndKey((layout, { scale_factor: name }: DynamicScale) => {
  const factor = layout.named(name);
  return factor !== undefined && movable(layout).includes(factor) ? { factor, slots: scaledBy(layout, factor) } : null;
});

/** Changes the scale factor and its points together: the values stay the same except for rounding. */
function dynamicScale(parameters: DynamicScale, bank: PointBank): ReadingEffect | null {
  const scale = scaleAndPoints(bank.layout, parameters);
  if (scale === null) return null;
  const { factor, slots } = scale;
  const apply = (image: MapImage): void => {
    const load = loadPct(bank);
    const exponent = image.raw(factor);
    if (exponent === null) return;
    const requestedShift = parameters.steps.findLast(({ above_pct: abovePct }) => load >= abovePct)?.shift ?? 0;
    const shift = fittingShift(
      image,
      slots,
      Math.min(maxScaleFactor - exponent, Math.max(-maxScaleFactor - exponent, requestedShift)),
    );
    for (const slot of slots) {
      const raw = image.raw(slot);
      if (raw !== null) image.setRaw(slot, raw * 10 ** -shift);
    }
    image.setRaw(factor, exponent + shift);
  };
  const changedSlots = [factor, ...slots];
  return { slots: changedSlots, apply, reads: changedSlots, last: true };
}

/** The device behind the registers. */
interface EffectContext {
  readonly deviceIndex: number;
  readonly bank: PointBank;
  /** simulated instant of the last tick */
  readonly now: () => SimTime;
}

type ParametersOf<K> = K extends FaultKind<infer P> ? P : never;

/** maximum number of samples kept by a lag: its delay is accurate to 1/256, and less for many registers */
const maxSamples = 256;
const minSamples = 32;
/** registers that the samples of a lag may hold in all, unless `minSamples` needs more */
const registersPerLag = 65_536;

/** The effect of a fault on a device; null: not a reading fault, or the device has none of its points. */
export function readingEffect(fault: ActiveFault, context: EffectContext): ReadingEffect | null {
  const effect = effectOf(fault, context);
  return effect === null || effect.slots.length === 0 ? null : effect;
}

function effectOf(fault: ActiveFault, context: EffectContext): ReadingEffect | null {
  const { target, seed } = fault.facts;
  if (fault.isOf(freezeFault)) return freeze(target, fault.parameters, context);
  if (fault.isOf(noiseFault)) return noise(seed, target, fault.parameters, context);
  if (fault.isOf(lagFault)) return lag(target, fault.parameters, context);
  if (fault.isOf(dynamicScaleFault)) return dynamicScale(fault.parameters, context.bank);
  return commonEffect(context.bank.layout, fault);
}

/** Effects without per-device state; all devices of a layout share one. */
const commonEffect = memoPerLayoutAndKey((layout, fault: ActiveFault): ReadingEffect | null => {
  const { target } = fault.facts;
  if (fault.isOf(notImplementedFault))
    return eachPoint(targetedPoints(layout, target), (image, slot) => {
      image.clear(slot);
    });
  if (fault.isOf(valueFault)) return fixed(target, fault.parameters, layout);
  if (fault.isOf(scaleFault)) return scaled(target, fault.parameters, layout);
  if (fault.isOf(bitsFault)) return bits(target, fault.parameters, layout);
  if (fault.isOf(falsifyFault)) return falsify(fault.parameters.switch, layout);
  return fault.isOf(strictPointsFault)
    ? { slots: targetedPoints(layout, target).filter(({ def }) => def.size > 1) }
    : null;
});

/** An effect that depends only on the point itself. */
function eachPoint(slots: readonly PointSlot[], change: NonNullable<ReadingEffect['change']>): ReadingEffect {
  return { slots, change, isSteady: true };
}

/** Quantities among points; faults with the same points share the array. */
const quantitiesOf = memoPerPoints((slots) => slots.filter(isQuantity));

function memoPerPoints<T extends object>(make: (slots: readonly PointSlot[]) => T): (slots: readonly PointSlot[]) => T {
  const cache = new WeakMap<readonly PointSlot[], T>();
  return (slots) => {
    const value = cache.get(slots) ?? make(slots);
    cache.set(slots, value);
    return value;
  };
}

function freeze(
  target: FaultTarget,
  { except = [] }: ParametersOf<typeof freezeFault>,
  { bank }: EffectContext,
): ReadingEffect {
  const { layout } = bank;
  const excepted = new Set(except.flatMap((name) => slotsNamed(layout, name)));
  const targeted = targetedPoints(layout, target);
  const slots = excepted.size === 0 ? targeted : targeted.filter((slot) => !excepted.has(slot));
  const sample = new Sample(bank, slots);
  const show = (image: MapImage, slot: PointSlot) => {
    sample.show(image, slot);
  };
  return { ...eachPoint(slots, show), kept: () => sample.kept() };
}

function fixed(target: FaultTarget, parameters: ParametersOf<typeof valueFault>, layout: Layout): ReadingEffect {
  const { value, raw, extreme } = parameters;
  return eachPoint(valuePoints(layout, target, parameters), (image, slot) => {
    if (raw !== undefined) image.setWords(slot, raw);
    else if (extreme !== undefined) image.setRaw(slot, extremeOf(slot, extreme));
    else if (typeof value === 'number') image.setNumber(slot, value);
    else if (value !== undefined) showWord(image, slot, value);
  });
}

function extremeOf({ def }: PointSlot, extreme: 'min' | 'max' | 'zero'): number {
  return extreme === 'zero' ? 0 : (numberCodec(def.type)?.[extreme] ?? 0);
}

function showWord(image: MapImage, slot: PointSlot, word: string): void {
  if (slot.def.type === 'string') image.setText(slot, word);
  else image.setRaw(slot, slot.def.symbols?.[word] ?? 0);
}

function scaled(
  target: FaultTarget,
  { factor, offset }: ParametersOf<typeof scaleFault>,
  layout: Layout,
): ReadingEffect {
  return {
    slots: quantitiesOf(targetedPoints(layout, target)),
    number: (value) => value * factor + offset,
    isSteady: true,
  };
}

/** Noise that changes with each tick and is the same for all reads between ticks. */
function noise(
  seed: number,
  target: FaultTarget,
  { amplitude }: ParametersOf<typeof noiseFault>,
  { bank, deviceIndex, now }: EffectContext,
): ReadingEffect {
  const slots = quantitiesOf(targetedPoints(bank.layout, target));
  let drawnAt: SimTime | null = null;
  const offsets = new Map<PointSlot, number>();
  const number = (value: number, slot: PointSlot): number => {
    if (drawnAt !== now()) {
      drawnAt = now();
      const random = createRandom(seed, 'noise', deviceIndex, drawnAt);
      for (const slot of slots) offsets.set(slot, amplitude * (2 * random.next() - 1));
    }
    return value + (offsets.get(slot) ?? 0);
  };
  return { slots, number };
}

/** Shows values from the time of the begin of the fault until the delay has passed, then values as old as the delay. */
function lag(
  target: FaultTarget,
  { delay_s: delayS }: ParametersOf<typeof lagFault>,
  { bank, now }: EffectContext,
): ReadingEffect {
  const slots = targetedPoints(bank.layout, target);
  const registers = slots.reduce((sum, { def }) => sum + def.size, 0);
  const stepS = delayS / Math.min(maxSamples, Math.max(minSamples, Math.floor(registersPerLag / registers)));
  const take = () => ({ at: now(), sample: new Sample(bank, slots) });
  let shownSample = take();
  /** younger than the delay, oldest first */
  let pendingSamples: (typeof shownSample)[] = [];
  const sample = (): void => {
    const [newest, dueAt] = [pendingSamples.at(-1) ?? shownSample, addSeconds(now(), -delayS)];
    if (secondsBetween(newest.at, now()) >= stepS) pendingSamples.push(take());
    shownSample = pendingSamples.findLast(({ at }) => at <= dueAt) ?? shownSample;
    pendingSamples = pendingSamples.filter(({ at }) => at > dueAt);
  };
  return {
    slots,
    sample,
    change: (image, slot) => {
      shownSample.sample.show(image, slot);
    },
    // the younger samples would be many times the state of a device: the shown one lasts until new ones are old enough
    kept: () => ({
      save: () => shownSample.sample.kept().save(),
      restore(saved) {
        shownSample = take();
        shownSample.sample.kept().restore(saved);
        pendingSamples = [];
      },
    }),
  };
}

function bits(
  target: FaultTarget,
  { set = [], clear = [] }: ParametersOf<typeof bitsFault>,
  layout: Layout,
): ReadingEffect {
  return eachPoint(targetedPoints(layout, target).filter(isBitField), (image, slot) => {
    const raw = image.raw(slot);
    // a field that is not implemented becomes implemented only if bits are set
    if (raw === null && set.length === 0) return;
    image.setRaw(slot, ((raw ?? 0) | maskOf(slot, set)) & ~maskOf(slot, clear));
  });
}

function maskOf(slot: PointSlot, bits: readonly (number | string)[]): number {
  return bits.reduce<number>((mask, bit) => {
    const number = bitNumber(slot, bit);
    return number === null ? mask : mask | (1 << number);
  }, 0);
}
