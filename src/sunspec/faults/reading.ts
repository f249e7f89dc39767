/** Reading faults: the effect of each kind on the registers that a request sees. */
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
} from '../../fault-kinds/modbus-reading.ts';
import type { PointBank } from '../map/bank.ts';
import { numberCodec } from '../map/codec.ts';
import { memoPerLayoutAndKey } from '../map/layout.ts';
import type { Layout, PointSlot } from '../map/layout.ts';
import { falsify } from './falsify.ts';
import { Sample } from './reading-image.ts';
import type { MapImage, ReadingEffect } from './reading-image.ts';
import { bitNumber, isBitField, isQuantity, targetedPoints, valuePoints } from './reading-points.ts';
import { dynamicScale } from './reading-scale.ts';
import { slotsNamed } from './targets.ts';

/** The device behind the registers. */
export interface EffectContext {
  readonly deviceIndex: number;
  readonly bank: PointBank;
  /** simulated instant of the last tick */
  readonly now: () => SimTime;
}

type ParametersOf<K> = K extends FaultKind<infer P> ? P : never;

/** maximum number of samples kept by a lag; its delay is accurate to one part in this many, less for many registers */
const maxSamples = 256;
const minSamples = 32;
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
  const moving = new Set(except.flatMap((name) => slotsNamed(layout, name)));
  const meant = targetedPoints(layout, target);
  const slots = moving.size === 0 ? meant : meant.filter((slot) => !moving.has(slot));
  const sample = new Sample(bank, slots);
  return eachPoint(slots, (image, slot) => {
    sample.show(image, slot);
  });
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

function maskOf(slot: PointSlot, wanted: readonly (number | string)[]): number {
  return wanted.reduce<number>((mask, bit) => {
    const number = bitNumber(slot, bit);
    return number === null ? mask : mask | (1 << number);
  }, 0);
}
